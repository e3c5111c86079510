package patch_test

import (
	"reflect"
	"testing"

	"github.com/openspace-dev/openspace/pkg/patch"
)

func TestUpdate(t *testing.T) {
	for name, tc := range map[string]struct{ text, before, after string }{
		"without @@":                      {update("-a", "+b"), "a\n", "b\n"},
		"several hunks":                   {update("@@", "-a", "+A", "@@", " b", "+c"), "a\nb\n", "A\nb\nc\n"},
		"out of order":                    {update("@@", "-c", "+C", "@@", "-a", "+A", "@@", "-b", "+B"), "a\nb\nc\n", "A\nB\nC\n"},
		"in order, equal lines above":     {update("@@ two", "-x", "+X", "@@", "-y", "+Y"), "one\ny\ntwo\nx\ny\n", "one\ny\ntwo\nX\nY\n"},
		"new text is not changed again":   {update("@@", "-a", "+x", "+b", "@@", "-b", "+B"), "a\nb\n", "x\nb\nB\n"},
		"two updates of one file":         {begin("*** Update File: SKILL.md", "@@", "-a", "+A", "*** Update File: SKILL.md", "@@", "-b", "+B"), "a\nb\n", "A\nB\n"},
		"anchor repeated as context":      {update("@@ # A", " # A", "-x", "+y"), "# A\nx\n", "# A\ny\n"},
		"nested anchors":                  {update("@@ class B", "@@ def f", "-x", "+y"), "class A\ndef f\nx\nclass B\ndef f\nx\n", "class A\ndef f\nx\nclass B\ndef f\ny\n"},
		"anchor with @@ behind":           {update("@@ # A @@", "+y"), "# A\nx\n", "# A\ny\nx\n"},
		"anchor without its indentation":  {update("@@ def f", "-  x", "+  y"), "  def f\n  x\n", "  def f\n  y\n"},
		"only added, no anchor":           {update("@@", "+z"), "a\n", "a\nz\n"},
		"only added, before an empty end": {update("@@", "+z"), "a\n\n", "a\nz\n\n"},
		"only added, end of file":         {update("@@", "+z", "*** End of File"), "a\n\n", "a\n\nz\n"},
		"at the end":                      {update("@@", "-x", "+y", "*** End of File"), "x\nx\n\n", "x\ny\n\n"},
		"empty line at the end of a hunk": {update("@@", "-a", "+b", ""), "a\nc\n", "b\nc\n"},
		"added, then an empty line":       {begin("*** Update File: SKILL.md", "@@ a", "+z", "", ""), "a\nb\n\nc\n", "a\nz\nb\n\nc\n"},
		"an empty line, then added":       {update("@@ a", "", "+z"), "a\n\nc\n\n", "a\n\nz\nc\n\n"},
		"emptied":                         {update("@@", "-a"), "a\n", ""},
		"filled":                          {update("@@", "+a"), "", "a\n"},
		"open end stays":                  {update("@@", "-a", "+b"), "a\nz", "b\nz"},
		"open end stays with a new line":  {update("@@", "-z", "+y"), "a\nz", "a\ny"},
		"last line of an open end goes":   {update("@@", " a", "-z"), "a\nz", "a\n"},
		"lines behind an open end":        {update("@@", " z", "+y"), "z", "z\ny\n"},
		"newline taken away":              {update("@@", "-z", "+y", `\ No newline at end of file`), "z\n", "y"},
		"newline added":                   {update("@@", "-z", `\ No newline at end of file`, "+z"), "a\nz", "a\nz\n"},
		"stars in a hunk":                 {update("@@", " *** x", "-b", "+*** End Patch"), "*** x\nb\n", "*** x\n*** End Patch\n"},
		"kept lines keep their bytes":     {update("@@", " it's", "-b", "+c", " d "), "it’s\nb\nd\n", "it’s\nc\nd\n"},
		"lines put back keep their bytes": {update("@@", "-it's", "-b", "+it's", "+c"), "it’s\nb\n", "it’s\nc\n"},
		"several envelopes":               {update("@@", "-a", "+A") + "\nand\n" + update("@@", "-b", "+B"), "a\nb\n", "A\nB\n"},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, tc.text, folder("SKILL.md", tc.before), folder("SKILL.md", tc.after))
		})
	}
}

func TestUpdateRefused(t *testing.T) {
	files := folder("SKILL.md", "a\nb\n  c\n\n  d\n", "x.md", "x\n", "sub/y.md", "y\n")
	for name, tc := range map[string]struct {
		text  string
		kind  patch.ErrorKind
		words []string
	}{
		"no end":                {"*** Begin Patch\n*** Update File: SKILL.md\n@@\n-a\n+b", patch.Syntax, []string{"cut off"}},
		"no file":               {begin(), patch.Syntax, []string{"no file"}},
		"no hunk":               {update(), patch.Syntax, []string{"no hunk", "line 2"}},
		"only context":          {update("@@", " a"), patch.Syntax, []string{"neither"}},
		"unknown header":        {update("@@", "-a", "+b", "*** Rename File: x"), patch.Syntax, []string{"line 6", "Rename"}},
		"nowhere":               {update("@@", " a", "-B", "+x"), patch.NotFound, []string{"hunk 1", "line 1: a", "1 of 2", "only letter case"}},
		"empty lines elsewhere": {update("@@ a", "", "+z"), patch.NotFound, []string{"below the anchor"}},
		"second hunk":           {update("@@", "-a", "+A", "@@", "-zz", "+y"), patch.NotFound, []string{"hunk 2", "line 6 of the edit"}},
		"above the anchor":      {update("@@ b", "-a", "+A"), patch.NotFound, []string{"below the anchor (line 2)", "line 1: a"}},
		"not at the end":        {update("@@", "-a", "+A", "*** End of File"), patch.NotFound, []string{"end of the file"}},
		"unclear indentation":   {update("@@", " b", "-c", "+  e"), patch.NotFound, []string{"indentation", "line 2: b"}},
		"missing":               {begin("*** Update File: X.md", "@@", "-x", "+y"), patch.Missing, []string{"spelled x.md"}},
		"missing, no idea":      {begin("*** Delete File: no.md"), patch.Missing, []string{"SKILL.md, sub/y.md, x.md"}},
		"add what is there":     {begin("*** Add File: x.md", "+y"), patch.Exists, []string{"x.md", "Update File"}},
		"move onto a file":      {begin("*** Update File: x.md", "*** Move to: sub/y.md"), patch.Exists, []string{"sub/y.md"}},
		"move the skill file":   {begin("*** Update File: SKILL.md", "*** Move to: other.md"), patch.BadPath, []string{"skill file"}},
		"delete it":             {begin("*** Delete File: SKILL.md"), patch.BadPath, []string{"skill file"}},
		"letter case":           {begin("*** Add File: skill.MD", "+y"), patch.BadPath, []string{"SKILL.md", "letter case"}},
		"case of a folder":      {begin("*** Add File: Sub/z.md", "+y"), patch.BadPath, []string{"sub", "letter case"}},
		"two new, letter case":  {begin("*** Add File: n.md", "+y", "*** Add File: N.md", "+y"), patch.BadPath, []string{"letter case"}},
		"folder over a file":    {begin("*** Add File: x.md/y", "+y"), patch.BadPath, []string{"x.md where a folder"}},
		"file over a folder":    {begin("*** Add File: sub", "+y"), patch.BadPath, []string{"folder sub"}},
		"nothing changes":       {update("@@", "-a", "+a"), patch.Unchanged, []string{"changes nothing"}},
	} {
		t.Run(name, func(t *testing.T) { refused(t, tc.text, files, tc.kind, tc.words...) })
	}
}

func TestNormalFormsOfPaths(t *testing.T) {
	refused(t, begin("*** Add File: cafe\u0301.md", "+y"), folder("caf\u00e9.md", "x"), patch.BadPath, "normal form")
	want(t, begin("*** Update File: cafe\u0301.md", "@@", "-x", "+y"), folder("cafe\u0301.md", "x\n", "caf\u00e9.md", "x\n"), folder("cafe\u0301.md", "y\n", "caf\u00e9.md", "x\n"))
}

func TestSeveralFiles(t *testing.T) {
	text := begin(
		"*** Delete File: old.md", "-its content", "",
		"*** Add File: new/n.md", "+one", "", "+two", "",
		"*** Add File: empty",
		"*** Update File: m.md", "*** Move to: new/m2.md", "@@", "-x", "+y",
		"*** Update File: plain.md", "*** Move to: moved.md",
		"*** Delete File: again.md",
		"*** Add File: again.md", "+other",
	)
	files := folder("SKILL.md", "s", "old.md", "o\n", "m.md", "x\n", "plain.md", "p\xff", "again.md", "z\n")
	res := want(t, text, files, folder("SKILL.md", "s", "new/n.md", "one\n\ntwo\n", "empty", "",
		"new/m2.md", "y\n", "moved.md", "p\xff", "again.md", "other\n")) // a move alone does not look into the file
	changed := []patch.Change{
		{Kind: patch.Update, Path: "again.md"}, {Kind: patch.Add, Path: "empty"}, {Kind: patch.Move, Path: "moved.md", From: "plain.md"},
		{Kind: patch.Move, Path: "new/m2.md", From: "m.md"}, {Kind: patch.Add, Path: "new/n.md"}, {Kind: patch.Delete, Path: "old.md"},
	}
	if !reflect.DeepEqual(res.Changed, changed) {
		t.Errorf("got %v, want %v", res.Changed, changed)
	}
}

func TestNotesTellLooseMatches(t *testing.T) {
	res := want(t, update("@@", "-it's", "+x"), folder("SKILL.md", "a\nit’s\n"), folder("SKILL.md", "a\nx\n"))
	if len(res.Notes) != 1 || res.Notes[0] != "SKILL.md, hunk 1: found at line 2 without regard to typographic characters" {
		t.Errorf("got notes %q", res.Notes)
	}
}

func TestEditIsReusable(t *testing.T) {
	e, err := patch.Parse(update("@@", "-a", "+b"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		res, err := e.Apply(folder("SKILL.md", "a\n"))
		if err != nil || string(res.Files["SKILL.md"]) != "b\n" {
			t.Errorf("got %q, %v", res.Files, err)
		}
	}
}
