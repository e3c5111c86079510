package safety_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/safety"
)

// FuzzScan checks that no text makes the scan fail, that places lie in the text
// and that a second scan says the same.
func FuzzScan(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) < 100 {
		f.Fatalf("got %d files (%v), want at least 100", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("SKILL.md", data)
		f.Add("x.py", data)
	}
	f.Add("x.json", []byte("\xff\xfea\x00\n\x00"))
	f.Add("", []byte("``\"'\x00<!--[](http://\xf3\xa0\x80"))
	f.Fuzz(func(t *testing.T, path string, data []byte) {
		texts := []safety.Text{{Path: path, Data: data}}
		r := safety.Scan(texts, safety.DefaultPolicy())
		lines := 1 + bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r"))
		for _, found := range r.Findings {
			if found.Line < 0 || found.Line > lines || found.Line > 0 && found.Column < 1 || found.Column > len(data)+1 {
				t.Errorf("%s at %d:%d, want a place within %d lines", found.Rule, found.Line, found.Column, lines)
			}
			if !utf8.ValidString(found.Excerpt) || found.Severity == "" || found.Flag == "" {
				t.Errorf("got finding %+v", found)
			}
		}
		if again := safety.Scan(texts, safety.DefaultPolicy()); again.Verdict != r.Verdict || len(again.Findings) != len(r.Findings) {
			t.Errorf("got %+v the second time, want %+v", again, r)
		}
	})
}

// FuzzParsePolicy checks that what is read can be written and read again.
func FuzzParsePolicy(f *testing.F) {
	for _, spec := range []string{"", "block", "strict;allow=low", "block=critical,high;warn=pipe-to-shell;combine=off", "=;=", "warn=exfiltration,"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := safety.ParsePolicy(spec)
		if err != nil {
			return
		}
		again, err := safety.ParsePolicy(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q: %q reads back as %q (%v)", spec, p, again, err)
		}
	})
}
