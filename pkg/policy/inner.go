package policy

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// inner judges what a command is told to run.
func (j *judge) inner(c cmd) {
	base := strings.TrimRight(c.name, "0123456789.") // python3.12
	options, interpreter := interpreters[c.name]
	if !interpreter && strings.HasPrefix(c.name, "python") {
		options, interpreter = interpreters[base]
	}
	switch {
	case c.name == "eval":
		j.note(j.here(j.render(c.args)))
	case c.name == "env":
		j.env(c)
	case c.name == "xargs" || c.name == "gxargs":
		j.xargs(c)
	case slices.Contains(shells, c.name):
		j.shell(c)
	case interpreter:
		j.interpreter(c, options)
	case c.name == "source" || c.name == ".":
		if len(c.args) > 0 {
			j.file(c, c.args[0])
		}
	case c.name == "trap" || c.name == "watch":
		if script := operands(c.args, "-n -d"); len(script) > 0 {
			if c.name == "trap" {
				script = script[:1]
			}
			j.note(j.script(j.render(script)))
		}
	case c.name == "alias":
		j.aliases(c)
	case c.name == "enable", c.name == "hash":
		if flag(c.args, "fp") {
			j.say(Ask, "unknown-command", c.node, "%s changes what names of commands mean", c.name)
		}
	}
	if w, ok := wrappers[c.name]; ok {
		j.wrapped(c, w)
	}
}

// wrapped judges the command behind another one. Some also take it as one text, behind -c.
func (j *judge) wrapped(c cmd, w wrapper) {
	if c.name == "command" && flag(c.args, "vV") {
		return
	}
	args := c.args
	if w.verb != "" {
		at := slices.IndexFunc(args, func(a word) bool { return a.text == w.verb })
		if at < 0 {
			return
		}
		args = args[at+1:]
	}
	values := strings.Fields(w.values)
	for skip := w.skip; len(args) > 0; args = args[1:] {
		text := args[0].text
		switch {
		case text == "-c" && c.name != "ionice" && c.name != "setsid" && len(args) > 1:
			j.note(j.script(j.render(args[1:2])))
		case text == "--":
			j.run(args[1:], c.in, c.node)
			return
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") && c.name == "xvfb-run":
			if slices.Contains(values, text) {
				args = args[min(1, len(args)-1):]
			}
		case c.name == "sudo" && isAssignment(text):
		case skip > 0:
			skip--
		default:
			if c.name == "hyperfine" || c.name == "parallel" || c.name == "gdb" {
				j.note(j.script(j.render(args)))
				return
			}
			j.run(args, c.in, c.node)
			return
		}
	}
}

func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && syntax.ValidName(name)
}

// env judges the command behind env, and that of env -S.
func (j *judge) env(c cmd) {
	args := c.args
	for len(args) > 0 {
		text := args[0].text
		switch {
		case text == "-u" || text == "--unset" || text == "-C" || text == "--chdir":
			args = args[min(2, len(args)):]
		case strings.HasPrefix(text, "-S") || strings.HasPrefix(text, "--split-string"):
			rest := j.render(args)
			rest = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(rest, "-S"), "--split-string"), "=")
			j.note(j.script("env " + rest))
			return
		case strings.HasPrefix(text, "-"), isAssignment(text):
			args = args[1:]
		default:
			j.run(args, c.in, c.node)
			return
		}
	}
}

// xargs judges its command with what is known of its input.
func (j *judge) xargs(c cmd) {
	args := c.args
	values := []string{"-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s", "-R", "-J", "--max-args", "--max-procs", "--delimiter", "--arg-file", "--replace"}
	place := ""
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		if args[0].text == "-I" && len(args) > 1 {
			place = args[1].text
		} else if text, ok := strings.CutPrefix(args[0].text, "-I"); ok {
			place = text
		}
		if slices.Contains(values, args[0].text) {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 {
		return
	}
	const most = 200
	more := []word{{text: ""}} // something
	if c.in.known {
		more = nil
		for _, f := range strings.Fields(c.in.text) {
			if len(more) < most {
				more = append(more, word{text: strings.Trim(f, `'"`), known: true})
			}
		}
	}
	if place == "" {
		j.run(append(slices.Clone(args), more...), input{none: true}, c.node)
		return
	}
	for _, m := range more {
		with := slices.Clone(args)
		for i, a := range with {
			if strings.Contains(a.text, place) {
				with[i] = word{text: strings.ReplaceAll(a.text, place, m.text), known: a.known && m.known}
			}
		}
		j.run(with, input{none: true}, c.node)
	}
}

// shell judges what a shell is given: a text, a file or its input.
func (j *judge) shell(c cmd) {
	args := c.args
	text, standard := false, false
	for len(args) > 0 {
		option := args[0].text
		if !args[0].known || len(option) < 2 || option[0] != '-' && option[0] != '+' {
			break
		}
		if text { // an option after -c, or what is run
			j.note(j.script(option))
		}
		args = args[1:]
		if option == "--" {
			break
		}
		if strings.HasPrefix(option, "--") {
			if option == "--rcfile" || option == "--init-file" {
				args = args[min(1, len(args)):]
			}
			text = text || option == "--command"
			continue
		}
		text, standard = text || strings.Contains(option, "c"), standard || strings.Contains(option, "s")
		if strings.HasSuffix(option, "o") || strings.HasSuffix(option, "O") {
			args = args[min(1, len(args)):]
		}
	}
	switch {
	case text && len(args) > 0:
		j.note(j.script(j.render(args[:1])))
	case len(args) > 0 && args[0].text != "-" && !standard:
		j.file(c, args[0])
	default:
		j.piped(c)
	}
}

// file judges a script that is in a file. What is in it is not looked at; the sandbox holds it.
func (j *judge) file(c cmd, name word) {
	if name.node != nil && runsNetwork(name.node) {
		j.say(Ask, "remote-code", c.node, "it runs what comes from the network unseen: download it to a file, read it, then run it")
	}
}

// piped judges what a shell reads from its input.
func (j *judge) piped(c cmd) {
	switch {
	case c.in.network:
		j.say(Ask, "remote-code", c.node, "it runs what comes from the network unseen: download it to a file, read it, then run it")
	case c.in.known:
		j.note(j.script(c.in.text))
	case c.in.file, c.in.none:
	default:
		j.say(Ask, "unknown-command", c.node, "which commands it runs is not known before it runs: write them out, or to a file that you run")
	}
}

// aliases judges what aliases stand for.
func (j *judge) aliases(c cmd) {
	for _, a := range c.args {
		if name, value, ok := strings.Cut(a.text, "="); ok {
			j.note(j.script(value))
			delete(j.funcs, name)
		}
	}
}

// render puts words together to the text of a script. What is not known becomes a variable of unknown value.
func (j *judge) render(words []word) string {
	j.lost[unknown] = true
	var out []string
	for _, w := range words {
		switch {
		case w.known:
			out = append(out, w.text)
		case w.node == nil:
			out = append(out, "$"+unknown)
		default:
			out = append(out, j.renderParts(w.node.Parts))
		}
	}
	return strings.Join(out, " ")
}

func (j *judge) renderParts(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		if q, ok := part.(*syntax.DblQuoted); ok {
			b.WriteString(j.renderParts(q.Parts))
			continue
		}
		lit, isLit := part.(*syntax.Lit)
		text, known := j.value(&syntax.Word{Parts: []syntax.WordPart{part}})
		switch {
		case known:
			b.WriteString(text)
		case isLit:
			b.WriteString(lit.Value)
		default:
			b.WriteString("${" + unknown + "}")
		}
	}
	return b.String()
}

// output returns what is known of what a statement writes.
func (j *judge) output(s *syntax.Stmt) input {
	out := input{network: runsNetwork(s)}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return out
	}
	args := j.args(call.Args)
	name := filepath.Base(args[0].text)
	rest := args[min(1, len(args)):]
	switch name {
	case "echo":
		for len(rest) > 0 && slices.Contains([]string{"-n", "-e", "-E", "-ne", "-en"}, rest[0].text) {
			rest = rest[1:]
		}
		return j.said(rest, " ", out)
	case "printf":
		if len(rest) > 1 && strings.Trim(rest[0].text, "%s\\n \"'") == "" {
			return j.said(rest[1:], "\n", out)
		}
		if len(rest) > 0 && !strings.Contains(rest[0].text, "%") {
			return j.said(rest[:1], "", out)
		}
	case "cat":
		if len(s.Redirs) == 0 && len(rest) > 0 {
			out.file = !slices.ContainsFunc(rest, func(a word) bool { return !a.known })
			return out
		}
		for _, r := range s.Redirs {
			if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
				in := j.document(r)
				in.network = out.network
				return in
			}
		}
	}
	return out
}

// said returns words that are written as text.
func (j *judge) said(words []word, between string, out input) input {
	var texts []string
	for _, w := range words {
		if !w.known {
			return input{text: j.render(words), known: true, network: out.network}
		}
		texts = append(texts, w.text)
	}
	text := strings.Join(texts, between)
	return input{text: strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text), known: true, network: out.network}
}

// runsNetwork tells whether something within a node brings data from the network.
func runsNetwork(at syntax.Node) bool {
	found := false
	syntax.Walk(at, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			found = found || slices.ContainsFunc(call.Args, func(w *syntax.Word) bool { return slices.Contains(fetchers, filepath.Base(w.Lit())) && w.Lit() != "" })
		}
		return !found
	})
	return found
}

// interpreter judges code in another language, as far as that can be done: the texts of shell commands in it, and
// what it deletes.
func (j *judge) interpreter(c cmd, options string) {
	takes := strings.Fields(options)
	given := false
	for i, a := range c.args {
		if (slices.Contains(takes, a.text) || len(takes) > 0 && isCode(a.text, takes[0])) && i+1 < len(c.args) {
			j.code(j.render(c.args[i+1:i+2]), c.node)
			given = true
		}
	}
	if strings.HasSuffix(c.name, "awk") && len(c.args) > 0 {
		j.code(j.render(c.args), c.node)
		return
	}
	if files := operands(c.args, options); !given && len(files) > 0 {
		j.file(c, files[0])
	}
	if given || len(operands(c.args, options)) > 0 && c.args[len(c.args)-1].text != "-" {
		return
	}
	switch {
	case c.in.network:
		j.say(Ask, "remote-code", c.node, "it runs what comes from the network unseen: download it to a file, read it, then run it")
	case c.in.known:
		j.code(c.in.text, c.node)
	}
}

// isCode tells whether an option is one with more letters before it, as in -Sc.
func isCode(text, option string) bool {
	return len(option) == 2 && len(text) > 2 && len(text) < 6 && text[0] == '-' && text[1] != '-' && text[len(text)-1] == option[1]
}

// The parts of code that are looked at: calls that run a command given as text or as the first texts of a list, and
// calls that delete a tree or a file given as text.
var (
	runsText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:system|popen|Popen|exec|execSync|execFileSync|spawn|spawnSync|shell_exec|passthru|getoutput|getstatusoutput|subprocess\.\w+|check_call|check_output|run|qx|%x|do shell script)\s*[\(\s]\s*\[?\s*((?:[frbu]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*,?\s*)+)`)
	})
	deletesText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:rmtree|removedirs|rmSync|rmdirSync|rm_rf|rm_r|remove_dir_all|unlinkSync|unlink|os\.remove|os\.rmdir|remove_tree|emptyDirSync)\s*[\(\s]\s*(?:Path\s*\(\s*)?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)
	})
	texts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`) })
)

func (j *judge) code(text string, at syntax.Node) {
	if len(text) > maxScript {
		text = text[:maxScript]
	}
	unescape := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`)
	for _, m := range runsText().FindAllStringSubmatch(text, 50) {
		var words []string
		for _, t := range texts().FindAllStringSubmatch(m[1], 100) {
			words = append(words, unescape.Replace(t[1]+t[2]))
		}
		v := j.script(strings.Join(words, " "))
		if v.Rule != "syntax" {
			j.note(v)
		}
	}
	for _, m := range deletesText().FindAllStringSubmatch(text, 50) {
		j.removal(word{text: unescape.Replace(m[1][1 : len(m[1])-1]), known: true}, true, at)
	}
}
