package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tools are folders below a home in which versions of programming languages are installed, and no secrets.
var tools = []string{".pyenv", ".rbenv", ".nodenv", ".goenv", ".jenv", ".nvm", ".asdf", ".volta", ".bun", ".deno", ".sdkman",
	".dotnet", ".juliaup", ".rye", ".pixi", ".rustup", ".cargo/bin", ".local/bin", ".local/lib", ".local/share/mise",
	".local/share/uv", ".local/share/fnm", ".local/share/pnpm", ".local/share/pipx", "go/bin", "go/pkg/mod", "miniconda3", "anaconda3"}

// ToolDirs returns folders that programs need to be run and that are not the system's: those below a home that are known
// to hold nothing else, and those of a PATH, with the library and the settings of a Python environment beside them.
func ToolDirs(home, path string) []string {
	if !filepath.IsAbs(home) || home == "/" {
		return nil
	}
	var dirs []string
	for _, name := range tools {
		dirs = append(dirs, filepath.Join(home, name))
	}
	for _, dir := range filepath.SplitList(path) {
		dir = filepath.Clean(dir)
		inSystem := func(place string) bool { return within(dir, place) }
		if !filepath.IsAbs(dir) || dir == "/" || dir == home || slices.ContainsFunc(programs, inSystem) {
			continue
		}
		dirs = append(dirs, dir)
		if above := filepath.Dir(dir); filepath.Base(dir) == "bin" && above != home && above != "/" {
			dirs = append(dirs, filepath.Join(above, "lib"), filepath.Join(above, "libexec"), filepath.Join(above, "pyvenv.cfg"))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// secrets are places outside homes that are closed. What ends in a slash or star stands for all that begins so.
var secrets = []string{"/etc/shadow*", "/etc/gshadow*", "/etc/sudoers*", "/etc/ssh/ssh_host_*", "/etc/ssl/private/", "/proc/kcore",
	"/proc/kmem", "/proc/1/", "/proc/sysrq-trigger", "/dev/mem", "/dev/kmem", "/dev/sd*", "/dev/nvme*", "/dev/vd*", "/dev/hd*", "/dev/xvd*",
	"/dev/mmcblk*", "/dev/disk*", "/dev/rdisk*", "/dev/dm-*", "/dev/mapper/", "/dev/loop*", "/dev/pts/", "/dev/tty*", "/dev/input/",
	"/var/spool/cron*", "/var/spool/at*", "/run/docker.sock", "/var/run/docker.sock", "/run/user/", "/run/containerd/", "/run/dbus/"}

// programs are places of the system that everybody reads.
var programs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap", "/etc", "/proc",
	"/sys", "/run", "/dev", "/var/lib/texmf", "/var/lib/dpkg", "/var/lib/ghostscript", "/var/cache/fontconfig", "/Library", "/System", "/Applications", "/private/etc"}

// devices may be written by everybody.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/fd"}

// Write tells whether a file may be written. Links are followed as far as the path exists.
func (p *Policy) Write(path string) Verdict {
	if slices.ContainsFunc(devices, func(d string) bool { return within(filepath.Clean(path), d) }) {
		return Verdict{}
	}
	path = resolve(path)
	if slices.ContainsFunc(p.write, func(dir string) bool { return within(path, dir) }) {
		return Verdict{}
	}
	return Verdict{Decision: Deny, Rule: "write-outside", Reason: fmt.Sprintf(
		"%q is outside the folders that may be written: write below %q instead", path, p.paths.Workspace)}
}

// Read tells whether a file may be read. Links are followed as far as the path exists.
func (p *Policy) Read(path string) Verdict {
	path = resolve(path)
	closed := p.Closed(path)
	switch {
	case closed.Decision != Allow:
		return closed
	case slices.ContainsFunc(p.read, func(dir string) bool { return within(path, dir) }),
		slices.ContainsFunc(programs, func(dir string) bool { return within(path, dir) }):
		return Verdict{}
	}
	return Verdict{Decision: Deny, Rule: "read-outside", Reason: fmt.Sprintf(
		"%q is outside the folders that may be read: %q, what the user added to it, and the system's programs", path, p.paths.Workspace)}
}

// Closed tells whether a file is in a home or a place of secrets and was not declared. Other places outside may not
// exist for a command, but nothing is lost when it tries.
func (p *Policy) Closed(path string) Verdict {
	path = resolve(path)
	if slices.ContainsFunc(p.read, func(dir string) bool { return within(path, dir) }) {
		return Verdict{}
	}
	home := slices.ContainsFunc(p.homes, func(dir string) bool { return dir != "/" && within(path, dir) })
	if !home && !secret(path) {
		return Verdict{}
	}
	return Verdict{Decision: Deny, Rule: "closed", Reason: fmt.Sprintf(
		"%q is closed: it may hold secrets of the user or of the system. Use files below %q; the user can declare more folders", path, p.paths.Workspace)}
}

func secret(path string) bool {
	if rest, ok := strings.CutPrefix(path, "/proc/"); ok {
		_, file, _ := strings.Cut(rest, "/")
		if first, _, _ := strings.Cut(file, "/"); first == "environ" || first == "mem" || first == "root" {
			return true
		}
	}
	return slices.ContainsFunc(secrets, func(s string) bool {
		if begin, ok := strings.CutSuffix(s, "*"); ok {
			return strings.HasPrefix(path, begin)
		}
		return within(path, strings.TrimSuffix(s, "/"))
	})
}

// resolve follows links in the part of a path that exists, and cleans the rest.
func resolve(path string) string {
	if path == "" {
		return ""
	}
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		// A link that leads nowhere yet is where a file would be made.
		if target, err := os.Readlink(at); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			if target = filepath.Join(target, rest); target != path && strings.Count(target, "/") < 256 {
				return filepath.Clean(target)
			}
		}
		if at == filepath.Dir(at) {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// within tells whether path is dir or below it. Both are clean.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
