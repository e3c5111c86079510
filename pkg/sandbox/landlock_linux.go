package sandbox

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// system are the places of programs, libraries and their data, which every command may read.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap",
	"/etc", "/proc", "/sys", "/run", "/var/lib/texmf", "/var/lib/dpkg", "/var/lib/ghostscript", "/var/cache/fontconfig"}

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
	config := landlock.MustConfig(full.HandledAccessFS, full.Scoped).BestEffort() // the network stays open
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

// systemPaths returns what everybody may read. Of /etc root may read as much as others do: no password hashes, no
// keys of hosts. /run is the system's when mounts are not private, and then stays closed but for the name servers.
func systemPaths(private bool) []string {
	var paths []string
	for _, path := range system {
		switch {
		case path == "/etc" && os.Getuid() == 0:
			paths = append(paths, readable(path, 3)...)
		case path == "/run" && !private:
			paths = append(paths, "/run/systemd/resolve", "/run/resolvconf")
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

// readable returns the largest parts of a folder in which everybody may read everything, going down some levels.
// A folder that has more than that is taken when everybody may read it.
func readable(dir string, levels int) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var open []string
	whole := true
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir() && info.Mode()&0o005 != 0o005, !info.IsDir() && info.Mode()&0o004 == 0:
			whole = false
		case info.IsDir() && levels > 1 && e.Type()&os.ModeSymlink == 0:
			below := readable(path, levels-1)
			whole = whole && len(below) == 1 && below[0] == path
			open = append(open, below...)
		default:
			open = append(open, path)
		}
	}
	if whole {
		return []string{dir}
	}
	return open
}
