package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	mountFlags = unix.MS_NOSUID | unix.MS_NODEV
	shmSize    = "size=512m,mode=1777"
	emptySize  = "size=1m,mode=755"
)

// hide gives the command a view of the files of its own: only its own processes in /proc; an empty home; private
// /tmp and /dev/shm; and no sockets of the system's services (/run), through which others would act for it. What was
// declared stays where it is.
func (l *launcher) hide() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", mountFlags|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	l.limitSpaces()
	keep, err := openAll(l.kept())
	defer closeAll(keep)
	if err != nil {
		return err
	}
	for _, dir := range l.hidden() {
		if err := l.cover(dir); err != nil {
			return fmt.Errorf("hide %s: %w", dir, err)
		}
		for _, k := range keep {
			if within(k.path, dir) {
				if err := k.bind(); err != nil {
					return fmt.Errorf("keep %s: %w", k.path, err)
				}
			}
		}
	}
	return nil
}

// limitSpaces forbids namespaces in the namespace and bounds its process numbers, where the kernel can. RLIMIT_NPROC
// does not hold root, the highest process number does: numbers below 300 are not used again.
func (l *launcher) limitSpaces() {
	os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	if n := l.order.Limits.Processes; n > 0 {
		os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.FormatInt(300+max(n, 2), 10)), 0)
	}
}

// hidden returns the folders that are hidden, each once, none within another, none that was declared.
func (l *launcher) hidden() []string {
	var dirs []string
	for _, dir := range []string{"/home", "/root", l.order.Home, "/run", "/tmp", "/var/tmp", "/dev/shm"} {
		path := real(dir)
		info, err := os.Stat(path)
		if path == "" || path == "/" || err != nil || !info.IsDir() || l.declared(path) {
			continue
		}
		if !slices.ContainsFunc(dirs, func(d string) bool { return within(path, d) }) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// declared tells whether a path was given, or is below one.
func (l *launcher) declared(path string) bool {
	return slices.ContainsFunc(slices.Concat(l.order.Write, l.order.Read), func(d string) bool { return within(path, d) })
}

// cover puts something else over a folder.
func (l *launcher) cover(dir string) error {
	switch {
	case dir == "/dev/shm":
		return unix.Mount("tmpfs", dir, "tmpfs", mountFlags, shmSize)
	case l.order.Tmp != "" && (dir == real("/tmp") || dir == real("/var/tmp")):
		tmp, err := open(l.order.Tmp)
		if err != nil {
			return err
		}
		defer unix.Close(tmp.fd)
		tmp.path = dir
		return tmp.mount()
	}
	return unix.Mount("tmpfs", dir, "tmpfs", mountFlags, emptySize)
}

// kept returns what is shown again in folders that are hidden, outer ones first.
func (l *launcher) kept() []string {
	paths := slices.Concat(l.order.Write, l.order.Read)
	if l.order.Tmp != "" {
		paths = append(paths, l.order.Tmp)
	}
	if resolv, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		paths = append(paths, resolv) // of systemd, it is below /run
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// place is an open file or folder and where it is to be seen.
type place struct {
	fd   int
	path string
	dir  bool
}

func open(path string) (place, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return place{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return place{}, err
	}
	return place{fd: fd, path: path, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
}

// openAll opens what exists.
func openAll(paths []string) ([]place, error) {
	var places []place
	for _, path := range paths {
		p, err := open(path)
		if err == unix.ENOENT || err == unix.ENOTDIR || err == unix.EACCES {
			continue
		}
		if err != nil {
			return places, fmt.Errorf("open %s: %w", path, err)
		}
		places = append(places, p)
	}
	return places, nil
}

func closeAll(places []place) {
	for _, p := range places {
		unix.Close(p.fd)
	}
}

// bind makes what it is mounted on, and mounts.
func (p place) bind() error {
	dir := p.path
	if !p.dir {
		dir = filepath.Dir(p.path)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if !p.dir {
		f, err := os.OpenFile(p.path, os.O_CREATE|os.O_RDONLY, 0o644)
		if err != nil {
			return err
		}
		f.Close()
	}
	return p.mount()
}

func (p place) mount() error {
	return unix.Mount("/proc/self/fd/"+strconv.Itoa(p.fd), p.path, "", unix.MS_BIND|unix.MS_REC, "")
}

// within tells whether path is dir or below it. Both are clean.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
