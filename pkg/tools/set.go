package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/wire"
	"github.com/xrash/smetrics"
)

const (
	callTime  = 15 * time.Minute // of a call, when the set says nothing
	callGrace = 10 * time.Second // for a tool to end what it started once its context is done
	maxPanic  = 300              // bytes of a fault's text
)

// The codes of results that are not codes of package wire.
const (
	Denied   = "denied"  // by the policy or the sandbox
	TimedOut = "timeout" // over its limit of time
	Exited   = "exit"    // a command ended with a status that is not zero
)

// validName tells whether model providers take a name as that of a function.
func validName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

// Set is the tools that one agent has. Its fields may be set before the first call of Run, which several goroutines may
// use at once.
type Set struct {
	Timeout time.Duration            // of a call, whatever its tool allows; 0: 15 minutes
	Grace   time.Duration            // after that, for the tool to come to its end; 0: 10 seconds
	Output  int                      // characters of a result's content, whatever its tool gives; 0: not bounded
	Mask    *Mask                    // takes secrets out of results, also of tools that do not do it themselves; nil: the known shapes
	Log     func(name, fault string) // gets the stack of a tool that panicked

	tools   []*member // sorted by name
	byName  map[string]*member
	byAlias map[string]*member
}

// member is a tool of a set with what is kept of it.
type member struct {
	tool   Tool
	spec   Spec
	schema *schema // nil: its arguments cannot be checked
}

// NewSet puts tools together. It is an error when two have the same name, or when a name or a schema is not one that
// model providers take. A name counts before an alias, and the first of equal aliases.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{byName: map[string]*member{}, byAlias: map[string]*member{}}
	for _, t := range tools {
		m := &member{tool: t, spec: t.Spec()}
		if err := s.add(m); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.tools, func(a, b *member) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	return s, nil
}

func (s *Set) add(m *member) (err error) {
	name := m.spec.Name
	switch {
	case !validName(name):
		return fmt.Errorf("add tool %q: a name has 1 to 64 letters, digits, underscores and hyphens", name)
	case s.byName[name] != nil:
		return fmt.Errorf("add tool %q: there are two of this name", name)
	}
	if m.schema, err = compile(m.spec.Parameters); err != nil {
		return fmt.Errorf("add tool %q: %w", name, err)
	}
	s.tools = append(s.tools, m)
	s.byName[name] = m
	for _, alias := range m.spec.Aliases {
		if s.byAlias[alias] == nil {
			s.byAlias[alias] = m
		}
	}
	return nil
}

// Specs returns what models are told of the tools, sorted by name, so that requests begin alike in every turn and run. Their parameters leave out
// what only the check of arguments needs.
func (s *Set) Specs() []Spec {
	specs := make([]Spec, 0, len(s.tools))
	for _, m := range s.tools {
		if !m.spec.Hidden {
			told := m.spec
			told.Parameters = brief(without(told.Parameters, told.Quiet))
			specs = append(specs, told)
		}
	}
	return specs
}

// Lookup returns the tool that a call of this name runs, whatever it is called there and whether models are shown it or not.
func (s *Set) Lookup(name string) (Spec, bool) {
	m, _ := s.find(name)
	if m == nil {
		return Spec{}, false
	}
	return m.spec, true
}

// Run calls a tool. Whatever goes wrong is in the result, in words from which a model can mend its call: there is no
// such tool, the arguments do not fit, the tool panicked or took too long. The content is never empty.
func (s *Set) Run(ctx context.Context, call Call) Result {
	start := time.Now()
	r := s.run(ctx, call)
	r.Elapsed = time.Since(start)
	return s.finish(r)
}

func (s *Set) run(ctx context.Context, call Call) Result {
	m, problem := s.find(call.Name)
	if m == nil {
		return failed(wire.NotFound, "%s", problem)
	}
	args, problem := m.arguments(call.Args)
	if problem != "" {
		return failed(wire.Invalid, "%s was not run: %s", m.spec.Name, problem)
	}
	call.Name, call.Args = m.spec.Name, args
	return s.bounded(ctx, m, call)
}

// bounded runs a tool and stops waiting for it when it does not stop by itself in time.
func (s *Set) bounded(ctx context.Context, m *member, call Call) Result {
	limit, grace := orElse(s.Timeout, callTime), orElse(s.Grace, callGrace)
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan Result, 1)
	go func() { done <- s.guarded(inner, m, call) }()
	select {
	case r := <-done:
		return r
	case <-inner.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case r := <-done:
		return r
	case <-late.C:
	}
	if ctx.Err() != nil {
		return failed(wire.Canceled, "%s was interrupted and did not stop", m.spec.Name)
	}
	r := failed(wire.Internal, "%s did not end within %s", m.spec.Name, limit)
	r.Code = TimedOut
	return r
}

// guarded runs a tool and turns a panic into a result.
func (s *Set) guarded(ctx context.Context, m *member, call Call) (r Result) {
	defer func() {
		fault := recover()
		if fault == nil {
			return
		}
		if s.Log != nil {
			s.Log(m.spec.Name, fmt.Sprintf("%v\n%s", fault, debug.Stack()))
		}
		text, _ := cut(fmt.Sprint(fault), maxPanic)
		r = failed(wire.Internal, "%s stopped by a fault of its own (%s); another way may work", m.spec.Name, text)
	}()
	return m.tool.Run(ctx, call)
}

// finish masks and bounds a result and sees to it that the content says what went wrong, and is not empty.
func (s *Set) finish(r Result) Result {
	if r.Failed() && !strings.Contains(r.Content, r.Error) {
		r.Content = strings.TrimRight("Error: "+r.Error+"\n"+r.Content, "\n")
	}
	if strings.TrimSpace(r.Content) == "" {
		r.Content = "(no output)"
	}
	r = masked(s.Mask, r)
	if s.Output > 0 {
		var out int
		r.Content, out = middle(r.Content, s.Output)
		r.LeftOut += int64(out)
	}
	return r
}

// masked takes secrets out of what a model and a recording get of a result.
func masked(m *Mask, r Result) Result {
	r.Content, r.Error = m.Text(r.Content), m.Text(r.Error)
	if r.Shell != nil {
		shell := *r.Shell
		shell.Command, shell.Stdout, shell.Stderr = m.Text(shell.Command), m.Text(shell.Stdout), m.Text(shell.Stderr)
		r.Shell = &shell
	}
	return r
}

// find looks a tool up: by name, by alias, by the part behind a server's name, then without regard to case, hyphens
// and the prefix that some models put before names. When there is none, it says which ones are near.
func (s *Set) find(name string) (*member, string) {
	if m := s.byName[name]; m != nil {
		return m, ""
	}
	if m := s.byAlias[name]; m != nil {
		return m, ""
	}
	for _, same := range []func(a, b string) bool{ofServer, alike} {
		found := s.those(func(n string) bool { return same(n, name) })
		if len(found) == 1 {
			return found[0], ""
		}
		if len(found) > 1 {
			return nil, fmt.Sprintf("several tools are called %q: call one of %s", name, names(found))
		}
	}
	return nil, s.unknown(name)
}

// those returns the tools for which a name or an alias is like.
func (s *Set) those(like func(name string) bool) (found []*member) {
	for _, m := range s.tools {
		if like(m.spec.Name) || slices.ContainsFunc(m.spec.Aliases, like) {
			found = append(found, m)
		}
	}
	return found
}

// unknown says that there is no such tool, and which ones there are.
func (s *Set) unknown(name string) string {
	const few = 20 // tools that are all named
	text := fmt.Sprintf("there is no tool %q", name)
	if near := near(name, shownNames(s.tools)); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(s.tools) <= few {
		text += " There are: " + names(s.tools)
	}
	return text
}

// ofServer tells whether full is name with the name of an MCP server before it.
func ofServer(full, name string) bool { return strings.HasSuffix(full, "__"+name) }

// alike tells whether two names differ in nothing that matters.
func alike(a, b string) bool { return plainName(a) == plainName(b) }

func plainName(name string) string {
	name = strings.TrimPrefix(strings.TrimSpace(name), "functions.")
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

func names(members []*member) string { return strings.Join(shownNames(members), ", ") }

// shownNames are the names of the tools that models are told of.
func shownNames(members []*member) (all []string) {
	for _, m := range members {
		if !m.spec.Hidden {
			all = append(all, m.spec.Name)
		}
	}
	return all
}

// near returns up to three words that may have been meant: those that differ in at most a third of their letters, or of
// which one contains the other.
func near(word string, among []string) []string {
	const most, short = 3, 4
	type candidate struct {
		word     string
		distance int
	}
	var found []candidate
	for _, w := range among {
		a, b := plainName(word), plainName(w)
		d := smetrics.WagnerFischer(a, b, 1, 1, 1)
		if len(a) >= short && len(b) >= short && (strings.Contains(a, b) || strings.Contains(b, a)) {
			d = min(d, 1)
		}
		if d <= (max(len(a), len(b))+2)/3 {
			found = append(found, candidate{w, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var words []string
	for _, c := range found[:min(most, len(found))] {
		words = append(words, c.word)
	}
	return words
}

// failed is the result of a call that did not do what was asked.
func failed(code wire.Code, format string, args ...any) Result {
	text := fmt.Sprintf(format, args...)
	return Result{Error: text, Code: string(code)}
}

// orElse returns d, or the default when it is zero.
func orElse(d, standard time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return standard
}

// arguments checks what a model sent, mends what is harmless and returns the arguments as one JSON object; or it says
// what is wrong.
func (m *member) arguments(raw json.RawMessage) (json.RawMessage, string) {
	value, problem := object(raw)
	if problem != "" {
		return nil, problem
	}
	if other, ok := m.tool.(interface{ Synonyms() map[string]string }); ok {
		rename(value, other.Synonyms())
	}
	value, problems := m.schema.fit(value)
	if len(problems) > 0 {
		return nil, explain(problems)
	}
	args, err := json.Marshal(value)
	if err != nil {
		return nil, err.Error()
	}
	return args, ""
}

// rename moves arguments that were given under another name to where they belong, unless something is there.
func rename(value map[string]any, synonyms map[string]string) {
	for other, name := range synonyms {
		given, ok := value[other]
		if _, taken := value[name]; !ok || taken {
			continue
		}
		delete(value, other)
		value[name] = given
	}
}
