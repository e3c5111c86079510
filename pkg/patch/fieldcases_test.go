package patch_test

import (
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/patch"
)

func TestPA01LineEndsStay(t *testing.T) {
	want(t, update("@@", " a", "-b", "+B"), folder("SKILL.md", "a\r\nb\r\nc\r\n"), folder("SKILL.md", "a\r\nB\r\nc\r\n"))
	want(t, update("@@", "-b", "+B", "+B2"), folder("SKILL.md", "a\nb\r\nc\n"), folder("SKILL.md", "a\nB\nB2\nc\n"))
	want(t, update("@@", "-b", "+B"), folder("SKILL.md", "a\nb\r\nc\n"), folder("SKILL.md", "a\nB\r\nc\n"))
	want(t, "<<<<<<< SEARCH\r\nb\r\n=======\r\nB\r\nC\r\n>>>>>>> REPLACE\r\n", folder("SKILL.md", "a\r\nb\r\n"), folder("SKILL.md", "a\r\nB\r\nC\r\n"))
	want(t, "*** File: SKILL.md\nx\ny\n", folder("SKILL.md", "a\r\nb\r\n"), folder("SKILL.md", "x\r\ny\r\n"))
}

func TestPA02ByteOrderMarkStays(t *testing.T) {
	want(t, update("@@", "-name: x", "+name: y"), folder("SKILL.md", "\uFEFFname: x\n"), folder("SKILL.md", "\uFEFFname: y\n"))
	want(t, "<<<<<<< SEARCH\nname: x\n=======\nname: y\n>>>>>>> REPLACE", folder("SKILL.md", "\uFEFFname: x\n"), folder("SKILL.md", "\uFEFFname: y\n"))
	want(t, "*** File: SKILL.md\nname: y\n", folder("SKILL.md", "\uFEFFname: x\n"), folder("SKILL.md", "\uFEFFname: y\n"))
}

func TestPA03AddedLinesGoBelowTheirAnchor(t *testing.T) {
	files := folder("SKILL.md", "## A\na\n## B\nb\n")
	want(t, update("@@ ## A", "+new line"), files, folder("SKILL.md", "## A\nnew line\na\n## B\nb\n"))
	refused(t, update("@@ ## C", "+new line"), files, patch.NotFound, "## C", "SKILL.md, hunk 1", "line 1: ## A")
	refused(t, update("@@ ## A", "+new line"), folder("SKILL.md", "## A\n## A\n"), patch.Ambiguous, "line 1", "line 2")
	want(t, update("@@ ## B", "@@ ### x", "+new"), folder("SKILL.md", "## A\n### x\n## B\n### x\n"), folder("SKILL.md", "## A\n### x\n## B\n### x\nnew\n"))
}

func TestPA04EmptyLinesAreContext(t *testing.T) {
	want(t, begin("*** Update File: SKILL.md", "@@", " a", "", "-b", "+B", "", "*** Update File: b.md", "@@", "-x", "+y"),
		folder("SKILL.md", "a\n\nb\nc\n", "b.md", "x\n"), folder("SKILL.md", "a\n\nB\nc\n", "b.md", "y\n"))
	refused(t, update("@@", " a", "b", "-c"), folder("SKILL.md", "a\nb\nc\n"), patch.Syntax, "line 5 of the edit", "no mark")
	refused(t, begin("*** Add File: a.md", "+a", "b"), nil, patch.Syntax, "line 4 of the edit", "no +")
}

func TestPA05DecoratedMarkers(t *testing.T) {
	files, after := folder("a.md", "x\n"), folder("a.md", "y\n")
	plain := "*** Begin Patch\n*** Update File: a.md\n@@\n-x\n+y\n*** End Patch"
	starred := "*** Begin Patch ***\n*** Update File: a.md ***\n@@\n-x\n+y\n*** End Patch ***"
	for name, text := range map[string]string{
		"stars":         starred,
		"fence":         "```diff\n" + starred + "\n```",
		"tilde fence":   "~~~\n" + plain + "\n~~~\n",
		"here-document": "apply_patch <<'EOF'\n" + plain + "\nEOF\n",
		"both":          "```bash\napply_patch << \"PATCH\"\n" + plain + "\nPATCH\n```",
		"sentence":      "Here is the fix:\n\n" + plain + "\n\nIt should work now.",
		"quoted path":   strings.Replace(plain, "a.md", "`a.md`", 1),
		"CRLF":          strings.ReplaceAll(plain, "\n", "\r\n"),
		"byte mark":     "\uFEFF" + plain,
		"blanks":        "  *** Begin Patch  \n*** Update File: a.md  \n@@\n-x\n+y\n  *** End Patch\n",
		"dot path":      strings.Replace(plain, "a.md", "./a.md", 1),
	} {
		t.Run(name, func(t *testing.T) { want(t, text, files, after) })
	}
	refused(t, "*** Begin Patch\n*** Update File: ***\n@@\n-x\n+y\n*** End Patch", files, patch.Syntax, "no path", "line 2")
}

func TestPA06SeveralPlaces(t *testing.T) {
	files := folder("SKILL.md", "## First\nsteps:\n- run\n## Second\nsteps:\n- run\n")
	e := refused(t, update("@@", " steps:", "-- run", "+- walk"), files, patch.Ambiguous, "2 places", "below line 1: ## First", "below line 4: ## Second")
	if len(e.Candidates) != 2 || e.Candidates[0].Line != 2 || e.Candidates[1].Line != 5 {
		t.Errorf("got candidates %v, want lines 2 and 5", e.Candidates)
	}
	want(t, update("@@ ## Second", " steps:", "-- run", "+- walk"), files, folder("SKILL.md", "## First\nsteps:\n- run\n## Second\nsteps:\n- walk\n"))
	want(t, update("@@ ## First", " steps:", "-- run", "+- walk"), files, folder("SKILL.md", "## First\nsteps:\n- walk\n## Second\nsteps:\n- run\n"))
	refused(t, update("@@ ## First", "-- run", "+- walk"), folder("SKILL.md", "## First\n## Second\n- run\n## Third\n- run\n"), patch.Ambiguous)
	refused(t, "<<<<<<< SEARCH\nsteps:\n- run\n=======\nsteps:\n>>>>>>> REPLACE", files, patch.Ambiguous, "line 2", "line 5")
	refused(t, "<<<<<<< SEARCH\nste\n=======\nx\n>>>>>>> REPLACE", files, patch.Ambiguous, "line 2", "line 5")
}

func TestPA07PathsStayInside(t *testing.T) {
	for name, path := range map[string]string{
		"up":           "../../../../tmp/x",
		"sibling":      "../foo-evil/x",
		"up inside":    "a/../../x",
		"absolute":     "/etc/passwd",
		"drive":        "C:/x",
		"drive alone":  "c:x",
		"backslash":    `..\x`,
		"control":      "a\x01b",
		"invisible":    "a\u200bb",
		"reversed":     "a\u202eb",
		"double slash": "a//b",
		"dot":          "a/./b",
		"trailing":     "a/",
		"identity":     ".skill_id",
		"sidecar":      "x/.UPLOAD_META.json",
		"git":          ".git/hooks/pre-commit",
		"stage":        ".os-stage-1/x",
		"long name":    strings.Repeat("a", 300),
		"deep":         strings.Repeat("a/", 40) + "a",
		"dot at end":   "a./b",
		"not UTF-8":    "a\xff",
	} {
		t.Run(name, func(t *testing.T) {
			files := folder("SKILL.md", "x\n")
			refused(t, begin("*** Add File: ok.md", "+ok", "*** Add File: "+path, "+x"), files, patch.BadPath)
			refused(t, "*** Begin Files\n*** File: ok.md\nok\n*** File: "+path+"\nx\n*** End Files", files, patch.BadPath)
			refused(t, begin("*** Update File: SKILL.md", "*** Move to: "+path), files, patch.BadPath)
		})
	}
}

func TestPA08NotUTF8(t *testing.T) {
	files := folder("SKILL.md", "x\n", "latin.md", "caf\xe9\n")
	refused(t, begin("*** Update File: latin.md", "@@", "-x", "+y"), files, patch.NotText, "UTF-8", "latin.md")
	refused(t, "*** File: latin.md\nx\n", files, patch.NotText, "UTF-8")
	refused(t, "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE", folder("SKILL.md", "x\xff\n"), patch.NotText, "UTF-8")
	want(t, begin("*** Delete File: latin.md"), files, folder("SKILL.md", "x\n"))
}
