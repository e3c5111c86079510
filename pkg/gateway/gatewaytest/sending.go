package gatewaytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

func sending() []test {
	return []test{
		{"text", text},
		{"mentions", mentions},
		{"long answer", longAnswer},
		{"file", file},
		{"sent again", sentAgain},
		{"rate limit", rateLimit},
		{"refused", refused},
		{"key refused", keyRefused},
		{"server fault", fault},
		{"stuck", stuck},
		{"message that is gone", gone},
		{"sign of work", working},
		{"edited progress", progress},
	}
}

// answer returns an answer to something that was just said.
func (r *running) answer(text string) gateway.Out {
	r.t.Helper()
	m := r.next(Saying{Chat: "c1", Me: "u1", Text: "a question"})
	return gateway.Out{Chat: m.Chat, ReplyTo: m.ID, Text: text, Key: "key-1"}
}

func (r *running) send(out gateway.Out) Shown {
	r.t.Helper()
	id, err := r.Channel.Send(r.soon(), out)
	if err != nil {
		r.t.Fatalf("send: %v", err)
	}
	shown := r.Platform.Shown()
	if len(shown) == 0 || shown[len(shown)-1].ID != id {
		r.t.Fatalf("got id %q and shown %+v, want it to be the last", id, shown)
	}
	return shown[len(shown)-1]
}

func text(t *testing.T, r *running) {
	r.start()
	out := r.answer("An *answer* with `code` & <tags>, 中文, 🙂.\n\n- one\n- two\n")
	s := r.send(out)
	if s.ReplyTo != out.ReplyTo && !r.NoReplies || s.Chat == "" {
		t.Errorf("got %+v, want an answer to %q", s, out.ReplyTo)
	}
	for _, want := range []string{"answer", "code", "中文, 🙂", "one", "two", "tags"} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("got %q without %q", s.Text, want)
		}
	}
	if s := r.send(gateway.Out{Chat: out.Chat, Text: "by itself", Key: "key-2"}); s.ReplyTo != "" || !strings.Contains(s.Text, "by itself") {
		t.Errorf("got %+v, want a message that answers none", s)
	}
}

// mentions: what a model writes calls nobody.
func mentions(t *testing.T, r *running) {
	r.start()
	out := r.answer("")
	for i, text := range []string{
		"@all @everyone @here @channel", `<at user_id="all"></at> <at id=all></at> <AT user_id='ou_1'>x</AT>`, "@robin and @u1, (@robin)", "<!channel> <!here> <@U1> <!subteam^S1>",
		"[Robin](tg://user?id=1) <a href=\"tg://user?id=1\">x</a>", "@491701234567", "`<at user_id=\"all\"></at>`\n```\n@all <!here> <at id=all></at>\n```",
	} {
		out.Text, out.Key = text, fmt.Sprintf("mention-%d", i)
		if s := r.send(out); len(s.Mentions) > 0 {
			t.Errorf("%q calls %q as %q", text, s.Mentions, s.Text)
		}
	}
}

// longAnswer: CG-04, every part of a long answer is taken.
func longAnswer(t *testing.T, r *running) {
	r.start()
	out := r.answer("")
	text := strings.Repeat("A sentence with <some> & \"marks\" *of* `all` kinds.\n", 1000) + "```go\n" + strings.Repeat("func f() { /* <code> */ }\n", 1000) + "```\n" + strings.Repeat("单词", 4500)
	parts := gateway.Split(text, r.Channel.Limits())
	if len(parts) < 2 {
		t.Fatalf("got %d parts", len(parts))
	}
	for i, part := range parts {
		out.Text, out.Key = part, fmt.Sprintf("part-%d", i)
		r.send(out)
	}
	if got := len(r.Platform.Shown()); got != len(parts) {
		t.Errorf("got %d messages, want %d", got, len(parts))
	}
}

func file(t *testing.T, r *running) {
	if r.Channel.Limits().File == 0 {
		t.Skip("the platform takes no files")
	}
	r.start()
	out := r.answer("")
	for _, name := range []string{"report ü.pdf", "picture.png"} {
		data := bytes.Repeat([]byte(name), 1000)
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		mime := "application/pdf"
		if strings.HasSuffix(name, ".png") {
			mime = "image/png"
		}
		out.File, out.Key = &gateway.File{Name: name, MIME: mime, Path: path, Size: int64(len(data))}, "file-"+mime[:5]
		if s := r.send(out); !bytes.Equal(s.Data, data) || s.Name != name && mime != "image/png" {
			t.Errorf("got %d bytes as %q, want %d as %q", len(s.Data), s.Name, len(data), name)
		}
	}
	out.File = &gateway.File{Name: "gone", Path: filepath.Join(t.TempDir(), "gone"), Size: 1}
	if _, err := r.Channel.Send(r.soon(), out); !errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("got %v for a file that is gone, want ErrPermanent", err)
	}
}

// sentAgain: where the platform knows keys, a message whose answer was lost is shown once.
func sentAgain(t *testing.T, r *running) {
	r.start()
	out := r.answer("once")
	r.Platform.Fail(1, Lost)
	if _, err := r.Channel.Send(r.soon(), out); err == nil || errors.Is(err, gateway.ErrPermanent) {
		t.Fatalf("got %v of a lost answer, want an error after which it is tried again", err)
	}
	if _, err := r.Channel.Send(r.soon(), out); err != nil {
		t.Fatal(err)
	}
	want := 1
	if r.Channel.Limits().Keys == 0 {
		want = 2
	}
	if got := len(r.Platform.Shown()); got != want {
		t.Errorf("got it shown %d times, want %d", got, want)
	}
}

func rateLimit(t *testing.T, r *running) {
	r.start()
	out := r.answer("later")
	r.Platform.Fail(1, Limited)
	_, err := r.Channel.Send(r.soon(), out)
	var later *gateway.LaterError
	if !errors.As(err, &later) || later.After <= 0 || later.After > time.Minute {
		t.Errorf("got %v, want a LaterError of about a second", err)
	}
	r.send(out)
}

func refused(t *testing.T, r *running) {
	r.start()
	out := r.answer("never")
	r.Platform.Fail(1, Refused)
	if _, err := r.Channel.Send(r.soon(), out); !errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("got %v, want ErrPermanent", err)
	}
}

// keyRefused: what is sent, or fetched, with a key that the platform refuses is not lost: the error says that it is to
// wait for a good one, and with that the same channel goes on.
func keyRefused(t *testing.T, r *running) {
	if r.NoKey {
		t.Skip("there is no key")
	}
	r.start()
	out := r.answer("with a good key")
	m := r.next(Saying{Chat: "c1", Me: "u1", File: &Upload{Name: "a.txt", MIME: "text/plain", Data: []byte("content")}})
	r.stop()
	r.Platform.Fail(1, KeyRefused)
	if _, err := r.Channel.Send(r.soon(), out); !errors.Is(err, gateway.ErrFatal) || errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("send: got %v, want ErrFatal and not ErrPermanent", err)
	}
	var b bytes.Buffer
	if err := r.Channel.Fetch(r.soon(), m, m.Attachments[0], &b); !errors.Is(err, gateway.ErrFatal) || errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("fetch: got %v, want ErrFatal and not ErrPermanent", err)
	}
	if shown := r.Platform.Shown(); len(shown) > 0 {
		t.Errorf("got %+v with a key that is refused", shown)
	}
	r.Platform.Fail(0, KeyRefused)
	r.send(out)
	if err := r.Channel.Fetch(r.soon(), m, m.Attachments[0], &b); err != nil || b.String() != "content" {
		t.Errorf("got %q, %v with a good key", b.String(), err)
	}
}

func fault(t *testing.T, r *running) {
	r.start()
	out := r.answer("soon")
	r.Platform.Fail(1, Broken)
	if _, err := r.Channel.Send(r.soon(), out); err == nil || errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("got %v, want an error after which it is tried again", err)
	}
	r.send(out)
}

// stuck: a send that gets no answer ends with its context.
func stuck(t *testing.T, r *running) {
	r.start()
	out := r.answer("soon")
	r.Platform.Fail(1, Stuck)
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if _, err := r.Channel.Send(ctx, out); err == nil || errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("got %v, want an error after which it is tried again", err)
	}
	r.Platform.Fail(0, Stuck) // on a busy machine the time may have ended before the platform was asked
	r.next(Saying{Chat: "c1", Me: "u1", Text: "still here?"})
	r.send(out)
}

func gone(t *testing.T, r *running) {
	r.start()
	out := r.answer("to nothing")
	r.Platform.Forget(out.ReplyTo)
	if s := r.send(out); s.ReplyTo != "" || s.Chat == "" {
		t.Errorf("got %+v, want a message that answers none", s)
	}
}

func working(t *testing.T, r *running) {
	r.start()
	m := r.next(Saying{Chat: "c1", Me: "u1", Text: "work"})
	before := r.Platform.Signs()
	if err := r.Channel.Working(r.soon(), m, true); err != nil {
		t.Errorf("show: %v", err)
	}
	if got := r.Platform.Signs(); got != before+1 {
		t.Errorf("got %d signs, want %d", got, before+1)
	}
	if err := r.Channel.Working(r.soon(), m, false); err != nil {
		t.Errorf("end: %v", err)
	}
}

func progress(t *testing.T, r *running) {
	e, ok := r.Channel.(gateway.Editor)
	if !ok {
		t.Skip("the platform cannot change messages")
	}
	r.start()
	out := r.answer("one minute")
	s := r.send(out)
	if err := e.Edit(r.soon(), out.Chat, s.ID, "two minutes"); err != nil {
		t.Fatal(err)
	}
	shown := r.Platform.Shown()
	if len(shown) != 1 || !strings.Contains(shown[0].Text, "two minutes") {
		t.Errorf("got %+v, want the new text in its place", shown)
	}
}
