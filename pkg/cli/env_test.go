package cli_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// inputs returns what Inputs yields, one word each, and the run's result.
func inputs(t *testing.T, signals bool, p cli.Process) (got []string, res result) {
	t.Helper()
	c := does(func(_ context.Context, env *cli.Env) error {
		for in := range env.Inputs(wire.TypeQuery) {
			got = append(got, fmt.Sprintf("%s/%d/%s/%s", in.ID, in.Line, in.Type, in.Value+string(in.Data)))
		}
		return nil
	})
	c.Signals = signals
	res = exec(t, c, p)
	return got, res
}

func TestInputs(t *testing.T) {
	tests := []struct {
		name, stdin string
		args, want  []string
		summary     string
	}{
		{"arguments", "ignored", []string{"a", "b c"}, []string{"1/0//a", "2/0//b c"}, `"in":2,"out":0,"errors":0,"skipped":0`},
		{"an argument that looks like a record is text", "", []string{`{"type":"query"}`}, []string{`1/0//{"type":"query"}`}, `"in":1`},
		{"stdin", "a\n\n b \n", nil, []string{"1/1//a", "3/3//b"}, `"in":2`},
		{"dash", "a\n", []string{"-"}, []string{"1/1//a"}, `"in":1`},
		{"dash beside others", "x\n", []string{"a", "-"}, []string{"1/0//a"}, `"in":2,"out":0,"errors":1`},
		{"records", `{"type":"query","id":"q"}` + "\n{}\n" + `{"type":"query"}`, nil,
			[]string{`q/1/query/{"type":"query","id":"q"}`, "2/2//{}", `3/3/query/{"type":"query"}`}, `"in":3`},
		{"other types are passed over", `{"type":"hit"}` + "\n" + `{"type":"summary"}` + "\na\n", nil, []string{"3/3//a"}, `"in":1,"out":0,"errors":0,"skipped":2`},
		{"errors are passed on", `{"type":"error","id":"7","code":"auth","message":"m","exit":4}`, nil, nil, `"in":1,"out":0,"errors":1`},
		{"broken", "{\n" + `{"type":1}` + "\n\xff\xfe\na", nil, []string{"4/4//a"}, `"in":4,"out":0,"errors":3`},
		{"an argument that is not utf-8", "", []string{"\xff"}, nil, `"in":1,"out":0,"errors":1`},
		{"nothing", "", nil, nil, `"in":0,"out":0,"errors":0,"skipped":0`},
	}
	for _, tt := range tests {
		for _, signals := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, signals %v", tt.name, signals), func(t *testing.T) {
				got, res := inputs(t, signals, cli.Process{Args: tt.args, Stdin: strings.NewReader(tt.stdin)})
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if !strings.Contains(res.out, tt.summary) {
					t.Errorf("got %q, want %q", res.out, tt.summary)
				}
			})
		}
	}
}

// What arrives as an error leaves as the same error, without the other command's exit status.
func TestInputsPassOnError(t *testing.T) {
	in := `{"type":"error","id":"7","code":"not_found","message":"no skill","hint":"h","line":9,"skill_id":"s","exit":1,"zz_a":1}`
	_, res := inputs(t, false, cli.Process{Stdin: strings.NewReader(in)})
	want := `{"type":"error","id":"7","code":"not_found","message":"no skill","hint":"h","line":9,"skill_id":"s"}` + "\n"
	if !strings.HasPrefix(res.out, want) || res.status != 1 {
		t.Errorf("got %d %q, want 1 %q", res.status, res.out, want)
	}
}

// An error about a very long input is short, and a very long id is refused: an answer always fits on a line.
func TestInputsLong(t *testing.T) {
	line := strings.Repeat("漢", 5<<20)
	res := exec(t, does(func(_ context.Context, env *cli.Env) error {
		for in := range env.Inputs(wire.TypeQuery) {
			env.Out.Fail(in.Errorf(wire.NotFound, "no %s", in.Value))
		}
		return nil
	}), cli.Process{Stdin: strings.NewReader(line + "\n" + `{"type":"query","id":"` + line + `"}` + "\nend\n")})
	if len(res.out) > 20000 || strings.Count(res.out, "…") != 2 || strings.Contains(res.out, "\ufffd") {
		t.Errorf("got %d bytes, %.200q", len(res.out), res.out)
	}
	for _, want := range []string{`"id":"1","code":"not_found","message":"no 漢`, `"id":"2","code":"too_long","message":"line 2: id is longer than 1024 bytes"`, `"message":"no end"`} {
		if !strings.Contains(res.out, want) {
			t.Errorf("no %s in the output", want)
		}
	}
}

func TestInputsOnTerminal(t *testing.T) {
	_, res := inputs(t, false, cli.Process{Stdin: strings.NewReader(""), StdinTerminal: true})
	if want := "probe: waiting for input, one a line; ctrl-d ends it\n"; res.errOut != want {
		t.Errorf("got %q, want %q", res.errOut, want)
	}
	_, res = inputs(t, false, cli.Process{Args: []string{"a"}, StdinTerminal: true})
	if res.errOut != "" {
		t.Errorf("got %q with an argument", res.errOut)
	}
}

// settingsOf runs a command with flags and returns what its flags and their provenance are.
func settingsOf(t *testing.T, p cli.Process) (string, result) {
	t.Helper()
	var text string
	var limit int
	var dirs *[]string
	var source *string
	c := does(func(_ context.Context, env *cli.Env) error {
		v, _ := env.Settings.Get("limit")
		text = fmt.Sprintf("limit=%d from %s, dirs=%q, source=%s", limit, v.Source, *dirs, *source)
		for _, s := range v.Shadowed {
			text += ", not " + s.Value + " from " + string(s.Source)
		}
		return nil
	})
	c.Flags = func(fs *flag.FlagSet) {
		fs.IntVar(&limit, "limit", 10, "at most `N`")
		fs.IntVar(&limit, "n", 10, "at most `N`")
		dirs = cli.List(fs, "skill-dirs", "look in `DIR`")
		source = cli.Choice(fs, "source", "`WHERE`", "all", "local")
	}
	res := exec(t, c, p)
	return text, res
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".env", "OPENSPACE_LIMIT=3\n")
	write(".config/openspace/config.json", `{"limit": 2, "skill_dirs": ["/a,b", "/c"], "source": "local"}`)
	tests := []struct {
		name          string
		args, environ []string
		want          string
	}{
		{"files", nil, nil, `limit=3 from .env, dirs=["/a,b" "/c"], source=local, not 2 from config`},
		{"variable", nil, []string{"OPENSPACE_LIMIT=4", "OPENSPACE_SOURCE=all"}, `limit=4 from env, dirs=["/a,b" "/c"], source=all, not 3 from .env, not 2 from config`},
		{"flag", []string{"--limit", "5"}, []string{"OPENSPACE_LIMIT=4"}, `limit=5 from flag, dirs=["/a,b" "/c"], source=local, not 4 from env, not 3 from .env, not 2 from config`},
		{"short flag", []string{"-n", "5", "--skill-dirs", "/d"}, nil, `limit=5 from flag, dirs=["/d"], source=local, not 3 from .env, not 2 from config`},
		{"variables of aliases do not count", nil, []string{"OPENSPACE_N=9", "OPENSPACE_HELP=1", "OPENSPACE_H=1"}, `limit=3 from .env, dirs=["/a,b" "/c"], source=local, not 2 from config`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, res := settingsOf(t, cli.Process{Dir: dir, Args: tt.args, Environ: tt.environ})
			if got != tt.want || res.status != 0 || res.errOut != "" {
				t.Errorf("got %s, %+v, want %s", got, res, tt.want)
			}
		})
	}
	_, res := settingsOf(t, cli.Process{Dir: dir, Environ: []string{"OPENSPACE_SOURCE=moon"}})
	if want := "probe: OPENSPACE_SOURCE: bad value \"moon\": want all, local\nprobe: hint: see probe --help\n"; res.errOut != want || res.status != 2 {
		t.Errorf("got %+v, want %q", res, want)
	}
}

// A Printer may be used by several workers: no line is torn and every record counts.
func TestPrinterConcurrent(t *testing.T) {
	res := exec(t, does(func(_ context.Context, env *cli.Env) error {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 200 {
					env.Out.Emit(wire.Query{Query: strings.Repeat("x", 500)})
					env.Out.Fail(wire.Errorf(wire.Invalid, "no"))
					env.Out.Flush()
				}
			})
		}
		wg.Wait()
		return nil
	}), cli.Process{})
	if n := strings.Count(res.out, "\n"); n != 3201 || !strings.Contains(res.out, `"out":1600,"errors":1600`) || res.status != 3 {
		t.Errorf("got %d lines, status %d", n, res.status)
	}
}

func TestEnvHelpers(t *testing.T) {
	res := exec(t, does(func(_ context.Context, env *cli.Env) error {
		for path, want := range map[string]string{"a/../b": env.Dir + "/b", "/x/./y/": "/x/y", "": env.Dir, ".": env.Dir} {
			if got := env.Abs(path); got != want {
				t.Errorf("%q: got %q, want %q", path, got, want)
			}
		}
		_, err := env.Single("skill")
		return err
	}), cli.Process{Args: []string{"a", "b"}})
	if want := "probe: want one skill, got 2 arguments\nprobe: hint: see probe --help\n"; res.errOut != want || res.status != 2 {
		t.Errorf("got %+v, want %q", res, want)
	}
}
