package gateway_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// makes returns a task that writes files and says something.
func makes(says string, files map[string]string) func(context.Context, wire.Task) (wire.Result, error) {
	return func(_ context.Context, t wire.Task) (wire.Result, error) {
		res := wire.Result{Status: "success", Response: says}
		for name, content := range files {
			path := filepath.Join(t.WorkspaceDir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return res, err
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				return res, err
			}
			res.Files = append(res.Files, wire.FileChange{Path: path, Change: "created"})
		}
		slices.SortFunc(res.Files, func(a, b wire.FileChange) int { return strings.Compare(a.Path, b.Path) })
		return res, nil
	}
}

func TestFilesOut(t *testing.T) {
	many := map[string]string{}
	for i := range 7 {
		many[fmt.Sprintf("f%d.txt", i)] = "x"
	}
	for _, tt := range []struct {
		name, says string
		files      map[string]string
		want       []string
	}{
		{"few", "done", map[string]string{"a.txt": "a", "sub/b.txt": "b"}, []string{"done", "file a.txt", "file b.txt"}},
		{"named only", "see a.txt", map[string]string{"a.txt": "a", "b.txt": "b"}, []string{"see a.txt", "file a.txt", "More files: `b.txt`. `/files NAME` sends one."}},
		{"many", "done", many, []string{"done", "More files: `f0.txt`, `f1.txt`, `f2.txt`, `f3.txt`, `f4.txt`, `f5.txt`, `f6.txt`. `/files NAME` sends one."}},
		{"many named", "f0.txt f1.txt f2.txt f3.txt f4.txt f5.txt f6.txt", many,
			[]string{"f0.txt f1.txt f2.txt f3.txt f4.txt f5.txt f6.txt", "file f0.txt", "file f1.txt", "file f2.txt", "file f3.txt", "file f4.txt", "More files: `f5.txt`, `f6.txt`. `/files NAME` sends one."}},
		{"empty, hidden and too large", "done", map[string]string{"empty": "", ".hidden": "x", ".git/x": "x", "large": strings.Repeat("x", 1001)}, []string{"done", "More files: `empty`, `large`. `/files NAME` sends one."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.runner.do = makes(tt.says, tt.files)
			f.start()
			f.say(message("m1", "go"))
			if got := f.shows(len(tt.want)); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			f.until("the copies are gone", func() bool {
				left, _ := filepath.Glob(filepath.Join(f.options.Config.DataDir, "sessions", "*", "outbox", "*"))
				return len(left) == 0
			})
		})
	}
}

// A file that cannot be sent is told of, and the rest goes on. No link leads out of the workspace.
func TestFilesThatCannotBeSent(t *testing.T) {
	f := newFixture(t)
	secret := filepath.Join(f.dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.runner.do = func(ctx context.Context, task wire.Task) (wire.Result, error) {
		res, err := makes("a.txt and link", map[string]string{"a.txt": "a"})(ctx, task)
		link := filepath.Join(task.WorkspaceDir, "link")
		if err := os.Symlink(secret, link); err != nil {
			return res, err
		}
		res.Files = append(res.Files, wire.FileChange{Path: link, Change: "created"}, wire.FileChange{Path: secret, Change: "changed"})
		return res, err
	}
	f.ch.fail = func(out gateway.Out) error {
		if out.File != nil {
			return gateway.Permanent("refused")
		}
		return nil
	}
	f.start()
	f.say(message("m1", "go"))
	want := []string{"a.txt and link", "(the file `a.txt` could not be sent)", "More files: `link`. `/files NAME` sends one."}
	if got := f.shows(3); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	f.ch.mu.Lock()
	f.ch.fail = nil
	f.ch.mu.Unlock()
	f.say(message("m2", "/files link"))
	f.say(message("m3", "/files a.txt"))
	f.until("the file", func() bool { return slices.Contains(f.ch.texts(), "file a.txt") })
	if slices.Contains(f.ch.files, "secret") {
		t.Error("a file outside of the workspace was sent")
	}
}

func TestLongAnswerBecomesFile(t *testing.T) {
	f := newFixture(t)
	text := strings.TrimSpace(strings.Repeat("many words ", 300))
	f.ch.limits.File = 1 << 20
	f.runner.do = makes(text, nil)
	f.start()
	f.say(message("m1", "go"))
	got := f.shows(3)
	if len(got) != 3 || got[2] != "file answer.md" || f.ch.files[2] != text {
		t.Errorf("got %q", got)
	}
}

func TestAttachments(t *testing.T) {
	f := newFixture(t)
	f.options.Config.Sessions.MaxAttachmentBytes, f.options.Config.Sessions.MaxSessionAttachmentBytes = 10, 15
	f.ch.data = map[string]string{"k1": "0123456789", "k2": "0123456789A", "k3": "abcdefghij"}
	f.start()
	m := message("m1", "")
	m.Attachments = []gateway.Attachment{
		{Kind: "file", Key: "k1", Name: "../../etc/pass wd\x1b.txt"}, {Kind: "file", Key: "k2", Name: "large.bin"}, {Kind: "image", Key: "gone", Name: ""},
	}
	f.say(m)
	f.shows(2) // the answer, and what was not taken
	task := f.runner.ran()[0]
	want := "Look at the attached files and say what is in them.\n(the file \"large.bin\" was not taken: with the others it is larger than 15 bytes)\n(the file \"image\" could not be fetched)"
	if task.Task != want {
		t.Errorf("got task %q, want %q", task.Task, want)
	}
	a := task.Channel.Attachments
	if len(a) != 1 || a[0].Name != "pass_wd.txt" || filepath.Dir(a[0].Path) != filepath.Join(f.workspace(), "received") {
		t.Fatalf("got attachments %+v", a)
	}
	if data, err := os.ReadFile(a[0].Path); err != nil || string(data) != "0123456789" {
		t.Errorf("got %q, %v", data, err)
	}
	m = message("m2", "more")
	m.Attachments = []gateway.Attachment{{Kind: "file", Key: "k3", Name: "new"}}
	f.say(m)
	f.shows(3)
	left, _ := os.ReadDir(filepath.Join(f.workspace(), "received"))
	if len(left) != 1 || !strings.HasSuffix(left[0].Name(), "-new") {
		t.Errorf("got %v, want the newest file alone", left)
	}
	// a link in the place of the folder leads nowhere
	outside := filepath.Join(f.dir, "outside")
	os.RemoveAll(filepath.Join(f.workspace(), "received"))
	if err := errors2(os.Mkdir(outside, 0o700), os.Symlink(outside, filepath.Join(f.workspace(), "received"))); err != nil {
		t.Fatal(err)
	}
	m.ID = "m3"
	f.say(m)
	f.shows(4)
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("got %v outside of the workspace", left)
	}
}

// Files of one message that are called alike are all there, and none takes the place of another.
func TestAttachmentsCalledAlike(t *testing.T) {
	f := newFixture(t)
	f.options.Config.Sessions.MaxAttachmentBytes, f.options.Config.Sessions.MaxSessionAttachmentBytes = 10, 15
	f.ch.data = map[string]string{"old": "old files", "k1": "one", "k2": "second", "k3": "third.", "k4": "4", "k5": "0123456789A"}
	f.start()
	m := message("m1", "")
	m.Attachments = []gateway.Attachment{{Kind: "file", Key: "old", Name: "image"}}
	f.say(m)
	f.shows(1)
	m = message("m2", "")
	for _, key := range []string{"k1", "k2", "k3", "k4", "k5"} {
		m.Attachments = append(m.Attachments, gateway.Attachment{Kind: "image", Key: key, Name: map[string]string{"k4": "2-Image"}[key]})
	}
	f.say(m)
	f.until("the second task", func() bool { return len(f.runner.ran()) == 2 })
	var got []string
	task := f.runner.ran()[1]
	for _, a := range task.Channel.Attachments {
		data, err := os.ReadFile(a.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(data))
	}
	if want := []string{"one", "second", "third."}; !slices.Equal(got, want) || !strings.Contains(task.Task, `"2-Image" was not taken: with the others it is larger than 15 bytes`) {
		t.Errorf("got %q with the task %q, want %q", got, task.Task, want)
	}
}

func errors2(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
