package skill_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// edits set description to "new"; in after, NEW stands for the new value.
var edits = []struct{ name, before, after string }{
	{"plain", "---\nname: x\ndescription: old\nlicense: MIT\n---\nB", "---\nname: x\ndescription: NEW\nlicense: MIT\n---\nB"},
	{"comment behind", "---\ndescription: old # why\nname: x\n---\nB", "---\ndescription: NEW # why\nname: x\n---\nB"},
	{"comment behind quotes", "---\ndescription: \"o # ld\"  # why\nname: x\n---\nB", "---\ndescription: NEW  # why\nname: x\n---\nB"},
	{"comments around", "---\n# a\ndescription: old\n# b\n\nname: x\n---\nB", "---\n# a\ndescription: NEW\n# b\n\nname: x\n---\nB"},
	{"folded", "---\ndescription: >-\n  one\n\n  # two\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"literal with a comment", "---\ndescription: | # why\n  one\n\n# b\nname: x\n---\nB", "---\ndescription: NEW # why\n\n# b\nname: x\n---\nB"},
	{"indentation given", "---\ndescription: |2\n   one\n  two\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"plain on lines", "---\ndescription: one\n  two\n\n  three\n\nname: x\n---\nB", "---\ndescription: NEW\n\nname: x\n---\nB"},
	{"quotes on lines", "---\ndescription: \"one\n  two \\\" \"\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"single quotes", "---\ndescription: 'it''s' # c\nname: x\n---\nB", "---\ndescription: NEW # c\nname: x\n---\nB"},
	{"below the key", "---\ndescription: # c\n  one\n  two\nname: x\n---\nB", "---\ndescription: NEW # c\nname: x\n---\nB"},
	{"list", "---\ndescription:\n- one\n- two\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"flow list", "---\ndescription: [one, 'a]', \"b]\", # c ]\n  it's] # d\nname: x\n---\nB", "---\ndescription: NEW # d\nname: x\n---\nB"},
	{"anchor", "---\ndescription: &a old\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"tag below", "---\ndescription: !!str\n  old\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"empty", "---\ndescription:\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"empty with comment", "---\ndescription:   # c\nname: x\n---\nB", "---\ndescription: NEW   # c\nname: x\n---\nB"},
	{"quoted key", "---\n\"description\" : old\nname: x\n---\nB", "---\n\"description\" : NEW\nname: x\n---\nB"},
	{"last of two", "---\ndescription: a\ndescription: b\n---\nB", "---\ndescription: a\ndescription: NEW\n---\nB"},
	{"not the nested one", "---\nmetadata:\n  description: inner\ndescription: old\n---\nB", "---\nmetadata:\n  description: inner\ndescription: NEW\n---\nB"},
	{"missing", "---\nname: x\n\n# c\n---\nB", "---\nname: x\n\n# c\ndescription: NEW\n---\nB"},
	{"missing, indented", "---\n  name: x\n---\nB", "---\n  name: x\n  description: NEW\n---\nB"},
	{"missing in an empty block", "---\n---\nB", "---\ndescription: NEW\n---\nB"},
	{"missing, text kept open", "---\nname: |+\n  x\n\n---\nB", "---\nname: |+\n  x\n\ndescription: NEW\n---\nB"},
	{"no frontmatter", "# B\n", "---\ndescription: NEW\n---\n# B\n"},
	{"no frontmatter, CRLF and mark", "\xef\xbb\xbf# B\r\nC", "\xef\xbb\xbf---\r\ndescription: NEW\r\n---\r\n# B\r\nC"},
	{"no text", "", "---\ndescription: NEW\n---\n"},
	{"a rule first", "---\n\nProse\n", "---\ndescription: NEW\n---\n---\n\nProse\n"},
	{"CRLF, missing", "---\r\nname: x\r\n---\r\nB\r\n", "---\r\nname: x\r\ndescription: NEW\r\n---\r\nB\r\n"},
	{"CR, missing", "---\rname: x\r---\rB\r", "---\rname: x\rdescription: NEW\r---\rB\r"},
	{"mark and blanks kept", "\xef\xbb\xbf\n--- \nname: x\ndescription: old\n---\t\nB", "\xef\xbb\xbf\n--- \nname: x\ndescription: NEW\n---\t\nB"},
	{"unclosed", "---\nname: x\n\n# B\nText\n", "---\nname: x\ndescription: NEW\n---\n\n# B\nText\n"},
	{"unclosed, no newline", "---\nname: x", "---\nname: x\ndescription: NEW\n---\n"},
	{"unclosed, there", "---\ndescription: old", "---\ndescription: NEW\n---\n"},
	{"unfenced", "name: x\ndescription: old\n\n# B\n", "---\nname: x\ndescription: NEW\n---\n\n# B\n"},
	{"broken", "---\ndescription: a: b # c\n  d\nname: x\n---\nB", "---\ndescription: NEW\nname: x\n---\nB"},
	{"broken elsewhere", "---\nname: a: b\ndescription: old # c\n---\nB", "---\nname: a: b\ndescription: NEW # c\n---\nB"},
	{"last line", "---\nname: x\ndescription: old\n---", "---\nname: x\ndescription: NEW\n---"},
}

func TestSetField(t *testing.T) {
	values := map[string]string{
		"new":                               "new",
		"new, with a (b) 'c'":               "new, with a (b) 'c'",
		"new: with a colon":                 `"new: with a colon"`,
		"say \"hi\" \\ bye":                 `say "hi" \ bye`,
		"\"quoted\" \\ text":                `"\"quoted\" \\ text"`,
		"two\nlines\tand # more":            `"two\nlines\tand # more"`,
		"":                                  `""`,
		"true":                              `"true"`,
		"007":                               `"007"`,
		"2024-01-01":                        `"2024-01-01"`,
		"3D models":                         `3D models`,
		"- item":                            `"- item"`,
		" blanks ":                          `" blanks "`,
		"[a]":                               `"[a]"`,
		"ends:":                             `"ends:"`,
		"\x00\u0085\u2028\ufeff\r":          `"\u0000\u0085\u2028\ufeff\r"`,
		"ü 技能 🙂":                            `ü 技能 🙂`,
		"技能：说明":                             `技能：说明`,
		strings.Repeat("long ", 300)[:1499]: strings.Repeat("long ", 300)[:1499],
	}
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			for value, written := range values {
				out, err := skill.SetField([]byte(c.before), "description", value)
				if err != nil {
					t.Fatalf("%q: %v", value, err)
				}
				if want := strings.Replace(c.after, "NEW", written, 1); string(out) != want {
					t.Errorf("%q: got %q, want %q", value, out, want)
				}
			}
		})
	}
}

func TestSetFieldSameValue(t *testing.T) {
	for _, text := range []string{"---\ndescription: >-\n  d\n---\n", "---\r\n'description': \"d\"\r\n---"} {
		if out, err := skill.SetField([]byte(text), "description", "d"); err != nil || string(out) != text {
			t.Errorf("got %q, %v, want nothing changed", out, err)
		}
	}
}

func TestSetFieldRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, key, value string }{
		"one flow mapping":        {"---\n{name: x}\n---\n", "name", "y"},
		"anchor used below":       {"---\nname: &a x\ndescription: *a\n---\n", "name", "y"},
		"explicit key":            {"---\n? name\n: x\n---\n", "name", "y"},
		"value not UTF-8":         {"---\nname: x\n---\n", "name", "\xff"},
		"text not UTF-8":          {"---\nname: \xff\n---\n", "name", "y"},
		"key with a line break":   {"---\nname: x\n---\n", "a\nb", "y"},
		"key with a colon":        {"---\nname: x\n---\n", "a: b", "y"},
		"key with blanks":         {"---\nname: x\n---\n", " a ", "y"},
		"empty key":               {"---\nname: x\n---\n", "", "y"},
		"key that starts a fence": {"---\nname: x\n---\n", "--", "y"},
	} {
		if out, err := skill.SetField([]byte(c.text), c.key, c.value); !errors.Is(err, skill.ErrNotEditable) {
			t.Errorf("%s: got %q, %v, want ErrNotEditable", name, out, err)
		}
	}
}

func TestFix(t *testing.T) {
	for _, c := range []struct{ name, before, after, fixed string }{
		{"nothing", "---\nname: folder\ndescription: d\n---\nB", "", ""},
		{"mark", "\xef\xbb\xbf---\nname: folder\ndescription: d\n---\nB", "---\nname: folder\ndescription: d\n---\nB", "bom"},
		{"blank lines", "\r\n \r\n---\r\nname: folder\r\ndescription: d\r\n---\r\nB", "---\r\nname: folder\r\ndescription: d\r\n---\r\nB", "text-before-frontmatter"},
		{"comment first stays", "<!-- c -->\n---\nname: folder\ndescription: d\n---\nB", "", ""},
		{"four dots are no fence", "---\t\nname: folder\ndescription: d\n....\n----\nB", "---\nname: folder\ndescription: d\n....\n---\nB", "fence-blanks fence-form"},
		{"dots", "---  \nname: folder\ndescription: d\n...\t\nB", "---\nname: folder\ndescription: d\n---\nB", "fence-blanks fence-form"},
		{"hyphens", "---\nname: folder\ndescription: d\n------\nB", "---\nname: folder\ndescription: d\n---\nB", "fence-form"},
		{"colon", "---\nname: folder # c\ndescription: a: b\n---\nB", "---\nname: folder # c\ndescription: \"a: b\"\n---\nB", "yaml-colon"},
		{"colon on lines", "---\r\nname: folder\r\ndescription: one\r\n  two: three\r\ntags: [a]\r\n---\r\nB", "---\r\nname: folder\r\ndescription: \"one two: three\"\r\ntags: [a]\r\n---\r\nB", "yaml-colon"},
		{"brackets", "---\nname: folder\ndescription: d\nargument-hint: [a] [b]\n---\n", "---\nname: folder\ndescription: d\nargument-hint: \"[a] [b]\"\n---\n", "yaml-invalid"},
		{"no blank", "---\nname:folder\ndescription:d\n---\n", "---\nname: folder\ndescription: d\n---\n", "yaml-invalid yaml-invalid"},
		{"restriction stays", "---\nname: folder\ndescription: d\nallowed-tools: [a\n---\n", "", ""},
		{"unclosed", "---\nname: folder\ndescription: d\n\n# H\n", "---\nname: folder\ndescription: d\n---\n\n# H\n", "frontmatter-unclosed"},
		{"unfenced", "name: folder\ndescription: a: b\n\n# H\n", "---\nname: folder\ndescription: \"a: b\"\n---\n\n# H\n", "frontmatter-unfenced yaml-colon"},
		{"no frontmatter", "# H\n\nProse.\n", "---\nname: folder\ndescription: Prose.\n---\n# H\n\nProse.\n", "frontmatter-missing"},
		{"mark, no frontmatter", "\xef\xbb\xbfProse", "---\nname: folder\ndescription: Prose\n---\nProse", "bom frontmatter-missing"},
		{"no name", "---\ndescription: d\n---\n", "---\ndescription: d\nname: folder\n---\n", "name-missing"},
		{"null name", "---\nname: null # n\ndescription: ''\n---\nProse.\n", "---\nname: folder # n\ndescription: Prose.\n---\nProse.\n", "name-empty description-empty"},
		{"bad name stays", "---\nname: Other Name\ndescription: d\n---\n", "", ""},
		{"junk stays", "---\nname: folder\n<<< x\ndescription: a: b\n---\n", "---\nname: folder\n<<< x\ndescription: \"a: b\"\n---\n", "yaml-colon"},
		{"not a list of tools", "---\nname: folder\ndescription: [a, b]\n---\n", "", ""},
		{"flow mapping without a name", "---\n{description: d}\n---\n", "", ""},
		{"not UTF-8", "---\nname: \xff\n---\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.after == "" {
				c.after = c.before
			}
			out, fixed := skill.Fix([]byte(c.before), "folder")
			if string(out) != c.after || codes(fixed) != c.fixed {
				t.Errorf("got %q with %v, want %q with %q", out, fixed, c.after, c.fixed)
			}
		})
	}
}
