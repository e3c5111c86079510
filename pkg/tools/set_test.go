package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/tools"
)

// fake is a tool that does what a test says.
type fake struct {
	spec tools.Spec
	run  func(ctx context.Context, args string) tools.Result
}

func (f fake) Spec() tools.Spec { return f.spec }

func (f fake) Run(ctx context.Context, call tools.Call) tools.Result {
	if f.run == nil {
		return tools.Result{Content: string(call.Args)}
	}
	return f.run(ctx, string(call.Args))
}

// named makes a tool that answers with its arguments.
func named(name string, aliases ...string) fake {
	return withSchema(name, `{"type":"object","properties":{"n":{"type":"integer"}}}`, aliases...)
}

func withSchema(name, schema string, aliases ...string) fake {
	return fake{spec: tools.Spec{Name: name, Aliases: aliases, Parameters: json.RawMessage(schema)}}
}

func newSet(t testing.TB, all ...tools.Tool) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(all...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestSetFinds(t *testing.T) {
	set := newSet(t, named("read_file", "cat"), named("write_file"), named("git__log"), named("a__search"), named("b__search"))
	for _, tt := range []struct{ name, want string }{
		{"read_file", "{}"},
		{"cat", "{}"},
		{"ReadFile", "{}"},
		{"read-file", "{}"},
		{"functions.read_file", "{}"},
		{"log", "{}"},
		{"search", "Error: several tools are called \"search\": call one of a__search, b__search"},
		{"read_fil", "Error: there is no tool \"read_fil\": did you mean read_file"},
		{"fly_to_moon", "Error: there is no tool \"fly_to_moon\" There are: a__search, b__search, git__log, read_file, write_file"},
		{"", "Error: there is no tool \"\""},
	} {
		r := set.Run(context.Background(), tools.Call{Name: tt.name})
		if !strings.HasPrefix(r.Content, tt.want) {
			t.Errorf("%q: got %q, want %q…", tt.name, r.Content, tt.want)
		}
		if failed := strings.HasPrefix(tt.want, "Error"); failed != r.Failed() || failed && r.Code != "not_found" {
			t.Errorf("%q: got error %q, code %q", tt.name, r.Error, r.Code)
		}
	}
}

func TestSetSpecsAreSorted(t *testing.T) {
	one := newSet(t, named("b"), named("a"), named("c")).Specs()
	two := newSet(t, named("c"), named("b"), named("a")).Specs()
	order := func(specs []tools.Spec) (all []string) {
		for _, s := range specs {
			all = append(all, s.Name)
		}
		return all
	}
	if got := order(one); !slices.Equal(got, []string{"a", "b", "c"}) || !slices.Equal(got, order(two)) {
		t.Errorf("got %q and %q, want the same order", got, order(two))
	}
}

func TestNewSetRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		all  []tools.Tool
		want string
	}{
		{"the same name twice", []tools.Tool{named("a"), named("a")}, "there are two of this name"},
		{"a name with a dot", []tools.Tool{named("a.b")}, "letters, digits"},
		{"a long name", []tools.Tool{named(strings.Repeat("a", 65))}, "letters, digits"},
		{"no schema", []tools.Tool{withSchema("a", ``)}, "read its parameters"},
		{"not of an object", []tools.Tool{withSchema("a", `{"type":"string"}`)}, "not of type object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tools.NewSet(tt.all...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// LT-01: no arguments are the empty object. LT-02: broken ones are told, and the tool is not run.
func TestSetArguments(t *testing.T) {
	set := newSet(t, named("count"))
	for _, tt := range []struct{ args, want string }{
		{``, `{}`},
		{`  `, `{}`},
		{`null`, `{}`},
		{`""`, `{}`},
		{`{"n":1}`, `{"n":1}`},
		{`"{\"n\":1}"`, `{"n":1}`},
		{`{"n": 1`, "Error: count was not run: the arguments are not valid JSON at character 7, behind \"{\\\"n\\\": 1\""},
		{`{"n": 1,}`, "Error: count was not run: the arguments are not valid JSON at character 9"},
		{`{'n': 1}`, "Error: count was not run: the arguments are not valid JSON at character 2"},
		{`[1]`, "Error: count was not run: the arguments must be one JSON object, not an array"},
		{`{} {}`, "Error: count was not run: the arguments go on behind their end"},
	} {
		r := set.Run(context.Background(), tools.Call{Name: "count", Args: json.RawMessage(tt.args)})
		if !strings.HasPrefix(r.Content, tt.want) {
			t.Errorf("%q: got %q, want %q…", tt.args, r.Content, tt.want)
		}
		if wantCode := map[bool]string{true: "invalid"}[strings.HasPrefix(tt.want, "Error")]; r.Code != wantCode {
			t.Errorf("%q: got code %q, want %q", tt.args, r.Code, wantCode)
		}
	}
}

func TestSetPanic(t *testing.T) {
	set := newSet(t, fake{named("a").spec, func(context.Context, string) tools.Result { panic(errors.New("index out of range")) }})
	var stack string
	set.Log = func(name, fault string) { stack = name + ": " + fault }
	r := set.Run(context.Background(), tools.Call{Name: "a"})
	if r.Code != "internal" || !strings.Contains(r.Content, "index out of range") {
		t.Errorf("got %+v, want the fault as an internal error", r)
	}
	if !strings.HasPrefix(stack, "a: index out of range") || !strings.Contains(stack, "set_test.go") {
		t.Errorf("log: got %q, want the stack", stack)
	}
}

func TestSetDoesNotWaitForEver(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	set := newSet(t, fake{named("a").spec, func(context.Context, string) tools.Result { <-end; return tools.Result{} }})
	set.Timeout, set.Grace = time.Millisecond, time.Millisecond
	if r := set.Run(context.Background(), tools.Call{Name: "a"}); r.Code != tools.TimedOut || r.Elapsed == 0 {
		t.Errorf("over its time: got %+v, want code %q", r, tools.TimedOut)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := set.Run(ctx, tools.Call{Name: "a"}); r.Code != "canceled" {
		t.Errorf("cancelled: got %+v, want code canceled", r)
	}
}

func TestSetWaitsForTheEndOfATool(t *testing.T) {
	set := newSet(t, fake{named("a").spec, func(ctx context.Context, _ string) tools.Result {
		<-ctx.Done()
		return tools.Result{Content: "cleaned up"}
	}})
	set.Timeout = time.Millisecond
	if r := set.Run(context.Background(), tools.Call{Name: "a"}); r.Content != "cleaned up" {
		t.Errorf("got %q, want what the tool says in the end", r.Content)
	}
}

// A model sees why a call failed, and never an empty result.
func TestSetContent(t *testing.T) {
	result := tools.Result{}
	set := newSet(t, fake{named("a").spec, func(context.Context, string) tools.Result { return result }})
	key := "ghp_" + strings.Repeat("a1", 18)
	set.Mask, set.Output = tools.NewMask("hunter2hunter2"), 100
	for _, tt := range []struct {
		name   string
		result tools.Result
		want   string
	}{
		{"nothing", tools.Result{}, "(no output)"},
		{"an error alone", tools.Result{Error: "it broke"}, "Error: it broke"},
		{"an error and its output", tools.Result{Error: "it broke", Content: "line 1"}, "Error: it broke\nline 1"},
		{"an error that the output tells", tools.Result{Error: "it broke", Content: "sad: it broke"}, "sad: it broke"},
		{"secrets", tools.Result{Content: "a hunter2hunter2 b " + key}, "a [secret] b [secret]"},
		{"too much", tools.Result{Content: strings.Repeat("ä", 100)},
			strings.Repeat("ä", 25) + "\n[… 100 characters left out …]\n" + strings.Repeat("ä", 25)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result = tt.result
			if got := set.Run(context.Background(), tools.Call{Name: "a"}); got.Content != tt.want {
				t.Errorf("got %q, want %q", got.Content, tt.want)
			}
		})
	}
}

func TestFence(t *testing.T) {
	got := tools.Fence("Text of\nsomebody", "a\n~~~~\nb\n\n")
	if want := "Text of somebody\n~~~~~\na\n~~~~\nb\n~~~~~"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkSetRun(b *testing.B) {
	set := newSet(b, named("a"))
	call := tools.Call{Name: "a", Args: json.RawMessage(`{"n":5}`)}
	for b.Loop() {
		if r := set.Run(context.Background(), call); r.Failed() {
			b.Fatal(r.Error)
		}
	}
}
