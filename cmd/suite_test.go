package cmd_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// module is the import path that all commands stand below.
const module = "github.com/openspace-dev/openspace"

// fewestScripts is how many scripts there are at least: a glob that finds less tests nothing.
const fewestScripts = 50

var (
	update = flag.Bool("update", false, "rewrite the golden sections of scripts")
	bin    string // the folder with the commands under test
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run builds every command once, as a user would.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "openspace-suite-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	args := []string{"build", "-o", dir + string(os.PathSeparator)}
	if testing.CoverMode() != "" {
		args = append(args, "-cover", "-coverpkg="+module+"/...")
	}
	build := exec.Command("go", append(args, module+"/cmd/...")...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released: net would need the C library otherwise
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the commands:", err)
		return 1
	}
	return m.Run()
}

func TestScript(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) < fewestScripts {
		t.Fatalf("got %d scripts (%v), want at least %d", len(files), err, fewestScripts)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: setup, Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "records": records, "terminal": terminal, "await": await, "envfile": envfile, "mkzip": mkzip, "flaky": flaky, "mcp": mcp,
		},
	})
}

// setup gives a script the commands, a home of its own and output that does not depend on the time.
func setup(e *testscript.Env) error {
	vars := map[string]string{
		"PATH":              bin + string(os.PathListSeparator) + e.Getenv("PATH"),
		"HOME":              filepath.Join(e.WorkDir, ".home"),
		"LANG":              "C",
		"SOURCE_DATE_EPOCH": "1700000000",
		"ROOT":              absolute(".."),
		"SAMPLES":           absolute("../samples"),
		"DATA":              dataDir(),
	}
	if dir := os.Getenv("SUITE_COVERDIR"); dir != "" {
		vars["GOCOVERDIR"] = dir
	}
	for name, value := range vars {
		e.Setenv(name, value)
	}
	return os.Mkdir(filepath.Join(e.WorkDir, ".home"), 0o755)
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// dataDir returns the folder of the large test data, which does not belong to the repository.
func dataDir() string {
	if dir := os.Getenv("OPENSPACE_DATA"); dir != "" {
		return absolute(dir)
	}
	for _, dir := range []string{"../../shared/data"} {
		if _, err := os.Stat(dir); err == nil {
			return absolute(dir)
		}
	}
	return ""
}

// condition knows [data], the large test data, and [root], which no file permission stops.
func condition(name string) (bool, error) {
	switch name {
	case "data":
		return dataDir() != "", nil
	case "root":
		return os.Getuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// exits N program args…: run the program and demand the exit status N.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitStatus(ts, ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("got exit status %d, want %d", got, want)
	}
}

func exitStatus(ts *testscript.TestScript, err error) int {
	exit, ok := err.(*exec.ExitError)
	if err != nil && !ok {
		ts.Fatalf("%v", err)
	}
	if !ok {
		return 0
	}
	return exit.ExitCode()
}

// commands returns the names of the commands that were built, without those that only serve tests.
func commands(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(bin)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "openspace-") {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names
}
