package cli

import (
	"encoding/json"
	"flag"
	"io"
	"strings"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// Description is what a command says about itself with --describe-command: one JSON object. Manual pages,
// completions and docs/commands.md are made of it.
type Description struct {
	Name     string        `json:"name"`
	Short    string        `json:"short"`
	Usage    string        `json:"usage"` // the usage line
	Sections []Section     `json:"sections"`
	Options  []Option      `json:"options"`
	Verbs    []Description `json:"verbs,omitempty"`
}

// Section is a part of a manual; the first one, everything before the first heading, has no title.
type Section struct {
	Title string `json:"title,omitempty"`
	Text  string `json:"text"` // for ParseManual
}

// Option is a flag as help and manual pages show it. Names that share a value are one option.
type Option struct {
	Names   []string `json:"names"`           // the long one first, as typed
	Value   string   `json:"value,omitempty"` // what stands for the value; empty for a switch
	Usage   string   `json:"usage"`
	Default string   `json:"default,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Setting string   `json:"setting,omitempty"` // its name in the config file; empty: only a flag sets it
}

// describe writes the description of a command with all its verbs.
func describe(w io.Writer, root *Command) error {
	d := descriptionOf(root, root)
	for _, v := range root.Verbs {
		d.Verbs = append(d.Verbs, descriptionOf(root, v))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

func descriptionOf(root, cmd *Command) Description {
	return Description{
		Name: cmd.Name, Short: cmd.Short, Usage: usageLine(root, cmd), Sections: sections(cmd.Manual),
		Options: options(flagSet(&common{}, root, cmd)),
	}
}

// sections cuts a manual at its headings, lines such as "# Examples".
func sections(manual string) []Section {
	res := []Section{{}}
	for line := range strings.SplitSeq(manualText(manual), "\n") {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			res = append(res, Section{Title: strings.TrimSpace(title)})
			continue
		}
		res[len(res)-1].Text += line + "\n"
	}
	for i := range res {
		res[i].Text = strings.Trim(res[i].Text, "\n")
	}
	return res
}

// options lists the flags sorted by name.
func options(fs *flag.FlagSet) []Option {
	var res []Option
	at := map[flag.Value]int{}
	fs.VisitAll(func(f *flag.Flag) {
		if f.Name == describeFlag {
			return
		}
		if i, ok := at[f.Value]; ok {
			res[i] = merge(res[i], optionOf(f))
			return
		}
		at[f.Value] = len(res)
		res = append(res, optionOf(f))
	})
	return res
}

func optionOf(f *flag.Flag) Option {
	value, usage := flag.UnquoteUsage(f)
	if isBool(f) {
		value = ""
	}
	o := Option{Names: []string{dashed(f.Name)}, Value: strings.ToUpper(value), Usage: usage}
	if settable(f.Name) {
		o.Setting = settings.Key(f.Name)
	}
	if c, ok := f.Value.(*choice); ok {
		o.Choices = c.among
	}
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
	default:
		o.Default = f.DefValue
	}
	return o
}

// merge puts the longer name first and takes its text.
func merge(a, b Option) Option {
	if len(a.Names[0]) < len(b.Names[0]) {
		a, b = b, a
	}
	a.Names = append(a.Names, b.Names...)
	return a
}
