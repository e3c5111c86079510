package evolve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/openspace-dev/openspace/pkg/sandbox"
)

// Checker runs the checks of a skill: files, by slash path, in dir, a copy that may be written to.
type Checker func(ctx context.Context, dir string, files []string) (Checked, error)

// Checked is what came of checks.
type Checked struct {
	Passed bool
	Output string // of the one that failed
}

// Limits of a check.
const (
	checkTime   = 60 * time.Second
	replayTime  = 3 * time.Minute // of all commands of a run together
	checkOutput = 16 << 10        // bytes that are looked at
	checkMemory = 1 << 30
	checkFiles  = 64 << 20 // bytes of one file that it writes
	checkCount  = 128      // processes
)

// Box runs what shows whether a new version works, confined to copies. The program must have called sandbox.Main first.
type Box struct {
	Level sandbox.Level
	Path  string // the PATH of what runs
	Home  string // of the user: closed
}

// Check is a Checker: the checks run one after the other until one fails.
func (b Box) Check(ctx context.Context, dir string, files []string) (Checked, error) {
	for _, file := range files {
		argv := []string{filepath.Join(dir, filepath.FromSlash(file))}
		if info, err := os.Stat(argv[0]); err == nil && info.Mode()&0o111 == 0 {
			argv = []string{"/bin/sh", argv[0]}
		}
		out, why, err := b.run(ctx, sandbox.Spec{Argv: argv, Dir: dir, Write: []string{dir}}, dir)
		if err != nil {
			return Checked{}, fmt.Errorf("run the check %s: %w", file, err)
		}
		if why != "" {
			return Checked{Output: file + " " + why + "\n" + out}, nil
		}
	}
	return Checked{Passed: true}, nil
}

// Replay is a Replayer. The scripts have no network.
func (b Box) Replay(ctx context.Context, r Replay) (ended []Replayed, err error) {
	all, cancel := context.WithTimeout(ctx, replayTime)
	defer cancel()
	shell := "bash"
	if _, err := sandbox.LookPath(shell, []string{"PATH=" + b.Path}); err != nil {
		shell = "sh"
	}
	for _, script := range r.Scripts {
		spec := sandbox.Spec{Argv: []string{shell, "-c", script}, Dir: r.Workspace, Write: []string{r.Workspace, r.Skill}, Offline: true}
		out, why, err := b.run(all, spec, r.Skill)
		if all.Err() != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("they do not end within %s", replayTime)
		}
		if err != nil {
			return nil, err
		}
		ended = append(ended, Replayed{OK: why == "", Output: why + "\n" + out})
	}
	return ended, nil
}

// run runs one program that gets a folder for temporary files, and ends it with all that it started. Why says why it failed.
func (b Box) run(ctx context.Context, spec sandbox.Spec, skill string) (out, why string, err error) {
	aside, err := os.MkdirTemp(filepath.Dir(skill), "check-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(aside)
	output, err := os.OpenFile(filepath.Join(aside, "output"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", "", err
	}
	defer output.Close()
	tmp := filepath.Join(aside, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return "", "", err
	}
	spec.Environ = []string{"PATH=" + b.Path, "LANG=C.UTF-8", "HOME=" + tmp, "TMPDIR=" + tmp, "SKILL_DIR=" + skill}
	spec.Write = append(spec.Write, tmp)
	spec.Home, spec.Level, spec.Stdout, spec.Stderr = b.Home, b.Level, output, output
	spec.Limits = sandbox.Limits{Memory: checkMemory, Processes: checkCount, FileSize: checkFiles}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	p, err := sandbox.Start(limited, spec)
	if err != nil {
		return "", "", err
	}
	exit := p.Exit()
	p.Stop()
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	switch {
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		why = fmt.Sprintf("did not end within %s", checkTime)
	case exit.Limit != "":
		why = "needs too much: " + exit.Limit
	case exit.Code != 0:
		why = fmt.Sprintf("ended with status %d", exit.Code)
	}
	text, err := io.ReadAll(io.NewSectionReader(output, 0, checkOutput))
	return string(text), why, err
}
