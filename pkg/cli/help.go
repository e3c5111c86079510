package cli

import (
	"fmt"
	"go/doc/comment"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// manualText takes the comment marks and the package clause off the text of a doc.go file. Plain text is
// returned as it is.
func manualText(src string) string {
	src = strings.TrimSpace(strings.ReplaceAll(src, "\r\n", "\n"))
	if body, ok := strings.CutPrefix(src, "/*"); ok {
		body, _, _ = strings.Cut(body, "*/")
		return strings.TrimSpace(body)
	}
	if !strings.HasPrefix(src, "//") {
		return src
	}
	var lines []string
	for line := range strings.SplitSeq(src, "\n") {
		rest, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(rest, " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// helpText is the manual with the list of options, and of commands if there are several, put in before its
// first heading, and with the table of exit statuses.
func helpText(a *arranged) string {
	parts := sections(a.cmd.Manual)
	var b strings.Builder
	if a.cmd != a.root || parts[0].Text == "" {
		fmt.Fprintf(&b, "%s - %s\n\n    %s\n\n", fullName(a.root, a.cmd), a.cmd.Short, usageLine(a.root, a.cmd))
	}
	if parts[0].Text != "" {
		b.WriteString(flowed(parts[0].Text) + "\n\n")
	}
	if a.cmd == a.root && len(a.root.Verbs) > 0 {
		b.WriteString("COMMANDS\n" + verbList(a.root.Verbs) + "\n")
	}
	b.WriteString("OPTIONS\n" + optionList(options(a.fs)) + "\n")
	b.WriteString(settingsNote)
	statuses := false
	for _, s := range parts[1:] {
		statuses = statuses || strings.EqualFold(s.Title, "exit status")
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.ToUpper(s.Title), flowed(s.Text))
	}
	if !statuses {
		b.WriteString("\nEXIT STATUS\n" + statusList())
	}
	return b.String()
}

// helpWidth is how wide help texts are.
const helpWidth = 80

// ParseManual parses the text of a manual or of a part of it. Indented text is code, also at the beginning,
// where the parser would take the indentation for that of the whole text.
func ParseManual(text string) *comment.Doc {
	var parser comment.Parser
	doc := parser.Parse("x\n\n" + text)
	doc.Content = doc.Content[1:]
	return doc
}

// flowed breaks the paragraphs of a manual at helpWidth and indents its code.
func flowed(s string) string {
	printer := comment.Printer{TextWidth: helpWidth, TextCodePrefix: "    "}
	return strings.TrimRight(string(printer.Text(ParseManual(s))), "\n")
}

func fullName(root, cmd *Command) string {
	if cmd == root {
		return root.Name
	}
	return root.Name + " " + cmd.Name
}

func usageLine(root, cmd *Command) string {
	args := cmd.Args
	if cmd == root && len(root.Verbs) > 0 && args == "" {
		args = "COMMAND …"
		if root.Run != nil {
			args = "[COMMAND …]"
		}
	}
	return strings.TrimSpace(fullName(root, cmd) + " [flags] " + args)
}

func verbList(verbs []*Command) string {
	var b strings.Builder
	for _, v := range verbs {
		entry(&b, v.Name, v.Short)
	}
	return b.String()
}

func statusList() string {
	var b strings.Builder
	for _, s := range wire.Statuses() {
		fmt.Fprintf(&b, "  %3d  %s\n", s.Exit, s.Meaning)
	}
	return b.String()
}

func optionList(opts []Option) string {
	var b strings.Builder
	for _, o := range opts {
		head := strings.Join(o.Names, ", ")
		if o.Value != "" {
			head += " " + o.Value
		}
		usage := o.Usage
		if o.Default != "" {
			usage += " (default " + o.Default + ")"
		}
		entry(&b, head, usage)
	}
	return b.String()
}

// entry writes a head and its text beside it, broken at helpWidth.
func entry(b *strings.Builder, head, text string) {
	const margin = 24
	line := "  " + head
	if len(line) > margin-2 {
		b.WriteString(line + "\n")
		line = ""
	}
	line += strings.Repeat(" ", margin-len(line))
	used := len(line)
	b.WriteString(line)
	for i, word := range strings.Fields(text) {
		if i > 0 && used+1+len(word) > helpWidth {
			b.WriteString("\n" + strings.Repeat(" ", margin))
			used = margin
		} else if i > 0 {
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	b.WriteByte('\n')
}

// settingsNote says where else options can be set.
const settingsNote = `Flags may follow arguments; "--" ends them. Options can also be set by a variable
(OPENSPACE_LIMIT for --limit), in .env, or in config.json ("limit": 5) under
$XDG_CONFIG_HOME/openspace; --fix, --force, --to and --yes only as flags.
`
