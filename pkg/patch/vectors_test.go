package patch_test

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/patch"
)

// What the predecessor did, and where it was wrong what is right.
func TestVectors(t *testing.T) {
	t.Run("4 envelope of files", func(t *testing.T) {
		text := "*** Begin Files\n*** File: SKILL.md\na\n*** File: b.md\nb\n\n*** End Files"
		if got := patch.Detect(text); got != patch.Full {
			t.Errorf("got %s, want full", got)
		}
		want(t, text, nil, folder("SKILL.md", "a\n", "b.md", "b\n"))
	})
	t.Run("5 no header", func(t *testing.T) {
		want(t, "# A\nno newline", nil, folder("SKILL.md", "# A\nno newline"))
	})
	t.Run("6 an empty line is context", func(t *testing.T) {
		want(t, update("@@ # A", " # A", "", "-line1", "+L"), folder("SKILL.md", "# A\n\nline1\n"), folder("SKILL.md", "# A\n\nL\n"))
	})
	t.Run("7 line numbers are no anchor", func(t *testing.T) {
		refused(t, update("@@ -5,3 +5,3 @@", "-a", "+b"), folder("SKILL.md", "a\n"), patch.NotFound, "-5,3 +5,3 @@", "no line numbers")
	})
	t.Run("8 below the anchor", func(t *testing.T) {
		want(t, update("@@ line1", "+NEW"), folder("SKILL.md", "line1\nline2\n"), folder("SKILL.md", "line1\nNEW\nline2\n"))
	})
	t.Run("9 both updates", func(t *testing.T) {
		want(t, begin("*** Update File: SKILL.md", "@@", "-a", "+A", "*** Update File: SKILL.md", "@@", "-b", "+B"), folder("SKILL.md", "a\nb\n"), folder("SKILL.md", "A\nB\n"))
	})
	t.Run("10 an empty replacement deletes", func(t *testing.T) {
		want(t, "<<<<<<< SEARCH\nline1\n=======\n>>>>>>> REPLACE", folder("SKILL.md", "line1\nline2\n"), folder("SKILL.md", "line2\n"))
	})
	t.Run("11 the line that matched, not its first occurrence", func(t *testing.T) {
		want(t, "<<<<<<< SEARCH\n\tfoo\n=======\n\tbar\n>>>>>>> REPLACE", folder("SKILL.md", "xx  foo yy\nfoo"), folder("SKILL.md", "xx  foo yy\nbar"))
	})
}
