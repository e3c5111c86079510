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
	var all []tools.Image
	for width := range 6 {
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, width+1, 2))); err != nil {
			t.Fatal(err)
		}
		all = append(all, tools.Image{MIME: "image/png", Data: picture.Bytes()})
	}
	r = e.Foreign(tools.Foreign{Name: "p", Pictures: all})
	if len(r.Images) != 3 || strings.Count(r.Content, "one too many") != 3 || !strings.Contains(r.Content, "p-2.png") {
		t.Fatalf("got %d pictures, %s", len(r.Images), r.Content)
	}
	for i, n := range []int{0, 2, 5} { // the first, one between, the last
		if !bytes.Equal(r.Images[i].Data, all[n].Data) {
			t.Errorf("picture %d is not number %d", i, n)
		}
	}
	r = e.Foreign(tools.Foreign{Name: "p", Pictures: []tools.Image{all[0], {MIME: "image/png", Data: []byte("no picture")}}})
	if len(r.Images) != 1 || strings.Count(r.Content, "Picture") != 2 {
		t.Errorf("got %d pictures, %s", len(r.Images), r.Content)
	}
}
