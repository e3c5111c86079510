package patch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/patch"
)

const skillText = "---\nname: w\ndescription: d\n---\n\n# W\n"

func TestDetect(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want patch.Format
	}{
		"patch":                     {"*** Begin Patch\n*** End Patch", patch.Patch},
		"files":                     {"*** Begin Files\n*** File: a\n*** Begin Patch\n", patch.Full},
		"header":                    {"talk\n*** File: a.md\nx", patch.Full},
		"header without blank":      {"***File: a.md\nx", patch.Full},
		"blocks":                    {"talk\n<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE", patch.Diff},
		"text":                      {"just text", patch.Full},
		"empty":                     {"", patch.Full},
		"markers in prose":          {"I use *** Begin Patch and <<<<<<< SEARCH here.", patch.Full},
		"rule, then a line File":    {"***\nFile: x\n", patch.Full},
		"a skill about patches":     {skillText + "```\n*** Begin Patch\n*** End Patch\n```\n<<<<<<< SEARCH\n", patch.Full},
		"the same in a fence":       {"```markdown\n" + skillText + "*** Begin Patch\n```", patch.Full},
		"talk with a rule":          {"Fix:\n---\n*** Begin Patch\n*** End Patch\n---\n", patch.Patch},
		"a patch about frontmatter": {"*** Begin Patch\n*** Add File: a\n+---\n+name: x\n+---\n*** End Patch", patch.Patch},
	} {
		t.Run(name, func(t *testing.T) {
			if got := patch.Detect(tc.text); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// What models put around a skill file.
func TestWholeSkillFile(t *testing.T) {
	long := skillText + "```bash\nrun\n```\n"
	for name, text := range map[string]string{
		"as it is":             long,
		"tilde fence and talk": "~~~markdown\n" + long + "~~~\nDone!",
		"fence":                "```markdown\n" + long + "```",
		"talk and fence":       "Here is the skill:\n\n```md\n" + long + "```\n\nIt is better.\n",
		"talk":                 "Here is the skill:\n\n" + long,
		"here-document":        "cat > SKILL.md <<'EOF'\n" + long + "EOF\n",
		"long fence":           "````\n" + long + "````",
		"fence never closed":   "```markdown\n" + long,
		"CRLF":                 strings.ReplaceAll(long, "\n", "\r\n"),
		"header":               "*** File: SKILL.md\n" + long,
		"envelope":             "*** Begin Files\n*** File: SKILL.md\n" + long + "*** End Files\nDone.",
		"header in a fence":    "```\n*** File: SKILL.md\n" + long + "```\n",
		"fence below a header": "*** File: SKILL.md\n```markdown\n" + long + "```\n",
		"here-doc and header":  "cat <<EOF\n*** File: SKILL.md\n" + long + "EOF\nok\n",
	} {
		t.Run(name, func(t *testing.T) { want(t, text, nil, folder("SKILL.md", long)) })
	}
	body := "# W\n\n```yaml\n---\nname: x\n---\n```\n"
	for name, text := range map[string]string{
		"body with an example":   body,
		"only fenced blocks":     "```\na\n```\nand\n```\nb\n```",
		"no newline at the end":  "# W\n\ntext",
		"heading behind a fence": "```markdown\n" + skillText + "```\n# More\n",
	} {
		t.Run(name, func(t *testing.T) {
			after := folder("SKILL.md", text)
			if name == "heading behind a fence" {
				after = folder("SKILL.md", strings.TrimPrefix(text, "```markdown\n"))
			}
			want(t, text, nil, after)
		})
	}
}

func TestFull(t *testing.T) {
	files := folder("SKILL.md", "old\n", "keep.md", "kept")
	for name, tc := range map[string]struct {
		text  string
		after map[string][]byte
	}{
		"two files, text before": {"I write:\n*** Begin Files\n*** File: SKILL.md\n\nnew\n\n*** File: s/run.sh\necho\n*** End Files\nbye",
			folder("SKILL.md", "new\n", "s/run.sh", "echo\n", "keep.md", "kept")},
		"last of two wins": {"*** File: SKILL.md\none\n*** File: ./SKILL.md\ntwo", folder("SKILL.md", "two\n", "keep.md", "kept")},
		"empty file":       {"*** File: empty\n\n\n*** End Files", folder("SKILL.md", "old\n", "keep.md", "kept", "empty", "")},
		"last end counts":  {"*** File: a.txt\n*** End Files\nx\n*** End Files", folder("SKILL.md", "old\n", "keep.md", "kept", "a.txt", "*** End Files\nx\n")},
		"header in a fence": {"*** File: a.md\n```\n*** File: b.md\n*** Begin Patch\n```\nx\n*** File: c.md\ny",
			folder("SKILL.md", "old\n", "keep.md", "kept", "a.md", "```\n*** File: b.md\n*** Begin Patch\n```\nx\n", "c.md", "y\n")},
		"open fence": {"*** File: a.md\n```\nx\n*** File: c.md\ny", folder("SKILL.md", "old\n", "keep.md", "kept", "a.md", "```\nx\n", "c.md", "y\n")},
		"fenced code": {"*** File: a.py\n```python\nx\n```\n\n*** File: b.md\n```\ny\n```",
			folder("SKILL.md", "old\n", "keep.md", "kept", "a.py", "x\n", "b.md", "```\ny\n```\n")},
	} {
		t.Run(name, func(t *testing.T) { want(t, tc.text, files, tc.after) })
	}
	refused(t, "*** Begin Files\nx\n*** End Files", files, patch.Syntax, "*** File:")
	refused(t, "*** File: a.md\nx\n*** Delete File: b.md\n", files, patch.Syntax, "line 3", "one format")
	refused(t, "*** File: SKILL.md\nold\n", files, patch.Unchanged)
}

func TestBlocks(t *testing.T) {
	block := func(old, new string) string {
		return "<<<<<<< SEARCH\n" + old + "=======\n" + new + ">>>>>>> REPLACE\n"
	}
	for name, tc := range map[string]struct{ text, before, after string }{
		"several, on the running text": {block("a\n", "b\nc\n") + "and\n" + block("c\n", "d\n"), "a\n", "b\nd\n"},
		"deletion":                     {block("line1\n", ""), "line1\nline2\n", "line2\n"},
		"append without empty line":    {block("", "new\n"), "a\n", "a\nnew\n"},
		"append to an open end":        {block("\n", "new\n"), "a", "a\nnew\n"},
		"append to an empty file":      {block("", "new\n"), "", "new\n"},
		"a part of a line":             {block("big cat\n", "dog\n"), "the big cat sat\n", "the dog sat\n"},
		"parts of two lines":           {block("cat\nsat\n", "dog\nlay\n"), "the cat\nsat down\n", "the dog\nlay down\n"},
		"a whole line before a part":   {block("foo\n", "bar\n"), "foobar\nfoo\n", "foobar\nbar\n"},
		"blanks at line ends stay":     {block("a\nb\n", "a\nc\n"), "a  \nb\n", "a  \nc\n"},
		"empty lines around":           {block("\na\n\n", "\nb\n\n"), "a\n", "b\n"},
		"the open end stays":           {block("b\n", "c\n"), "a\nb", "a\nc"},
		"indentation":                  {block("if x:\n    y\n", "if z:\n    y\n    w\n"), "  if x:\n      y\n", "  if z:\n      y\n      w\n"},
		"tabs":                         {block("if x:\n    y\n", "if z:\n    y\n    w\n"), "\tif x:\n\t\ty\n", "\tif z:\n\t\ty\n\t\tw\n"},
		"quotes":                       {block("it's \"so\" - ok...\n", "fine\n"), "it’s “so” – ok…\n", "fine\n"},
		"decomposed":                   {block("caf\u00e9\n", "tea\n"), "cafe\u0301\n", "tea\n"},
		"runs of blanks":               {block("a b\n", "c\n"), "a \t b\n", "c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, tc.text, folder("SKILL.md", tc.before), folder("SKILL.md", tc.after))
		})
	}
	files := folder("SKILL.md", "run the tool\nthen stop\n")
	refused(t, block("run teh tool\n", "x\n"), files, patch.NotFound, "SKILL.md", "run teh tool", "line 1: run the tool", "exactly")
	refused(t, block("un the to\n", "x\n"), files, patch.NotFound, "line 1: run the tool")
	want(t, block("工具\n", "用具\n"), folder("SKILL.md", "使用工具吧\n"), folder("SKILL.md", "使用用具吧\n"))
	refused(t, block("a\n", "a\n"), files, patch.Syntax, "same")
	refused(t, "<<<<<<< SEARCH\na\n=======\nb\n", files, patch.Syntax, "no end", "line 1")
	refused(t, block("Title\n=======\n", "x\n"), files, patch.Syntax, "line 4", "patch format")
	refused(t, "<<<<<<< SEARCH\na\n"+block("b\n", "c\n"), files, patch.Syntax, "out of place")
	refused(t, "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", files, patch.Syntax, "out of place")
	refused(t, block("a\n", "b\n"), folder("x.md", "a\n"), patch.Missing, "SKILL.md", "x.md")
	refused(t, block("it's\n", "x\n"), folder("SKILL.md", "it’s\nit‘s\n"), patch.Ambiguous)
}

// Only the first and the last line match: what is in between was never shown.
func TestBlockAnchorsAreNotEnough(t *testing.T) {
	files := folder("SKILL.md", "```bash\nrm old\nmake all\n```\n\nend\n")
	e := refused(t, "<<<<<<< SEARCH\n```bash\nnpm install\nnpm test\n```\n=======\nx\n>>>>>>> REPLACE", files, patch.NotFound, "2 of 4 lines are equal", `line 2 is "rm old"`)
	if len(e.Candidates) == 0 || e.Candidates[0].Line != 1 {
		t.Errorf("got candidates %v, want line 1 first", e.Candidates)
	}
	refused(t, update("@@", " ```bash", "-npm install", "+x", " npm test", " ```"), files, patch.NotFound, "line 1")
}

func TestPaths(t *testing.T) {
	e, err := patch.Parse(begin("*** Delete File: z.md", "*** Update File: ./a.md", "*** Move to: b/c.md", "*** Update File: a.md", "@@", "+x"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Paths(), []string{"z.md", "a.md", "b/c.md"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
