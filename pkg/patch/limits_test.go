package patch_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/patch"
)

func TestLimits(t *testing.T) {
	var files strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&files, "*** Add File: f%d\n", i)
	}
	for name, text := range map[string]string{
		"text":         strings.Repeat("a", 16<<20+1),
		"added files":  begin(files.String()),
		"whole files":  strings.ReplaceAll(files.String(), "Add File", "File"),
		"hunks":        update(strings.Repeat("@@\n+x\n", 20_001)),
		"blocks":       strings.Repeat("<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n", 20_001),
		"hunks in all": begin(strings.Repeat("*** Update File: SKILL.md\n"+strings.Repeat("@@\n+x\n", 19_999), 2)),
	} {
		t.Run(name, func(t *testing.T) { refused(t, text, folder("SKILL.md", "x\n"), patch.TooLarge) })
	}
	t.Run("file", func(t *testing.T) {
		refused(t, update("@@", "+x"), folder("SKILL.md", strings.Repeat("a", 64<<20)), patch.TooLarge, "64 MiB")
	})
	t.Run("searching", func(t *testing.T) {
		var hunks, lines strings.Builder
		for i := range 300 { // out of order, so that each is looked for in the whole file
			fmt.Fprintf(&hunks, "@@\n-x%d\n+y\n", 300-i)
			fmt.Fprintf(&lines, "x%d\n", i+1)
		}
		refused(t, update(hunks.String()), folder("SKILL.md", strings.Repeat("a\n", 1<<20)+lines.String()), patch.TooLarge, "searching")
	})
}

// The text of an error is for a model and a log: short, and without what a terminal would obey.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("é", 5000) + "\x1b[2J"
	e := refused(t, update("@@", "-\x1b[2J"+long, "+y"), folder("SKILL.md", long+"\n"+long+"\x07\n"), patch.NotFound)
	if text := e.Error(); len(text) > 5000 || !utf8.ValidString(text) || strings.ContainsRune(text, '\x1b') {
		t.Errorf("got %d bytes: %q", len(text), text)
	}
	refused(t, begin("*** Update File: "+strings.Repeat("x", 240), "@@", "-x", "+y"), folder(strings.Repeat("y", 999), ""), patch.Missing, "xxx…")
}

func TestSmallPrint(t *testing.T) {
	files := folder("SKILL.md", "a\nb\n", "x.md", "x\n")
	want(t, begin("*** Add File: n.md", "+y", `\ No newline at end of file`, "*** End of File"), files, folder("SKILL.md", "a\nb\n", "x.md", "x\n", "n.md", "y"))
	want(t, begin("*** Update File: x.md", "", "@@", "-x", "+y", "*** End of File", "", "", "*** Update File: SKILL.md", "", "*** Move to: SKILL.md", "@@", "-a", "+A"),
		folder("SKILL.md", "a\nb\n", "x.md", "x\n"), folder("SKILL.md", "A\nb\n", "x.md", "y\n"))
}
