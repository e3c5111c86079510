package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data (linux/seccomp.h): number of the call, architecture, first and second argument. Of
// the arguments the low half is looked at, on the little-endian machines that are supported.
const (
	atCall = 0
	atArch = 4
	atArg0 = 16
	atArg1 = 24
)

// x32 marks calls of the x32 interface, which have numbers of their own on amd64.
const x32 = 0x4000_0000

// forbidden are calls that reach beyond files and processes: io_uring does what a filter cannot see, the key rings and
// events belong to the user or the machine, and the others have a long history of holes.
var forbidden = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_ADD_KEY,
	unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD}

var machines = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// filterCalls refuses system calls: the forbidden ones, typing into a terminal, and sockets to the machine's
// hypervisor. Without private mounts also local sockets, by which services such as a container daemon could be asked to act.
// Where the command shares our processes it does not get to signal those who are to end it.
func filterCalls(private bool) error {
	machine, ok := machines[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("not known for %s", runtime.GOARCH)
	}
	var guards []uint32
	// This thread, too: it ends in a moment, but it is within the command's reach until then, and the launcher with it.
	for _, pid := range []int{unix.Getpid(), unix.Getppid(), unix.Gettid()} {
		if pid > 1 && unix.Getpid() > 1 { // not the first of a namespace, which the kernel guards, and what is outside of it
			guards = append(guards, uint32(pid))
		}
	}
	filter := program(machine, !private, guards)
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return err
	}
	runtime.KeepAlive(filter)
	return nil
}

// signals are the calls by which one process ends another, with the process as their first argument. Kernels before 6.12
// cannot keep a command from signalling processes outside.
var signals = []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_PIDFD_OPEN, unix.SYS_PRLIMIT64}

// program writes the filter: tests one after the other, each followed by its refusal. guards are processes that are not to
// be signalled.
func program(machine uint32, noLocal bool, guards []uint32) []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	equal := func(k uint32, no uint8) unix.SockFilter { // jumps over no instructions when it is not
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: no}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	refuse := end(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	out := []unix.SockFilter{
		load(atArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: machine, Jt: 1}, refuse,
		load(atCall),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jf: 1}, refuse,
	}
	for _, call := range forbidden {
		out = append(out, equal(call, 1), refuse)
	}
	argument := func(call, at uint32, values ...uint32) {
		out = append(out, equal(call, uint8(2+2*len(values))), load(at))
		for _, v := range values {
			out = append(out, equal(v, 1), refuse)
		}
		out = append(out, load(atCall))
	}
	families := []uint32{unix.AF_VSOCK}
	if noLocal {
		families = append(families, unix.AF_UNIX)
	}
	if len(guards) > 0 {
		for _, call := range signals {
			argument(call, atArg0, guards...)
		}
		groups := []uint32{^uint32(0)} // all processes of the user
		for _, pid := range guards {
			groups = append(groups, -pid)
		}
		argument(unix.SYS_KILL, atArg0, groups...)
	}
	argument(unix.SYS_SOCKET, atArg0, families...)
	argument(unix.SYS_IOCTL, atArg1, unix.TIOCSTI, unix.TIOCLINUX)
	return append(out, end(unix.SECCOMP_RET_ALLOW))
}
