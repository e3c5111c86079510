package skill_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// write makes a skill folder and returns it.
func write(t *testing.T, name, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	put(t, filepath.Join(dir, skill.FileName), text)
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, dir string) (*skill.Skill, []skill.Diagnostic) {
	t.Helper()
	s, problems, err := skill.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Fatalf("got no skill: %v", problems)
	}
	return s, problems
}

func codes(ds []skill.Diagnostic) string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Code)
	}
	return strings.Join(out, " ")
}

func find(ds []skill.Diagnostic, code string) *skill.Diagnostic {
	for i := range ds {
		if ds[i].Code == code {
			return &ds[i]
		}
	}
	return nil
}

func check(t *testing.T, dir string, p skill.Profile) []skill.Diagnostic {
	t.Helper()
	ds, err := skill.Validate(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func hasError(ds []skill.Diagnostic) bool {
	for _, d := range ds {
		if d.Severity == skill.Error {
			return true
		}
	}
	return false
}

func TestFM01BlockScalars(t *testing.T) {
	folded := "Decide whether to delegate work and write the brief."
	literal := "Decide whether to delegate work\nand write the brief."
	for mark, want := range map[string]string{">": folded, ">-": folded, ">+": folded, ">2": folded, "|": literal, "|-": literal, "|+": literal, "|2-": literal} {
		t.Run(mark, func(t *testing.T) {
			dir := write(t, "write-brief", "---\nname: write-brief\ndescription: "+mark+"\n  Decide whether to delegate work\n  and write the brief.\n---\nBody\n")
			s, problems := load(t, dir)
			if s.Description != want || len(problems) > 0 {
				t.Errorf("got %q with %v, want %q", s.Description, problems, want)
			}
		})
	}
}

func TestFM02Colon(t *testing.T) {
	dir := write(t, "colon", "---\nname: colon\ndescription: Set up the harness: hooks, servers\n---\n")
	s, problems := load(t, dir)
	if want := "Set up the harness: hooks, servers"; s.Description != want {
		t.Errorf("got description %q, want %q", s.Description, want)
	}
	d := find(problems, "yaml-colon")
	if d == nil || d.Line != 3 || d.Severity != skill.Warning || d.Path != filepath.Join(dir, "SKILL.md") {
		t.Errorf("got %+v, want a warning yaml-colon on line 3 with the path", problems)
	}
}

func TestFM03RestrictionSurvives(t *testing.T) {
	for name, c := range map[string]struct {
		front string
		want  []string
		exact bool
	}{
		"colon elsewhere":     {"name: reader\ndescription: Do the job: fast\nallowed-tools: Read\n", []string{"Read"}, true},
		"list, colon":         {"name: reader\ndescription: a: b: c\nallowed-tools:\n  - Read\n  - Bash(git:*)\n", []string{"Read", "Bash(git:*)"}, true},
		"open bracket":        {"name: reader\nallowed-tools: [Read, Bash\n", []string{}, false},
		"open parenthesis":    {"name: reader\nallowed-tools: Bash(git\n", []string{}, false},
		"a mapping":           {"name: reader\nallowed-tools:\n  Read: true\n", []string{}, false},
		"colon inside":        {"name: reader\nallowed-tools: Read: all\n", []string{}, false},
		"no blank":            {"name: reader\nallowed-tools:Read\n", []string{}, false},
		"swallowed by quotes": {"name: \"reader\nallowed-tools: Read\ndescription: x\"\n", []string{}, false},
		"swallowed by field":  {"name: a: b\n  allowed-tools: Read\n", []string{}, false},
		"given twice":         {"name: reader\nallowed-tools: Read\nallowed-tools: Bash\n", []string{}, false},
		"behind a merge":      {"base: &b {allowed-tools: Read}\n<<: *b\nname: reader\n", []string{}, false},
		"tab":                 {"name: reader\ndescription: a: b\n\tallowed-tools: Read\n", []string{}, false},
		"other spelling":      {"name: reader\nallowed_tools: Read\n", []string{"Read"}, true},
		"misspelt":            {"name: reader\nallowd-tools: Read\n", []string{"Read"}, true},
		"unseen sign":         {"name: reader\nallowed-tools\u200b: Read\n", []string{"Read"}, true},
		"behind NEL":          {"name: reader\ndescription: d\u0085allowed-tools: Read\n", []string{}, false},
		"behind LS":           {"name: reader\ndescription: \"d\u2028allowed-tools: Read\"\n", []string{}, false},
		"empty":               {"name: reader\nallowed-tools:\n", []string{}, true},
		"missing":             {"name: reader\n# allowed-tools: Read\nmetadata:\n  allowed-tools: Read\n", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := skill.Parse([]byte("---\n"+c.front+"---\nBody\n"), "")
			if !reflect.DeepEqual(s.AllowedTools, c.want) {
				t.Errorf("got %#v, want %#v (%v)", s.AllowedTools, c.want, problems)
			}
			d := find(problems, "allowed-tools-unreadable")
			if (d == nil) != c.exact || d != nil && d.Severity != skill.Error {
				t.Errorf("got %v, want an error: %v", problems, !c.exact)
			}
		})
	}
	t.Run("below a block without an end", func(t *testing.T) {
		s, _ := skill.Parse([]byte("---\nname: reader\n\n# Title\nProse.\n\nallowed-tools: Read\n"), "")
		if s.AllowedTools == nil || len(s.AllowedTools) > 0 {
			t.Errorf("got %#v, want an empty list", s.AllowedTools)
		}
	})
}

func TestFM03VeiledFence(t *testing.T) {
	for _, veil := range []string{"\ufeff\ufeff", "\u200b", "\u2060 "} {
		s, problems := skill.Parse([]byte(veil+"---\nname: reader\nallowed-tools: Read\n---\nBody\n"), "")
		if s.AllowedTools == nil || len(s.AllowedTools) > 0 || find(problems, "allowed-tools-unreadable") == nil {
			t.Errorf("%q: got %#v and %v, want an empty list and an error", veil, s.AllowedTools, problems)
		}
	}
	s, problems := skill.Parse([]byte("# Tools\n\nallowed-tools: Read is a field\n"), "")
	if s.AllowedTools != nil || find(problems, "allowed-tools-unreadable") != nil {
		t.Errorf("got %#v and %v for prose", s.AllowedTools, problems)
	}
}

func TestFM04ByteOrderMark(t *testing.T) {
	const text = "---\nname: bom\ndescription: d\n---\nBody\n"
	dir := write(t, "bom", "\xef\xbb\xbf"+text)
	s, problems := load(t, dir)
	plain, _ := skill.Parse([]byte(text), "bom")
	if s.Name != "bom" || s.Description != "d" || !bytes.Equal(s.Body, plain.Body) || s.BodyLine != plain.BodyLine {
		t.Errorf("got %+v, want the same as without the mark", s)
	}
	if codes(problems) != "bom" {
		t.Errorf("got %v, want one warning", problems)
	}
	data, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
	if err != nil || !bytes.HasPrefix(data, []byte("\xef\xbb\xbf---")) {
		t.Errorf("the file on disk was changed: %q, %v", data, err)
	}
	// Only one mark goes: a second one is text in front of the fence.
	if s, _ := skill.Parse([]byte("\xef\xbb\xbf\xef\xbb\xbf"+text), "x"); s.HasFrontmatter {
		t.Error("a second byte-order mark was taken away as well")
	}
}

func TestFM05LineEndings(t *testing.T) {
	const text = "---\nname: crlf\ndescription: |\n  one\n  two\ntags:\n  - a\n---\nBody\nend\n"
	for name, c := range map[string]struct{ text, eol string }{
		"CRLF":   {strings.ReplaceAll(text, "\n", "\r\n"), "\r\n"},
		"CR":     {strings.ReplaceAll(text, "\n", "\r"), "\r"},
		"blanks": {strings.ReplaceAll(text, "---\n", "---  \n"), "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := skill.Parse([]byte(c.text), "crlf")
			if s.Name != "crlf" || s.Description != "one\ntwo" || s.BodyLine != 9 {
				t.Fatalf("got %q, %q, body on line %d", s.Name, s.Description, s.BodyLine)
			}
			if got := fmt.Sprint(s.Fields); strings.Contains(got, "\r") {
				t.Errorf("a carriage return in a value: %q", got)
			}
			out, err := skill.SetField([]byte(c.text), "description", "other")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(c.text, "|"+c.eol+"  one"+c.eol+"  two", "other", 1)
			if string(out) != want {
				t.Errorf("got %q, want %q", out, want)
			}
		})
	}
}

func TestFM06NamesAsTyped(t *testing.T) {
	for _, name := range []string{"12306", "007", "1e3", "true", "no", "2024-01-01", "0x1F", "1_000", ".5", "12:30", "y"} {
		s, problems := skill.Parse([]byte("---\nname: "+name+"\ndescription: d\n---\n"), "")
		if s.Name != name {
			t.Errorf("got %q, want %q (%v)", s.Name, name, problems)
		}
		if v, _ := s.Field("name"); v != name {
			t.Errorf("got field %#v, want the text %q", v, name)
		}
	}
	for _, name := range []string{"null", "", "~", `""`, `"  "`} {
		s, problems := skill.Parse([]byte("---\nname: "+name+"\ndescription: d\n---\n"), "folder")
		if d := find(problems, "name-empty"); s.Name != "folder" || d == nil || d.Line != 2 {
			t.Errorf("name %q: got %q with %v, want the folder's name and name-empty", name, s.Name, problems)
		}
	}
	if s, _ := skill.Parse([]byte("---\nname: \"null\"\n---\n"), "folder"); s.Name != "null" {
		t.Errorf("got %q, want the quoted text null", s.Name)
	}
}

func TestFM07RulesInBody(t *testing.T) {
	const body = "# T\n\n---\n\n~~~yaml\n---\na: 1\n---\n~~~\nend\n"
	s, problems := skill.Parse([]byte("---\nname: x\ndescription: d\n---\n"+body), "x")
	if string(s.Body) != body || len(problems) > 0 {
		t.Errorf("got body %q with %v", s.Body, problems)
	}
}

func TestFM08AllowedTools(t *testing.T) {
	for text, want := range map[string][]string{
		" Bash":                         {"Bash"},
		" Bash Read":                    {"Bash", "Read"},
		" [Bash, Read]":                 {"Bash", "Read"},
		"\n  - Bash\n  - Read":          {"Bash", "Read"},
		"\n- Bash\n- Read":              {"Bash", "Read"},
		" Bash(git:*) Read":             {"Bash(git:*)", "Read"},
		" Bash, Read":                   {"Bash", "Read"},
		" Bash(git add *), Read":        {"Bash(git add *)", "Read"},
		" Bash(a(b) c)\tRead":           {"Bash(a(b) c)", "Read"},
		" \"Bash Read\"":                {"Bash", "Read"},
		" >-\n  Bash\n  Read":           {"Bash", "Read"},
		" Bash\u3000Read":               {"Bash", "Read"},
		" \"*\"":                        {"*"},
		" [\"Bash(curl:*)\", \"Read\"]": {"Bash(curl:*)", "Read"},
		" []":                           {},
		" ":                             {},
		" \"\"":                         {},
	} {
		s, problems := skill.Parse([]byte("---\nname: x\ndescription: d\nallowed-tools:"+text+"\n---\n"), "x")
		if !reflect.DeepEqual(s.AllowedTools, want) {
			t.Errorf("%q: got %#v, want %#v (%v)", text, s.AllowedTools, want, problems)
		}
	}
	if s, _ := skill.Parse([]byte("---\nname: x\n---\n"), "x"); s.AllowedTools != nil {
		t.Errorf("missing key: got %#v, want nil", s.AllowedTools)
	}
}

func TestFM09NestedKeys(t *testing.T) {
	for name, front := range map[string]string{
		"valid":  "name: n\ndescription: real\nmetadata:\n  description: inner\n  name: inner\n",
		"broken": "metadata:\n  description: inner: x\n  name: inner\nname: n\ndescription: real\n",
	} {
		s, _ := skill.Parse([]byte("---\n"+front+"---\n"), "n")
		if s.Name != "n" || s.Description != "real" {
			t.Errorf("%s: got %q, %q, want n, real", name, s.Name, s.Description)
		}
		m, _ := s.Field("metadata")
		if inner, ok := m.(map[string]any); !ok || inner["name"] != "inner" {
			t.Errorf("%s: got metadata %#v", name, m)
		}
	}
}

func TestFM10NamingRules(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, c := range []struct {
		folder, name, description, code string
		refused                         bool
	}{
		{"agent-development", "Agent Development", "d", "name-format", true},
		{"agent-development", "Agent Development", "d", "name-dir-mismatch", true},
		{long, long, "d", "name-length", true},
		{"a--b", "a--b", "d", "name-format", true},
		{"-a", "-a", "d", "name-format", true},
		{"ok", "ok", strings.Repeat("字", 1024), "", false},
		{"ok", "ok", strings.Repeat("字", 1025), "description-length", true},
	} {
		text := "---\nname: " + c.name + "\ndescription: " + c.description + "\n---\nBody\n"
		s, problems := skill.Parse([]byte(text), c.folder)
		if s.Name != c.name || s.Description != c.description || hasError(problems) {
			t.Errorf("%s: not loaded as it is: %v", c.name, problems)
		}
		if c.code == "" && len(problems) > 0 || c.code != "" && find(problems, c.code) == nil {
			t.Errorf("%s: got %v, want %q", c.name, problems, c.code)
		}
		strict, err := skill.Check([]byte(text), c.folder, skill.Spec)
		if err != nil || hasError(strict) != c.refused {
			t.Errorf("%s: got %v, %v, want refused: %v", c.name, strict, err, c.refused)
		}
	}
}

func TestFM11NoDescription(t *testing.T) {
	for front, code := range map[string]string{
		"name: e\ndescription: \"\"\n": "description-empty",
		"name: e\n":                    "description-missing",
		"name: e\ndescription:\n":      "description-empty",
		"name: e\ndescription: null\n": "description-empty",
	} {
		text := []byte("---\n" + front + "---\nUse for CSV clean-up.\n")
		s, problems := skill.Parse(text, "e")
		if d := find(problems, code); d == nil || d.Severity != skill.Warning {
			t.Errorf("%q: got %v, want a warning %s", front, problems, code)
		}
		if s.Description != "Use for CSV clean-up." {
			t.Errorf("%q: got %q, want the first prose line", front, s.Description)
		}
		if strict, err := skill.Check(text, "e", skill.Spec); err != nil || !hasError(strict) {
			t.Errorf("%q: got %v, %v, want it refused", front, strict, err)
		}
	}
}

func TestFM12LegacyEncoding(t *testing.T) {
	dir := write(t, "gbk", "---\nname: gbk\ndescription: \xcc\xec\xc6\xf8\n---\n")
	s, problems, err := skill.Load(dir)
	if s != nil || err != nil {
		t.Fatalf("got %v, %v, want no skill and no I/O error", s, err)
	}
	d := find(problems, "not-utf8")
	if d == nil || d.Severity != skill.Error || d.Line != 3 || !strings.Contains(d.Message, "byte offset 27") {
		t.Errorf("got %+v, want not-utf8 on line 3 with byte offset 27", problems)
	}
	if _, err := skill.SetField([]byte("---\nname: \xcc\n---\n"), "name", "x"); err == nil {
		t.Error("SetField edited a text that is not UTF-8")
	}
	in := []byte("---\nname: \xcc\n---\n")
	if out, fixed := skill.Fix(in, "x"); !bytes.Equal(out, in) || fixed != nil {
		t.Errorf("Fix changed a text that is not UTF-8 to %q", out)
	}
	if ds := check(t, dir, skill.SkillsRef); codes(ds) != "not-utf8" {
		t.Errorf("got %v, want not-utf8", ds)
	}
	utf16 := "\xff\xfe-\x00-\x00-\x00"
	if _, ds := skill.Parse([]byte(utf16), ""); len(ds) != 1 || !strings.Contains(ds[0].Hint, "UTF-16") {
		t.Errorf("got %v, want a hint at UTF-16", ds)
	}
}

func TestFM13KeysOfOtherHosts(t *testing.T) {
	const text = "---\nname: x\nversion: 1.2.0\nargument-hint: x\ndisable-model-invocation: true\ndescriptoin: y\n---\nProse.\n"
	s, problems := skill.Parse([]byte(text), "x")
	var keys []string
	for _, f := range s.Fields {
		keys = append(keys, f.Key)
	}
	if got := strings.Join(keys, " "); got != "name version argument-hint disable-model-invocation descriptoin" {
		t.Errorf("got keys %q", got)
	}
	if d := find(problems, "key-near-miss"); d == nil || d.Line != 6 || !strings.Contains(d.Hint, `"description"`) {
		t.Errorf("got %v, want a near miss on line 6", problems)
	}
	out, err := skill.SetField([]byte(text), "description", "now")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(text, "---\nProse", "description: now\n---\nProse", 1); string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
	strict, err := skill.Check([]byte(text), "x", skill.SkillsRef)
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for _, d := range strict {
		if d.Code == "unknown-key" {
			unknown = append(unknown, fmt.Sprint(d.Line, d.Hint))
		}
	}
	if len(unknown) != 4 || unknown[3] != `6did you mean "description"?` {
		t.Errorf("got %q, want four unknown keys, the last with its near miss", unknown)
	}
}

func TestFM14OtherScripts(t *testing.T) {
	ids := map[string]bool{}
	for _, name := range []string{"技能-审查", "мой-навык", "café"} {
		dir := write(t, name, "---\nname: "+name+"\ndescription: d\n---\nBody\n")
		s, problems := load(t, dir)
		if s.Name != name || len(problems) > 0 {
			t.Errorf("got %q with %v, want %q", s.Name, problems, name)
		}
		if ds := check(t, dir, skill.Spec); hasError(ds) || find(ds, "name-ascii") == nil {
			t.Errorf("%s: got %v, want only a portability warning", name, ds)
		}
		if got := skill.SanitizeName(name); got != name {
			t.Errorf("SanitizeName(%q): got %q", name, got)
		}
		id := skill.DerivedID(name, "/x/"+name)
		if !strings.HasPrefix(id, name+"__imp_") || !skill.ValidID(id) {
			t.Errorf("got id %q", id)
		}
		ids[id] = true
	}
	if len(ids) != 3 {
		t.Errorf("ids collide: %v", ids)
	}
	// The folder may hold the accent as a character of its own.
	if ds := check(t, write(t, "cafe\u0301", "---\nname: caf\u00e9\ndescription: d\n---\n"), skill.SkillsRef); hasError(ds) {
		t.Errorf("got %v, want the two forms of the accent to be one name", ds)
	}
	if ds := check(t, write(t, "Мой-Навык", "---\nname: Мой-Навык\ndescription: d\n---\n"), skill.Spec); find(ds, "name-format") == nil || !hasError(ds) {
		t.Errorf("got %v, want upper case refused", ds)
	}
}
