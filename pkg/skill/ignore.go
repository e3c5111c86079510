package skill

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const maxIgnoreFile = 1 << 20

// ignoreRule is one line of a .gitignore or .skillignore.
type ignoreRule struct {
	glob    string // doublestar pattern for the path below the file's folder
	negate  bool   // !pattern: what it matches belongs after all
	dirOnly bool   // pattern/: folders only
}

// ignoreSet holds the rules of one ignore file.
type ignoreSet struct {
	base  string // folder that the patterns are relative to
	rules []ignoreRule
}

// parseIgnore reads the syntax of .gitignore. Patterns that cannot be read match
// nothing, as in git.
func parseIgnore(text string) []ignoreRule {
	var rules []ignoreRule
	for _, l := range strings.Split(strings.TrimPrefix(text, bom), "\n") {
		if r, ok := parseIgnoreLine(strings.TrimSuffix(l, "\r")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnoreLine(l string) (r ignoreRule, ok bool) {
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

// match tells whether the set decides about a path below its base, and how. The
// last rule that matches wins.
func (s ignoreSet) match(rel string, dir bool) (ignored, decided bool) {
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := s.rules[i]
		if r.dirOnly && !dir {
			continue
		}
		if ok, _ := doublestar.Match(r.glob, rel); ok {
			return !r.negate, true
		}
	}
	return false, false
}

// ignored asks the sets, the nearest first. It judges the path alone: whoever
// walks must not enter an ignored folder.
func ignored(sets []ignoreSet, path string, dir bool) bool {
	for i := len(sets) - 1; i >= 0; i-- {
		rel, err := filepath.Rel(sets[i].base, path)
		if err != nil {
			continue
		}
		if yes, decided := sets[i].match(filepath.ToSlash(rel), dir); decided {
			return yes
		}
	}
	return false
}

// readIgnore adds the rules of an ignore file, if there is one, to sets.
func readIgnore(sets []ignoreSet, base, file string) []ignoreSet {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return sets
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return sets
	}
	if rules := parseIgnore(string(data)); len(rules) > 0 {
		return append(sets[:len(sets):len(sets)], ignoreSet{base, rules})
	}
	return sets
}

// enclosingIgnores reads what the git repository around a skill folder says, from
// the repository's root down to the folder above root. When it ignores the whole
// skill folder it says nothing about what belongs to the skill: then it is empty.
func enclosingIgnores(root string) []ignoreSet {
	above := repositoryAbove(root)
	if above == nil {
		return nil
	}
	top := above[0]
	sets := readIgnore(nil, top, filepath.Join(top, ".git", "info", "exclude"))
	for i, dir := range above {
		sets = readIgnore(sets, dir, filepath.Join(dir, ".gitignore"))
		child := root
		if i+1 < len(above) {
			child = above[i+1]
		}
		if ignored(sets, child, true) {
			return nil
		}
	}
	return sets
}

// repositoryAbove lists the folders from the root of the enclosing repository to
// the parent of root; nil when there is none, or when root is a repository.
func repositoryAbove(root string) []string {
	if hasGit(root) {
		return nil
	}
	var dirs []string
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
		if hasGit(dir) {
			return dirs
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func hasGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}
