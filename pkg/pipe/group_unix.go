//go:build unix

package pipe

import (
	"os"
	"syscall"
)

// ownGroup makes a child the leader of a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to a child and to everything it has started. A child that has been reaped may have
// left others in its group.
func signalGroup(p *os.Process, sig syscall.Signal) { syscall.Kill(-p.Pid, sig) }
