//go:build unix && !linux

package sandbox

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func endGroup(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGTERM)
	for range 30 {
		if !groupAlive(p) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(-p.Pid, syscall.SIGKILL)
}

func groupAlive(p *os.Process) bool { return syscall.Kill(-p.Pid, 0) == nil }

// awaitGroup waits until the group is empty, or was ended.
func awaitGroup(p *os.Process, stopped <-chan struct{}) {
	for groupAlive(p) {
		select {
		case <-stopped:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
