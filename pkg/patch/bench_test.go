package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/patch"
)

// large returns a file of about 1 MB and a patch of it with 100 hunks that
// have three lines of context, given loosely or byte for byte.
func large(loose bool) (file, text string) {
	var b strings.Builder
	var lines []string
	for i := range 25_000 {
		fmt.Fprintf(&b, "    line %d of a long file — it’s so\n", i)
	}
	file = b.String()
	all := strings.Split(file, "\n")
	for i := 100; i < 25_000; i += 249 {
		lines = append(lines, "@@", " "+all[i], " "+all[i+1], "-"+all[i+2], "+    new", " "+all[i+3])
	}
	text = update(lines...)
	if loose {
		text = strings.NewReplacer("’", "'", "—", "-", "     line", " line", "-    line", "-line", "+    new", "+new").Replace(text)
	}
	return file, text
}

func BenchmarkApply(b *testing.B) {
	for _, loose := range []bool{false, true} {
		b.Run(fmt.Sprintf("loose=%v", loose), func(b *testing.B) {
			file, text := large(loose)
			files := folder("SKILL.md", file)
			for b.Loop() {
				res, err := apply(text, files)
				if err != nil || strings.Count(string(res.Files["SKILL.md"]), "    new\n") != 100 {
					b.Fatal(err)
				}
			}
		})
	}
}

// Hostile input: the work is bounded, whatever the result.
func BenchmarkHostile(b *testing.B) {
	empty := strings.Repeat("\n", 1<<20)
	for name, tc := range map[string]struct{ file, text string }{
		"equal lines":   {empty + "x\n", update(strings.Split(strings.Repeat("@@\n"+strings.Repeat(" \n", 500)+"-x\n+y\n@@\n-y\n+x\n", 500), "\n")...)},
		"open fences":   {"", strings.Repeat("*** File: a.md\n````````\n", 1<<18)},
		"many headers":  {"", "*** Begin Patch\n" + strings.Repeat("*** Add File: a\n", 1<<20)},
		"rules":         {"", strings.Repeat("---\n", 1<<21)},
		"unclosed":      {"", "<<<<<<< SEARCH\n" + strings.Repeat("a\n", 1<<21)},
		"not found":     {strings.Repeat("ab cd ef\n", 1<<17), update(strings.Split(strings.Repeat("-ab cd ex\n", 1<<16)+"+y", "\n")...)},
		"anchors":       {strings.Repeat("a\n", 1<<19), update(strings.Split(strings.Repeat("@@ a\n", 10_000)+"+y", "\n")...)},
		"long lines":    {strings.Repeat("ab", 1<<21), "<<<<<<< SEARCH\n" + strings.Repeat("ab", 1<<20) + "x\n=======\n>>>>>>> REPLACE"},
		"short overlap": {strings.Repeat("a", 1<<21), "<<<<<<< SEARCH\n" + strings.Repeat("a", 1<<20) + "\n=======\n>>>>>>> REPLACE"},
	} {
		b.Run(name, func(b *testing.B) {
			files := folder("SKILL.md", tc.file)
			for b.Loop() {
				if e, err := patch.Parse(tc.text); err == nil {
					_, _ = e.Apply(files)
				}
			}
		})
	}
}
