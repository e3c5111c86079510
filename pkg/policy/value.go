package policy

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is an argument of a command.
type word struct {
	text  string // its value, or how it begins when that is all that is known
	known bool
	glob  bool // it has patterns of file names, which are left as they are
	node  *syntax.Word
}

// config returns how the shell would expand words with what is known.
func (j *judge) config() *expand.Config {
	return &expand.Config{NoUnset: true, Env: expand.FuncEnviron(func(name string) string {
		if user, ok := strings.CutPrefix(name, "HOME "); ok { // ~user
			if user == "root" {
				return "/root"
			}
			return "/home/" + filepath.Base(user)
		}
		if value, ok := j.vars[name]; ok {
			return value
		}
		switch name {
		case "HOME":
			return j.p.paths.Home
		case "PWD":
			return j.dir
		}
		return ""
	})}
}

// open tells whether the value of a node depends on what is not known, or would be costly to work out.
func (j *judge) open(w *syntax.Word) bool {
	unknown, braces := false, 0
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			unknown = true
		case *syntax.ParamExp:
			unknown = unknown || n.Param == nil || n.Excl || n.NestedParam != nil || n.Repl != nil || n.Index != nil ||
				!syntax.ValidName(n.Param.Value) || j.lost[n.Param.Value]
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				unknown = true
			}
		case *syntax.Lit:
			braces += strings.Count(n.Value, "{")
			unknown = unknown || strings.Contains(n.Value, "{") && strings.Contains(n.Value, "..")
		}
		return !unknown
	})
	return unknown || braces > 4
}

// fields returns the words that a word becomes, and whether they are known. The library that expands is not ours: a
// panic of it means that nothing is known.
func (j *judge) fields(w *syntax.Word) (out []string, known bool) {
	defer func() {
		if recover() != nil {
			out, known = nil, false
		}
	}()
	if w == nil || j.open(w) {
		return nil, false
	}
	out, err := expand.Fields(j.config(), w)
	return out, err == nil
}

// value returns what a word is when it is not split.
func (j *judge) value(w *syntax.Word) (text string, known bool) {
	defer func() {
		if recover() != nil {
			text, known = "", false
		}
	}()
	if w == nil {
		return "", true
	}
	if j.open(w) {
		return "", false
	}
	text, err := expand.Literal(j.config(), w)
	return text, err == nil
}

// expandDocument returns the text of a here-document.
func (j *judge) expandDocument(w *syntax.Word) (text string, known bool) {
	defer func() {
		if recover() != nil {
			text, known = "", false
		}
	}()
	if j.open(w) {
		return "", false
	}
	text, err := expand.Document(j.config(), w)
	return text, err == nil
}

// args returns the words of a command.
func (j *judge) args(nodes []*syntax.Word) []word {
	var out []word
	for _, n := range nodes {
		values, known := j.fields(n)
		if !known {
			out = append(out, word{text: j.beginning(n), node: n})
			continue
		}
		for _, v := range values {
			out = append(out, word{text: v, known: true, glob: hasGlob(n), node: n})
		}
	}
	return out
}

// beginning returns the part of a word before the first thing that is not known.
func (j *judge) beginning(w *syntax.Word) string {
	for n := len(w.Parts) - 1; n > 0; n-- {
		if text, known := j.value(&syntax.Word{Parts: w.Parts[:n]}); known {
			return text
		}
	}
	if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && len(q.Parts) > 1 {
		return j.beginning(&syntax.Word{Parts: q.Parts})
	}
	return ""
}

// hasGlob tells whether a word has a pattern outside quotes.
func hasGlob(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.ContainsAny(lit.Value, "*?[") {
			return true
		}
	}
	return false
}

// path returns the absolute path that a word names, seen from where the script is, or nothing.
func (j *judge) path(text string) string {
	switch {
	case text == "":
		return ""
	case filepath.IsAbs(text):
		return filepath.Clean(text)
	case j.dir == "":
		return ""
	}
	return filepath.Join(j.dir, text)
}
