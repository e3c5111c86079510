package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// Limits of texts in bytes. Of what is longer than maxText the line keeps the beginning and the end, a file
// the whole.
const (
	maxText        = 64 << 10
	keepHead       = 48 << 10
	keepTail       = 12 << 10
	maxResult      = 4 << 10
	maxCommand     = 2 << 10
	maxDescription = 200
	maxInstruction = 500 // beside the tools; the metadata has all of it
)

// messages returns copies of messages as they are written: masked, shortened, with what is long or no text in
// files.
func (r *Recording) messages(in []Message) ([]Message, error) {
	out := make([]Message, len(in))
	var problems error
	for i, m := range in {
		var err error
		if m.Content, m.ContentFile, err = r.text(r.mask(m.Content)); err != nil {
			problems = errors.Join(problems, err)
		}
		m.ToolCalls, err = r.calls(m.ToolCalls)
		problems = errors.Join(problems, err)
		m.Images, err = r.images(m.Images)
		problems = errors.Join(problems, err)
		out[i] = m
	}
	return out, problems
}

// brief returns copies of messages that are masked and shortened and for which no file is made.
func (r *Recording) brief(in []Message) []Message {
	out := make([]Message, len(in))
	for i, m := range in {
		m.Content, m.Images = shorten(r.mask(m.Content), maxText), nil
		m.ToolCalls = append([]ToolCall(nil), m.ToolCalls...)
		for j := range m.ToolCalls {
			c := &m.ToolCalls[j]
			c.Type, c.Problem = "function", r.mask(c.Problem)
			c.Function.Arguments = shorten(r.maskArguments(c.Function.Arguments), maxText)
		}
		out[i] = m
	}
	return out
}

func (r *Recording) calls(in []ToolCall) (out []ToolCall, problems error) {
	for _, c := range in {
		c.Type, c.Problem = "function", r.mask(c.Problem)
		var err error
		c.Function.Arguments, _, err = r.text(r.maskArguments(c.Function.Arguments))
		problems = errors.Join(problems, err)
		out = append(out, c)
	}
	return out, problems
}

// maskArguments masks the texts inside of arguments, where a secret may be written with escapes, and the
// whole when they are no JSON.
func (r *Recording) maskArguments(args string) string {
	found := false
	raw, err := maskJSON([]byte(args), func(s string) string {
		masked := r.mask(s)
		found = found || masked != s
		return masked
	})
	switch {
	case err != nil:
		return r.mask(args)
	case found:
		return string(raw)
	}
	return args // to the letter
}

func (r *Recording) images(in []Image) (out []Image, problems error) {
	for _, img := range in {
		name, err := r.file(img.Data, extension(img.MIME))
		problems = errors.Join(problems, err)
		out = append(out, Image{MIME: img.MIME, File: name})
	}
	return out, problems
}

func extension(mime string) string {
	switch mime {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	return ".bin"
}

// text returns a text as a line has it, and the file with all of it when that is more.
func (r *Recording) text(s string) (short, file string, err error) {
	if len(s) <= maxText {
		return s, "", nil
	}
	file, err = r.file([]byte(s), ".txt")
	where := "is in " + file
	if err != nil {
		where = "could not be saved"
	}
	head, tail := Ends(s, keepHead, keepTail)
	return fmt.Sprintf("%s\n[… %d bytes left out; the whole text %s …]\n%s", head, len(s)-len(head)-len(tail), where, tail), file, err
}

// file saves data as a file of the recording and returns its path in the folder. The lock is held.
func (r *Recording) file(data []byte, ext string) (string, error) {
	if r.closed {
		return "", errClosed
	}
	dir, err := r.FilesDir()
	if err != nil {
		return "", err
	}
	r.files++
	name := fmt.Sprintf("message-%06d%s", r.files, ext)
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	return FilesDir + "/" + name, nil
}

// parameters returns the arguments of a call as a step has them: masked, and with long texts inside shortened.
func (r *Recording) parameters(raw json.RawMessage) (json.RawMessage, error) {
	out, err := maskJSON(raw, func(s string) string { return shorten(r.mask(s), maxResult) })
	if err != nil {
		return jsonl.Marshal(shorten(r.mask(string(raw)), maxResult))
	}
	return out, nil
}

// maskJSON applies mask to every text of a JSON value, keys among them. Numbers stay as they are written.
func maskJSON(raw []byte, mask func(string) string) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return jsonl.Marshal(maskValue(v, mask))
}

func maskValue(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = maskValue(v[i], mask)
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[mask(key)] = maskValue(value, mask)
		}
		return out
	}
	return v
}

// shorten keeps the beginning and the end of a text that is longer than limit.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := Ends(s, limit*3/4, limit/4)
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(s)-len(head)-len(tail), tail)
}

// Ends returns about the first and the last bytes of a longer text, without cutting characters.
func Ends(s string, first, last int) (head, tail string) {
	for first > 0 && !utf8.RuneStart(s[first]) {
		first--
	}
	from := len(s) - last
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[:first], s[from:]
}

// cutText keeps the beginning of a text.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, _ := Ends(s, limit, 0)
	return strings.TrimRight(head, " \n") + "…"
}
