package policy

import (
	"cmp"
	"path/filepath"
	"slices"
)

// Decision is whether something may be done. A higher one wins over a lower one.
type Decision int

const (
	Allow Decision = iota
	Ask            // the user has to agree; where nobody can be asked, it is not done
	Deny
)

var decisions = [...]string{Allow: "allow", Ask: "ask", Deny: "deny"}

// String returns the decision in a word.
func (d Decision) String() string { return decisions[d] }

// Verdict is a decision and why.
type Verdict struct {
	Decision Decision
	Reason   string // for the model: what is not allowed and why, and what to do instead; empty when allowed
	Rule     string // the name of the rule, stable
	Command  string // the part of a script that it is about
}

// Paths are the folders that a policy is about. All are absolute.
type Paths struct {
	Workspace string
	Write     []string // may be written as well
	Read      []string // may be read as well
	Home      string   // of the user: closed, but for the above and for installed tools
}

// Policy is a set of rules for one task.
type Policy struct {
	paths     Paths    // resolved
	write     []string // folders that may be written, resolved
	read      []string // folders that may be read, resolved
	rules     compiled
	homes     []string // closed, resolved
	workspace string
}

// Default returns the built-in rules for these folders.
func Default(paths Paths) *Policy { return New(paths, Rules{}) }

// New returns the built-in rules and those of the user.
func New(paths Paths, rules Rules) *Policy {
	p := &Policy{paths: paths, rules: rules.compile()}
	p.workspace = resolve(paths.Workspace)
	p.write = resolveAll(append([]string{paths.Workspace}, paths.Write...))
	p.read = slices.Concat(p.write, resolveAll(paths.Read), resolveAll(ToolDirs(paths.Home, "")))
	p.homes = resolveAll([]string{paths.Home, "/root", "/home", "/Users"})
	return p
}

// resolveAll resolves the folders that are given.
func resolveAll(paths []string) []string {
	var out []string
	for _, path := range paths {
		if filepath.IsAbs(path) {
			out = append(out, resolve(path))
		}
	}
	return out
}

// worse returns the stricter of two verdicts, the first of equal ones.
func worse(a, b Verdict) Verdict {
	if cmp.Compare(b.Decision, a.Decision) > 0 {
		return b
	}
	return a
}
