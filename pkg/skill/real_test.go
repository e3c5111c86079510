package skill_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/skill/skilltest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRealCounts keeps what is found in the real skills as a table: facts about
// the texts, files per diagnostic code, and files that pass each profile.
func TestRealCounts(t *testing.T) {
	count := map[string]int{}
	for _, r := range skilltest.Reals(t) {
		data := []byte(r.Text)
		s, problems := skill.Parse(data, r.Folder())
		if s == nil {
			t.Fatalf("%s: not loaded: %v", r.ID, problems)
		}
		if s.Name == "" || s.Description == "" {
			t.Errorf("%s: got name %q and description %q", r.ID, s.Name, s.Description)
		}
		if strings.ContainsAny(s.Name+s.Description, "\r") {
			t.Errorf("%s: a carriage return in name or description", r.ID)
		}
		if !strings.Contains(r.Text, "\ufffd") && strings.Contains(s.Name+s.Description, "\ufffd") {
			t.Errorf("%s: U+FFFD in name or description", r.ID)
		}
		count["files"]++
		facts(count, data, problems)
		perFile := map[string]bool{}
		for _, d := range problems {
			perFile["code "+d.Code] = true
		}
		for code := range perFile {
			count[code]++
		}
		for _, p := range skill.Profiles() {
			ds, err := skill.Check(data, r.Folder(), p)
			if err != nil {
				t.Fatal(err)
			}
			if !hasError(ds) {
				count["passes "+string(p)]++
			}
		}
	}
	golden(t, "real-counts.txt", table(count))
}

func facts(count map[string]int, data []byte, problems []skill.Diagnostic) {
	if bytes.Contains(data, []byte("\r\n")) {
		count["fact CRLF"]++
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		count["fact byte-order mark"]++
	}
	if !closedAtTop(string(data)) {
		count["fact no frontmatter"]++
	} else if strings.Contains(codes(problems), "yaml-") || find(problems, "frontmatter-unclosed") != nil {
		count["fact invalid YAML"]++
	}
}

// closedAtTop tells a text that starts with a fence and has another.
func closedAtTop(text string) bool {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return false
	}
	for _, l := range lines[1:] {
		if strings.TrimRight(l, " \t") == "---" {
			return true
		}
	}
	return false
}

func table(count map[string]int) string {
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%5d %s\n", count[k], k)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden (write it with -update): %v", err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// TestRealSetField edits every real file there and back: nothing but the value
// of the field may differ.
func TestRealSetField(t *testing.T) {
	const fresh = "A new: description # with \"all\" sorts"
	for _, r := range skilltest.Reals(t) {
		data := []byte(r.Text)
		out, err := skill.SetField(data, "description", fresh)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		before, _ := skill.Parse(data, "")
		after, problems := skill.Parse(out, "")
		if after.Description != fresh || !bytes.Equal(after.Body, before.Body) || find(problems, "frontmatter-unclosed") != nil {
			t.Errorf("%s: got description %q with %v", r.ID, after.Description, problems)
		}
		old, had := before.Field("description")
		text, ok := old.(string)
		if !had || !ok || find(problems, "frontmatter-unclosed") != nil {
			continue
		}
		back, err := skill.SetField(out, "description", text)
		if err != nil {
			t.Errorf("%s: back: %v", r.ID, err)
			continue
		}
		sameOutside(t, r.ID, data, back)
	}
}

// sameOutside compares two texts but for the lines of the description and fences
// that one of them lacks.
func sameOutside(t *testing.T, id string, a, b []byte) {
	t.Helper()
	rest := func(data []byte) (string, *skill.Skill) {
		s, _ := skill.Parse(data, "")
		for _, f := range s.Fields {
			if f.Key == "description" {
				return string(data[:f.Start]) + string(data[f.End:]), s
			}
		}
		return string(data), s
	}
	ra, sa := rest(a)
	rb, sb := rest(b)
	fenceless := func(s string) string { return strings.ReplaceAll(s, "---\n", "") }
	if ra != rb && fenceless(ra) != fenceless(rb) {
		t.Errorf("%s: bytes outside the description changed:\n%.300q\n%.300q", id, ra, rb)
	}
	for i := range sa.Fields {
		if !reflect.DeepEqual(sa.Fields[i].Value, sb.Fields[i].Value) {
			t.Errorf("%s: field %q changed from %q to %q", id, sa.Fields[i].Key, sa.Fields[i].Value, sb.Fields[i].Value)
		}
	}
}

// TestRealFix mends every real file: it reads as before, and what can be mended
// is gone.
func TestRealFix(t *testing.T) {
	for _, r := range skilltest.Reals(t) {
		data := []byte(r.Text)
		out, fixed := skill.Fix(data, r.Folder())
		before, problems := skill.Parse(data, r.Folder())
		after, left := skill.Parse(out, r.Folder())
		if after.Name != before.Name || after.Description != before.Description || !bytes.Equal(after.Body, before.Body) {
			t.Errorf("%s: reads otherwise after %v", r.ID, fixed)
		}
		if again, _ := skill.Fix(out, r.Folder()); !bytes.Equal(again, out) {
			t.Errorf("%s: a second Fix changes it", r.ID)
		}
		for _, d := range left {
			if d.Fixable {
				t.Errorf("%s: still there: %v (before: %v)", r.ID, d, problems)
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte("---\nname: pdf-forms\ndescription: " + strings.Repeat("Fill in PDF forms and check the fields. ", 6) +
		"\nlicense: MIT\nmetadata: {\"openclaw\":{\"emoji\":\"E\",\"requires\":{\"bins\":[\"qpdf\",\"pdftk\"]}}}\n---\n" + strings.Repeat("A line of the instructions, of the usual length.\n", 115))
	b.Run("typical", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			skill.Parse(text, "pdf-forms")
		}
	})
	b.Run("real", func(b *testing.B) {
		all := skilltest.Reals(b)
		total := 0
		data := make([][]byte, len(all))
		for i, r := range all {
			data[i] = []byte(r.Text)
			total += len(r.Text)
		}
		b.SetBytes(int64(total / len(all)))
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			skill.Parse(data[i%len(data)], all[i%len(data)].Folder())
		}
	})
}
