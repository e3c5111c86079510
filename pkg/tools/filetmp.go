package tools

import (
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/sandbox"
)

// sharedTemp are the folders in whose place commands see a private one.
var sharedTemp = []string{"/tmp", "/var/tmp"}

// asCommands returns where a path leads for commands: what they put into /tmp is in a private folder, and so file tools
// find it there. What is declared as a folder of the task stays what it is, wherever it is.
func (e *Env) asCommands(full string) string {
	if e.Sandbox == sandbox.Off || within(full, filepath.Clean(e.Workspace)) {
		return full
	}
	if _, ours := e.rootOf(full); ours {
		return full
	}
	for _, shared := range sharedTemp {
		if !within(full, shared) {
			continue
		}
		if s, err := e.prepare(); err == nil {
			return filepath.Join(s.dir, "tmp", strings.TrimPrefix(full, shared))
		}
	}
	return full
}

// privateTemp is the folder that commands see as /tmp; empty as long as there is none.
func (e *Env) privateTemp() string {
	e.shell.mu.Lock()
	defer e.shell.mu.Unlock()
	if e.shell.dir == "" || e.shell.closed {
		return ""
	}
	return filepath.Join(e.shell.dir, "tmp")
}

// asShown is asCommands turned round.
func (e *Env) asShown(path string) string {
	if tmp := e.privateTemp(); tmp != "" && within(path, tmp) {
		return sharedTemp[0] + strings.TrimPrefix(path, tmp)
	}
	return path
}
