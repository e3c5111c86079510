package patch_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"github.com/openspace-dev/openspace/pkg/patch"
)

var seeds = []string{
	"*** Begin Patch\n*** Update File: SKILL.md\n@@ # A\n a\n-b\n+c\n*** End of File\n*** Add File: n\n+x\n*** Delete File: b.md\n*** End Patch",
	"```\n*** Begin Files\n*** File: SKILL.md\n```md\nx\n```\n*** End Files\n```",
	"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE",
	"cat <<'EOF'\n---\nname: x\n---\nEOF\n",
	"*** Begin Patch\n*** Update File: b.md\n*** Move to: c.md\n@@\n@@ x\n+y\n\\ No newline at end of file\n*** End Patch",
}

// Whatever the text, reading and applying it neither panics nor changes what
// was given, and an error is one of this package and comes alone.
func FuzzApply(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "# A\na\nb\n")
	}
	f.Fuzz(func(t *testing.T, text, content string) {
		files := folder("SKILL.md", content, "b.md", "x\r\n  it’s")
		before := copied(files)
		res, err := apply(text, files)
		same(t, "the given files", files, before)
		if err == nil {
			if len(res.Changed) == 0 || res.Files["SKILL.md"] == nil {
				t.Errorf("got changes %v and %d files", res.Changed, len(res.Files))
			}
			for path := range res.Files {
				if clean, err := patch.CheckPath(path); err != nil || clean != path {
					t.Errorf("got path %q", path)
				}
			}
			return
		}
		var e *patch.Error
		if !errors.As(err, &e) || e.Message == "" || len(err.Error()) > 8000 {
			t.Errorf("got error %v of %d bytes", err, len(err.Error()))
		}
		if res.Files != nil || res.Changed != nil {
			t.Errorf("got a result beside error %v", err)
		}
	})
}

// A patch, a block and a whole file made from two versions lead from the one
// to the other, with either line end.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", uint8(1), false)
	f.Add("a\nb", "a\nb\n", uint8(3), true)
	f.Add("x\nx\nx\ny\n", "x\nx\ny\ny", uint8(0), false)
	f.Add("", "*** End Patch\n=======\n", uint8(3), false)
	f.Add("\uFEFF\n\n \n", "é’\n", uint8(2), true)
	f.Fuzz(func(t *testing.T, old, new string, context uint8, crlf bool) {
		old, new = clean(old), clean(new)
		if old == new || len(old)+len(new) > 4000 {
			return
		}
		text := patchOf(old, new, 1+int(context%8)) // added lines alone say nothing about their place
		if crlf {
			old, new = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(new, "\n", "\r\n")
			if !strings.Contains(old, "\n") {
				return // the new lines could not know
			}
		}
		files, after := folder("SKILL.md", old), folder("SKILL.md", new)
		res, err := apply(text, files)
		var e *patch.Error
		switch {
		case err == nil:
			same(t, "the result of\n"+text, res.Files, after)
		case !errors.As(err, &e) || e.Kind != patch.Ambiguous:
			t.Errorf("got error %v for\n%s", err, text)
		}
		want(t, patchOf(strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(new, "\r\n", "\n"), 1<<13), files, after)
	})
}

// clean leaves out what an edit text cannot carry: carriage returns, other
// encodings, and a byte-order mark within.
func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r", ""), "")
	return strings.ReplaceAll(s, "\uFEFF", "")
}

// patchOf writes a patch of SKILL.md from two versions.
func patchOf(old, new string, context int) string {
	unified, err := udiff.ToUnifiedDiff("a", "b", old, udiff.Lines(old, new), context)
	if err != nil {
		panic(err)
	}
	lines := []string{"*** Update File: SKILL.md"}
	for _, h := range unified.Hunks {
		lines = append(lines, "@@")
		for _, l := range h.Lines {
			text, closed := strings.CutSuffix(l.Content, "\n")
			lines = append(lines, map[udiff.OpKind]string{udiff.Equal: " ", udiff.Insert: "+", udiff.Delete: "-"}[l.Kind]+text)
			if !closed {
				lines = append(lines, `\ No newline at end of file`)
			}
		}
	}
	return begin(lines...)
}

// A block of whole files is the same as a patch, where the text has no
// markers itself.
func FuzzFormatsAgree(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("a\n\nb\n", "b\n")
	f.Fuzz(func(t *testing.T, old, new string) {
		old, new = strings.Trim(clean(old), "\n")+"\n", strings.Trim(clean(new), "\n")+"\n"
		if old == new || strings.TrimSpace(old) == "" || slices.ContainsFunc([]string{"***", "<<<<<<<", "=======", ">>>>>>>", "```", "~~~"}, func(m string) bool {
			return strings.Contains(old+new, m)
		}) {
			return
		}
		files, after := folder("SKILL.md", old), folder("SKILL.md", new)
		want(t, "<<<<<<< SEARCH\n"+old+"=======\n"+new+">>>>>>> REPLACE", files, after)
		if strings.TrimLeft(new, "\n") != "" {
			want(t, "*** Begin Files\n*** File: SKILL.md\n"+new+"*** End Files", files, after)
		}
	})
}
