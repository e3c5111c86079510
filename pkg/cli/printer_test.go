package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// prints runs a command that emits records, then ends with err.
func prints(t *testing.T, p cli.Process, err error, recs ...wire.Record) result {
	t.Helper()
	return exec(t, does(func(_ context.Context, env *cli.Env) error {
		for _, r := range recs {
			if err := env.Out.Emit(r); err != nil {
				return err
			}
		}
		return err
	}), p)
}

func TestJSONArray(t *testing.T) {
	failed := wire.Errorf(wire.Corrupt, "broken")
	one := wire.Query{Query: "<q>"}
	tests := []struct {
		name string
		err  error
		recs []wire.Record
		want string
	}{
		{"empty", nil, nil, "[]\n"},
		{"none", wire.ErrNone, nil, "[]\n"},
		{"one", nil, []wire.Record{one}, "[\n  {\n    \"type\": \"query\",\n    \"query\": \"<q>\"\n  }\n]\n"},
		{"failed before any", failed, nil, ""},
		{"failed in the middle is still an array", failed, []wire.Record{&one}, "[\n  {\n    \"type\": \"query\",\n    \"query\": \"<q>\"\n  }\n]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := prints(t, cli.Process{Args: []string{"--json"}}, tt.err, tt.recs...)
			if got.out != tt.want {
				t.Errorf("got %q, want %q", got.out, tt.want)
			}
		})
	}
}

// A record that cannot be written leaves an error in its place, in both JSON formats.
func TestRecordThatCannotBeWritten(t *testing.T) {
	for _, format := range []string{"--jsonl", "--json"} {
		got := prints(t, cli.Process{Args: []string{format}}, nil, wire.Hit{Score: math.NaN()}, wire.Query{Query: "q"})
		if got.status != 3 || strings.Count(got.out, `"error"`) != 1 || strings.Count(got.out, `"query"`) < 1 {
			t.Errorf("%s: got %+v", format, got)
		}
		if format == "--json" && !json.Valid([]byte(got.out)) {
			t.Errorf("got %s", got.out)
		}
	}
	long := wire.Query{Query: strings.Repeat("x", 17<<20)}
	if got := prints(t, cli.Process{}, nil, long); got.status != 5 || !strings.HasPrefix(got.out, `{"type":"error","code":"too_long"`) {
		t.Errorf("got %d, %.100q", got.status, got.out)
	}
}

func TestTable(t *testing.T) {
	hit := func(rank int, name, description string) wire.Hit {
		return wire.Hit{Rank: rank, Score: 0.5, Name: name, Description: description, SkillID: name + "__imp_00000000", SkillDir: "/home/ada/skills/" + name}
	}
	hits := []wire.Record{hit(1, "pdf-forms", "Fill in PDF forms that have fields, and check what came out."), hit(2, "表単", "填写\n表单")}
	tests := []struct {
		name  string
		width int
		recs  []wire.Record
		want  string
	}{
		{"nothing", 80, nil, ""},
		{"wide", 160, hits, "" +
			"RANK  SCORE  NAME       DESCRIPTION                                                   SKILL ID                 DIRECTORY\n" +
			"1     0.500  pdf-forms  Fill in PDF forms that have fields, and check what came out.  pdf-forms__imp_00000000  /home/ada/skills/pdf-forms\n" +
			"2     0.500  表単       填写 表单                                                     表単__imp_00000000       /home/ada/skills/表単\n"},
		{"narrow", 60, hits, "" +
			"RANK  SCORE  NAME       DESCRIPTION\n" +
			"1     0.500  pdf-forms  Fill in PDF forms that have fields,…\n" +
			"2     0.500  表単       填写 表单\n"},
		{"third column cut", 20, hits, "" +
			"RANK  SCORE  NAME\n" +
			"1     0.500  pdf-fo…\n" +
			"2     0.500  表単\n"},
		{"very narrow", 12, hits, "RANK  SCORE\n1     0.500\n2     0.500\n"},
		{"types do not share a table", 80, []wire.Record{
			wire.Task{ID: "1", Task: "a"}, wire.Problem{Severity: "warning", Code: "c", Message: "m", Path: "/p", Line: 1}, wire.Task{ID: "2", Task: "b"},
		}, "ID  TASK\n1   a\n/p:1: warning: m [c]\n\nID  TASK\n2   b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := prints(t, cli.Process{StdoutTerminal: true, Width: tt.width, Args: []string{"--color", "never"}}, nil, tt.recs...)
			if got.out != tt.want {
				t.Errorf("got\n%swant\n%s", got.out, tt.want)
			}
		})
	}
}

// Long tables come out in parts, so that memory is bounded and people see something soon.
func TestTableInParts(t *testing.T) {
	var recs []wire.Record
	for i := range 1200 {
		recs = append(recs, wire.Query{ID: fmt.Sprint(i), Query: "q"})
	}
	got := prints(t, cli.Process{StdoutTerminal: true, Args: []string{"--color=never"}}, nil, recs...)
	if n := strings.Count(got.out, "ID    QUERY\n") + strings.Count(got.out, "ID   QUERY\n"); n != 3 || strings.Count(got.out, "q\n") != 1200 {
		t.Errorf("got %d headings", n)
	}
}

func TestPlain(t *testing.T) {
	got := prints(t, cli.Process{Args: []string{"--plain"}}, nil,
		wire.Setting{Name: "limit", Value: "a\tb\nc", Source: "env"}, wire.Diff{Diff: "-a\tb\n+c\x1b\n"})
	if want := "limit\ta b c\tenv\t\t\n-a\tb\n+c␛\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
}

func TestColour(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		args     string
		environ  []string
		want     bool
	}{
		{"terminal", true, "", []string{"TERM=xterm"}, true},
		{"no terminal", false, "--plain", nil, false},
		{"dumb", true, "", []string{"TERM=dumb"}, false},
		{"NO_COLOR", true, "", []string{"NO_COLOR=1"}, false},
		{"empty NO_COLOR counts as not set", true, "", []string{"NO_COLOR="}, true},
		{"flag over NO_COLOR", true, "--color always", []string{"NO_COLOR=1"}, true},
		{"never", true, "--color never", nil, false},
		{"never JSON", true, "--color always --json", nil, false},
		{"never lines", false, "--color always", nil, false},
		{"variable", true, "", []string{"OPENSPACE_COLOR=never"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := cli.Process{StdoutTerminal: tt.terminal, Args: strings.Fields(tt.args), Environ: tt.environ}
			if got := prints(t, p, nil, wire.Query{Query: "q"}); strings.Contains(got.out, "\x1b") != tt.want {
				t.Errorf("got %q, want colour: %v", got.out, tt.want)
			}
		})
	}
}

// Errors about inputs go to stderr in the formats for people and say which input it was.
func TestFailForPeople(t *testing.T) {
	got := exec(t, does(func(_ context.Context, env *cli.Env) error {
		for in := range env.Inputs() {
			env.Out.Fail(in.Errorf(wire.NotFound, "not here").WithHint("look there"))
			env.Out.Fail(in.Errorf(wire.NotFound, "no %s here", in.Value))
		}
		return nil
	}), cli.Process{Args: []string{"--plain", "x\x1b"}})
	if want := "probe: x␛: not here\nprobe: hint: look there\nprobe: no x␛ here\n"; got.errOut != want || got.out != "" || got.status != 1 {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// CL-05: with --json and --jsonl both streams are JSON, also when they are one.
func TestWarn(t *testing.T) {
	tests := []struct{ args, environ, want string }{
		{"", "", "probe: odd: a b\n{\"type\":\"query\",\"query\":\"q\"}\n"},
		{"--plain", "", "probe: odd: a b\n\tq\n"},
		{"--jsonl", "", `{"type":"problem","code":"warning","severity":"warning","message":"odd: a\nb"}` + "\n" + `{"type":"query","query":"q"}` + "\n"},
		{"", "OPENSPACE_ERRORS=json", `{"type":"problem","code":"warning","severity":"warning","message":"odd: a\nb"}` + "\n"},
		{"--json", "", "[\n  {\n    \"type\": \"query\",\n    \"query\": \"q\"\n  }\n]\n" + `{"type":"problem","code":"warning","severity":"warning","message":"odd: a\nb"}` + "\n"},
	}
	for _, tt := range tests {
		var both bytes.Buffer
		cli.Execute(context.Background(), does(func(_ context.Context, env *cli.Env) error {
			env.Warn("odd: %s", "a\nb")
			return env.Out.Emit(wire.Query{Query: "q"})
		}), cli.Process{Args: strings.Fields(tt.args), Environ: []string{tt.environ, "SOURCE_DATE_EPOCH=1"}, Stdout: &both, Stderr: &both, Dir: t.TempDir()})
		if got := both.String(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q %q: got %q, want %q", tt.args, tt.environ, got, tt.want)
		}
	}
}

func TestWarnOf(t *testing.T) {
	p := wire.Problem{Code: "c", Severity: "warning", Path: "/a\x1b", Line: 3, Message: "odd", Hint: "mend it"}
	for _, tt := range []struct{ args, want string }{
		{"--plain", "probe: /a␛:3: warning: odd [c]\n"},
		{"--jsonl", `{"type":"problem","code":"c","severity":"warning","path":"/a\u001b","line":3,"message":"odd","hint":"mend it"}` + "\n"},
	} {
		got := exec(t, does(func(_ context.Context, env *cli.Env) error {
			env.WarnOf(p)
			return nil
		}), cli.Process{Args: []string{tt.args}})
		if got.errOut != tt.want {
			t.Errorf("%s: got %q, want %q", tt.args, got.errOut, tt.want)
		}
	}
}

// A document has stdout to itself.
func TestDocument(t *testing.T) {
	got := exec(t, does(func(_ context.Context, env *cli.Env) error {
		fmt.Fprint(env.Out.Document(), "<doc>")
		env.Out.Emit(wire.Query{Query: "q"})
		return nil
	}), cli.Process{})
	if got.out != "<doc>" || got.status != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestOneLine(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain text", "plain text"},
		{"  kept  ", "  kept"},
		{"a\n\n\tb\r\nc", "a b c"},
		{"\x1b]0;title\x07", "␛]0;title␇"},
		{"del\x7f csi\u009b", "del␡ csi�"},
		{"bidi \u202e \u2066", "bidi � �"},
		{"hidden \u200b\U000e0041", "hidden ��"},
		{"joined 👩\u200d💻 e\u0301 نص", "joined 👩\u200d💻 e\u0301 نص"},
		{"broken \xff", "broken �"},
		{"\n", ""},
	}
	for _, tt := range tests {
		if got := cli.OneLine(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
	if got, want := cli.Printable("a\r\n\tb\x1b"), "a\n\tb␛"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestManualText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"block comment", "/*\nCommand x does.\n\n# Notes\n*/\npackage main\n", "Command x does.\n\n# Notes"},
		{"line comments", "// Command x does.\n//\n//\tx y\n\n// other\npackage main", "Command x does.\n\n\tx y"},
		{"plain", "Shows it.\n", "Shows it."},
		{"cr lf", "/*\r\na\r\n*/\r\n", "a"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cli.ManualText(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
