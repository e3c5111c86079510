package evolve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/store"
)

// The mask hides what looks like a secret from the model, also where a skill has it as an example. What stands in its place must not get into the
// skill when the model repeats the line: the line that was hidden is put back.

// unmask puts the lines back that were hidden when the files were shown. Of lines that look alike when they are hidden nobody knows which is meant:
// such an edit is an error.
func (w *work) unmask(edit string) (string, error) {
	meant := map[string]string{}
	twins := map[string]bool{}
	for _, b := range w.before {
		text := string(b.Data)
		if !isText(b.Data) || w.e.o.Mask(text) == text {
			continue
		}
		for _, l := range strings.Split(text, "\n") {
			l = strings.TrimSpace(l)
			hidden := w.e.o.Mask(l)
			if hidden == l || len(hidden) <= 3 {
				continue
			}
			if other, ok := meant[hidden]; ok && other != l {
				twins[hidden] = true
			}
			meant[hidden] = l
		}
	}
	var pairs []string
	for _, hidden := range longestFirst(meant) {
		if twins[hidden] && strings.Contains(edit, hidden) {
			return "", fmt.Errorf("there are several lines %q, which differ in what is hidden from you: leave them out of the edit, also as lines that stay", line(hidden, 200))
		}
		pairs = append(pairs, hidden, meant[hidden])
	}
	return strings.NewReplacer(pairs...).Replace(edit), nil
}

// longestFirst sorts lines so that one is looked for before another that it begins with.
func longestFirst(lines map[string]string) []string {
	return slices.SortedFunc(maps.Keys(lines), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
}

// secrets finds lines of the new version that the mask hides and that the one before did not have.
func (w *work) secrets(next store.Content) (out []string) {
	for _, name := range sortedNames(next) {
		text := string(next[name].Data)
		if !isText(next[name].Data) || w.e.o.Mask(text) == text {
			continue
		}
		had := map[string]bool{}
		for _, b := range w.before {
			for _, l := range strings.Split(string(b.Data), "\n") {
				had[strings.TrimSpace(l)] = true
			}
		}
		var added []string
		for _, l := range strings.Split(text, "\n") {
			if !had[strings.TrimSpace(l)] {
				added = append(added, l)
			}
		}
		if fresh := strings.Join(added, "\n"); w.e.o.Mask(fresh) != fresh {
			out = append(out, name+" holds a secret")
		}
	}
	return out
}
