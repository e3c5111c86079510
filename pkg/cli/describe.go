package cli

import (
	"encoding/json"
	"io"
)

// description is a command as the generator of manual pages and completion reads it.
type description struct {
	Name     string        `json:"name"`
	Short    string        `json:"short"`
	Usage    string        `json:"usage"`
	Stdin    string        `json:"stdin,omitempty"`
	Sections []section     `json:"sections"`
	Options  []option      `json:"options"`
	Verbs    []description `json:"verbs,omitempty"`
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

func descriptionOf(root, cmd *Command) description {
	return description{
		Name: cmd.Name, Short: cmd.Short, Usage: usageLine(root, cmd), Stdin: cmd.Stdin,
		Sections: sections(cmd.Manual), Options: options(flagSet(&common{}, root, cmd)),
	}
}
