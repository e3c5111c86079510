//go:build unix

package tools_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe without a writer does not keep a tool waiting.
func TestPipesAreNotRead(t *testing.T) {
	s := newSpace(t)
	if err := syscall.Mkfifo(filepath.Join(s.dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	s.want(s.run("read_file", "path", "pipe"), "invalid", "is not a regular file")
	s.want(s.run("write_file", "path", "pipe", "content", "x"), "invalid", "is not a regular file")
	s.want(s.run("list_dir"), "", "pipe  (p---------)")
	s.want(s.run("search_files", "pattern", "x"), "", "nothing found")
	s.want(s.run("search_files", "pattern", "x", "path", "pipe"), "", "1 file not searched")
}
