//go:build unix

package mcpclient

import (
	"os"
	"syscall"
)

// ownGroup puts a child and all that it starts into a process group, so that they can be ended together: npx and uvx
// start the server as a child of theirs.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }
func kill(p *os.Process)      { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
