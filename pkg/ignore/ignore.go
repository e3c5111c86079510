package ignore

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const bom = "\ufeff"

// rule is one line of an ignore file.
type rule struct {
	glob    string // doublestar pattern for the path below the file's folder
	negate  bool   // !pattern: what it matches belongs after all
	dirOnly bool   // pattern/: folders only
}

// file holds the rules of one ignore file.
type file struct {
	base  string // folder that the patterns are relative to
	rules []rule
}

// Set holds the rules of several ignore files, the nearest last. The zero Set ignores nothing.
type Set struct{ files []file }

// With returns the set with the rules of one more file, whose text is given, for what lies below the folder base. All
// paths of a set are either absolute or relative to the same folder. The set itself stays as it is.
func (s Set) With(base, text string) Set {
	rules := parse(text)
	if len(rules) == 0 {
		return s
	}
	return Set{append(s.files[:len(s.files):len(s.files)], file{base, rules})}
}

// Ignored tells whether the rules leave a path out. It judges the path alone: whoever walks must not enter an ignored
// folder.
func (s Set) Ignored(path string, dir bool) bool {
	for i := len(s.files) - 1; i >= 0; i-- {
		rel, err := filepath.Rel(s.files[i].base, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue // a file says nothing about what is not below its folder
		}
		if yes, decided := s.files[i].match(filepath.ToSlash(rel), dir); decided {
			return yes
		}
	}
	return false
}

// parse reads the syntax of .gitignore. Patterns that cannot be read match
// nothing, as in git.
func parse(text string) []rule {
	var rules []rule
	for _, l := range strings.Split(strings.TrimPrefix(text, bom), "\n") {
		if r, ok := parseLine(strings.TrimSuffix(l, "\r")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseLine(l string) (r rule, ok bool) {
	l = trimUnescaped(l)
	if l == "" || l[0] == '#' {
		return r, false
	}
	if l[0] == '!' {
		r.negate, l = true, l[1:]
	}
	if strings.HasSuffix(l, "/") {
		r.dirOnly, l = true, strings.TrimSuffix(l, "/")
	}
	anchored := strings.Contains(l, "/")
	l = strings.TrimPrefix(l, "/")
	if l == "" {
		return r, false
	}
	if !anchored {
		l = "**/" + l
	}
	if strings.HasSuffix(l, "/**") {
		l += "/*" // what is inside, not the folder itself
	}
	r.glob = gitGlob(l)
	return r, doublestar.ValidatePattern(r.glob)
}

// trimUnescaped removes trailing blanks but for one behind a backslash.
func trimUnescaped(l string) string {
	for strings.HasSuffix(l, " ") && !strings.HasSuffix(l, `\ `) {
		l = l[:len(l)-1]
	}
	return l
}

// gitGlob escapes what means something to doublestar and nothing to git (braces
// everywhere, a ] that stands first in a class) and spells out named classes.
func gitGlob(l string) string {
	if strings.Contains(l, "[:") {
		l = strings.NewReplacer("[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9", "[:upper:]", "A-Z",
			"[:lower:]", "a-z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t", "[:blank:]", " \t").Replace(l)
	}
	l = strings.NewReplacer(`\\`, `\\`, `\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`).Replace(l)
	return strings.NewReplacer("[]", `[\]`, "[!]", `[!\]`, "[^]", `[^\]`).Replace(l)
}

// match tells whether the file decides about a path below its base, and how. The
// last rule that matches wins.
func (f file) match(rel string, dir bool) (ignored, decided bool) {
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := f.rules[i]
		if r.dirOnly && !dir {
			continue
		}
		if ok, _ := doublestar.Match(r.glob, rel); ok {
			return !r.negate, true
		}
	}
	return false, false
}
