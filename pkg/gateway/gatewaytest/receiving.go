package gatewaytest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

func receiving() []test {
	return []test{
		{"direct message", direct},
		{"acknowledged after it was taken", acknowledged},
		{"delivered again", again},
		{"edit", edit},
		{"group", group},
		{"reply", reply},
		{"own message", own},
		{"neither text nor file", kinds},
		{"attachment", attachment},
		{"long message", long},
		{"reconnect", reconnect},
	}
}

func direct(t *testing.T, r *running) {
	r.start()
	before := time.Now().Add(-time.Hour)
	m := r.next(Saying{Chat: "c1", Me: "u1", Text: "hello <b> & @all"})
	if m.ID == "" || m.Chat.ID == "" || m.Chat.Type != gateway.Direct || m.From.ID == "" {
		t.Errorf("got %+v, want ids and a direct chat", m)
	}
	if m.Text != "hello <b> & @all" {
		t.Errorf("got text %q", m.Text)
	}
	if m.Time.Before(before) || m.Time.After(time.Now().Add(time.Hour)) || m.Edited || m.Mentioned {
		t.Errorf("got time %v, edited %v, mentioned %v", m.Time, m.Edited, m.Mentioned)
	}
	other := r.next(Saying{Chat: "c1", Me: "u1", Text: "more"})
	if other.Chat != m.Chat || other.From.ID != m.From.ID || other.ID == m.ID {
		t.Errorf("got %+v after %+v, want the same chat and person and another message", other, m)
	}
	if stranger := r.next(Saying{Chat: "c2", Me: "u2", Text: "x"}); stranger.Chat.ID == m.Chat.ID || stranger.From.ID == m.From.ID {
		t.Errorf("got %+v, want another chat and person", stranger)
	}
}

// acknowledged: what Take refused is not acknowledged, and is taken when it comes again.
func acknowledged(t *testing.T, r *running) {
	r.start()
	r.mu.Lock()
	r.refuse = 1
	r.mu.Unlock()
	id := r.Platform.Say(Saying{Chat: "c1", Me: "u1", Text: "first"})
	r.until("Take was called", func() bool { return r.refuse == 0 })
	if r.Platform.Acknowledged(id) {
		t.Error("a message that was not taken is acknowledged")
	}
	if !r.Redelivers {
		return
	}
	r.Platform.Again(id)
	r.until("it is taken when it comes again", func() bool { return len(r.taken) > 0 })
	for start := time.Now(); !r.Platform.Acknowledged(id); time.Sleep(time.Millisecond) {
		if time.Since(start) > Patience {
			t.Fatal("a message that was taken is not acknowledged")
		}
	}
}

// after says one thing more and waits for it: what was delivered before has arrived then.
func (r *running) after() {
	r.t.Helper()
	r.Platform.Say(Saying{Chat: "c1", Me: "u1", Text: "after"})
	r.until("the message after it arrives", func() bool { return len(r.taken) > 0 && r.taken[len(r.taken)-1].Text == "after" })
}

// again: a duplicate has the id of the original.
func again(t *testing.T, r *running) {
	r.start()
	m := r.next(Saying{Chat: "c1", Me: "u1", Text: "once"})
	if !r.Redelivers {
		return
	}
	r.Platform.Again(m.ID)
	r.after()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, got := range r.taken {
		if (got.ID == m.ID) != (got.Text == "once") {
			t.Errorf("got %+v, want duplicates with the id %q only", got, m.ID)
		}
	}
}

// edit: an edit is marked and has the id of the original, or is not delivered at all.
func edit(t *testing.T, r *running) {
	r.start()
	m := r.next(Saying{Chat: "c1", Me: "u1", Text: "once"})
	r.Platform.Edit(m.ID, "twice")
	r.after()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, got := range r.taken[1:] {
		if got.Text != "after" && !(got.ID == m.ID && got.Edited && got.Text == "twice") {
			t.Errorf("got %+v of an edit of %q", got, m.ID)
		}
	}
}

// group: CG-05 needs to know who is mentioned; our own name is not part of the text.
func group(t *testing.T, r *running) {
	if r.NoGroups {
		t.Skip("the platform has no groups")
	}
	r.start()
	plain := r.next(Saying{Chat: "g1", Group: true, Me: "u1", Text: "to nobody"})
	if plain.Chat.Type != gateway.Group || plain.Mentioned || plain.Text != "to nobody" {
		t.Errorf("got %+v, want a group and no mention", plain)
	}
	m := r.next(Saying{Chat: "g1", Group: true, Me: "u1", Text: "do it", Mention: true})
	if !m.Mentioned || m.Text != "do it" {
		t.Errorf("got mentioned %v, text %q, want true, %q", m.Mentioned, m.Text, "do it")
	}
	if other := r.next(Saying{Chat: "g1", Group: true, Me: "u1", Text: "you do it", Others: true}); other.Mentioned || !strings.Contains(other.Text, "Robin") || !strings.HasSuffix(other.Text, "you do it") {
		t.Errorf("got mentioned %v, text %q, want false and the name of whom is mentioned", other.Mentioned, other.Text)
	}
	both := r.next(Saying{Chat: "g1", Group: true, Me: "u2", Text: "both", Mention: true, Others: true})
	if !both.Mentioned || !strings.Contains(both.Text, "Robin") || both.Chat.ID != m.Chat.ID || both.From.ID == m.From.ID {
		t.Errorf("got %+v, want a mention by another person in the same group", both)
	}
}

func reply(t *testing.T, r *running) {
	r.start()
	first := r.next(Saying{Chat: "c1", Me: "u1", Text: "first"})
	if m := r.next(Saying{Chat: "c1", Me: "u1", Text: "second", ReplyTo: first.ID}); m.ReplyTo != first.ID || first.ReplyTo != "" {
		t.Errorf("got reply to %q and %q, want %q and none", m.ReplyTo, first.ReplyTo, first.ID)
	}
}

// own: CG-07, echoes of what we wrote do not come back to us.
func own(t *testing.T, r *running) {
	r.start()
	r.Platform.Say(Saying{Chat: "c1", Me: "u1", Text: "echo", Own: true})
	r.after()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.taken) != 1 || r.taken[0].Text != "after" {
		t.Errorf("got %+v, want one message that is not ours", r.taken)
	}
}

// kinds: what is neither text nor file has a text that says the same, or an empty one; what nobody wrote is no message.
func kinds(t *testing.T, r *running) {
	if len(r.Kinds) == 0 {
		t.Skip("there is nothing else")
	}
	r.start()
	for i, kind := range r.Kinds {
		before := r.count()
		r.Platform.Say(Saying{Chat: "c1", Me: "u1", Kind: kind})
		end := fmt.Sprint("after ", i)
		r.Platform.Say(Saying{Chat: "c1", Me: "u1", Text: end})
		r.until("the message after it arrives", func() bool { return len(r.taken) > 0 && r.taken[len(r.taken)-1].Text == end })
		r.mu.Lock()
		got := r.taken[before : len(r.taken)-1]
		r.mu.Unlock()
		want := map[Kind][]string{Place: {"48.137154, 11.576124", "Marienplatz"}, Contact: {"Ann Lee", "+491701234567"}, Poll: {"Lunch?", "- Pizza", "- Salad"}}[kind]
		switch {
		case kind == Service && len(got) > 0:
			t.Errorf("%s: got %+v, want nothing", kind, got)
		case kind != Service && len(got) != 1:
			t.Errorf("%s: got %+v, want one message", kind, got)
		case kind == Odd && !gateway.Blank(got[0].Text):
			t.Errorf("%s: got text %q, want none", kind, got[0].Text)
		}
		for _, w := range want {
			if len(got) == 1 && !strings.Contains(got[0].Text, w) {
				t.Errorf("%s: got text %q without %q", kind, got[0].Text, w)
			}
		}
	}
}

var errFull = errors.New("full")

type full struct{ n int }

func (f *full) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func attachment(t *testing.T, r *running) {
	r.start()
	data := bytes.Repeat([]byte("0123456789abcdef"), 16<<10)
	m := r.next(Saying{Chat: "c1", Me: "u1", File: &Upload{Name: "notes ü.txt", MIME: "text/plain", Data: data}})
	if len(m.Attachments) != 1 || m.Attachments[0].Name != "notes ü.txt" || m.Attachments[0].Kind != "file" {
		t.Fatalf("got %+v, want one file with its name", m.Attachments)
	}
	var b bytes.Buffer
	if err := r.Channel.Fetch(r.soon(), m, m.Attachments[0], &b); err != nil || !bytes.Equal(b.Bytes(), data) {
		t.Errorf("got %d bytes, %v, want the %d bytes that were sent", b.Len(), err, len(data))
	}
	if err := r.Channel.Fetch(r.soon(), m, m.Attachments[0], &full{1000}); !errors.Is(err, errFull) {
		t.Errorf("got %v of a writer that is full, want its error", err)
	}
	lost := m.Attachments[0]
	lost.Key += "x"
	if err := r.Channel.Fetch(r.soon(), m, lost, &b); err == nil {
		t.Error("got no error for an attachment that is not there")
	}
}

func long(t *testing.T, r *running) {
	r.start()
	n := r.LongestSaying
	if n == 0 {
		n = 100_000
	}
	text := strings.Repeat("long words. ", n/12)
	if m := r.next(Saying{Chat: "c1", Me: "u1", Text: text + "end"}); m.Text != text+"end" {
		t.Errorf("got %d bytes, want %d", len(m.Text), len(text)+3)
	}
}

func reconnect(t *testing.T, r *running) {
	r.start()
	r.next(Saying{Chat: "c1", Me: "u1", Text: "before"})
	r.Platform.Break()
	if m := r.next(Saying{Chat: "c1", Me: "u1", Text: "after"}); m.Text != "after" {
		t.Errorf("got %+v", m)
	}
	r.until("the channel is up again", func() bool { return r.states[len(r.states)-1] })
}
