package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// rhythm is how often a running command is looked at.
const rhythm = 100 * time.Millisecond

// process is what the watcher looks at.
type process struct {
	pid, parent int
	threads     int64
	memory      int64 // resident, in bytes
}

// watch ends everything when there is too much of it. It is the second guard where the kernel keeps limits itself, and
// the only one where it does not: for root without process namespaces, and for the memory of all processes together.
func (l *launcher) watch() {
	limits := l.order.Limits
	if limits.Processes <= 0 && limits.Memory <= 0 {
		return
	}
	for {
		time.Sleep(rhythm)
		all := descendants()
		switch {
		case limits.Processes > 0 && sum(all, func(p process) int64 { return p.threads }) > limits.Processes:
			l.over("processes")
		case limits.Memory > 0 && sum(all, func(p process) int64 { return p.memory }) > limits.Memory &&
			sum(all, proportional) > limits.Memory:
			l.over("memory")
		}
	}
}

// over ends everything for a limit.
func (l *launcher) over(limit string) {
	l.tell(news{Exit: &Exit{Code: 128 + int(unix.SIGKILL), Limit: limit}})
	l.end()
}

func sum(all []process, of func(process) int64) int64 {
	var n int64
	for _, p := range all {
		n += of(p)
	}
	return n
}

// proportional returns the memory of a process, where what several share counts in parts.
func proportional(p process) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/smaps_rollup")
	if err != nil {
		return p.memory
	}
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) == 3 && string(fields[0]) == "Pss:" {
			n, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			return n << 10
		}
	}
	return p.memory
}

// descendants returns the processes below this one, at any depth.
func descendants() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	below := map[int][]process{}
	for _, name := range names {
		if p, ok := readProcess(name); ok {
			below[p.parent] = append(below[p.parent], p)
		}
	}
	var found []process
	for todo := []int{os.Getpid()}; len(todo) > 0; {
		children := below[todo[0]]
		delete(below, todo[0])
		todo = todo[1:]
		for _, p := range children {
			found = append(found, p)
			todo = append(todo, p.pid)
		}
	}
	return found
}

// readProcess reads /proc/PID/stat; see proc_pid_stat(5) for the numbers of its fields.
func readProcess(name string) (process, bool) {
	pid, err := strconv.Atoi(name)
	if err != nil {
		return process{}, false
	}
	text, err := os.ReadFile("/proc/" + name + "/stat")
	end := bytes.LastIndexByte(text, ')') // the name before it may hold anything
	if err != nil || end < 0 {
		return process{}, false
	}
	fields := bytes.Fields(text[end+1:]) // the first is number 3
	if len(fields) < 22 {
		return process{}, false
	}
	number := func(n int) int64 {
		v, _ := strconv.ParseInt(string(fields[n-3]), 10, 64)
		return v
	}
	return process{pid: pid, parent: int(number(4)), threads: number(20), memory: number(24) * int64(os.Getpagesize())}, true
}

// signalAll sends a signal to every process of the command. In a process namespace the kernel reaches all of them
// at once; otherwise they are stopped first, so that none starts another meanwhile.
func signalAll(namespace bool, signal unix.Signal) {
	if namespace {
		unix.Kill(-1, signal)
		return
	}
	if signal == unix.SIGKILL {
		for _, p := range descendants() {
			unix.Kill(p.pid, unix.SIGSTOP)
		}
	}
	for _, p := range descendants() {
		unix.Kill(p.pid, signal)
	}
}
