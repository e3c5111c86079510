package tools

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/scratch"
)

// maxJobs is how many commands may go on in the background at once.
const maxJobs = 16

// Bounds of a command where the environment names none: much for honest work, little for a mistake without end.
const (
	defaultMemory    = 4 << 30
	defaultProcesses = 1024
	defaultFileSize  = 4 << 30
)

// shellState is what the shell tools of one task share.
type shellState struct {
	mu      sync.Mutex
	told    sync.Once // of Env.Confined
	dir     string    // private: home and temporary files of commands
	folder  *scratch.Folder
	shell   string // bash, or sh where there is none
	environ []string
	read    []string        // folders that commands may read besides those that they may write
	life    context.Context // of background jobs
	end     context.CancelFunc
	closed  bool
	jobs    []*job // all commands that went on in the background, in order
	count   int    // of commands so far
}

// prepare makes what commands need, once.
func (e *Env) prepare() (*shellState, error) {
	s := &e.shell
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, fmt.Errorf("the task is over")
	case s.dir != "":
		return s, nil
	}
	path := variable(e.Environ, "PATH")
	for _, name := range []string{"bash", "sh"} {
		if found, err := sandbox.LookPath(name, []string{"PATH=" + path}); err == nil {
			s.shell = found
			break
		}
	}
	if s.shell == "" {
		return nil, fmt.Errorf("there is neither bash nor sh in PATH (%s)", path)
	}
	folder, err := scratch.New("home")
	if err != nil {
		return nil, err
	}
	dir := folder.Dir
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	if name := gitUser(e.home()); name != "" {
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(name), 0o600) // without it a commit fails and says why
	}
	if e.OutputDir != "" {
		if err := os.MkdirAll(e.OutputDir, 0o700); err != nil {
			folder.Close()
			return nil, fmt.Errorf("make the folder for outputs: %w", err)
		}
	}
	s.environ, s.read = childEnviron(e, home, tmp), e.commandReads()
	s.life, s.end = context.WithCancel(context.Background())
	s.dir, s.folder = dir, folder
	return s, nil
}

// spec returns how a command of this task is run.
func (e *Env) spec(s *shellState, argv []string) sandbox.Spec {
	limits := e.Limits.Command
	for _, l := range []struct {
		value    *int64
		standard int64
	}{{&limits.Memory, defaultMemory}, {&limits.Processes, defaultProcesses}, {&limits.FileSize, defaultFileSize}} {
		if *l.value == 0 {
			*l.value = l.standard
		}
	}
	return sandbox.Spec{
		Argv: argv, Dir: e.Workspace, Environ: s.environ, Level: e.Sandbox, Limits: limits,
		Write: slices.Concat([]string{e.Workspace, s.dir}, e.WriteDirs), Read: s.read, Home: e.home(), Tmp: filepath.Join(s.dir, "tmp"),
	}
}

// commandReads returns what commands may read: what is declared, and the tools in the user's home that there are.
func (e *Env) commandReads() []string {
	read := slices.Clone(e.readable())
	for _, dir := range policy.ToolDirs(e.home(), variable(e.Environ, "PATH")) {
		if _, err := os.Stat(dir); err == nil {
			read = append(read, dir)
		}
	}
	return read
}

// Close ends all commands that still run and removes their temporary files.
func (e *Env) Close() {
	s := &e.shell
	s.mu.Lock()
	s.closed = true
	jobs, folder := s.jobs, s.folder
	s.folder = nil
	if s.end != nil {
		s.end()
	}
	s.mu.Unlock()
	for _, j := range jobs {
		j.process.Stop()
		j.reading.Wait()
	}
	if folder != nil {
		folder.Close()
	}
}

// variable returns the value of a variable, empty when it is not set.
func variable(environ []string, name string) string {
	for _, v := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// gitUser returns the section of git's settings with the user's name and address, without which git does not commit.
// The rest of the settings stays closed: there may be keys in it.
func gitUser(home string) string {
	if home == "" {
		return ""
	}
	var out strings.Builder
	for _, file := range []string{".config/git/config", ".gitconfig"} {
		text, err := os.ReadFile(filepath.Join(home, file))
		if err != nil {
			continue
		}
		section := ""
		for line := range bytes.Lines(text) {
			l := strings.TrimSpace(string(line))
			name, _, _ := strings.Cut(l, "=")
			name = strings.ToLower(strings.TrimSpace(name))
			switch {
			case strings.HasPrefix(l, "["):
				section = strings.ToLower(l)
			case section == "[user]" && (name == "name" || name == "email"):
				fmt.Fprintf(&out, "\t%s\n", l)
			}
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "[user]\n" + out.String()
}
