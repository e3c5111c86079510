package tools_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

// What is too long is kept as a whole, without secrets and colours; a few pictures are shown, the others are told.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	e := &tools.Env{Workspace: t.TempDir(), OutputDir: dir, Mask: tools.NewMask("hunter2hunter2"), Vision: true, Limits: tools.Limits{Output: 200}}
	defer e.Close()
	r := e.Foreign(tools.Foreign{Name: "a/b", Text: "\x1b[31mhunter2hunter2\x1b[0m " + strings.Repeat("x", 1000) + " end"})
	data, err := os.ReadFile(r.FullPath)
	if err != nil || filepath.Base(r.FullPath) != "a_b-1.txt" || !strings.HasPrefix(string(data), "[secret] xxx") || !strings.HasSuffix(string(data), "x end") {
		t.Errorf("got %q, %v in %q", data, err, r.FullPath)
	}
	if len(r.Content) > 400 || !strings.Contains(r.Content, r.FullPath) || !strings.Contains(r.Content, " end") || r.LeftOut < 800 {
		t.Errorf("got %q, %d left out", r.Content, r.LeftOut)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	var all []tools.Image
	for range 6 {
		all = append(all, tools.Image{MIME: "image/png", Data: picture.Bytes()})
	}
	r = e.Foreign(tools.Foreign{Name: "p", Pictures: append(all[:5:5], tools.Image{MIME: "image/png", Data: []byte("no picture")})})
	if len(r.Images) != 4 || strings.Count(r.Content, "one too many") != 2 || !strings.Contains(r.Content, "p-2.png") {
		t.Errorf("got %d pictures, %s", len(r.Images), r.Content)
	}
}
