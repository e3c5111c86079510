package policy

import (
	"slices"
	"strings"
	"sync"
)

// group is what is thought of a kind of command.
type group struct {
	decision Decision
	rule     string
	reason   string
	reads    []string // first arguments with which it only looks
}

// harmless tells whether a command of a group only looks, or shows its help.
func (g group) harmless(c cmd) bool {
	if len(c.args) == 0 {
		return slices.Contains(g.reads, "")
	}
	first := c.args[0].text
	if len(c.args) == 1 && (first == "--version" || first == "--help" || first == "-V") {
		return true
	}
	i := slices.IndexFunc(c.args, func(a word) bool { return !strings.HasPrefix(a.text, "-") })
	return slices.Contains(g.reads, first) || i > 0 && slices.Contains(g.reads, c.args[i].text)
}

// groups are the commands that are not simply allowed.
var groups = sync.OnceValue(func() map[string]group {
	m := map[string]group{}
	add := func(g group, names string, reads ...string) {
		g.reads = reads
		for _, name := range strings.Fields(names) {
			m[name] = g
		}
	}
	add(group{decision: Deny, rule: "power", reason: "it would stop or restart the machine"}, "shutdown reboot poweroff halt kexec")
	add(group{decision: Deny, rule: "disk", reason: "it would change a disk of the machine"},
		"mkfs mke2fs mkswap fdisk sfdisk cfdisk parted gdisk sgdisk wipefs blkdiscard cryptsetup lvremove vgremove pvremove mdadm zpool diskutil format")
	add(group{decision: Ask, rule: "root", reason: "it acts with the rights of somebody else: do it without, inside the workspace"},
		"sudo su doas pkexec runuser run0 newgrp sg setpriv visudo")
	add(group{decision: Ask, rule: "packages", reason: "it changes the programs of the machine: install into a folder of the workspace instead (python -m venv, npm install without -g), or do without"},
		"apt apt-get aptitude dpkg yum dnf rpm pacman zypper apk emerge brew port snap flatpak nix-env choco winget scoop pkg",
		"list", "show", "search", "info", "policy", "depends", "-l", "-L", "-s", "-S", "--list", "-q", "-qa", "-qi", "-ql", "-Q", "-Qi", "-Ss", "deps", "config")
	add(group{decision: Ask, rule: "remote", reason: "it acts on another machine or with the keys of the user"},
		"ssh scp sftp ssh-add ssh-agent ssh-copy-id ssh-keygen mosh telnet ftp rlogin rsh sshfs")
	add(group{decision: Ask, rule: "schedule", reason: "what it starts would run after this task, outside of it"}, "crontab at batch atrm anacron fcrontab")
	add(group{decision: Ask, rule: "services", reason: "it changes services of the machine: start what you need as a background job"},
		"systemctl service launchctl initctl rc-service rc-update chkconfig loginctl systemd-run systemd-nspawn machinectl supervisorctl",
		"status", "list-units", "list-unit-files", "is-active", "is-enabled", "cat", "show", "list", "--status-all")
	add(group{decision: Ask, rule: "containers", reason: "a container has rights that the sandbox takes away: do it without"},
		"docker docker-compose podman nerdctl ctr crictl buildah lxc lxc-start runc bwrap firejail nsenter unshare chroot pivot_root")
	add(group{decision: Ask, rule: "system", reason: "it changes settings of the machine"},
		"iptables ip6tables nft ufw firewall-cmd pfctl modprobe insmod rmmod depmod useradd userdel usermod groupadd groupdel adduser deluser passwd chpasswd "+
			"chsh umount swapon swapoff losetup timedatectl hwclock hostnamectl localectl update-alternatives update-grub grub-install ldconfig chattr setcap "+
			"setenforce csrutil spctl tccutil nvram pmset scutil networksetup dscl osascript defaults security reg netsh bcdedit sc schtasks taskkill iptables-restore "+
			"auditctl dmsetup brctl tc sysrq setterm")
	add(group{decision: Ask, rule: "system", reason: "it changes settings of the machine"}, "mount", "", "-l")
	add(group{decision: Ask, rule: "processes", reason: "it ends processes by name, and those of other commands cannot be seen from here: stop a job by its handle, or use kill with the number of a process that this command started"},
		"pkill killall killall5 skill")
	add(group{decision: Ask, rule: "debug", reason: "it looks into other processes"}, "gcore criu")
	return m
})

// speakers say their arguments and do nothing with them.
var speakers = []string{"echo", "printf", "test", "[", "true", "false", ":", "export", "which", "type", "basename", "dirname", "realpath", "readlink", "expr", "seq", "case", "git", "local", "declare"}

// searchers have a pattern or a program as their first argument.
var searchers = []string{"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "perl", "jq", "yq", "tr"}

// writer is how a command names the files that it writes.
type writer struct {
	values  string            // options with a value that is not an operand
	targets []string          // options whose value is written
	skip    int               // operands before the files
	last    bool              // only the last operand is written, when there are two
	none    bool              // no operand is written
	when    func([]word) bool // nil: always
}

var writers = map[string]writer{
	"touch": {values: "-t -d -r"}, "mkdir": {values: "-m"}, "mkfifo": {values: "-m"}, "mknod": {values: "-m"}, "truncate": {values: "-s -r"},
	"tee": {}, "sponge": {}, "chmod": {skip: 1}, "chown": {skip: 1}, "chgrp": {skip: 1}, "setfacl": {values: "-m -x", none: false, skip: 0},
	"cp": {values: "-t -S", targets: []string{"-t", "--target-directory"}, last: true}, "mv": {values: "-t -S", targets: []string{"-t", "--target-directory"}, last: true},
	"ln":      {values: "-t -S", targets: []string{"-t", "--target-directory"}, last: true},
	"install": {values: "-m -o -g -t", targets: []string{"-t", "--target-directory"}, last: true},
	"rsync":   {values: "-e", last: true}, "wget": {targets: []string{"-O", "-P", "--output-document", "--directory-prefix", "-o"}, none: true},
	"curl":   {targets: []string{"-o", "--output", "--output-dir", "-c", "--cookie-jar", "-D"}, none: true},
	"unzip":  {targets: []string{"-d"}, none: true},
	"tar":    {targets: []string{"-C", "--directory"}, none: true, when: extracts},
	"sed":    {values: "-e -f", skip: 1, when: inPlace},
	"gsed":   {values: "-e -f", skip: 1, when: inPlace},
	"perl":   {values: "-e -E", when: inPlace},
	"patch":  {targets: []string{"-d", "-o", "-r"}, none: true},
	"split":  {values: "-b -l -n", skip: 1},
	"sort":   {targets: []string{"-o", "--output"}, none: true},
	"pandoc": {targets: []string{"-o", "--output"}, none: true},
}

func extracts(args []word) bool {
	return len(args) > 0 && (flag(args, "x", "--extract", "--get") || !strings.HasPrefix(args[0].text, "-") && strings.Contains(args[0].text, "x"))
}

func inPlace(args []word) bool {
	return slices.ContainsFunc(args, func(a word) bool {
		return strings.HasPrefix(a.text, "-i") || strings.HasPrefix(a.text, "--in-place") ||
			strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && len(a.text) < 5 && strings.HasSuffix(a.text, "i")
	})
}

// wrapper is how a command names another one that it runs.
type wrapper struct {
	values string // options with a value
	skip   int    // operands before the command
	verb   string // an operand that has to stand before it
}

var wrappers = map[string]wrapper{
	"nohup": {}, "setsid": {}, "command": {}, "builtin": {}, "exec": {values: "-a"}, "nice": {values: "-n"}, "ionice": {values: "-c -n"},
	"timeout": {values: "-s -k --signal --kill-after", skip: 1}, "gtimeout": {values: "-s -k --signal --kill-after", skip: 1},
	"stdbuf": {values: "-i -o -e"}, "time": {values: "-f -o"}, "chronic": {}, "unbuffer": {}, "caffeinate": {}, "taskset": {skip: 1}, "chrt": {skip: 1},
	"strace": {values: "-o -e -s -p -P -E"}, "ltrace": {values: "-o -e -s -p"}, "valgrind": {}, "gdb": {values: "-x -ex"}, "faketime": {skip: 1},
	"proxychains": {}, "proxychains4": {}, "busybox": {}, "toybox": {}, "fakeroot": {}, "xvfb-run": {values: "-s -n -e"}, "winpty": {}, "rlwrap": {},
	"sudo": {values: "-u -g -h -p -C -r -t -D -R -T"}, "doas": {values: "-u -C"}, "pkexec": {values: "--user"}, "run0": {values: "-u"}, "runuser": {values: "-u -g"},
	"chroot": {skip: 1}, "unshare": {}, "nsenter": {values: "-t"}, "bwrap": {}, "firejail": {}, "systemd-run": {}, "flock": {values: "-w -E", skip: 1},
	"parallel": {values: "-j -N -a"}, "catchsegv": {}, "eatmydata": {}, "prlimit": {}, "cgexec": {values: "-g"}, "setarch": {skip: 1}, "linux64": {}, "linux32": {},
	"uv": {verb: "run"}, "poetry": {verb: "run"}, "pipenv": {verb: "run"}, "pdm": {verb: "run"}, "hatch": {verb: "run"}, "rye": {verb: "run"}, "pixi": {verb: "run"},
	"bundle": {verb: "exec"}, "conda": {values: "-n -p", verb: "run"}, "mamba": {values: "-n -p", verb: "run"}, "npm": {verb: "exec"}, "hyperfine": {},
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "pwsh", "yash"}

// interpreters run code that they get as the value of these options, or as standard input.
var interpreters = map[string]string{"python": "-c", "python2": "-c", "python3": "-c", "pypy3": "-c", "ipython": "-c", "perl": "-e -E", "ruby": "-e",
	"node": "-e -p --eval --print", "nodejs": "-e -p --eval", "deno": "eval", "bun": "-e", "php": "-r", "lua": "-e", "Rscript": "-e", "osascript": "-e", "tclsh": "", "awk": "", "gawk": "", "mawk": ""}

// fetchers bring something from the network.
var fetchers = []string{"curl", "wget", "fetch", "aria2c", "lynx", "w3m", "http", "https", "nc", "ncat", "netcat", "socat", "ftp"}
