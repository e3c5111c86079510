package main

import (
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
)

// The completions are static: they are lists of words and never run the command.

// words returns the verbs and all names of options, for a list in a shell.
func words(c cli.Description) string {
	var res []string
	for _, v := range c.Verbs {
		res = append(res, v.Name)
	}
	for _, o := range c.Options {
		res = append(res, o.Names...)
	}
	return strings.Join(res, " ")
}

// values says what may stand for the value of an option: words, a folder, a file or nothing known.
func values(o cli.Option) (kind string, list string) {
	switch {
	case len(o.Choices) > 0:
		return "words", strings.Join(o.Choices, " ")
	case strings.HasPrefix(o.Value, "DIR"):
		return "folder", ""
	case strings.HasPrefix(o.Value, "FILE"), strings.HasPrefix(o.Value, "PATH"):
		return "file", ""
	}
	return "text", ""
}

// everyOption returns the options of a command and its verbs, each name once.
func everyOption(c cli.Description) []cli.Option {
	seen := map[string]bool{}
	var res []cli.Option
	for _, part := range append([]cli.Description{c}, c.Verbs...) {
		for _, o := range part.Options {
			if !seen[o.Names[0]] {
				seen[o.Names[0]] = true
				res = append(res, o)
			}
		}
	}
	return res
}

func bashCompletion(c cli.Description) []byte {
	var b strings.Builder
	function := "_" + strings.ReplaceAll(c.Name, "-", "_")
	fmt.Fprintf(&b, "# bash completion for %s; generated, see scripts/gen\n%s() {\n", c.Name, function)
	b.WriteString("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words verb word\n\tCOMPREPLY=()\n\tcase $prev in\n")
	for _, o := range everyOption(c) {
		if o.Value == "" {
			continue
		}
		action := "return"
		switch kind, list := values(o); kind {
		case "words":
			action = fmt.Sprintf(`COMPREPLY=($(compgen -W "%s" -- "$cur")); return`, list)
		case "folder":
			action = `COMPREPLY=($(compgen -d -- "$cur")); return`
		case "file":
			action = `COMPREPLY=($(compgen -f -- "$cur")); return`
		}
		fmt.Fprintf(&b, "\t%s) %s ;;\n", strings.Join(o.Names, "|"), action)
	}
	b.WriteString("\tesac\n")
	fmt.Fprintf(&b, "\twords=\"%s\"\n", words(c))
	if len(c.Verbs) > 0 {
		b.WriteString("\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n\t\tcase $word in\n")
		for _, v := range c.Verbs {
			fmt.Fprintf(&b, "\t\t%s) verb=1 words=\"%s\"; break ;;\n", v.Name, words(v))
		}
		b.WriteString("\t\tesac\n\tdone\n\tif [ -z \"$verb\" ] || [[ $cur == -* ]]; then\n")
	} else {
		b.WriteString("\tif [[ $cur == -* ]]; then\n")
	}
	b.WriteString("\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\tfi\n}\n")
	fmt.Fprintf(&b, "complete -o default -F %s %s\n", function, c.Name)
	return []byte(b.String())
}

// quoted puts text into single quotes for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func fishCompletion(c cli.Description) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s; generated, see scripts/gen\n", c.Name)
	var verbs []string
	for _, v := range c.Verbs {
		verbs = append(verbs, v.Name)
	}
	for _, v := range c.Verbs {
		fmt.Fprintf(&b, "complete -c %s -f -n 'not __fish_seen_subcommand_from %s' -a %s -d %s\n", c.Name, strings.Join(verbs, " "), v.Name, fishQuoted(v.Short))
	}
	for _, o := range c.Options {
		b.WriteString(fishOption(c.Name, "", o))
	}
	for _, v := range c.Verbs {
		for _, o := range own(v, c) {
			b.WriteString(fishOption(c.Name, " -n '__fish_seen_subcommand_from "+v.Name+"'", o))
		}
	}
	return []byte(b.String())
}

// fishQuoted puts text into single quotes for fish, which has other escapes than a POSIX shell.
func fishQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

func fishOption(name, condition string, o cli.Option) string {
	line := "complete -c " + name + condition
	for _, n := range o.Names {
		if long, ok := strings.CutPrefix(n, "--"); ok {
			line += " -l " + long
		} else {
			line += " -s " + strings.TrimPrefix(n, "-")
		}
	}
	if o.Value != "" {
		switch kind, list := values(o); kind {
		case "words":
			line += " -x -a " + fishQuoted(list)
		case "folder":
			line += " -x -a '(__fish_complete_directories)'"
		case "file":
			line += " -r -F"
		default:
			line += " -x"
		}
	}
	return line + " -d " + fishQuoted(o.Usage) + "\n"
}

func zshCompletion(c cli.Description) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n# generated, see scripts/gen\n\n", c.Name)
	if len(c.Verbs) == 0 {
		b.WriteString("_arguments -S" + zshOptions(c.Options) + " \\\n\t'*:argument:_files'\n")
		return []byte(b.String())
	}
	b.WriteString("local -a verbs\nverbs=(\n")
	for _, v := range c.Verbs {
		fmt.Fprintf(&b, "\t%s\n", quoted(v.Name+":"+v.Short))
	}
	b.WriteString(")\n\n_arguments -C -S" + zshOptions(c.Options) + " \\\n\t'1:command:->verb' \\\n\t'*::argument:->rest'\n\ncase $state in\nverb) _describe command verbs ;;\nrest)\n\tcase $words[1] in\n")
	for _, v := range c.Verbs {
		fmt.Fprintf(&b, "\t%s) _arguments -S%s \\\n\t'*:argument:_files' ;;\n", v.Name, zshOptions(v.Options))
	}
	b.WriteString("\tesac ;;\nesac\n")
	return []byte(b.String())
}

func zshOptions(opts []cli.Option) string {
	var b strings.Builder
	for _, o := range opts {
		usage := strings.NewReplacer("[", "(", "]", ")", ":", " -").Replace(o.Usage)
		value := ""
		if o.Value != "" {
			value = ":" + strings.ToLower(o.Value) + ":"
			switch kind, list := values(o); kind {
			case "words":
				value += "(" + list + ")"
			case "folder":
				value += "_files -/"
			case "file":
				value += "_files"
			}
		}
		for _, name := range o.Names {
			if o.Value != "" && strings.HasPrefix(name, "--") {
				name += "="
			}
			b.WriteString(" \\\n\t" + quoted(name+"["+usage+"]"+value))
		}
	}
	return b.String()
}
