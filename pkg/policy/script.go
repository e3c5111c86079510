package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxScript = 128 << 10 // bytes of a script that is looked at
	maxOpen   = 8_000     // brackets in it that may open something: each may cost the parser a level
	maxDepth  = 24        // scripts within scripts
	maxNested = 60        // commands within commands of a script
	maxValue  = 8 << 10   // bytes of a variable that are kept
	maxValues = 8         // of a loop that are looked at one by one
	maxSteps  = 5_000     // statements that are looked at, with those of loops and functions again
)

// Shell judges a shell script.
func (p *Policy) Shell(script string) Verdict {
	if p.rules.off {
		return Verdict{Decision: Deny, Rule: "shell-off", Reason: "the user does not allow shell commands in this run: use the other tools"}
	}
	budget := maxSteps
	j := &judge{p: p, dir: p.workspace, vars: map[string]string{"IFS": " \t\n"}, lost: map[string]bool{}, funcs: map[string]bool{}, steps: &budget}
	return j.script(script)
}

// judge goes through a script in the order in which it would run and keeps what it knows: the folder it is in and the
// values of variables that do not depend on anything outside. Its verdict is the strictest of all that it meets.
type judge struct {
	p       *Policy
	dir     string            // where the script is; empty: not known
	vars    map[string]string // of known value
	lost    map[string]bool   // set, but to what is not known
	funcs   map[string]bool   // defined by the script, and judged where they are
	depth   int
	nested  int
	steps   *int
	verdict Verdict
	inside  *judge // what the last script within this one left
}

// input is what is known of the standard input of a command.
type input struct {
	text    string
	known   bool // text is all of it
	file    bool // it is a file
	network bool // it comes from there
	none    bool // nobody gave any
}

// child is a judge of a part that cannot change what this one knows.
func (j *judge) child() *judge {
	c := *j
	c.vars, c.lost, c.funcs = maps.Clone(j.vars), maps.Clone(j.lost), maps.Clone(j.funcs)
	c.verdict = Verdict{}
	return &c
}

// note keeps a verdict when it is stricter than those before.
func (j *judge) note(v Verdict) { j.verdict = worse(j.verdict, v) }

// say notes a decision about a node.
func (j *judge) say(d Decision, rule string, at syntax.Node, format string, args ...any) {
	j.note(Verdict{Decision: d, Rule: rule, Reason: fmt.Sprintf(format, args...), Command: source(at)})
}

// source prints a part of a script in one short line.
func source(at syntax.Node) string {
	if at == nil {
		return ""
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, at); err != nil {
		return ""
	}
	return short(b.String())
}

// short cuts a text that is shown to a model.
func short(s string) string {
	const most = 160
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// script judges a text as a script and returns the verdict about it alone.
func (j *judge) script(text string) Verdict {
	switch {
	case len(text) > maxScript:
		return Verdict{Decision: Deny, Rule: "too-long", Reason: fmt.Sprintf("the script is longer than %d KiB: write it to a file and run that", maxScript>>10)}
	case strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "`")+strings.Count(text, "[") > maxOpen:
		return Verdict{Decision: Deny, Rule: "too-long", Reason: "the script has too many brackets to be looked at: write data with write_file, and a script to a file that you run"}
	case j.depth >= maxDepth:
		return Verdict{Decision: Deny, Rule: "too-deep", Reason: "scripts stand within scripts too many times over: write the command out plainly", Command: short(text)}
	}
	file, err := parse(text)
	if err != nil {
		return Verdict{Decision: Deny, Rule: "syntax", Reason: fmt.Sprintf("the script cannot be parsed: %v", err), Command: short(text)}
	}
	if swallowed(file, text) {
		return Verdict{Decision: Ask, Rule: "unknown-command", Reason: "where a comment begins is not clear: put a space before the #, or quote it", Command: short(text)}
	}
	c := j.child()
	c.depth++
	c.nested = 0
	c.stmts(file.Stmts, input{none: true})
	j.inside = c
	return c.verdict
}

// here judges a text as a script that runs in this very shell, as eval does: what it sets stays.
func (j *judge) here(text string) Verdict {
	j.inside = nil
	v := j.script(text)
	if c := j.inside; c != nil {
		j.dir, j.vars, j.lost, j.funcs = c.dir, c.vars, c.lost, c.funcs
	}
	return v
}

// swallowed tells whether the parser took for a comment what the shell takes for a part of a word, as in `(rm $0# .)`.
func swallowed(file *syntax.File, text string) (found bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			at := int(c.Hash.Offset())
			found = found || at > 0 && at <= len(text) && !strings.ContainsRune(" \t\r\n;&|()<>`", rune(text[at-1]))
		}
		return !found
	})
	return found
}

// parse reads a script as bash does. The parser is not ours: a panic of it is an error of the script.
func parse(text string) (file *syntax.File, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			file, err = nil, fmt.Errorf("%v", fault)
		}
	}()
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

func (j *judge) stmts(list []*syntax.Stmt, in input) {
	for _, s := range list {
		j.stmt(s, in)
	}
}

// part judges statements that cannot change what is known here.
func (j *judge) part(list []*syntax.Stmt, in input) {
	c := j.child()
	c.stmts(list, in)
	j.note(c.verdict)
}

// maybe judges statements that may run or not, once or often: what they set is not known, neither for themselves
// nor afterwards.
func (j *judge) maybe(list []*syntax.Stmt, in input) {
	for _, s := range list {
		j.forget(s)
	}
	dir := j.dir
	j.stmts(list, in)
	for _, s := range list {
		j.forget(s)
	}
	if j.dir != dir {
		j.dir = ""
	}
}

// forget marks what a node sets as not known.
func (j *judge) forget(at syntax.Node) {
	syntax.Walk(at, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				j.lose(n.Name.Value)
			}
		case *syntax.WordIter:
			j.lose(n.Name.Value)
		}
		return true
	})
}

func (j *judge) lose(name string) {
	delete(j.vars, name)
	j.lost[name] = true
}

func (j *judge) set(name, value string) {
	if len(value) > maxValue {
		j.lose(name)
		return
	}
	j.vars[name] = value
	delete(j.lost, name)
}

// stmt judges a statement and, before it, everything that its words would run.
func (j *judge) stmt(s *syntax.Stmt, in input) {
	if *j.steps--; *j.steps < 0 {
		j.say(Deny, "too-long", nil, "the script has too many steps to be looked at: write it to a file and run that")
		return
	}
	if j.nested++; j.nested > maxNested {
		j.say(Deny, "too-deep", nil, "commands stand within commands too many times over: write the command out plainly")
	} else {
		in = j.redirects(s, in)
		j.command(s.Cmd, in)
	}
	j.nested--
}

// command judges what stands between the redirections.
func (j *judge) command(cmd syntax.Command, in input) {
	switch c := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		j.call(c, in)
	case *syntax.BinaryCmd:
		j.binary(c, in)
	case *syntax.Subshell:
		j.part(c.Stmts, in)
	case *syntax.Block:
		j.stmts(c.Stmts, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			j.maybe(c.Cond, in)
			j.maybe(c.Then, in)
		}
	case *syntax.WhileClause:
		j.maybe(c.Cond, in)
		j.maybe(c.Do, in)
	case *syntax.ForClause:
		j.loop(c, in)
	case *syntax.CaseClause:
		j.words(c.Word)
		for _, item := range c.Items {
			for _, pattern := range item.Patterns {
				j.words(pattern)
			}
			j.maybe(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		j.function(c)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			j.assign(a)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			j.stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		j.part([]*syntax.Stmt{c.Stmt}, in)
	default: // tests and arithmetic run nothing but what is in their words
		j.words(cmd)
		j.forget(cmd)
	}
}

// binary judges a chain of commands, which the parser gives as a tree that leans to the left.
func (j *judge) binary(c *syntax.BinaryCmd, in input) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		j.pipeline(chain(c, func(op syntax.BinCmdOperator) bool { return op == c.Op || op == syntax.Pipe || op == syntax.PipeAll }), in)
		return
	}
	links := chain(c, func(op syntax.BinCmdOperator) bool { return op == syntax.AndStmt || op == syntax.OrStmt })
	for _, link := range links {
		if link.op != syntax.OrStmt {
			j.stmt(link.stmt, in)
			continue
		}
		j.part([]*syntax.Stmt{link.stmt}, in) // what comes when one fails seldom stays: `cd x || exit`
		j.forget(link.stmt)
	}
}

// link is a command of a chain and what stands before it.
type link struct {
	op   syntax.BinCmdOperator
	stmt *syntax.Stmt
}

// chain returns the commands of a tree that are joined by some operators, from the left to the right.
func chain(c *syntax.BinaryCmd, same func(syntax.BinCmdOperator) bool) []link {
	var links []link
	for {
		links = append(links, link{c.Op, c.Y})
		x, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || !same(x.Op) || len(c.X.Redirs) > 0 {
			links = append(links, link{syntax.AndStmt, c.X})
			break
		}
		c = x
	}
	slices.Reverse(links)
	return links
}

// pipeline judges commands of which each reads what the one before it writes.
func (j *judge) pipeline(links []link, in input) {
	for i, link := range links {
		j.part([]*syntax.Stmt{link.stmt}, in)
		out := j.output(link.stmt)
		out.network = out.network || i > 0 && in.network
		in = out
	}
	for _, link := range links {
		j.forget(link.stmt)
	}
}

// loop judges the body of a loop with each value of its variable, when there are few and all are known.
func (j *judge) loop(c *syntax.ForClause, in input) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		j.words(c.Loop)
		j.forget(c.Loop)
		j.maybe(c.Do, in)
		return
	}
	var values []string
	known := true
	for _, item := range iter.Items {
		j.words(item)
		some, ok := j.fields(item)
		values, known = append(values, some...), known && ok
	}
	if !known || len(values) == 0 || len(values) > maxValues {
		j.lose(iter.Name.Value)
		j.maybe(c.Do, in)
		j.lose(iter.Name.Value)
		return
	}
	for _, v := range values {
		j.set(iter.Name.Value, v)
		body := j.child()
		body.maybe(c.Do, in)
		j.note(body.verdict)
	}
	for _, s := range c.Do {
		j.forget(s)
	}
	j.dirAfter(c.Do)
}

// dirAfter forgets the folder when statements may have left it.
func (j *judge) dirAfter(list []*syntax.Stmt) {
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				if name := call.Args[0].Lit(); name == "cd" || name == "pushd" || name == "popd" || name == "" {
					j.dir = ""
				}
			}
			return true
		})
	}
}

// function judges the body of a function where it is defined. One that starts itself twice over, in a pipe or in the
// background, has no end.
func (j *judge) function(c *syntax.FuncDecl) {
	if c.Name == nil || c.Body == nil {
		return
	}
	name := c.Name.Value
	bomb := false
	calls := func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		return ok && len(call.Args) > 0 && call.Args[0].Lit() == name
	}
	has := func(s *syntax.Stmt) (found bool) {
		syntax.Walk(s, func(n syntax.Node) bool {
			found = found || n != nil && calls(n)
			return !found
		})
		return found
	}
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			bomb = bomb || n.Background && has(n)
		case *syntax.BinaryCmd:
			bomb = bomb || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && has(n.X) && has(n.Y)
		}
		return true
	})
	if bomb {
		j.say(Deny, "fork-bomb", c, "the function %q starts itself again and again without end", name)
	}
	j.funcs[name] = true
	body := j.child()
	body.maybe([]*syntax.Stmt{c.Body}, input{})
	j.note(body.verdict)
	j.forget(c.Body)
	j.dirAfter([]*syntax.Stmt{c.Body})
}

// words judges the commands that a node would run to get its words: $(…), `…`, <(…) and >(…).
func (j *judge) words(at syntax.Node) {
	if at == nil {
		return
	}
	syntax.Walk(at, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			j.part(n.Stmts, input{none: true})
			return false
		case *syntax.ProcSubst:
			j.part(n.Stmts, input{})
			return false
		case *syntax.ParamExp: // ${x:=y} sets
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				j.lose(n.Param.Value)
			}
		}
		return true
	})
}

// assign judges and keeps an assignment.
func (j *judge) assign(a *syntax.Assign) {
	j.words(a)
	if a.Name == nil || a.Naked {
		return
	}
	if a.Value == nil || a.Append || a.Index != nil || a.Array != nil {
		if a.Value == nil && a.Array == nil && !a.Append && a.Index == nil {
			j.set(a.Name.Value, "")
			return
		}
		j.lose(a.Name.Value)
		return
	}
	if value, ok := j.value(a.Value); ok {
		j.set(a.Name.Value, value)
		return
	}
	j.lose(a.Name.Value)
}
