package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// What the gateway itself says.
const (
	textTooOld  = "I was away for a while and have not read the messages that came meanwhile. Please write again what still matters."
	textEmpty   = "I can read text and files only."
	textFull    = "Too many messages wait here already: I have not taken the last ones. Please write again when the others are answered, or use `/stop`."
	textNew     = "A new conversation begins. Files in the workspace stay."
	textGivenUp = "I could not finish this: each time something ended me in the middle of it. I will not try again."
	textNothing = "Done, without anything to say about it."
)

const (
	maxParts = 8         // of a text; a longer one is sent as a file
	mostEver = 40        // parts, where no file can be sent
	maxSent  = 5         // files that are sent with an answer
	freely   = 3         // so many files are sent when the answer names none
	outDir   = "outbox"  // in a session's folder: files on their way
	maxRest  = 256 << 10 // of an answer that is kept in the ledger and the transcript
)

// Masker returns a function that takes secrets out of a text.
func Masker(secrets []string) func(string) string {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < 6 })
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, "[secret]")
	}
	return strings.NewReplacer(pairs...).Replace
}

// texts are the parts of a text of our own.
func (g *Gateway) texts(it *item, text string) (parts []part) {
	for _, t := range Split(g.mask(text), g.joined[it.account].Channel.Limits()) {
		parts = append(parts, part{Text: t})
	}
	return parts
}

// compose makes the answer of a result: the parts that are sent, and the text as it is remembered.
func (g *Gateway) compose(s *session, it *item, res wire.Result, notes []string) ([]part, string) {
	text := answerText(g.maskResult(res))
	for _, n := range notes {
		text += "\n\n_" + n + "_"
	}
	limits := g.joined[it.account].Channel.Limits()
	parts := g.texts(it, text)
	if len(parts) > maxParts && limits.File > 0 {
		whole, err := g.keepText(s, it, text)
		if err != nil {
			g.log.Error("keep answer as a file", "session", s.key, "error", err)
		} else {
			parts = append(parts[:1:1], part{Text: "… The whole answer is in the file."}, part{File: whole})
		}
	}
	if len(parts) > mostEver {
		parts = append(parts[:mostEver:mostEver], part{Text: "… The rest of the answer is too long for a chat."})
	}
	files, left := g.chooseFiles(s, it, res, limits.File)
	for _, f := range files {
		parts = append(parts, part{File: f})
	}
	if len(left) > 0 {
		parts = append(parts, part{Text: "More files: " + strings.Join(left, ", ") + ". `/files NAME` sends one."})
	}
	if len(text) > maxRest {
		text = strings.ToValidUTF8(text[:maxRest], "") + "…"
	}
	return parts, text
}

// maskResult takes secrets out of the words of a result, before any of them are cut.
func (g *Gateway) maskResult(res wire.Result) wire.Result {
	res.Response, res.Warning = g.mask(res.Response), g.mask(res.Warning)
	if res.Error != nil {
		e := *res.Error
		e.Message, res.Error = g.mask(e.Message), &e
	}
	return res
}

// answerText is the answer in words.
func answerText(res wire.Result) string {
	text := strings.TrimSpace(res.Response)
	switch {
	case res.Status == "error" && res.Error != nil:
		return strings.TrimSpace(text + "\n\n" + troubleText(res.Error))
	case res.Status == "incomplete" && res.Warning != "":
		return strings.TrimSpace(text + "\n\n_This is not finished: " + oneLine(res.Warning, 300) + "_")
	case res.Status == "canceled":
		return strings.TrimSpace(text + "\n\n" + troubleText(&wire.Error{Code: wire.Canceled}))
	case text == "":
		return textNothing
	}
	return text
}

// troubleText says what went wrong, for people who cannot do anything about the inside of the program.
func troubleText(e *wire.Error) string {
	switch e.Code {
	case wire.Auth:
		return "I could not do this: the model does not accept the key. Whoever runs me has to see to it."
	case wire.RateLimited:
		return "I could not do this: the model is asked too much at the moment. Please try again later."
	case wire.Network:
		return "I could not do this: the model cannot be reached. Please try again later."
	case wire.Internal:
		return "I could not do this: something went wrong inside. Whoever runs me finds it in the log."
	case wire.Canceled:
		return "I could not finish this in the time that I have."
	}
	return "I could not do this: " + oneLine(address.ReplaceAllString(e.Message, "…"), 300)
}

// address is what is nobody's business in a chat.
var address = regexp.MustCompile(`https?://[^\s",;]+`)

// chooseFiles copies files that the task made to where they are sent from: those that the answer names, or
// all when they are few. left names the others.
func (g *Gateway) chooseFiles(s *session, it *item, res wire.Result, largest int64) (files []*File, left []string) {
	if largest == 0 {
		return nil, nil
	}
	chosen, others := s.made(res)
	for i, rel := range chosen {
		f, err := g.keepFile(s, fmt.Sprintf("%s-%d", it.key, i), rel, largest)
		if err != nil {
			g.log.Warn("file is not sent", "session", s.key, "error", err)
			others = append(others, rel)
			continue
		}
		files = append(files, f)
	}
	for _, rel := range others[:min(len(others), 10)] {
		left = append(left, "`"+strings.ReplaceAll(rel, "`", "'")+"`")
	}
	if n := len(others) - len(left); n > 0 {
		left = append(left, fmt.Sprintf("and %d more", n))
	}
	return files, left
}

// made returns the files that a task made in the workspace: those to send, and the others.
func (s *session) made(res wire.Result) (chosen, others []string) {
	for _, f := range res.Files {
		rel, err := within(s.workspace, f.Path)
		switch {
		case err != nil || f.Change == "removed" || strings.HasPrefix(rel, inDir+string(filepath.Separator)) || hidden(rel):
		case strings.Contains(res.Response, filepath.Base(rel)):
			chosen = append(chosen, rel)
		default:
			others = append(others, rel)
		}
	}
	if len(chosen) == 0 && len(others) <= freely {
		return others, nil
	}
	if len(chosen) > maxSent {
		others = append(chosen[maxSent:len(chosen):len(chosen)], others...)
		chosen = chosen[:maxSent]
	}
	return chosen, others
}

// within returns a path as seen from the workspace.
func within(workspace, path string) (string, error) {
	for _, root := range []string{workspace, real(workspace)} {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", fmt.Errorf("%q is not in the workspace", path)
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

func hidden(rel string) bool {
	return slices.ContainsFunc(strings.Split(rel, string(filepath.Separator)), func(name string) bool { return strings.HasPrefix(name, ".") })
}

// keepFile copies a file of the workspace aside. No link leads out of the workspace.
func (g *Gateway) keepFile(s *session, name, rel string, largest int64) (*File, error) {
	root, err := os.OpenRoot(s.workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no regular file", rel)
	case info.Size() == 0:
		return nil, fmt.Errorf("%q is empty", rel)
	case info.Size() > largest:
		return nil, fmt.Errorf("%q has %d bytes, the platform takes %d", rel, info.Size(), largest)
	}
	in, err := root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return s.put(name, filepath.Base(rel), io.LimitReader(in, largest))
}

// keepText makes a file of an answer that is too long for a chat.
func (g *Gateway) keepText(s *session, it *item, text string) (*File, error) {
	return s.put(it.key+"-t", "answer.md", strings.NewReader(text))
}

// put writes a file that is to be sent.
func (s *session) put(name, shown string, content io.Reader) (*File, error) {
	dir := filepath.Join(s.dir, outDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, content)
	head := make([]byte, 512)
	size, _ := f.ReadAt(head, 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	kind := mime.TypeByExtension(filepath.Ext(shown))
	if kind == "" {
		kind = http.DetectContentType(head[:size])
	}
	kind, _, _ = strings.Cut(kind, ";")
	return &File{Name: shown, MIME: kind, Path: path, Size: n}, nil
}
