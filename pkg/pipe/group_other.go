//go:build !unix

package pipe

import (
	"os"
	"syscall"
)

// ownGroup: there are no process groups here.
func ownGroup() *syscall.SysProcAttr { return nil }

// signalGroup ends a child.
func signalGroup(p *os.Process, _ syscall.Signal) { p.Kill() }
