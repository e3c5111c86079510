package cli

import (
	"flag"
	"strings"

	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// arranged are the arguments of a command in the order that the flag parser needs.
type arranged struct {
	root, cmd *Command        // cmd is root or one of its verbs
	fs        *flag.FlagSet   // the flags of cmd
	flags     []string        // each as --name=value
	given     map[string]bool // names of the flags on the command line
	args      []string        // what is no flag
}

// arrange finds the verb and sorts flags from arguments, so that flags may follow arguments. Everything
// after "--" is an argument, and so is "-" alone. All arguments are looked at even after an error, so that a
// format flag counts for how the error is reported.
func arrange(c *common, root *Command, args []string) (*arranged, error) {
	a := &arranged{root: root, cmd: root, given: map[string]bool{}}
	a.fs = flagSet(c, root)
	var verbErr error
	if len(root.Verbs) > 0 {
		args, verbErr = a.verb(args)
		if a.cmd != root {
			a.fs = flagSet(c, root, a.cmd)
		}
	}
	err := a.sort(args)
	if verbErr != nil {
		err = verbErr
	}
	return a, err
}

// verb takes the first argument that is no flag out of args and finds the verb it names. The words help
// and h stand for --help, before or after a verb.
func (a *arranged) verb(args []string) ([]string, error) {
	at := firstArg(a.fs, args)
	if at < 0 {
		if wantsTalk(args) || a.root.Run != nil {
			return args, nil
		}
		return args, usagef("%s is missing its command", a.root.Name).WithHint("the commands are %s", a.verbNames())
	}
	name := args[at]
	rest := append(append([]string{}, args[:at]...), args[at+1:]...)
	if name == "help" || name == "h" {
		if next := firstArg(a.fs, rest); next >= 0 {
			rest, err := a.verb(rest)
			return append(rest, "--help"), err
		}
		return append(rest, "--help"), nil
	}
	for _, v := range a.root.Verbs {
		if v.Name == name {
			a.cmd = v
			return rest, nil
		}
	}
	err := usagef("unknown command %q", name).WithHint("the commands are %s", a.verbNames())
	if near := settings.Nearest(name, a.verbs()); near != "" {
		err = err.WithHint("did you mean %q?", near)
	}
	return rest, err
}

func (a *arranged) verbs() []string {
	var names []string
	for _, v := range a.root.Verbs {
		names = append(names, v.Name)
	}
	return names
}

func (a *arranged) verbNames() string { return strings.Join(a.verbs(), ", ") }

// wantsTalk reports whether help or the version is asked for.
func wantsTalk(args []string) bool {
	for _, arg := range args {
		switch strings.TrimLeft(arg, "-") {
		case "help", "h", "version", describeFlag:
			return strings.HasPrefix(arg, "-")
		}
	}
	return false
}

// firstArg returns the place of the first argument that is no flag and no value of one; -1: there is none.
func firstArg(fs *flag.FlagSet, args []string) int {
	for i := 0; i < len(args); i++ {
		name, _, hasValue, ok := cutFlag(args[i])
		switch {
		case args[i] == "--":
			return -1
		case !ok:
			return i
		case !hasValue && takesValue(fs, name):
			i++
		}
	}
	return -1
}

func takesValue(fs *flag.FlagSet, name string) bool {
	f := fs.Lookup(name)
	return f != nil && !isBool(f)
}

// cutFlag splits --name=value; ok says whether arg is a flag at all.
func cutFlag(arg string) (name, value string, hasValue, ok bool) {
	if len(arg) < 2 || arg[0] != '-' || arg == "--" {
		return "", "", false, false
	}
	name = strings.TrimPrefix(arg[1:], "-")
	name, value, hasValue = strings.Cut(name, "=")
	return name, value, hasValue, true
}

// sort fills flags and args. It returns the first error.
func (a *arranged) sort(args []string) error {
	var first error
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			a.args = append(a.args, args[i+1:]...)
			break
		}
		name, value, hasValue, ok := cutFlag(args[i])
		if !ok {
			a.args = append(a.args, args[i])
			continue
		}
		f := a.fs.Lookup(name)
		switch {
		case f == nil:
			first = firstOf(first, a.unknown(args[i], name))
			continue
		case hasValue:
		case isBool(f):
			value = "true"
		case i+1 < len(args) && !a.isFlag(args[i+1]):
			i++
			value = args[i]
		default:
			first = firstOf(first, usagef("flag %s needs a value", dashed(name)))
			continue
		}
		a.given[name] = true
		a.flags = append(a.flags, "--"+name+"="+value)
	}
	return first
}

func firstOf(first error, next *wire.Error) error {
	if first != nil {
		return first
	}
	return next
}

// isFlag reports whether a word is one of the command's flags; such a word is never taken as a value.
func (a *arranged) isFlag(word string) bool {
	name, _, _, ok := cutFlag(word)
	return word == "--" || ok && a.fs.Lookup(name) != nil
}

// unknown says what was probably meant by a flag that does not exist.
func (a *arranged) unknown(word, name string) *wire.Error {
	err := usagef("unknown flag %q", word)
	if near := settings.Nearest(name, names(a.fs)); near != "" {
		return err.WithHint("did you mean %s?", dashed(near))
	}
	return err.WithHint("put -- before text that begins with a dash")
}
