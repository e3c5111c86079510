package skill_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// readings are texts and what is read from them. The folder is "folder".
var readings = []struct {
	name, text         string
	wantName, wantDesc string
	body               string
	line               int
	codes              string
}{
	{"plain", "---\nname: folder\ndescription: d\n---\nBody\n", "folder", "d", "Body\n", 5, ""},
	{"no final newline", "---\nname: folder\ndescription: d\n---", "folder", "d", "", 5, ""},
	{"blank lines first", "\n \n---\nname: folder\ndescription: d\n---\nB", "folder", "d", "B", 7, "text-before-frontmatter"},
	{"comment first", "<!-- c\nd -->\n---\nname: folder\ndescription: d\n---\nB", "folder", "d", "B", 7, "text-before-frontmatter"},
	{"dots close", "---\nname: folder\ndescription: d\n...\nB\n---\nC", "folder", "d", "B\n---\nC", 5, "fence-form"},
	{"four hyphens close", "---\nname: folder\ndescription: d\n----\nB\n---\nC", "folder", "d", "B\n---\nC", 5, "fence-form"},
	{"indented fence closes", "---\nname: folder\ndescription: |\n  d\n  ---\n  B\n", "folder", "d", "  B\n", 6, "fence-form"},
	{"blanks on both fences", "--- \nname: folder\ndescription: d\n---\t\nB", "folder", "d", "B", 5, "fence-blanks fence-blanks"},
	{"unclosed", "---\nname: folder\ndescription: d\n\n# H\n\nText: here\n", "folder", "d", "\n# H\n\nText: here\n", 4, "frontmatter-unclosed"},
	{"unclosed, only fields", "---\nname: folder\ndescription: d", "folder", "d", "", 4, "frontmatter-unclosed"},
	{"unclosed, well-known key after a blank", "---\nname: folder\n\ndescription: d\n\nText\n", "folder", "d", "\nText\n", 5, "frontmatter-unclosed"},
	{"unclosed with a rule below", "---\nname: folder\ndescription: d\n\n# H\n\nA text.\n\n---\nMore\n", "folder", "d", "\n# H\n\nA text.\n\n---\nMore\n", 4, "frontmatter-unclosed"},
	{"unfenced", "name: folder\ndescription: d\n\n# H\n", "folder", "d", "\n# H\n", 3, "frontmatter-unfenced"},
	{"unfenced, closed", "name: folder\ndescription: d\n---\nB\n", "folder", "d", "B\n", 4, "frontmatter-unfenced"},
	{"none", "# Title\n\nSome prose.\n", "folder", "Some prose.", "# Title\n\nSome prose.\n", 1, "frontmatter-missing"},
	{"none, only a heading", "\n## Title ##\n", "folder", "Title", "\n## Title ##\n", 1, "frontmatter-missing"},
	{"a rule, not a fence", "---\n\nProse without any field\n", "folder", "Prose without any field", "---\n\nProse without any field\n", 1, "frontmatter-missing"},
	{"empty block", "---\n---\nProse.\n", "folder", "Prose.", "Prose.\n", 3, "name-missing description-missing"},
	{"only comments", "---\n# c\n---\nProse.\n", "folder", "Prose.", "Prose.\n", 4, "name-missing description-missing"},
	{"a scalar", "---\njust text\n---\nProse.\n", "folder", "Prose.", "Prose.\n", 4, "yaml-line name-missing description-missing"},
	{"a list", "---\n- a\n---\nProse.\n", "folder", "Prose.", "Prose.\n", 4, "yaml-line name-missing description-missing"},
	{"flow mapping", "---\n{name: folder, description: d}\n---\nB", "folder", "d", "B", 4, ""},
	{"JSON", "---\n{\"name\": \"folder\",\n \"description\": \"d\"}\n---\nB", "folder", "d", "B", 5, ""},
	{"anchors", "---\nname: &n folder\ndescription: *n\n---\n", "folder", "folder", "", 5, ""},
	{"quoted key", "---\n\"name\": folder\n'description': d\n---\n", "folder", "d", "", 5, ""},
	{"indented fields", "---\n  name: folder\n  description: d\n---\n", "folder", "d", "", 5, ""},
	{"comment cuts", "---\nname: folder # c\ndescription: d #c\n---\n", "folder", "d", "", 5, ""},
	{"several lines", "---\nname: folder\ndescription: one\n  two\n\n  three\n---\n", "folder", "one two\nthree", "", 8, ""},
	{"escapes", "---\nname: folder\ndescription: \"a\\tb \\u00e9\\r\\nc\"\n---\n", "folder", "a\tb é\nc", "", 5, ""},
	{"other case", "---\nName: folder\nDescription: d\n---\n", "folder", "d", "", 5, "key-near-miss key-near-miss"},
	{"last duplicate counts", "---\nname: a\ndescription: d\nname: folder\n---\n", "folder", "d", "", 6, "duplicate-key"},
	{"name is a list", "---\nname: [a]\ndescription: d\n---\n", "folder", "d", "", 5, "name-type"},
	{"name on two lines", "---\nname: |\n  folder\n  two\ndescription: d\n---\n", "folder two", "d", "", 7, "name-format name-dir-mismatch"},
	{"description is a list", "---\nname: folder\ndescription:\n  - one\n  - two\n---\n", "folder", "one two", "", 7, "description-type"},
	{"description is a map", "---\nname: folder\ndescription:\n  a: b\n---\nProse.\n", "folder", "Prose.", "Prose.\n", 6, "description-type"},
	{"quotes inside quotes", "---\nname: folder\ndescription: \"say \"hi\" now\"\n---\n", "folder", `say "hi" now`, "", 5, "yaml-invalid"},
	{"starts with a comma", "---\nname: folder\ndescription: , it\n---\n", "folder", ", it", "", 5, "yaml-invalid"},
	{"starts with @", "---\nname: folder\ndescription: @here\n---\n", "folder", "@here", "", 5, "yaml-invalid"},
	{"two colons", "---\nname: folder\ndescription: TL;DR: use when: (1) a, (2) b # c\n---\n", "folder", "TL;DR: use when: (1) a, (2) b # c", "", 5, "yaml-colon"},
	{"colon on the second line", "---\nname: folder\ndescription: one\n  two: three\n---\n", "folder", "one two: three", "", 6, "yaml-colon"},
	{"no blank after the colon", "---\nname:folder\ndescription:d\n---\n", "folder", "d", "", 5, "yaml-invalid yaml-invalid"},
	{"tab as indentation", "---\nname: folder\ndescription: >\n\tone\n\ttwo\n---\n", "folder", "one two", "", 7, "yaml-invalid"},
	{"merge conflict", "---\nname: folder\n<<<<<<< ours\ndescription: d\n=======\n>>>>>>> theirs\n---\n", "folder", "d", "", 8, "yaml-line"},
	{"open bracket", "---\nname: folder\ntags: [a, b\ndescription: d\n---\n", "folder", "d", "", 6, "yaml-invalid"},
	{"document marker inside", "---\nname: folder\n--- x\ndescription: d\n---\n", "folder", "d", "", 6, "yaml-line"},
	{"directive", "---\n%YAML 1.2\nname: folder\ndescription: d\n---\n", "folder", "d", "", 6, "yaml-line"},
	{"control characters", "---\nname: folder\ndescription: a\x01b\u0080c\n---\n", "folder", "a b  c", "", 5, "yaml-control"},
	{"line separators", "---\nname: folder\ndescription: a\u2028name: b\u0085license: c\n---\n", "folder", "a   name: b  license: c", "", 5, "yaml-control yaml-colon"},
	{"list as a key", "---\nname: folder\ndescription: d\nmetadata: {\"a\":[\"b\"],[\"c\"]}\n---\n", "folder", "d", "", 6, "yaml-key"},
	{"rule with a name like a key", "---\nname: folder\ndescription: d\n---\nname: other\n", "folder", "d", "name: other\n", 5, ""},
	{"prose behind code and tables", "---\nname: folder\n---\n```\ncode\n```\n| a |\n![x](y)\n<!-- c\n-->\n***\n- **One** item\n", "folder", "One item", "```\ncode\n```\n| a |\n![x](y)\n<!-- c\n-->\n***\n- **One** item\n", 4, "description-missing"},
}

func TestParse(t *testing.T) {
	for _, c := range readings {
		t.Run(c.name, func(t *testing.T) {
			s, problems := skill.Parse([]byte(c.text), "folder")
			if s == nil {
				t.Fatalf("got nothing: %v", problems)
			}
			if s.Name != c.wantName || s.Description != c.wantDesc {
				t.Errorf("got name %q and description %q, want %q and %q", s.Name, s.Description, c.wantName, c.wantDesc)
			}
			if string(s.Body) != c.body || s.BodyLine != c.line {
				t.Errorf("got body %q on line %d, want %q on line %d", s.Body, s.BodyLine, c.body, c.line)
			}
			if got := codes(problems); got != c.codes {
				t.Errorf("got %v, want codes %q", problems, c.codes)
			}
		})
	}
}

func TestParseUnusable(t *testing.T) {
	for text, code := range map[string]string{
		"":                     "empty-file",
		" \r\n\t\n":            "empty-file",
		"\xef\xbb\xbf\n":       "empty-file",
		"---\nname: \xff\n---": "not-utf8",
		"ok\n\xed\xa0\x80":     "not-utf8",
	} {
		s, problems := skill.Parse([]byte(text), "x")
		if s != nil || codes(problems) != code || problems[0].Severity != skill.Error {
			t.Errorf("%q: got %v, %v, want nothing and an error %s", text, s, problems, code)
		}
	}
}

func TestParseFields(t *testing.T) {
	const text = `---
name: x
description: d
license: MIT
compatibility: Python 3
version: 1.0
author: A
homepage: https://example.org
metadata: {"openclaw":{"emoji":"E","requires":{"bins":["a","b"]},"tags":["t3"]},"n":null}
# a comment
list: [1, two, [3]]
text: |
  # not a comment

tags: one, two
---
`
	s, problems := skill.Parse([]byte(text), "x")
	if len(problems) > 0 {
		t.Errorf("got %v, want no problems", problems)
	}
	if s.License != "MIT" || s.Compatibility != "Python 3" || s.Version != "1.0" || s.Author != "A" || s.Homepage != "https://example.org" {
		t.Errorf("got %+v", s)
	}
	if want := []string{"one", "two", "t3"}; !reflect.DeepEqual(s.Tags, want) {
		t.Errorf("got tags %q, want %q", s.Tags, want)
	}
	m, _ := s.Field("metadata")
	want := map[string]any{"openclaw": map[string]any{"emoji": "E", "requires": map[string]any{"bins": []any{"a", "b"}}, "tags": []any{"t3"}}, "n": nil}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got metadata %#v, want %#v", m, want)
	}
	if l, _ := s.Field("list"); !reflect.DeepEqual(l, []any{"1", "two", []any{"3"}}) {
		t.Errorf("got list %#v", l)
	}
	raw := map[string]string{"name": "name: x\n", "text": "text: |\n  # not a comment\n", "tags": "tags: one, two\n"}
	for _, f := range s.Fields {
		if want, ok := raw[f.Key]; ok && text[f.Start:f.End] != want {
			t.Errorf("%s: got span %q, want %q", f.Key, text[f.Start:f.End], want)
		}
	}
	if _, ok := s.Field("none"); ok {
		t.Error("a key that is not there was found")
	}
}

func TestParseTags(t *testing.T) {
	for front, want := range map[string][]string{
		"tags: a b":                                        {"a", "b"},
		"tags: a b, c":                                     {"a b", "c"},
		"tags: [a, 'b c', 7]":                              {"a", "b c", "7"},
		"tags:\n  - a\n  - a\n  - b":                       {"a", "b"},
		"keywords: a,b\ntags: [b, c]":                      {"b", "c", "a"},
		"tags: 标签，二、三":                                     {"标签", "二", "三"},
		"metadata:\n  tags: [m]\n  x:\n    keywords: k, l": {"m", "k", "l"},
		"tags:\n  a: b":                                    nil,
		"tags: [a, b":                                      {"a", "b"},
	} {
		s, _ := skill.Parse([]byte("---\nname: x\ndescription: d\n"+front+"\n---\n"), "x")
		if !reflect.DeepEqual(s.Tags, want) {
			t.Errorf("%q: got %q, want %q", front, s.Tags, want)
		}
	}
}

func TestParseAbout(t *testing.T) {
	s, _ := skill.Parse([]byte("---\nname: x\ndescription: d\nmetadata:\n  version: \"2.0\"\n  openclaw:\n    homepage: h\n    version: 9\n  author: [a]\n---\n"), "x")
	if s.Version != "2.0" || s.Homepage != "h" || s.Author != "" {
		t.Errorf("got version %q, homepage %q, author %q", s.Version, s.Homepage, s.Author)
	}
}

// Aliases must not multiply into more values than memory holds.
func TestParseAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\nname: x\ndescription: d\nl0: &l0 [a,a,a,a,a,a,a,a,a,a]\n")
	for i := 1; i < 12; i++ {
		prev := string(rune('a'+i-1)) + "0"
		if i == 1 {
			prev = "l0"
		}
		cur := string(rune('a'+i)) + "0"
		b.WriteString(cur + ": &" + cur + " [*" + strings.Join([]string{prev, prev, prev, prev, prev, prev, prev, prev, prev}, ",*") + "]\n")
	}
	b.WriteString("---\n")
	s, problems := skill.Parse([]byte(b.String()), "x")
	if s == nil || s.Name != "x" || find(problems, "yaml-too-large") == nil {
		t.Errorf("got %v", problems)
	}
}

// The body is a part of the data, not a copy.
func TestParseBodyShares(t *testing.T) {
	data := []byte("---\nname: x\ndescription: d\n---\nBody")
	s, _ := skill.Parse(data, "x")
	data[len(data)-1] = 'Y'
	if !bytes.Equal(s.Body, []byte("BodY")) {
		t.Errorf("got %q, want the body to share memory with the data", s.Body)
	}
}

// A block beyond all measure is not read, but its restriction counts.
func TestParseLarge(t *testing.T) {
	text := "---\nname: x\nallowed-tools: Read\n" + strings.Repeat("a: b\n", 20_000) + "---\nProse.\n"
	s, problems := skill.Parse([]byte(text), "folder")
	if s.Name != "folder" || s.Description != "Prose." || s.AllowedTools == nil || len(s.AllowedTools) > 0 || len(s.Fields) > 0 {
		t.Errorf("got %+v", s)
	}
	if find(problems, "frontmatter-large") == nil || find(problems, "allowed-tools-unreadable") == nil {
		t.Errorf("got %v", problems)
	}
	if ds, err := skill.Check([]byte(text), "folder", skill.SkillsRef); err != nil || errorCodes(ds) != "frontmatter-large" {
		t.Errorf("got %v, %v", ds, err)
	}
}
