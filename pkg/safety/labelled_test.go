package safety_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/openspace-dev/openspace/pkg/safety"
)

// TestLabelled scans small skills whose verdict is known. Each is a txtar file
// in testdata/<verdict>; hosts and keys in them lead nowhere. What is in clean
// may be warned about only when its name says so.
func TestLabelled(t *testing.T) {
	for dir, want := range map[string]struct {
		verdict safety.Verdict
		atLeast int
	}{"block": {safety.Block, 179}, "warn": {safety.Warn, 62}, "clean": {safety.Allow, 72}} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(files) < want.atLeast {
			t.Fatalf("testdata/%s: got %d files (%v), want at least %d", dir, len(files), err, want.atLeast)
		}
		for _, file := range files {
			t.Run(dir+"/"+filepath.Base(file), func(t *testing.T) {
				report, err := safety.ScanDir(unpack(t, file), safety.DefaultPolicy())
				if err != nil {
					t.Fatal(err)
				}
				if report.Verdict != want.verdict {
					t.Errorf("got verdict %s, want %s", report.Verdict, want.verdict)
					for _, f := range report.Findings {
						t.Logf("  %s %s %s:%d:%d %s", f.Severity, f.Rule, f.Path, f.Line, f.Column, f.Excerpt)
					}
				}
			})
		}
	}
}

// unpack writes the files of a txtar archive into a new directory.
func unpack(t *testing.T, file string) string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
