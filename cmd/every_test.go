package cmd_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/settings"
)

// ran is how a command ended.
type ran struct {
	status      int
	out, errOut string
}

// invoke runs a command under test in an empty folder with an empty home.
func invoke(t *testing.T, name string, args ...string) ran {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + bin}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// describe returns the descriptions of all commands.
func describe(t *testing.T) []cli.Description {
	t.Helper()
	names := commands(t)
	if len(names) == 0 {
		t.Fatal("no commands were built")
	}
	var res []cli.Description
	for _, name := range names {
		var d cli.Description
		if err := json.Unmarshal([]byte(invoke(t, name, "--describe-command").out), &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d.Name != name {
			t.Errorf("%s calls itself %q", name, d.Name)
		}
		res = append(res, d)
	}
	return res
}

// What is promised of all commands holds for each command and each verb.
func TestEveryCommand(t *testing.T) {
	for _, d := range describe(t) {
		t.Run(d.Name, func(t *testing.T) {
			checkManners(t, d.Name)
			checkManual(t, d)
			if len(d.Verbs) > 0 {
				if !strings.Contains(d.Usage, "[COMMAND") { // without a command it does nothing
					checkUsageError(t, d.Name)
				}
				checkUsageError(t, d.Name, "no-such-command")
			}
			for _, v := range d.Verbs {
				t.Run(v.Name, func(t *testing.T) { checkManners(t, d.Name, v.Name) })
				if v.Short == "" {
					t.Errorf("%s has no short text", v.Name)
				}
			}
		})
	}
}

// checkManners checks help, version and usage errors (CL-02).
func checkManners(t *testing.T, name string, verb ...string) {
	t.Helper()
	checkUsageError(t, name, append(verb, "--no-such-flag")...)
	checkUsageError(t, name, append(verb, "--json", "--plain", "x")...)
	checkUsageError(t, name, append(verb, "--color", "purple", "x")...)
	help := invoke(t, name, append(verb, "--help")...)
	if help.status != 0 || help.errOut != "" {
		t.Errorf("--help: got status %d and %q on stderr", help.status, help.errOut)
	}
	for _, want := range []string{"\nOPTIONS\n", "\nEXIT STATUS\n", "--json "} {
		if !strings.Contains(help.out, want) {
			t.Errorf("--help has no %q", want)
		}
	}
	version := invoke(t, name, append(verb, "--version")...)
	if version.status != 0 || !strings.HasPrefix(version.out, name+" ") || strings.Count(version.out, "\n") != 1 {
		t.Errorf("--version: got %+v", version)
	}
}

// checkUsageError demands a message and a hint on stderr, nothing on stdout and status 2.
func checkUsageError(t *testing.T, name string, args ...string) {
	t.Helper()
	got := invoke(t, name, args...)
	if got.status != 2 || got.out != "" || len(got.errOut) > 1000 {
		t.Errorf("%q: got status %d, %q on stdout, %q on stderr; want 2, nothing, a message", args, got.status, got.out, got.errOut)
	}
	asked := strings.Contains(got.errOut, "see "+name+" --help")
	if !asked && !strings.HasPrefix(got.errOut, `{"type":"error","code":"usage"`) {
		t.Errorf("%q: got %q on stderr", args, got.errOut)
	}
}

// checkManual demands that a manual has what a user looks for.
func checkManual(t *testing.T, d cli.Description) {
	t.Helper()
	if d.Short == "" || !strings.HasPrefix(d.Sections[0].Text, "Command "+d.Name+" ") || !strings.Contains(d.Sections[0].Text, "\nUsage:\n") {
		t.Errorf("the manual of %s does not begin as it should: %.100q", d.Name, d.Sections[0].Text)
	}
	var titles []string
	for _, s := range d.Sections {
		titles = append(titles, s.Title)
	}
	for _, want := range []string{"Exit status", "Examples"} {
		if !slices.Contains(titles, want) {
			t.Errorf("the manual of %s has no part %q: %q", d.Name, want, titles)
		}
	}
	for _, o := range d.Options {
		if o.Usage == "" {
			t.Errorf("option %q has no text", o.Names)
		}
	}
}

// The names that the config file knows are the flags of all commands and the settings without a flag.
func TestKnownSettings(t *testing.T) {
	want := []string{"api_key", "errors", "home", "host_skill_dirs", "llm_api_base", "llm_api_key", "llm_config", "llm_extra_headers"}
	for _, d := range describe(t) {
		for _, part := range append([]cli.Description{d}, d.Verbs...) {
			for _, o := range part.Options {
				if o.Setting != "" {
					want = append(want, o.Setting)
				}
			}
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	if got := settings.Known(); !slices.Equal(got, want) {
		t.Errorf("settings.Known lists\n%q\nthe commands have\n%q", got, want)
	}
}

// Every command is static: it runs on a machine without a C library.
func TestStatic(t *testing.T) {
	for _, name := range commands(t) {
		f, err := elf.Open(filepath.Join(bin, name))
		if err != nil {
			t.Skipf("not an ELF file: %v", err)
		}
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Errorf("%s needs a dynamic loader: something imports cgo, net or os/user", name)
			}
		}
	}
}

// Manual pages, completions and docs/commands.md are those of the commands as they are.
func TestGeneratedFiles(t *testing.T) {
	cmd := exec.Command("go", "run", "./scripts/gen", "-check", "-bin", bin)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The map of the suite names every command and every package is in the map of packages.
func TestMaps(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range commands(t) {
		if !strings.Contains(string(doc), "\t"+name+" ") {
			t.Errorf("cmd/doc.go does not name %s", name)
		}
	}
	doc, err = os.ReadFile("../pkg/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("../pkg")
	if err != nil || len(entries) < 10 {
		t.Fatalf("got %d entries of pkg, %v", len(entries), err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.Contains(string(doc), " "+e.Name()+" ") {
			t.Errorf("pkg/doc.go does not name %s", e.Name())
		}
	}
}
