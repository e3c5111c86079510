package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// cmd is a simple command: its name without the folder, its arguments and its standard input.
type cmd struct {
	name string
	args []word
	in   input
	node syntax.Node
}

// unknown is the variable that stands for what is not known in scripts that are put together from words.
const unknown = "_unknown_"

// call judges a command with its assignments.
func (j *judge) call(c *syntax.CallExpr, in input) {
	for _, w := range c.Args {
		j.words(w)
	}
	for _, a := range c.Assigns {
		if len(c.Args) == 0 {
			j.assign(a)
			continue
		}
		j.words(a)
		if value, ok := j.value(a.Value); ok && a.Name != nil && runs(a.Name.Value) {
			j.note(j.script(value))
		}
	}
	j.run(j.args(c.Args), in, c)
}

// runs tells whether programs run the value of a variable as a command.
func runs(variable string) bool {
	return slices.Contains([]string{"PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR",
		"GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "PROMPT_COMMAND", "BROWSER", "SSH_ASKPASS", "GIT_ASKPASS"}, variable)
}

// run judges words as a command.
func (j *judge) run(words []word, in input, at syntax.Node) {
	if len(words) == 0 {
		return
	}
	if *j.steps--; *j.steps < 0 {
		j.say(Deny, "too-long", nil, "the script has too many steps to be looked at: write it to a file and run that")
		return
	}
	first := words[0]
	if !first.known || first.glob && first.text != "[" {
		j.say(Ask, "unknown-command", at, "which command it runs is not known before it runs: write the name of the command out")
		return
	}
	c := cmd{name: filepath.Base(first.text), args: words[1:], in: in, node: at}
	if first.text == "" || first.text == c.name && j.funcs[c.name] {
		return
	}
	before := j.verdict
	j.verdict = Verdict{}
	j.judgeCommand(c)
	j.verdict = worse(before, j.users(c, j.verdict))
}

// users lets the rules of the user have their say about a command.
func (j *judge) users(c cmd, v Verdict) Verdict {
	words := []string{c.name}
	for _, a := range c.args {
		words = append(words, a.text)
	}
	if rule := match(j.p.rules.deny, words); rule != "" {
		return worse(v, Verdict{Decision: Deny, Rule: "user", Command: source(c.node), Reason: fmt.Sprintf("the user forbids %q", rule)})
	}
	if rule := match(j.p.rules.ask, words); rule != "" {
		return worse(v, Verdict{Decision: Ask, Rule: "user", Command: source(c.node), Reason: fmt.Sprintf("the user wants to be asked about %q", rule)})
	}
	if v.Decision == Ask && match(j.p.rules.allow, words) != "" {
		return Verdict{}
	}
	return v
}

// judgeCommand judges what a command is, what it is told to do, and what it is told to run.
func (j *judge) judgeCommand(c cmd) {
	if g, ok := groups()[c.name]; ok && !g.harmless(c) {
		j.say(g.decision, g.rule, c.node, "%s: %s", c.name, g.reason)
	}
	if strings.HasPrefix(c.name, "mkfs.") {
		j.say(Deny, "disk", c.node, "%s: %s", c.name, groups()["mkfs"].reason)
	}
	j.closedArgs(c)
	j.special(c)
	j.targets(c)
	j.inner(c)
}

// closedArgs notes arguments that are paths into closed places.
func (j *judge) closedArgs(c cmd) {
	args := c.args
	switch {
	case slices.Contains(speakers, c.name):
		return
	case slices.Contains(searchers, c.name): // what they look for comes first
		if i := slices.IndexFunc(args, func(a word) bool { return !strings.HasPrefix(a.text, "-") }); i >= 0 {
			args = args[i+1:]
		}
	}
	for _, a := range args {
		if path := j.outward(a.text); path != "" {
			v := j.p.Closed(path)
			v.Command = source(c.node)
			j.note(v)
		}
	}
}

// outward returns the path in an argument that may leave the folder: one that is absolute or has dots. Options and
// the marks of curl and dd before it are taken off.
func (j *judge) outward(text string) string {
	if strings.HasPrefix(text, "-") || !strings.HasPrefix(text, "/") {
		if _, value, ok := strings.Cut(text, "="); ok {
			text = value
		}
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "@"), "file://")
	if strings.HasPrefix(text, "~/") || text == "~" { // quoted, or behind a sign that hides it from the shell
		text = j.p.paths.Home + text[1:]
	}
	if strings.HasPrefix(text, "/") || text == ".." || strings.HasPrefix(text, "../") || strings.Contains(text, "/../") || strings.HasSuffix(text, "/..") {
		return j.path(text)
	}
	return ""
}

// special judges commands that have rules of their own.
func (j *judge) special(c cmd) {
	switch c.name {
	case "cd", "pushd":
		j.cd(c)
	case "popd":
		j.dir = ""
	case "rm", "rmdir", "unlink", "shred", "trash":
		j.remove(c)
	case "dd":
		j.dd(c)
	case "kill":
		j.kill(c)
	case "git":
		j.git(c)
	case "find", "gfind":
		j.find(c)
	case "npm", "pnpm", "yarn", "cargo", "twine", "gem", "poetry", "uv", "gh", "pip", "pip3", "vsce", "flutter", "dart":
		j.publish(c)
	case "read", "mapfile", "readarray", "getopts", "unset", "wait", "printf":
		j.setters(c)
	case "export", "local", "declare", "typeset", "readonly":
		for _, a := range c.args { // behind `command` or `builtin`
			name, _, _ := strings.Cut(a.text, "=")
			j.lose(name)
		}
	case "init", "telinit":
		if len(c.args) > 0 {
			j.say(Deny, "power", c.node, "%s: it would stop or restart the machine", c.name)
		}
	}
}

// setters lose the variables that a command sets.
func (j *judge) setters(c cmd) {
	args := c.args
	if c.name == "printf" {
		if len(args) < 2 || args[0].text != "-v" {
			return
		}
		args = args[1:2]
	}
	for _, a := range args {
		if syntax.ValidName(a.text) {
			j.lose(a.text)
		}
	}
	j.lose("REPLY")
}

// cd follows the script into another folder.
func (j *judge) cd(c cmd) {
	to := operands(c.args, "")
	switch {
	case len(to) == 0 && c.name == "cd":
		j.enter(j.p.paths.Home, c)
	case len(to) == 1 && to[0].known && to[0].text != "-":
		j.enter(j.path(to[0].text), c)
	default:
		j.dir = ""
	}
}

func (j *judge) enter(dir string, c cmd) {
	if dir != "" && !scratch(dir) {
		v := j.p.Read(dir)
		v.Command = source(c.node)
		j.note(v)
	}
	j.dir = dir
}

// scratch tells whether a path is in a folder for temporary files, of which a command has its own.
func scratch(path string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", "/dev/shm"}, func(dir string) bool { return within(path, dir) })
}

// operands returns the arguments that are not options. values names options that have a value after them.
func operands(args []word, values string) []word {
	var out []word
	takes := strings.Fields(values)
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; {
		case text == "--" && args[i].known:
			return append(out, args[i+1:]...)
		case strings.HasPrefix(text, "-") && len(text) > 1:
			if slices.Contains(takes, text) {
				i++
			}
		default:
			out = append(out, args[i])
		}
	}
	return out
}

// flag tells whether an option is given: a letter among short ones, or a long one.
func flag(args []word, letters string, long ...string) bool {
	return slices.ContainsFunc(args, func(a word) bool {
		name, _, _ := strings.Cut(a.text, "=")
		if strings.HasPrefix(a.text, "--") {
			return slices.Contains(long, name)
		}
		return slices.Contains(long, name) || strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text[1:], letters)
	})
}

// remove judges what is deleted.
func (j *judge) remove(c cmd) {
	recursive := flag(c.args, "rR", "--recursive", "--no-preserve-root")
	for _, a := range operands(c.args, "-n -s") {
		j.removal(a, recursive || c.name == "rmdir", c.node)
	}
}

// removal judges one path that is deleted: not the workspace, not what it is in, not what is outside.
func (j *judge) removal(a word, recursive bool, at syntax.Node) {
	text := a.text
	if a.glob && recursive {
		// `rm -r *` deletes what is in the folder as `rm -r .` does.
		if base := filepath.Base(text); strings.Trim(base, ".*?[!]") == "" {
			text = filepath.Dir(text)
		}
	}
	path := j.path(text)
	if path == "" {
		return
	}
	path = resolve(path)
	if within(j.p.workspace, path) {
		j.say(Deny, "remove-workspace", at, "it would delete the whole workspace or a folder that it is in (%q): name the files and folders to delete", path)
		return
	}
	if a.known {
		j.writes(path, at)
	}
}

// writes judges a path that is written.
func (j *judge) writes(path string, at syntax.Node) {
	if path == "" {
		return
	}
	v := j.p.Write(path)
	if v.Decision != Allow && scratch(path) {
		return
	}
	v.Command = source(at)
	j.note(v)
}

// target judges a redirection to a file.
func (j *judge) target(w *syntax.Word, r *syntax.Redirect) {
	values, known := j.fields(w)
	if known && len(values) == 1 {
		j.writes(j.path(values[0]), r)
		return
	}
	if begin := j.beginning(w); filepath.IsAbs(begin) && strings.HasSuffix(begin, "/") {
		j.writes(filepath.Join(begin, "x"), r)
	}
}

// readable judges a redirection from a file.
func (j *judge) readable(w *syntax.Word, r *syntax.Redirect) {
	values, known := j.fields(w)
	if !known || len(values) != 1 {
		return
	}
	if path := j.path(values[0]); path != "" {
		v := j.p.Closed(path)
		v.Command = source(r)
		j.note(v)
	}
}

// dd judges what dd writes.
func (j *judge) dd(c cmd) {
	for _, a := range c.args {
		if path, ok := strings.CutPrefix(a.text, "of="); ok {
			j.writes(j.path(path), c.node)
		}
	}
}

// kill judges signals to everybody and to the first process.
func (j *judge) kill(c cmd) {
	for i, a := range c.args {
		if a.text == "1" || a.text == "-1" && (i > 0 || len(c.args) == 1) {
			j.say(Deny, "kill-all", c.node, "it would signal all processes: name the process that you started, or stop a job by its handle")
		}
	}
}

// targets judges the files that well-known commands write.
func (j *judge) targets(c cmd) {
	w, ok := writers[c.name]
	if !ok || w.when != nil && !w.when(c.args) {
		return
	}
	args := operands(c.args, w.values)
	for i, a := range c.args {
		name, value, long := strings.Cut(a.text, "=")
		switch {
		case long && slices.Contains(w.targets, name):
			j.writes(j.path(value), c.node)
		case slices.Contains(w.targets, a.text) && i+1 < len(c.args) && c.args[i+1].known:
			j.writes(j.path(c.args[i+1].text), c.node)
		}
	}
	skip := w.skip
	if skip > 0 && flag(c.args, "ef", "--reference", "--expression", "--file") && c.name != "install" {
		skip = 0
	}
	args = args[min(skip, len(args)):]
	switch {
	case w.last && len(args) > 1:
		args = args[len(args)-1:]
	case w.last, w.none:
		args = nil
	}
	for _, a := range args {
		if a.known && !strings.Contains(a.text, ":") {
			j.writes(j.path(a.text), c.node)
		}
	}
	if c.name == "mv" {
		for _, a := range operands(c.args, w.values) {
			j.removal(a, true, c.node)
		}
	}
}
