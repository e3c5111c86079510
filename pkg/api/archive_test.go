package api_test

import (
	"archive/zip"
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
)

func archive(t *testing.T, files []api.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := api.WriteArchive(&b, files); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ZP-13: packing twice gives the same bytes, and one changed byte gives others.
func TestWriteArchiveIsDeterministic(t *testing.T) {
	files := []api.File{
		{Path: "scripts/run", Exec: true, Data: []byte("#!/bin/sh\n")},
		{Path: "SKILL.md", Data: []byte("---\nname: a\n---\n")},
		{Path: "empty"},
		{Path: "ü/名.txt", Data: []byte("x")},
	}
	first := archive(t, files)
	reversed := slices.Clone(files)
	slices.Reverse(reversed)
	if !bytes.Equal(first, archive(t, reversed)) {
		t.Error("another order gives another archive")
	}
	files[1].Data = []byte("---\nname: b\n---\n")
	if bytes.Equal(first, archive(t, files)) {
		t.Error("another content gives the same archive")
	}
}

func TestWriteArchiveKeepsBytesAndModes(t *testing.T) {
	data := archive(t, []api.File{{Path: "run", Exec: true, Data: []byte("a\r\nb")}, {Path: "empty"}})
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"run": "a\r\nb", "empty": ""}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err != nil || string(got) != want[f.Name] {
			t.Errorf("%s: got %q, %v", f.Name, got, err)
		}
		if exec := f.Mode()&0o111 != 0; exec != (f.Name == "run") {
			t.Errorf("%s: got mode %v", f.Name, f.Mode())
		}
	}
	if len(r.File) != 2 {
		t.Errorf("got %d entries, want 2", len(r.File))
	}
}
