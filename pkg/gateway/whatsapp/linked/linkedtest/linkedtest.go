// Package linkedtest plays a phone that is linked, and the people who write to it.
package linkedtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
)

// Self is whose phone it is.
var Self = linked.Self{ID: "4915550100@s.whatsapp.net", LID: "77001@lid"}

// Phone is the phone. Its zero value is linked, and shows nothing yet.
type Phone struct {
	gatewaytest.Board

	Unlinked bool

	mu    sync.Mutex
	n     int
	host  *linked.Handler
	said  map[string]linked.Message
	files map[string][]byte
	acked map[string]bool
	gone  map[string]bool
	signs int
}

// Self is the account.
func (p *Phone) Self() (linked.Self, bool, error) { return Self, !p.Unlinked, nil }

// Run delivers until ctx ends.
func (p *Phone) Run(ctx context.Context, h linked.Handler) error {
	p.set(&h)
	h.State(true, "connected")
	<-ctx.Done()
	p.set(nil)
	return nil
}

func (p *Phone) set(h *linked.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.host = h
}

var errUnlinked = gateway.Fatal("the phone is not linked any more")

// Send shows a message, unless it is to fail.
func (p *Phone) Send(ctx context.Context, out linked.Outgoing) error {
	shown := gatewaytest.Shown{Chat: out.Chat, ID: out.ID, Text: out.Text, Name: out.Name}
	if out.Path != "" {
		data, err := os.ReadFile(out.Path)
		if err != nil {
			return gateway.Permanent("%w", err)
		}
		shown.Data = data
	}
	if p.KeyRefused() {
		return errUnlinked
	}
	var fail error
	w := httptest.NewRecorder()
	lost, done := p.Failing(w, httptest.NewRequest("POST", "/", nil).WithContext(ctx), func() { fail = gateway.Later(time.Second, errors.New("429")) }, func() { fail = gateway.Permanent("403") })
	switch {
	case fail != nil:
		return fail
	case done:
		return errors.New("no answer")
	}
	p.mu.Lock()
	if q := out.Answers; q != nil && !p.gone[q.ID] {
		shown.ReplyTo = q.ID
	}
	p.mu.Unlock()
	p.Show(shown)
	if lost {
		return errors.New("the answer is lost")
	}
	return nil
}

// Fetch writes a file that was said.
func (p *Phone) Fetch(_ context.Context, key string, _ int64, w io.Writer) error {
	if p.KeyRefused() {
		return errUnlinked
	}
	p.mu.Lock()
	data, ok := p.files[key]
	p.mu.Unlock()
	if !ok {
		return gateway.Permanent("there is no file %q", key)
	}
	_, err := io.Copy(w, bytes.NewReader(data))
	return err
}

// Typing counts.
func (p *Phone) Typing(_ context.Context, _ string, on bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		p.signs++
	}
	return nil
}

// Signs counts how often we said that we type.
func (p *Phone) Signs() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.signs
}

// Forget removes a message: an answer to it shows none any more.
func (p *Phone) Forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone = map[string]bool{}
	}
	p.gone[id] = true
}

// Acknowledged reports whether a message was taken.
func (p *Phone) Acknowledged(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.acked[id]
}

// Break says that the connection is lost, and there again.
func (p *Phone) Break() {
	p.mu.Lock()
	h := p.host
	p.mu.Unlock()
	h.State(false, "lost")
	h.State(true, "connected")
}

// Someone is somebody under a number and a hidden id.
func Someone(name string) linked.Party {
	n := 0
	for _, c := range name {
		n = n*31 + int(c)
	}
	return linked.Party{ID: strconv.Itoa(88_000_000+n) + "@lid", Alt: strconv.Itoa(49_000_000+n) + "@s.whatsapp.net", Name: name}
}

// Say makes a message and delivers it.
func (p *Phone) Say(say gatewaytest.Saying) string {
	p.mu.Lock()
	p.n++
	m := linked.Message{ID: fmt.Sprintf("AC%d", p.n), Time: time.Now(), From: Someone(say.Me), Chat: Someone(say.Chat), Text: say.Text, FromMe: say.Own}
	if say.Others {
		robin := Someone("Robin")
		m.Text, m.Mentions = "@"+robin.ID[:len(robin.ID)-len("@lid")]+" "+m.Text, append(m.Mentions, robin)
	}
	if say.Mention {
		m.Text, m.Mentions = "@77001 "+m.Text, append(m.Mentions, linked.Party{ID: Self.LID})
	}
	if say.Group {
		m.Group, m.Chat = true, linked.Party{ID: "1203630" + say.Chat + "@g.us"}
	}
	if say.ReplyTo != "" {
		m.Answers = &linked.Quote{ID: say.ReplyTo, From: m.Chat.ID}
	}
	if say.File != nil {
		key := fmt.Sprintf("file-%d", p.n)
		if p.files == nil {
			p.files = map[string][]byte{}
		}
		p.files[key] = say.File.Data
		m.File = &linked.File{Kind: "file", Key: key, Name: say.File.Name, MIME: say.File.MIME, Size: int64(len(say.File.Data))}
	}
	if p.said == nil {
		p.said = map[string]linked.Message{}
	}
	p.said[m.ID] = m
	p.mu.Unlock()
	p.Again(m.ID)
	return m.ID
}

// Again delivers a message once more.
func (p *Phone) Again(id string) {
	p.mu.Lock()
	m := p.said[id]
	p.mu.Unlock()
	p.Deliver(m)
}

// Deliver delivers a message.
func (p *Phone) Deliver(m linked.Message) {
	p.mu.Lock()
	h := p.host
	p.mu.Unlock()
	if h == nil || h.Take(context.Background(), m) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.acked == nil {
		p.acked = map[string]bool{}
	}
	p.acked[m.ID] = true
}

// Edit delivers the new text of a message.
func (p *Phone) Edit(id, text string) {
	p.mu.Lock()
	m := p.said[id]
	p.mu.Unlock()
	m.Text, m.Edited = text, true
	p.Deliver(m)
}
