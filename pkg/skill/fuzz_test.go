package skill_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/skill"
)

// seeds are texts that once broke a reader somewhere.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	var all [][]byte
	for _, c := range readings {
		all = append(all, []byte(c.text))
	}
	for _, c := range edits {
		all = append(all, []byte(c.before))
	}
	if len(all) < 60 {
		f.Fatalf("got %d seeds, want at least 60", len(all))
	}
	return all
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "folder")
	}
	f.Fuzz(func(t *testing.T, data []byte, folder string) {
		before := bytes.Clone(data)
		s, problems := skill.Parse(data, folder)
		if !bytes.Equal(data, before) {
			t.Fatal("Parse changed its input")
		}
		again, problems2 := skill.Parse(data, folder)
		if !reflect.DeepEqual(s, again) || !reflect.DeepEqual(problems, problems2) {
			t.Fatal("a second reading differs from the first")
		}
		if s == nil {
			if !hasError(problems) {
				t.Fatalf("got nothing and no error: %v", problems)
			}
			return
		}
		if !bytes.HasSuffix(data, s.Body) {
			t.Errorf("the body %q is not the end of the data", s.Body)
		}
		if want := 1 + countLines(data[:len(data)-len(s.Body)]); len(s.Body) > 0 && s.BodyLine != want {
			t.Errorf("got body on line %d, want %d", s.BodyLine, want)
		}
		for _, text := range slices.Concat([]string{s.Name, s.Description, s.License, s.Version}, s.Tags, s.AllowedTools) {
			if !utf8.ValidString(text) && utf8.ValidString(folder) {
				t.Errorf("%q is not UTF-8", text)
			}
			if bytes.ContainsRune([]byte(text), '\r') && !bytes.ContainsRune([]byte(folder), '\r') {
				t.Errorf("%q holds a carriage return", text)
			}
		}
		if !bytes.ContainsRune(data, utf8.RuneError) && !bytes.Contains(data, []byte(`\`)) && bytes.ContainsRune([]byte(s.Description), utf8.RuneError) {
			t.Errorf("the description %q holds U+FFFD, the text does not", s.Description)
		}
		for _, field := range s.Fields {
			if field.Start < 0 || field.End > len(data) || field.Start > field.End {
				t.Errorf("field %q has the span [%d,%d)", field.Key, field.Start, field.End)
			}
		}
	})
}

// countLines counts line breaks of all three kinds.
func countLines(data []byte) int {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r"))
}

func FuzzSetField(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "description", "a new: text # with \"all\" sorts\nof things")
	}
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		out, err := skill.SetField(data, key, value)
		if err != nil {
			return
		}
		old, _ := skill.Parse(data, "")
		s, _ := skill.Parse(out, "")
		if s == nil {
			if old != nil || len(out) != len(data) {
				t.Fatalf("%q became unusable: %q", data, out)
			}
			return
		}
		if got, ok := s.Field(key); !ok || got != any(value) {
			t.Fatalf("%q: got %#v, want %q in %q", data, got, value, out)
		}
		if !s.HasFrontmatter {
			t.Errorf("%q: no frontmatter in %q", data, out)
		}
		if old != nil && !bytes.Equal(old.Body, s.Body) {
			t.Errorf("the body changed from %q to %q", old.Body, s.Body)
		}
		again, err := skill.SetField(out, key, value)
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("setting it again gave %q, %v, want %q", again, err, out)
		}
	})
}

func FuzzFix(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "folder")
	}
	f.Fuzz(func(t *testing.T, data []byte, folder string) {
		out, fixed := skill.Fix(data, folder)
		if bytes.Equal(out, data) != (len(fixed) == 0) {
			t.Errorf("%q became %q with %v", data, out, fixed)
		}
		again, fixed2 := skill.Fix(out, folder)
		if !bytes.Equal(again, out) || len(fixed2) > 0 {
			t.Errorf("%q: a second Fix made %q of %q (%v)", data, again, out, fixed2)
		}
		old, _ := skill.Parse(data, folder)
		s, _ := skill.Parse(out, folder)
		if old == nil {
			return
		}
		if s.Name != old.Name || s.Description != old.Description || !reflect.DeepEqual(s.AllowedTools, old.AllowedTools) || !bytes.Equal(s.Body, old.Body) {
			t.Errorf("%q: got %+v, want the same as %+v", data, s, old)
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "folder")
	}
	f.Fuzz(func(t *testing.T, data []byte, folder string) {
		lines := countLines(data) + 1
		for _, p := range skill.Profiles() {
			ds, err := skill.Check(data, folder, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range ds {
				if d.Code == "" || d.Message == "" || d.Line < 0 || d.Line > lines {
					t.Errorf("%s: got %+v of %d lines", p, d, lines)
				}
			}
		}
	})
}
