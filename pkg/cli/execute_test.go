package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// result is what a command leaves behind.
type result struct {
	status      int
	out, errOut string
}

// exec runs a command without a terminal, in an empty folder.
func exec(t *testing.T, c *cli.Command, p cli.Process) result {
	t.Helper()
	var out, errOut bytes.Buffer
	if p.Stdin == nil {
		p.Stdin = strings.NewReader("")
	}
	if p.Stdout == nil {
		p.Stdout = &out
	}
	p.Stderr = &errOut
	if p.Dir == "" {
		p.Dir = t.TempDir()
	}
	p.Environ = append(p.Environ, "HOME="+p.Dir, "SOURCE_DATE_EPOCH=1")
	status := cli.Execute(context.Background(), c, p)
	return result{status, out.String(), errOut.String()}
}

// does returns a command whose Run is f.
func does(f func(ctx context.Context, env *cli.Env) error) *cli.Command {
	return &cli.Command{Name: "probe", Short: "probe", Args: "X", Run: f}
}

// suite is a command with verbs: show echoes its arguments and flags.
func suite() *cli.Command {
	var root string
	var limit int
	show := &cli.Command{
		Name: "show", Short: "show a thing", Args: "THING", Manual: "Shows it.\n\n# Notes\n\nNone.",
		Flags: func(fs *flag.FlagSet) { fs.IntVar(&limit, "limit", 1, "at most `N`") },
		Run: func(_ context.Context, env *cli.Env) error {
			fmt.Fprintf(env.Stderr, "show %q root=%s limit=%d", env.Args, root, limit)
			return nil
		},
	}
	list := &cli.Command{
		Name: "list", Short: "list things",
		Run: func(_ context.Context, env *cli.Env) error {
			fmt.Fprintf(env.Stderr, "list %q root=%s", env.Args, root)
			return nil
		},
	}
	return &cli.Command{
		Name: "suite", Short: "look after things", Manual: "Command suite looks after things.",
		Flags: func(fs *flag.FlagSet) { fs.StringVar(&root, "root", "/", "look in `DIR`") },
		Verbs: []*cli.Command{show, list},
	}
}

func TestVerbs(t *testing.T) {
	tests := []struct {
		name, args string
		status     int
		errOut     string
	}{
		{"verb and argument", "show a", 0, `show ["a"] root=/ limit=1`},
		{"flags after", "show a --limit 2 --root /x", 0, `show ["a"] root=/x limit=2`},
		{"flags before the verb", "--root /x show a --limit=2", 0, `show ["a"] root=/x limit=2`},
		{"flag with a value that is a verb", "--root list show", 0, `show [] root=list limit=1`},
		{"a switch before the verb", "--json list", 0, `list [] root=/`},
		{"the verb's name as argument", "show show list", 0, `show ["show" "list"] root=/ limit=1`},
		{"help as argument of a verb", "show help", 0, `show ["help"] root=/ limit=1`},
		{"after --", "show -- --limit", 0, `show ["--limit"] root=/ limit=1`},
		{"none", "", 2, "suite: suite is missing its command\nsuite: hint: the commands are show, list; see suite --help\n"},
		{"unknown", "remove a", 2, "suite: unknown command \"remove\"\nsuite: hint: the commands are show, list; see suite --help\n"},
		{"near miss", "shwo a", 2, "suite: unknown command \"shwo\"\nsuite: hint: did you mean \"show\"? see suite --help\n"},
		{"flag of another verb", "list --limit 2", 2, "suite: unknown flag \"--limit\"\nsuite: hint: put -- before text that begins with a dash; see suite --help\n"},
		{"unknown verb with help", "nope --help", 2, "suite: unknown command \"nope\"\nsuite: hint: the commands are show, list; see suite --help\n"},
		{"bad value", "show --limit x", 2, "suite: flag --limit: bad value \"x\": want a whole number\nsuite: hint: see suite --help\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := exec(t, suite(), cli.Process{Args: strings.Fields(tt.args)})
			if got.status != tt.status || got.errOut != tt.errOut {
				t.Errorf("got %d %q, want %d %q", got.status, got.errOut, tt.status, tt.errOut)
			}
			if tt.status == wire.StatusUsage && got.out != "" {
				t.Errorf("got %q on stdout, want nothing", got.out)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	root := exec(t, suite(), cli.Process{Args: []string{"--help"}})
	verb := exec(t, suite(), cli.Process{Args: []string{"show", "--help"}})
	for _, tt := range []struct {
		args string
		want result
	}{{"help", root}, {"h", root}, {"-h", root}, {"help show", verb}, {"show -h", verb}, {"-h show", verb}} {
		if got := exec(t, suite(), cli.Process{Args: strings.Fields(tt.args)}); got != tt.want || got.status != 0 || got.errOut != "" {
			t.Errorf("%s: got %+v, want %+v", tt.args, got, tt.want)
		}
	}
	for _, want := range []string{"Command suite looks after things.\n", "\nCOMMANDS\n  show ", "\nOPTIONS\n", "--root DIR", "\nEXIT STATUS\n"} {
		if !strings.Contains(root.out, want) {
			t.Errorf("no %q in %s", want, root.out)
		}
	}
	for _, want := range []string{"suite show - show a thing\n\n    suite show [flags] THING\n\nShows it.\n", "--limit N", "(default 1)", "--root DIR", "\nNOTES\n"} {
		if !strings.Contains(verb.out, want) {
			t.Errorf("no %q in %s", want, verb.out)
		}
	}
	if strings.Contains(root.out+verb.out, "describe") {
		t.Error("the hidden flag is in the help text")
	}
}

// Every way in which a run ends, and how often it speaks about it.
func TestOutcomes(t *testing.T) {
	fail := func(codes ...wire.Code) func(*cli.Env) {
		return func(env *cli.Env) {
			for _, c := range codes {
				env.Out.Fail(wire.Errorf(c, "no"))
			}
		}
	}
	none := func(*cli.Env) {}
	emit := func(env *cli.Env) { env.Out.Emit(wire.Query{Query: "q"}) }
	tests := []struct {
		name   string
		do     []func(*cli.Env)
		err    error
		status int
		errOut string
	}{
		{"done", []func(*cli.Env){emit}, nil, 0, ""},
		{"none", []func(*cli.Env){none}, wire.ErrNone, 1, ""},
		{"none, wrapped", []func(*cli.Env){none}, fmt.Errorf("search: %w", wire.ErrNone), 1, ""},
		{"some failed", []func(*cli.Env){emit, fail(wire.Auth)}, nil, 3, ""},
		{"all failed", []func(*cli.Env){fail(wire.Locked, wire.Auth)}, nil, 11, ""},
		{"all failed, none found", []func(*cli.Env){fail(wire.Auth)}, wire.ErrNone, 4, ""},
		{"run failed", []func(*cli.Env){emit}, wire.Errorf(wire.Corrupt, "index is damaged"), 10, "probe: index is damaged\n"},
		{"run failed after an error record", []func(*cli.Env){fail(wire.Auth)}, wire.Errorf(wire.WrongVersion, "too new").WithHint("update"), 12, "probe: too new\nprobe: hint: update\n"},
		{"wrapped deep", nil, fmt.Errorf("a: %w", errors.Join(errors.New("b"), wire.Errorf(wire.RateLimited, "c"))), 4, "probe: a: b c\n"},
		{"plain error", nil, errors.New("a\nb\x1b[2J"), 5, "probe: a b␛[2J\n"},
		{"canceled", nil, context.Canceled, 130, "probe: context canceled\n"},
		{"reader went away", nil, fmt.Errorf("write: %w", syscall.EPIPE), 141, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := exec(t, does(func(_ context.Context, env *cli.Env) error {
				for _, f := range tt.do {
					f(env)
				}
				return tt.err
			}), cli.Process{})
			if got.status != tt.status || got.errOut != tt.errOut {
				t.Errorf("got %d %q, want %d %q", got.status, got.errOut, tt.status, tt.errOut)
			}
			complete := tt.err == nil || errors.Is(tt.err, wire.ErrNone)
			if strings.Contains(got.out, `"summary"`) != complete {
				t.Errorf("got %q, want a summary: %v", got.out, complete)
			}
		})
	}
}

// brokenPipe is an output that ends after some bytes with an error, or when it is closed.
type brokenPipe struct {
	left            int
	write, closeErr error
}

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, b.write
	}
	return len(p), nil
}

func (b *brokenPipe) Close() error { return b.closeErr }

func TestOutputFailure(t *testing.T) {
	tests := []struct {
		name   string
		out    *brokenPipe
		status int
		errOut string
	}{
		{"full", &brokenPipe{write: syscall.ENOSPC}, 5, "probe: write results: no space left on device\n"},
		{"full in the middle", &brokenPipe{left: 1 << 10, write: syscall.ENOSPC}, 5, "probe: write results: no space left on device\n"},
		{"close fails", &brokenPipe{left: 1 << 30, closeErr: syscall.EIO}, 5, "probe: write results: input/output error\n"},
		{"reader gone", &brokenPipe{write: syscall.EPIPE}, 141, ""},
	}
	for _, format := range []string{"--jsonl", "--json", "--plain"} {
		for _, tt := range tests {
			t.Run(tt.name+format, func(t *testing.T) {
				out := *tt.out
				wrote := 0
				got := exec(t, does(func(_ context.Context, env *cli.Env) error {
					for range 10000 {
						if err := env.Out.Emit(wire.Query{Query: "a query"}); err != nil {
							return err
						}
						wrote++
					}
					return nil
				}), cli.Process{Stdout: &out, Args: []string{format}})
				want, hint := tt.errOut, ""
				if tt.out.write == syscall.ENOSPC {
					hint = "the disk is full; free space and run it again"
				}
				switch {
				case want != "" && format != "--plain":
					want = `{"type":"error","code":"internal","message":"` + strings.TrimSuffix(strings.TrimPrefix(want, "probe: "), "\n") + `",`
					if hint != "" {
						want += `"hint":"` + hint + `",`
					}
					want += `"exit":5}` + "\n"
				case hint != "":
					want += "probe: hint: " + hint + "\n"
				}
				if got.status != tt.status || got.errOut != want {
					t.Errorf("got %d %q, want %d %q", got.status, got.errOut, tt.status, want)
				}
				if tt.out.left < 1<<20 && wrote == 10000 {
					t.Error("the command was not told")
				}
			})
		}
	}
}

// A command that handles signals ends also while it waits for a line, and with the signal's status.
func TestSignals(t *testing.T) {
	stdin, _ := io.Pipe()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, cancel := context.WithCancel(context.Background())
		c := does(func(ctx context.Context, env *cli.Env) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			for range env.Inputs() {
				t.Error("got an input")
			}
			return nil
		})
		c.Signals = true
		got := exec(t, c, cli.Process{Stdin: stdin, Notify: func(context.Context) (context.Context, context.CancelFunc) {
			return cli.Signalled(ctx, sig)
		}})
		if want := 128 + int(sig); got.status != want || got.out != "" || got.errOut != "probe: canceled by signal: "+sig.String()+"\n" {
			t.Errorf("%v: got %+v, want status %d", sig, got, want)
		}
	}
}

func TestPanic(t *testing.T) {
	got := exec(t, does(func(_ context.Context, env *cli.Env) error {
		env.Out.Emit(wire.Query{Query: "whole"})
		return []error{}[len(env.Args)]
	}), cli.Process{Args: []string{"--jsonl"}})
	lines := strings.Split(strings.TrimSpace(got.errOut), "\n")
	if got.status != 5 || !strings.HasPrefix(lines[len(lines)-1], `{"type":"error","code":"internal","message":"internal fault: runtime error: index out of range [0] with length 0"`) {
		t.Errorf("got %d, %q", got.status, lines[len(lines)-1])
	}
	if got.out != "{\"type\":\"query\",\"query\":\"whole\"}\n" {
		t.Errorf("got %q", got.out)
	}
}

func TestVersion(t *testing.T) {
	got := exec(t, suite(), cli.Process{Args: []string{"--version"}})
	if got.status != 0 || !strings.HasPrefix(got.out, "suite ") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("got %+v", got)
	}
}

// FuzzArguments holds for any arguments that the command runs with each of them or says what is wrong,
// never both and never with a panic.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{"", "show\x00a", "--root\x00show", "-", "--", "show\x00--\x00--limit", "--limit=\x00show",
		"show\x00--limit", "-h", "help\x00show", "show\x00---limit\x003", "=\x00-=", "show\x00--generate-bash-completion"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, joined string) {
		got := exec(t, suite(), cli.Process{Args: strings.Split(joined, "\x00"), Dir: dir})
		switch {
		case got.status == wire.StatusUsage && (got.out != "" || !strings.HasPrefix(got.errOut, "suite: ") && !strings.HasPrefix(got.errOut, "{")):
			t.Errorf("usage error: got %+v", got)
		case got.status == 0 && got.out == "":
			t.Errorf("got %+v", got)
		case got.status != 0 && got.status != wire.StatusUsage:
			t.Errorf("got %+v", got)
		}
	})
}

// Inputs whose own records tell that they did not come out well decide the status as errors do.
func TestMiss(t *testing.T) {
	tests := []struct {
		name   string
		do     func(env *cli.Env, in cli.Input)
		status int
	}{
		{"none", func(env *cli.Env, in cli.Input) {}, 0},
		{"all", func(env *cli.Env, in cli.Input) { env.Out.Miss(4) }, 4},
		{"the first decides", func(env *cli.Env, in cli.Input) { env.Out.Miss(map[string]int{"a": 1, "b": 5}[in.Value]) }, 1},
		{"some", func(env *cli.Env, in cli.Input) {
			if in.Value == "b" {
				env.Out.Miss(5)
			}
		}, 3},
		{"one has an error, the other a record", func(env *cli.Env, in cli.Input) {
			if in.Value == "a" {
				env.Out.Fail(wire.Errorf(wire.Auth, "no"))
				return
			}
			env.Out.Miss(1)
		}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := exec(t, does(func(_ context.Context, env *cli.Env) error {
				for in := range env.Inputs() {
					tt.do(env, in)
					env.Out.Emit(wire.Result{ID: in.ID, Status: "x"})
				}
				return nil
			}), cli.Process{Args: []string{"a", "b"}})
			if got.status != tt.status {
				t.Errorf("got status %d, want %d", got.status, tt.status)
			}
		})
	}
}

// A command that runs without a verb, too, keeps its flags to itself.
func TestRunAndVerbs(t *testing.T) {
	var host string
	verb := &cli.Command{
		Name: "install", Short: "install",
		Flags: func(fs *flag.FlagSet) { fs.StringVar(&host, "host", "", "the host `NAME`") },
		Run:   func(_ context.Context, env *cli.Env) error { fmt.Fprintf(env.Stderr, "install %s", host); return nil },
	}
	port := 0
	c := &cli.Command{
		Name: "probe", Short: "probe", Verbs: []*cli.Command{verb},
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&host, "host", "here", "listen on `ADDRESS`")
			fs.IntVar(&port, "number", 1, "`N`")
		},
		Run: func(_ context.Context, env *cli.Env) error {
			fmt.Fprintf(env.Stderr, "run %s %d", host, port)
			return nil
		},
	}
	tests := []struct {
		args   []string
		status int
		errOut string
	}{
		{nil, 0, "run here 1"},
		{[]string{"--host", "there", "--number", "2"}, 0, "run there 2"},
		{[]string{"install", "--host", "x"}, 0, "install x"},
		{[]string{"install", "--number", "2"}, 2, `unknown flag "--number"`},
		{[]string{"else"}, 2, `unknown command "else"`},
	}
	for _, tt := range tests {
		if got := exec(t, c, cli.Process{Args: tt.args}); got.status != tt.status || !strings.Contains(got.errOut, tt.errOut) {
			t.Errorf("%q: got %d, %q, want %d, %q", tt.args, got.status, got.errOut, tt.status, tt.errOut)
		}
	}
	if got := exec(t, c, cli.Process{Args: []string{"--help"}}); !strings.Contains(got.out, "probe [flags] [COMMAND …]") || !strings.Contains(got.out, "install") {
		t.Errorf("got %s", got.out)
	}
}
