package tools_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// attempt is a way to get out. {out} is a folder outside, {home} the user's home in it, {pid} a process outside and {name}
// a file name that is used nowhere else.
type attempt struct {
	name    string
	command string
	says    string // part of the reason for which the command is not run; empty: it runs, and the sandbox stops it
	inside  bool   // it may succeed, for what it changes is not outside
	never   bool   // it is not tried past the policy
}

// attempts are the ways out that are tried: as they stand, and hidden in a file that the policy does not look into.
var attempts = []attempt{
	{name: "write", command: "echo evil >{out}/file", says: "outside the folders"},
	{name: "append", command: "echo evil >>{out}/file", says: "outside the folders"},
	{name: "new file", command: "touch {out}/new", says: "outside the folders"},
	{name: "remove", command: "rm -f {out}/file && ! ls {out}/file", says: "outside the folders", inside: true},
	{name: "remove a tree", command: "rm -r {out}", says: "outside the folders"},
	{name: "move away", command: "mv {out}/file .", says: "outside the folders"},
	{name: "overwrite by copy", command: "echo x >f; cp f {out}/file", says: "outside the folders"},
	{name: "symbolic link", command: "ln -s {out}/file l; echo evil >l"},
	{name: "linked folder", command: "ln -s {out} d; touch d/new"},
	{name: "hard link", command: "ln {out}/file h && echo evil >>h"},
	{name: "cd up", command: "cd ..; touch escaped", says: "outside the folders"},
	{name: "cd outside", command: "cd {out} && touch escaped", says: "outside the folders"},
	{name: "relative path", command: "echo evil >../outside/file", says: "outside the folders"},
	{name: "empty a file", command: "truncate -s 0 {out}/file", says: "outside the folders"},
	{name: "change rights", command: "chmod 777 {out}/file", says: "outside the folders"},
	{name: "change the owner", command: "chown 12345 {out}/file", says: "outside the folders"},
	{name: "change the time", command: "touch -d 2001-01-01 {out}/file", says: "outside the folders"},
	{name: "find and delete", command: "find {out} -name file -delete; ! ls {out}/file", says: "outside the folders", inside: true},
	{name: "archive with absolute paths", command: "mkdir -p p && tar -cPf a.tar /etc/hostname --transform 's#/etc/hostname#{out}/new#' && tar -xPf a.tar && ls {out}/new"},
	{name: "another language", command: "python3 -c 'open(\"{out}/new\", \"w\").write(\"evil\")'"},
	{name: "start files of the shell", command: "echo evil >>~/.bashrc", says: "outside the folders", inside: true},
	{name: "keys of the user", command: "cat {home}/.ssh/id_rsa", says: "is closed"},
	{name: "copy of the keys", command: "cp -r {home}/.ssh stolen && cat stolen/id_rsa", says: "is closed"},
	{name: "keys by another language", command: "python3 -c 'print(open(\"{home}/.ssh/id_rsa\").read())'"},
	{name: "environment of the parent", command: "tr '\\0' '\\n' </proc/{pid}/environ", says: "is closed"},
	{name: "root of another process", command: "cat /proc/{pid}/root{home}/.ssh/id_rsa", says: "is closed"},
	{name: "the launcher", command: "x=1; cat /proc/$x/environ", says: "is closed"},
	{name: "folder of the launcher", command: "x=$(echo 1); cat /proc/$x/root{home}/.ssh/id_rsa"},
	{name: "input of another process", command: "echo evil >/proc/{pid}/fd/0", says: "outside the folders"},
	{name: "password hashes", command: "cat /etc/shadow", says: "is closed"},
	{name: "settings of git", command: "git config --global user.name evil", says: "without --global", inside: true},
	{name: "ssh", command: "ssh -o BatchMode=yes -o ConnectTimeout=1 -o StrictHostKeyChecking=no 127.0.0.1 touch {out}/new", says: "another machine"},
	{name: "cron", command: "echo '* * * * * touch {out}/new' | crontab -", says: "after this task"},
	{name: "cron by file", command: "echo '* * * * * root touch {out}/new' >/etc/cron.d/{name}", says: "outside the folders"},
	{name: "at", command: "echo 'touch {out}/new' | at now", says: "after this task"},
	{name: "daemon", command: "(setsid sh -c 'sleep 78.25; touch {out}/new' >/dev/null 2>&1 </dev/null &)", inside: true},
	{name: "nohup", command: "nohup sleep 78.25 >/dev/null 2>&1 & disown; echo left", inside: true},
	{name: "fork bomb", command: "b() { b | b & }; b", says: "without end", inside: true},
	{name: "many processes", command: "for i in $(seq 200); do sleep 78.25 & done; wait"},
	{name: "memory", command: "python3 -c 'x = [bytearray(b\"x\") * (16 << 20) for i in range(100)]'"},
	{name: "disk", command: "head -c 20000000 /dev/zero >big"},
	{name: "mount", command: "mount -t tmpfs x {out}", says: "settings of the machine"},
	{name: "bind mount", command: "mkdir -p m && mount --bind / m", says: "settings of the machine"},
	{name: "namespaces", command: "unshare -Urm sh -c 'mount -t tmpfs x /usr'", says: "a container has rights"},
	{name: "chroot", command: "chroot / touch {out}/new", says: "outside the folders"},
	{name: "trace another process", command: "timeout 2 strace -p {pid}"},
	{name: "kill", command: "kill -9 {pid}"},
	{name: "kill all", command: "kill -9 -1", says: "signal all processes", inside: true},
	{name: "kill by name", command: "pkill -9 -f 'sleep 79.25'", says: "stop a job by its handle"},
	{name: "shared memory", command: "echo x >/dev/shm/{name}", inside: true},
	{name: "temporary files", command: "echo x >/tmp/{name}; echo x >/var/tmp/{name}", inside: true},
	{name: "terminal", command: "echo evil >/dev/tty", says: "outside the folders"},
	{name: "type into the terminal", command: "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'"},
	{name: "terminal of another", command: "python3 -c 'open(\"/dev/pts/0\", \"w\").write(\"evil\")'"},
	{name: "disk device", command: "cat /dev/vda /dev/sda | head -c 1", says: "is closed", inside: true},
	{name: "new device", command: "mknod disk b 254 0 && head -c 1 disk"},
	{name: "setting of the kernel", command: "python3 -c 'open(\"/proc/sys/kernel/ctrl-alt-del\", \"r+\").write(\"0\")'"},
	{name: "root", command: "sudo -n touch {out}/new", says: "outside the folders"},
	{name: "setuid program", command: "cp /bin/sh s && chmod 4755 s && ./s -p -c 'touch {out}/new'"},
	{name: "socket of a service", command: "python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"{out}/sock\"); s.send(b\"evil\")'"},
	{name: "abstract socket", command: "python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"\\0{name}\"); s.send(b\"evil\")'"},
	{name: "service manager", command: "systemd-run --quiet touch {out}/new", says: "outside the folders"},
	{name: "container", command: "docker run --rm -v /:/h alpine touch /h{out}/new", says: "a container has rights"},
	{name: "delete all", command: "rm -rf --no-preserve-root /", says: "workspace or a folder that it is in", never: true},
	{name: "switch off", command: "shutdown now", says: "stop or restart the machine", never: true},
}

// isClosed is a reason that comes before others where the source is in the user's home.
const isClosed = "is closed: it may hold secrets"

const canary = "canary-4711-of-the-user"

// outside is the world that must stay as it is.
type outside struct {
	dir, home, work, name string
	victim                *exec.Cmd
	heard                 chan string // what services got
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	// Not in the folder for temporary files, wherever the source is: commands have one of their own, and would not see this one.
	base, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(base, "/tmp/") {
		if base, err = os.UserHomeDir(); err != nil || strings.HasPrefix(base, "/tmp/") {
			t.Skipf("source and home are in /tmp: %v", err)
		}
	}
	dir, err := os.MkdirTemp(base, "escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	o := &outside{dir: filepath.Join(dir, "outside"), work: filepath.Join(dir, "work"), heard: make(chan string, 100)}
	o.home, o.name = filepath.Join(o.dir, "home"), fmt.Sprintf("openspace-escape-%d", os.Getpid())
	for _, d := range []string{o.work, filepath.Join(o.home, ".ssh")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"file", "home/.bashrc", "home/.ssh/id_rsa"} {
		if err := os.WriteFile(filepath.Join(o.dir, f), []byte(canary+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.victim = exec.Command("sleep", "79.25")
	o.victim.Env = append(os.Environ(), "CANARY="+canary)
	if err := o.victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.victim.Process.Kill()
		o.victim.Wait()
	})
	o.listen(t, filepath.Join(o.dir, "sock"))
	o.listen(t, "@"+o.name)
	return o
}

// listen is a service that everybody may call.
func (o *outside) listen(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			o.heard <- address
			c.Close()
		}
	}()
}

// state describes everything outside that could be changed.
func (o *outside) state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(path) // of folders and sockets: nothing
		fmt.Fprintln(&b, path, info.Mode(), info.ModTime(), sha256.Sum256(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	user, _ := os.UserHomeDir()
	for _, path := range []string{"/tmp/" + o.name, "/var/tmp/" + o.name, "/dev/shm/" + o.name, "/etc/cron.d/" + o.name, filepath.Join(filepath.Dir(o.work), "escaped")} {
		if _, err := os.Lstat(path); err == nil {
			fmt.Fprintln(&b, "there is", path)
		}
	}
	for _, path := range []string{"/etc/passwd", "/etc/shadow", "/proc/sys/kernel/ctrl-alt-del", "/proc/self/mounts", user + "/.gitconfig", user + "/.bashrc", "/var/spool/cron/crontabs/root"} {
		text, err := os.ReadFile(path)
		fmt.Fprintln(&b, path, sha256.Sum256(text), err)
	}
	alive := o.victim.Process.Signal(syscall.Signal(0)) == nil
	fmt.Fprintln(&b, "process", alive, len(o.heard))
	return b.String()
}

func (o *outside) fill(s string) string {
	return strings.NewReplacer("{out}", o.dir, "{home}", o.home, "{pid}", strconv.Itoa(o.victim.Process.Pid), "{name}", o.name).Replace(s)
}

// env is an environment with small limits.
func (o *outside) env(t *testing.T) *tools.Env {
	t.Helper()
	if err := os.RemoveAll(o.work); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(o.work, 0o755); err != nil {
		t.Fatal(err)
	}
	e := &tools.Env{Workspace: o.work, Environ: append(os.Environ(), "HOME="+o.home, "SECRET_TOKEN="+canary)}
	e.Limits.Command = sandbox.Limits{Processes: 60, Memory: 256 << 20, FileSize: 10 << 20}
	e.Limits.Time = 20e9
	return e
}

// TestEscape (scripts/test-escape) tries to get out of the workspace. Nothing outside may change, no secret may be seen, nothing may be left
// running, and what is refused says why.
func TestEscape(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a sandbox")
	}
	if len(attempts) < 40 {
		t.Fatalf("got %d attempts, want 40 at least", len(attempts))
	}
	p, err := sandbox.Start(t.Context(), sandbox.Spec{Argv: []string{"true"}, Dir: "/", Environ: []string{"PATH=" + os.Getenv("PATH")}, Level: sandbox.Strict})
	if err != nil {
		t.Skipf("it would do harm where the sandbox is not complete: %v", err)
	}
	<-p.Ended()
	o := newOutside(t)
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) { o.try(t, a, a.says, a.command) })
		if !a.never {
			t.Run(a.name+", hidden", func(t *testing.T) { o.try(t, a, "", "") })
		}
	}
}

// try runs one attempt; without a command, from a file.
func (o *outside) try(t *testing.T, a attempt, says, command string) {
	t.Helper()
	e := o.env(t)
	defer e.Close()
	if command == "" {
		command = "bash ./harmless.sh"
		if err := os.WriteFile(filepath.Join(o.work, "harmless.sh"), []byte(o.fill(a.command)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := o.state(t)
	r := call(t, e, "run_shell", map[string]any{"command": o.fill(command)})
	e.Close()
	if after := o.state(t); after != before {
		t.Errorf("something outside is not as before:\n%s\nwas\n%s", after, before)
	}
	if strings.Contains(r.Content, canary) {
		t.Errorf("got a secret: %q", r.Content)
	}
	switch {
	case says != "" && (r.Code != tools.Denied || !strings.Contains(r.Content, says) && !strings.Contains(r.Content, isClosed)):
		t.Errorf("got %q (%s), want it denied with %q", r.Content, r.Code, says)
	case says == "" && !a.inside && !r.Failed():
		t.Errorf("got %q, want a failure that says why", r.Content)
	case r.Failed() && len(r.Content) < 10:
		t.Errorf("got %q, want a reason", r.Content)
	}
	if n := processes(t, "78.25"); n != 0 {
		t.Errorf("got %d processes left, want none", n)
	}
	t.Logf("%s", strings.TrimSpace(r.Content))
}
