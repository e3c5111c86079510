package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// system are the places of programs, libraries and their data, which every command may read.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap",
	"/etc", "/proc", "/sys", "/run/current-system", "/var/lib/texmf", "/var/lib/dpkg", "/var/lib/ghostscript", "/var/cache/fontconfig"}

// devices may be read and written by everybody.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// landlock closes all files but those that were declared and the system's, and returns the version of the interface.
// private tells that /tmp, /dev/shm and /run are the command's own.
func (l *launcher) landlock(private bool) int {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil || version < 1 {
		l.note(errors.New("not in this kernel"), "Landlock")
		return 0
	}
	full := landlock.V7
	config := landlock.Config{HandledAccessFS: full.HandledAccessFS, Scoped: full.Scoped}.BestEffort() // the network stays open
	if err := restrict(config, l.rules(private)); err != nil {
		l.note(err, "Landlock")
		return 0
	}
	if version < 2 {
		l.note(errors.New("its version is 1"), "Landlock's rule on moving files")
	}
	return version
}

// restrict closes files for this thread and for what is started from it. The other threads of the launcher stay free:
// each would get a domain of its own, from which it could not signal the command.
func restrict(config landlock.Config, rules []landlock.Rule) error {
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil {
		return err
	}
	if fd < 0 {
		return errors.New("nothing of it can be used")
	}
	defer unix.Close(fd)
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), uintptr(flags), 0); errno != 0 {
		return errno
	}
	return nil
}

func (l *launcher) rules(private bool) []landlock.Rule {
	write := append([]string{}, l.order.Write...)
	if private {
		write = append(write, "/dev/shm")
		if l.order.Tmp != "" {
			write = append(write, "/tmp", "/var/tmp")
		}
	}
	if l.order.Nested {
		write = append(write, "/proc")
	}
	rules := []landlock.Rule{
		landlock.RWFiles(devices...).IgnoreIfMissing(),
	}
	for _, path := range write {
		rules = append(rules, rule(path, true)...)
	}
	for _, path := range append(systemPaths(private), l.order.Read...) {
		rules = append(rules, rule(path, false)...)
	}
	return rules
}

// rule opens one path; a file has fewer rights than a folder, and the kernel refuses those it cannot have.
func rule(path string, write bool) []landlock.Rule {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case write && info.IsDir():
		return []landlock.Rule{landlock.RWDirs(path).WithRefer().IgnoreIfMissing()}
	case write:
		return []landlock.Rule{landlock.RWFiles(path).IgnoreIfMissing()}
	case info.IsDir():
		return []landlock.Rule{landlock.RODirs(path).IgnoreIfMissing()}
	}
	return []landlock.Rule{landlock.ROFiles(path).IgnoreIfMissing()}
}

// systemPaths returns what everybody may read. Of /etc root may read as much as others do; when mounts are private, the
// rest of it is covered. In /run the name servers may stand.
func systemPaths(private bool) []string {
	paths := append([]string{"/run/systemd/resolve", "/run/resolvconf"}, system...)
	if os.Getuid() != 0 || private {
		return paths
	}
	i := slices.Index(paths, "/etc")
	return append(slices.Delete(paths, i, i+1), readable("/etc", 3)...)
}

// readable returns the largest parts of a folder in which everybody may read everything, going down some levels.
func readable(dir string, levels int) []string {
	open, closed := split(dir, levels)
	if len(closed) == 0 {
		return []string{dir}
	}
	return open
}

// split divides a folder into parts that everybody may read and those that not everybody may. A folder below it that
// cannot be divided any more, for want of levels, counts by its own rights.
func split(dir string, levels int) (open, closed []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0: // what it leads to counts where it is
			open = append(open, path)
		case info.IsDir() && info.Mode()&0o005 != 0o005, !info.IsDir() && info.Mode()&0o004 == 0:
			closed = append(closed, path)
		case info.IsDir() && levels > 1:
			more, not := split(path, levels-1)
			if len(not) == 0 {
				more = []string{path}
			}
			open, closed = append(open, more...), append(closed, not...)
		default:
			open = append(open, path)
		}
	}
	return open, closed
}

// closedParts are the parts of /etc that not everybody may read, and that root need not either.
var closedParts = sync.OnceValue(func() []string {
	_, closed := split("/etc", 3)
	return closed
})
