package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

func TestSearchFiles(t *testing.T) {
	s := newSpace(t)
	s.put("a.go", "package a\n\nfunc One() {}\nfunc Two() {}\n\n\n\nfunc Three() {}\n")
	s.put("sub/b.go", "package b\r\nfunc One() {}\r\n")
	s.put("sub/c.md", "# One\n")
	s.put("build/out.go", "func One() {}\n")
	s.put(".gitignore", "build/\n*.log\n")
	s.put("sub/.gitignore", "!keep.log\n")
	s.put("x.log", "One\n")
	s.put("sub/keep.log", "One\n")
	s.put(".git/One.go", "One\n")
	s.put("node_modules/One.go", "One\n")
	s.put("bin.dat", "One\x00\n")
	s.put("wide.txt", "\xFF\xFEO\x00n\x00e\x00W\x00")
	for _, tt := range []struct {
		name string
		args []any
		want string
	}{
		{"an expression", []any{"pattern", `func One\(`}, "a.go\n3: func One() {}\nsub/b.go\n2: func One() {}\n[2 matches in 2 files]"},
		{"plain text", []any{"pattern", `One()`, "literal", true, "path", "sub"}, "sub/b.go\n2: func One() {}\n[1 match in 1 file]"},
		{"any case", []any{"pattern", `ONE\b`, "ignore_case", true, "glob", "*.md"}, "sub/c.md\n1: # One\n[1 match in 1 file]"},
		{"at the end of a line", []any{"pattern", `\{\}$`, "glob", "sub/*.go"}, "sub/b.go\n2: func One() {}\n[1 match in 1 file]"},
		{"lines around", []any{"pattern", "func T", "path", "a.go", "context", 1},
			"a.go\n3- func One() {}\n4: func Two() {}\n5- \n--\n7- \n8: func Three() {}\n[2 matches in 1 file]"},
		{"lines around that meet", []any{"pattern", "func", "path", "a.go", "context", 2},
			"a.go\n1- package a\n2- \n3: func One() {}\n4: func Two() {}\n5- \n6- \n7- \n8: func Three() {}\n[3 matches in 1 file]"},
		{"what is ignored, by name", []any{"pattern", "One", "path", "build"}, "build/out.go\n1: func One() {}\n[1 match in 1 file]"},
		{"what is taken back", []any{"pattern", "One", "glob", "*.log"}, "sub/keep.log\n1: One\n[1 match in 1 file]"},
		{"UTF-16", []any{"pattern", "OneW"}, "wide.txt\n1: OneW\n[1 match in 1 file]"},
		{"nothing", []any{"pattern", "Eleven", "glob", "*.go"}, "[nothing found; 2 files looked at]"},
		{"names", []any{"glob", "**/*.{go,md}"}, "a.go\nsub/b.go\nsub/c.md\n[3 files]"},
		{"names below a folder", []any{"glob", "*.go", "path", "sub"}, "sub/b.go\n[1 file]"},
		{"a limit", []any{"pattern", "func", "limit", 2}, "a.go\n3: func One() {}\n4: func Two() {}\n[… 1 more in this file]\n[stopped after 2 matches in 1 file: narrow the search to see the rest]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := s.run("search_files", tt.args...); r.Content != tt.want {
				t.Errorf("got %q, want %q", r.Content, tt.want)
			}
		})
	}
	s.want(s.run("search_files"), "invalid", "give pattern")
	s.want(s.run("search_files", "pattern", "a(?=b)"), "invalid", "without look-around")
	s.want(s.run("search_files", "glob", "["), "invalid", "cannot be read")
	s.want(s.run("search_files", "pattern", "x", "path", "nowhere"), "not_found", "does not exist")
}

func TestSearchFilesIsBounded(t *testing.T) {
	s := newSpace(t, func(e *tools.Env) { e.Limits.Output, e.Limits.Read = 2000, 5000 })
	s.put("a.txt", strings.Repeat("match\n", 50))
	s.put("b.txt", strings.Repeat("x", 3000)+"match"+strings.Repeat("y", 1000)+"\n")
	s.put("c.txt", strings.Repeat("match\n", 1000))
	r := s.run("search_files", "pattern", "match")
	s.want(r, "", "20: match\n[… 30 more in this file]\nb.txt\n1: …xxx")
	s.want(r, "", "[21 matches in 2 files; 1 file not searched: larger than 5.0 kB, or not readable]")
	if len(r.Content) > 2000 {
		t.Errorf("got %d bytes", len(r.Content))
	}
	for i := range 100 {
		s.put(fmt.Sprintf("d/%d.txt", i), strings.Repeat("match ", 40)+"\n")
	}
	s.want(s.run("search_files", "pattern", "match", "path", "d"), "", "[stopped after ")
}

func TestSearchFilesMasksAndStaysInside(t *testing.T) {
	home := t.TempDir()
	s := newSpace(t, func(e *tools.Env) { e.Environ = []string{"HOME=" + home} })
	if err := os.WriteFile(filepath.Join(home, "notes.txt"), []byte("needle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.link(home, "linked")
	s.put("a.env", "needle="+key+"\n")
	s.put("key.pem", "-----BEGIN RSA PRIVATE KEY-----\nneedleneedle\n-----END RSA PRIVATE KEY-----\nneedle\n")
	r := s.run("search_files", "pattern", "needle")
	if want := "a.env\n1: needle=[secret]\nkey.pem\n2: [secret]\n4: needle\n[3 matches in 2 files]"; r.Content != want {
		t.Errorf("got %q, want %q", r.Content, want)
	}
	s.want(s.run("search_files", "pattern", "needle", "path", "linked"), tools.Denied, "")
	s.want(s.run("search_files", "path", "/usr/share/doc", "glob", "nothing-*"), "", "nothing found")
	if r := s.run("search_files", "pattern", "root:", "path", "/etc", "glob", "{passwd,shadow}"); strings.Contains(r.Content, "shadow") || !strings.Contains(r.Content, "passwd") {
		t.Errorf("got %q, want matches of passwd only", r.Content)
	}
}
