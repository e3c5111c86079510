package tools

import (
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxForeign  = 64 << 20 // bytes of one foreign result that are saved
	maxPictures = 3        // of one foreign result that are shown
)

// Foreign is what a tool that is not ours gave.
type Foreign struct {
	Name     string // of the tool: files for what is too long are named after it
	Text     string
	Pictures []Image
}

// Foreign makes a result of what a tool that is not ours gave: text is cleaned, masked, bounded, and kept as a whole in a
// file when it is too long; pictures are shown as those of files are.
func (e *Env) Foreign(f Foreign) Result {
	e.ready()
	text := e.Mask.Text(string(clean([]byte(f.Text), false)))
	r := Result{}
	var left int
	if r.Content, left = middle(text, e.Limits.Output); left > 0 {
		r.LeftOut = int64(left)
		path, err := e.saveForeign(f.Name, ".txt", []byte(text[:min(len(text), maxForeign)]))
		switch {
		case err != nil:
			r.Content += fmt.Sprintf("\n[the whole could not be kept: %v]", err)
		case path != "":
			r.FullPath = path
			r.Content += fmt.Sprintf("\n[all %d characters are in %s]", len(text), path)
		}
	}
	for i, p := range f.Pictures {
		e.addPicture(&r, f.Name, i, p, isShown(i, len(f.Pictures)))
	}
	return r
}

// isShown chooses of many pictures the first, the last and one between them.
func isShown(i, n int) bool { return n <= maxPictures || i == 0 || i == (n-1)/2 || i == n-1 }

// addPicture adds a picture, or says that there is one.
func (e *Env) addPicture(r *Result, name string, i int, p Image, show bool) {
	about := fmt.Sprintf("Picture %d: %s, %s", i+1, oneLine(p.MIME), size(int64(len(p.Data))))
	if ends, err := mime.ExtensionsByType(p.MIME); err == nil && len(ends) > 0 && strings.HasPrefix(p.MIME, "image/") {
		if path, err := e.saveForeign(name, ends[0], p.Data); err == nil && path != "" {
			about += ", in " + path
		}
	}
	shown := Result{Content: about + ". It is one too many to be shown."}
	if show {
		shown = e.picture(about, p.MIME, p.Data)
	}
	r.Content = strings.TrimLeft(r.Content+"\n"+shown.Content, "\n")
	r.Images = append(r.Images, shown.Images...)
}

// saveForeign writes a file beside the other long outputs; it has no path when these are not kept.
func (e *Env) saveForeign(name, end string, data []byte) (string, error) {
	if e.OutputDir == "" {
		return "", nil
	}
	if err := os.MkdirAll(e.OutputDir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(e.OutputDir, fmt.Sprintf("%.80s-%d%s", plainFile(name), e.foreign.Add(1), end))
	return path, os.WriteFile(path, data, 0o600)
}

// plainFile makes of a name one that a file can have.
func plainFile(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
