package evolve

import (
	"strings"

	"github.com/openspace-dev/openspace/pkg/store"
)

// The mask hides what looks like a secret from the model, also where a skill has it as an example. What stands in its place must not get into the
// skill when the model repeats the line: the line that was hidden is put back.

// unmask puts the lines back that were hidden when the files were shown.
func (w *work) unmask(edit string) string {
	var pairs []string
	for _, b := range w.before {
		if !isText(b.Data) {
			continue
		}
		text := string(b.Data)
		if w.e.o.Mask(text) == text {
			continue
		}
		for _, l := range strings.Split(text, "\n") {
			l = strings.TrimSpace(l)
			if hidden := w.e.o.Mask(l); hidden != l && len(hidden) > 3 {
				pairs = append(pairs, hidden, l)
			}
		}
	}
	if len(pairs) == 0 {
		return edit
	}
	return strings.NewReplacer(pairs...).Replace(edit)
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
