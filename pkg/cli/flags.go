package cli

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// common are the flags of every command.
type common struct {
	jsonl, json, plain      bool
	color                   choice
	help, version, describe bool
}

// formats are the flags that exclude each other.
var formats = []string{"jsonl", "json", "plain"}

// unsettable are flags that only the command line can set: a file or a variable that somebody left behind
// must not make a command destroy, overwrite or publish, nor say what it works on.
var unsettable = []string{
	"help", "h", "version", "force", "fix", "yes", "to", "allow-secret", "any-owner", "archive", "command", "diff", "env", "host", "pin", "port", "skill-dir", "skill-id", "transport", "record", "replay",
	"unpin", "update", describeFlag,
}

// describeFlag prints the command's description for the generator of manual pages. It is in no help text.
const describeFlag = "describe-command"

func (c *common) flags(fs *flag.FlagSet) {
	c.color = choice{value: "auto", among: []string{"auto", "always", "never"}}
	fs.BoolVar(&c.jsonl, "jsonl", false, "write one JSON object a line (the default when stdout is not a terminal)")
	fs.BoolVar(&c.json, "json", false, "write one JSON array")
	fs.BoolVar(&c.plain, "plain", false, "write lines of columns separated by tabs, without a heading")
	fs.Var(&c.color, "color", "colour the table: `WHEN` is auto, always or never")
	fs.BoolVar(&c.help, "help", false, "print this help")
	fs.BoolVar(&c.help, "h", false, "print this help")
	fs.BoolVar(&c.version, "version", false, "print the version")
	fs.BoolVar(&c.describe, describeFlag, false, "")
}

// choice is a flag whose value is one of a few words.
type choice struct {
	value string
	among []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.among, s) {
		return fmt.Errorf("want %s", strings.Join(c.among, ", "))
	}
	c.value = s
	return nil
}

// Choice registers a flag that takes one of the given words. The default is the first.
func Choice(fs *flag.FlagSet, name, usage string, among ...string) *string {
	c := &choice{value: among[0], among: among}
	fs.Var(c, name, usage)
	return &c.value
}

// list is a flag that may be given several times; commas in a value mean nothing.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }
func (l *list) Get() any           { return []string(*l) }

// List registers a flag that may be given several times, one value each time.
func List(fs *flag.FlagSet, name, usage string) *[]string {
	l := new(list)
	fs.Var(l, name, usage)
	return (*[]string)(l)
}

// flagSet returns the flags of a command and of its parent, if it is a verb.
func flagSet(c *common, cmds ...*Command) *flag.FlagSet {
	fs := flag.NewFlagSet(cmds[0].Name, flag.ContinueOnError)
	c.flags(fs)
	last := cmds[len(cmds)-1]
	for i, cmd := range cmds {
		if cmd.Flags != nil && !slices.Contains(cmds[:i], cmd) && (cmd.Run == nil || cmd == last) {
			cmd.Flags(fs)
		}
	}
	return fs
}

// settable reports whether a variable or a file can set a flag.
func settable(name string) bool { return len(name) > 1 && !slices.Contains(unsettable, name) }

// names lists the long flags that are no secret.
func names(fs *flag.FlagSet) []string {
	var res []string
	fs.VisitAll(func(f *flag.Flag) {
		if len(f.Name) > 1 && f.Name != describeFlag {
			res = append(res, f.Name)
		}
	})
	return res
}

// isBool reports whether a flag stands without a value.
func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// isList reports whether each value that is set adds to a flag.
func isList(f *flag.Flag) bool {
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	_, ok = g.Get().([]string)
	return ok
}

// dashed is a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// setFlag sets a flag; who names what the value came from: a flag, a variable or a line of a file.
func setFlag(f *flag.Flag, who, value string) error {
	err := f.Value.Set(value)
	if err == nil {
		return nil
	}
	want := err.Error()
	if g, ok := f.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case bool:
			want = "want true or false"
		case int, int64, uint, uint64:
			want = "want a whole number"
			if strings.Contains(err.Error(), "range") {
				want = "the number is out of range"
			}
		case float64:
			want = "want a number"
		case time.Duration:
			want = "want a duration such as 30s or 5m"
		}
	}
	return usagef("%s: bad value %q: %s", who, value, want)
}

// usagef returns a usage error.
func usagef(format string, args ...any) *wire.Error { return wire.Errorf(wire.Usage, format, args...) }

// applySettings gives each flag that is not on the command line the value that the environment or a file
// has, and notes where every value came from.
func applySettings(s *settings.Settings, fs *flag.FlagSet, given map[string]bool) error {
	if err := s.Err(); err != nil {
		return usagef("%w", err)
	}
	byHand := aliases(fs, given)
	if slices.ContainsFunc(formats, func(name string) bool { return byHand[name] }) {
		for _, name := range formats {
			byHand[name] = true
		}
	}
	var errs []error
	fs.VisitAll(func(f *flag.Flag) {
		if settable(f.Name) {
			errs = append(errs, applySetting(s, f, byHand[f.Name]))
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// aliases adds to the names in given the other names of the same flags: those that share a value.
func aliases(fs *flag.FlagSet, given map[string]bool) map[string]bool {
	values := map[flag.Value]bool{}
	fs.VisitAll(func(f *flag.Flag) {
		if given[f.Name] {
			values[f.Value] = true
		}
	})
	res := map[string]bool{}
	fs.VisitAll(func(f *flag.Flag) { res[f.Name] = values[f.Value] })
	return res
}

func applySetting(s *settings.Settings, f *flag.Flag, byHand bool) error {
	found, ok := s.Lookup(f.Name)
	now := settings.Value{Name: settings.Key(f.Name), Value: f.Value.String(), Source: settings.Default}
	switch {
	case byHand:
		now.Source = settings.Flag
		if ok {
			now.Shadowed = append([]settings.Value{found}, found.Shadowed...)
		}
	case ok:
		now = found
		if err := setFound(f, found); err != nil {
			return err
		}
	}
	s.Note(now)
	return nil
}

func setFound(f *flag.Flag, v settings.Value) error {
	who := v.Where
	if v.Source == settings.Config {
		who += ": " + v.Name // a line may have several
	}
	if v.List == nil {
		return setFlag(f, who, v.Value)
	}
	if !isList(f) {
		return usagef("%s: setting %q: want one value, not a list", v.Where, v.Name)
	}
	for _, item := range v.List {
		if err := setFlag(f, who, item); err != nil {
			return err
		}
	}
	return nil
}

// format returns the output format that was asked for; "" when none was.
func (c *common) format() (Format, error) {
	var chosen []Format
	for format, on := range map[Format]bool{JSONL: c.jsonl, JSON: c.json, Plain: c.plain} {
		if on {
			chosen = append(chosen, format)
		}
	}
	if len(chosen) > 1 {
		return "", usagef("%w", errors.New("--jsonl, --json and --plain exclude each other"))
	}
	if len(chosen) == 0 {
		return "", nil
	}
	return chosen[0], nil
}
