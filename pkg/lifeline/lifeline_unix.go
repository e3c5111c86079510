//go:build unix

package lifeline

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// hand lets a command inherit a file and tells it so.
func hand(cmd *exec.Cmd, line *os.File) error {
	info, err := line.Stat()
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the system does not tell the number of a pipe")
	}
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%d:%d", Variable, 3+len(cmd.ExtraFiles), stat.Ino))
	cmd.ExtraFiles = append(cmd.ExtraFiles, line)
	return nil
}

// take returns the inherited file; nil when it is not the pipe that was handed on. It is closed in what this process starts.
func take(fd int, id string) *os.File {
	var stat syscall.Stat_t
	if syscall.Fstat(fd, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO || strconv.FormatUint(uint64(stat.Ino), 10) != id {
		return nil
	}
	syscall.CloseOnExec(fd)
	syscall.SetNonblock(fd, true) // so that no thread is stuck in the read
	return os.NewFile(uintptr(fd), "lifeline")
}

// End ends this process at once, with all of its group if the group is its own.
func End() {
	if syscall.Getpgrp() == os.Getpid() {
		syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(128 + int(syscall.SIGKILL))
}
