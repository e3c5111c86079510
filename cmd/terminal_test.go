package cmd_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// terminal COLUMNS KEYS SCREEN program args…: run the program on a terminal of that width, type what the
// file KEYS holds, and write what the screen shows to the file SCREEN. Its exit status does not matter.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: terminal COLUMNS KEYS SCREEN program args...")
	}
	columns, err := strconv.ParseUint(args[0], 10, 16)
	ts.Check(err)
	control, tty, err := openTerminal(uint16(columns))
	ts.Check(err)
	defer control.Close()
	path, err := lookPath(ts, args[3])
	ts.Check(err)
	cmd := exec.Command(path, args[4:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	tty.Close()
	_, err = io.WriteString(control, ts.ReadFile(args[1]))
	ts.Check(err)
	screen := readAll(control)
	cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), screen, 0o644))
}

// openTerminal returns both ends of a new pseudo-terminal.
func openTerminal(columns uint16) (control, tty *os.File, err error) {
	control, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(control.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return control, tty, err
}

// readAll reads until the other end is closed, which a terminal reports as an error.
func readAll(r io.Reader) []byte {
	var buf bytes.Buffer
	io.Copy(&buf, r)
	return bytes.ReplaceAll(buf.Bytes(), []byte("\r\n"), []byte("\n"))
}

func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if path, err := exec.LookPath(dir + "/" + name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %q", name)
}

// environ returns the variables of a script that matter to a command on a terminal.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG", "TERM", "NO_COLOR", "TMPDIR", "SOURCE_DATE_EPOCH",
		"OPENSPACE_HOME", "OPENSPACE_HOST_SKILL_DIRS", "OPENSPACE_ERRORS", "OPENSPACE_LLM_API_BASE", "OPENSPACE_LLM_API_KEY", "OPENSPACE_MODEL",
		"OPENSPACE_SEARCH_SCOPE"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
