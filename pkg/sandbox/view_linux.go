package sandbox

import (
	"errors"
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
	emptySize  = "size=4m,mode=755"
)

// view gives the command a tree of files of its own, of which it sees only what it was given: programs and declared
// folders, its own processes in /proc, a /tmp and a /dev/shm that nobody else has. Landlock alone would leave open what
// it does not look at: the rights and times of files, and the sockets of services that would act for the command.
func (l *launcher) view() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	places, err := openAll(l.seen())
	defer closeAll(places)
	if err != nil {
		return err
	}
	base, err := emptyTree()
	if err != nil {
		return err
	}
	if err = l.fill(base, places); err == nil {
		err = enter(base)
	}
	if err != nil {
		unix.Unmount(base, unix.MNT_DETACH) // all is seen again as it was
		return err
	}
	l.limitSpaces()
	return nil
}

// emptyTree mounts an empty tree somewhere; what is there is open already or not seen any more.
func emptyTree() (string, error) {
	for _, dir := range []string{"/tmp", "/run", "/mnt", "/var"} {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", mountFlags, emptySize); err != nil {
			return "", fmt.Errorf("mount an empty tree at %s: %w", dir, err)
		}
		return dir, nil
	}
	return "", errors.New("there is no folder to mount at")
}

// fill puts everything into the tree.
func (l *launcher) fill(base string, places []place) error {
	for _, dir := range []string{"/proc", "/dev/shm", "/tmp", "/var/tmp", "/run"} {
		if err := os.MkdirAll(base+dir, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", base+"/proc", "proc", mountFlags|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := unix.Mount("tmpfs", base+"/dev/shm", "tmpfs", mountFlags, shmSize); err != nil {
		return fmt.Errorf("mount /dev/shm: %w", err)
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, base+"/dev/"+name); err != nil {
			return err
		}
	}
	for _, p := range places {
		if err := p.show(base); err != nil {
			return fmt.Errorf("show %s: %w", p.path, err)
		}
	}
	return l.cover(base)
}

// cover puts something that nobody can open over what is closed.
func (l *launcher) cover(base string) error {
	file, dir := base+"/.closed", base+"/.closed.d"
	if err := errors.Join(emptyFile(file), os.Chmod(file, 0), os.Mkdir(dir, 0)); err != nil {
		return err
	}
	for _, path := range l.order.Closed {
		over := file
		info, err := os.Lstat(base + path)
		if err == nil && info.IsDir() {
			over = dir
		}
		if err == nil {
			err = unix.Mount(over, base+path, "", unix.MS_BIND, "")
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cover %s: %w", path, err)
		}
	}
	return nil
}

// enter makes the tree the root and lets go of the old one.
func enter(base string) error {
	old := base + "/.old"
	if err := os.Mkdir(old, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(base, old); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount("/.old", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the old root: %w", err)
	}
	return os.Remove("/.old")
}

// limitSpaces forbids namespaces in the namespace, unless the command confines parts of itself by them, and bounds its
// process numbers, where the kernel can. RLIMIT_NPROC does not hold root, the highest process number does: numbers below
// 300 are not used again.
func (l *launcher) limitSpaces() {
	if !l.order.Nested {
		os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	}
	if n := l.order.Limits.Processes; n > 0 {
		os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.FormatInt(300+max(n, 2), 10)), 0)
	}
}

// freeze makes all that is seen read-only but for what may be written (Linux 5.12).
func (l *launcher) freeze() error {
	frozen := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &frozen); err != nil {
		return fmt.Errorf("make mounts read-only: %w", err)
	}
	free := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	write := append([]string{"/dev/shm"}, l.order.Write...)
	if l.order.Tmp != "" {
		write = append(write, l.order.Tmp, "/tmp", "/var/tmp")
	}
	if l.order.Nested {
		write = append(write, "/proc")
	}
	for _, path := range write {
		if err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &free); err != nil && err != unix.ENOENT {
			return fmt.Errorf("make %s writable: %w", path, err)
		}
	}
	return nil
}

// place is an open file or folder, and where it is to be seen.
type place struct {
	path string
	fd   int
	dir  bool
	link string // where a link leads: of that only the text is taken
}

// seen returns what the command may see: what it is given, from the outside to the inside, after the system's.
func (l *launcher) seen() []place {
	var out []place
	for _, path := range slices.Concat(system, devices) {
		if path != "/proc" {
			out = append(out, place{path: path})
		}
	}
	if l.order.Tmp != "" {
		out = append(out, place{path: "/tmp", link: l.order.Tmp}, place{path: "/var/tmp", link: l.order.Tmp})
	}
	declared := slices.Concat(l.order.Write, l.order.Read)
	if l.order.Tmp != "" {
		declared = append(declared, l.order.Tmp)
	}
	if resolv, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && !within(resolv, "/etc") {
		declared = append(declared, resolv) // of systemd, it is below /run
	}
	slices.Sort(declared)
	for _, path := range slices.Compact(declared) {
		inSystem := func(dir string) bool { return within(path, dir) }
		if slices.Contains(l.order.Write, path) || path == l.order.Tmp || !slices.ContainsFunc(system, inSystem) {
			out = append(out, place{path: path})
		}
	}
	return out
}

// openAll opens what exists. A link of the system stays a link; a place with another name is opened under that.
func openAll(places []place) ([]place, error) {
	var out []place
	for _, p := range places {
		path, flags := p.path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW
		if p.path == "/" {
			return out, errors.New("the whole root is declared")
		}
		if p.link != "" {
			path = p.link
		}
		fd, err := unix.Open(path, flags, 0)
		switch {
		case err == unix.ENOENT || err == unix.ENOTDIR || err == unix.EACCES:
			continue
		case err != nil:
			return out, fmt.Errorf("open %s: %w", path, err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			unix.Close(fd)
			return out, fmt.Errorf("look at %s: %w", path, err)
		}
		q := place{path: p.path, fd: fd, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			if q.link, err = os.Readlink(path); err != nil {
				unix.Close(fd)
				return out, err
			}
		}
		out = append(out, q)
	}
	return out, nil
}

func closeAll(places []place) {
	for _, p := range places {
		unix.Close(p.fd)
	}
}

// show makes the place in the tree and mounts what is open on it.
func (p place) show(base string) error {
	at := base + p.path
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if p.link != "" {
		return os.Symlink(p.link, at)
	}
	if p.dir {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
	} else if err := emptyFile(at); err != nil {
		return err
	}
	return unix.Mount("/proc/self/fd/"+strconv.Itoa(p.fd), at, "", unix.MS_BIND|unix.MS_REC, "")
}

func emptyFile(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// within tells whether path is dir or below it. Both are clean.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
