package lifeline

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Variable is set in the environment of a process that is to watch: the number of the file, a colon, the pipe's number.
const Variable = "OPENSPACE_LIFELINE"

// Start starts a command that can watch. What it returns is to be closed when the command has ended; closed before, the command
// takes this process for gone.
func Start(cmd *exec.Cmd) (io.Closer, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	if err := hand(cmd, theirs); err != nil {
		ours.Close()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	return ours, nil
}

// Watch returns the environment without the variable, and a channel that is closed when the starter of this process is gone; nil:
// nobody is watched. It is to be called once, before anything is started.
func Watch(environ []string) (rest []string, gone <-chan struct{}) {
	value := ""
	rest = slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		got, ours := strings.CutPrefix(v, Variable+"=")
		if ours {
			value = got
		}
		return ours
	})
	number, id, _ := strings.Cut(value, ":")
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		return rest, nil
	}
	line := take(fd, id)
	if line == nil {
		return rest, nil
	}
	end := make(chan struct{})
	go func() {
		defer close(end)
		io.Copy(io.Discard, line)
	}()
	return rest, end
}
