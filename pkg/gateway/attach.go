package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inDir is where files that came with messages are kept, in the workspace, so that the agent can read them.
const inDir = "received"

// maxAttachments bounds the files of one message.
const maxAttachments = 20

var errTooLarge = errors.New("too large")

// keepAttachments fetches the files of a message. The notes tell of those that are not there. Its error says that the
// message is left to the next start.
func (g *Gateway) keepAttachments(ctx context.Context, s *session, it *item) (kept []Attachment, notes []string, err error) {
	paths, left := map[string]bool{}, g.config.Sessions.MaxSessionAttachmentBytes
	for i, a := range it.message.Attachments {
		name := fileName(a.Name, a.Kind)
		if i >= maxAttachments {
			notes = append(notes, fmt.Sprintf("the file %q was not taken: more than %d came at once", name, maxAttachments))
			continue
		}
		most := min(g.config.Sessions.MaxAttachmentBytes, left)
		got, err := g.keepAttachment(ctx, s, it, a, unused(paths, it.key[:8], name), most)
		switch {
		case errors.Is(err, errLeft):
			return nil, nil, err
		case errors.Is(err, errTooLarge):
			notes = append(notes, fmt.Sprintf("the file %q was not taken: %s", name, g.tooMuch(most)))
		case err != nil:
			g.log.Error("fetch attachment", "session", s.key, "message", it.message.ID, "error", g.mask(err.Error()))
			notes = append(notes, fmt.Sprintf("the file %q could not be fetched", name))
		default:
			got.Name = name
			kept, left = append(kept, got), left-got.Size
		}
	}
	return kept, notes, nil
}

// tooMuch says why a file that has more than so many bytes is not taken.
func (g *Gateway) tooMuch(most int64) string {
	if limits := g.config.Sessions; most < limits.MaxAttachmentBytes {
		return "with the others it is larger than " + size(limits.MaxSessionAttachmentBytes)
	}
	return "it is larger than " + size(most)
}

// unused is a name that no other file of the message has: pictures often have none of their own. Case tells none apart, as
// on some disks.
func unused(taken map[string]bool, prefix, name string) string {
	out := prefix + "-" + name
	for n := 2; taken[strings.ToLower(out)]; n++ {
		out = fmt.Sprintf("%s-%d-%s", prefix, n, name)
	}
	taken[strings.ToLower(out)] = true
	return out
}

// keepAttachment fetches one file, again when that fails for a reason that may pass.
func (g *Gateway) keepAttachment(ctx context.Context, s *session, it *item, a Attachment, name string, most int64) (Attachment, error) {
	if a.Size > most {
		return a, errTooLarge
	}
	root, err := os.OpenRoot(s.workspace)
	if err != nil {
		return a, err
	}
	defer root.Close()
	if err := root.MkdirAll(inDir, 0o700); err != nil {
		return a, err
	}
	path := filepath.Join(inDir, name)
	if a.Size, err = g.fetchAgain(ctx, root, it, a, path, most); err != nil {
		return a, errors.Join(err, remove(root, path))
	}
	a.Path = filepath.Join(s.workspace, path)
	return a, makeRoom(root, it.key[:8]+"-", g.config.Sessions.MaxSessionAttachmentBytes)
}

func remove(root *os.Root, path string) error {
	if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// fetchTries is how often a file is tried to be fetched, unless the platform refuses the key: then as long as an answer
// would be tried to be sent.
const fetchTries = 3

func (g *Gateway) fetchAgain(ctx context.Context, root *os.Root, it *item, a Attachment, path string, most int64) (n int64, err error) {
	for try := 0; ; try++ {
		n, err = g.fetch(ctx, root, it, a, path, most)
		refused := errors.Is(err, ErrFatal)
		switch {
		case err == nil, errors.Is(err, errTooLarge), errors.Is(err, ErrPermanent),
			!refused && try+1 >= fetchTries, refused && g.now().Sub(it.at) > giveUp:
			return n, err
		}
		g.log.Warn("fetch again", "session", it.session, "try", try+1, "error", g.mask(err.Error()))
		if left := g.wait(ctx, g.pauseAfter(err, try)); left != nil {
			return 0, left
		}
	}
}

func (g *Gateway) fetch(ctx context.Context, root *os.Root, it *item, a Attachment, path string, most int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	if err := remove(root, path); err != nil {
		return 0, err
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	w := &bounded{w: f, left: most}
	err = g.joined[it.account].Channel.Fetch(ctx, it.message, a, w)
	return most - w.left, errors.Join(err, f.Close())
}

// bounded is a writer that takes so many bytes.
type bounded struct {
	w    io.Writer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		return 0, errTooLarge
	}
	n, err := b.w.Write(p)
	b.left -= int64(n)
	return n, err
}

// makeRoom removes the oldest files that were received, until those of the session are within its limit. Those of one
// message, whose names begin alike, stay together.
func makeRoom(root *os.Root, newest string, most int64) error {
	entries, err := fs.ReadDir(root.FS(), inDir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	sum := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files, sum = append(files, info), sum+info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if sum <= most {
			return nil
		}
		if strings.HasPrefix(f.Name(), newest) {
			continue
		}
		if err := remove(root, filepath.Join(inDir, f.Name())); err != nil {
			return err
		}
		sum -= f.Size()
	}
	return nil
}

// fileName makes a name that somebody else chose into one that can stand in a folder: its last element,
// without what a terminal or a shell would take amiss, at most 100 bytes with its extension kept.
func fileName(name, kind string) string {
	name = strings.ReplaceAll(name, "\\", "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsSpace(r), strings.ContainsRune("<>:\"|?*`$'", r):
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimSpace(name), ".-")
	if name == "" {
		name = cmp.Or(kind, "file")
	}
	if ext := filepath.Ext(name); len(name) > 100 {
		if len(ext) > 20 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:100-len(ext)], "") + ext
	}
	return name
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
