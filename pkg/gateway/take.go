package gateway

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// What a message may have; the rest is cut, and the task is told. With every byte escaped it still fits into
// a line of the ledger.
const (
	maxText  = 512 << 10
	maxFiles = 100
)

// chat is a session with something to do.
type chat struct {
	queue []*waiting
	turn  *turn
}

// waiting is an item in its place in the queue, which it has before it is on disk.
type waiting struct {
	*item
	stored chan struct{}
	lost   bool // it could not be stored: the platform will deliver it again
}

// take is Host.Take of a channel.
func (g *Gateway) take(_ context.Context, j *joined, m Message) error {
	m = g.trim(m)
	if handled := g.pairs(j, m); handled {
		return nil
	}
	key := sessionKey(j.account, m.Chat)
	toUs := func() bool { return g.isOurs(key, m.ReplyTo) }
	if !j.Access.lets(m.From, g.pairedWith(j)) || !j.Access.accepts(m, toUs) || empty(m) && m.Chat.Type == Group {
		j.count(&j.ignored)
		g.log.Debug("ignored", "channel", j.account.String(), "message", m.ID)
		return nil
	}
	it := &item{key: keyOf(j.account, m), account: j.account.String(), session: key, message: m, at: g.now()}
	if m.Edited {
		return g.edit(it)
	}
	if !g.ledger.claim(it.key) {
		return nil
	}
	err := g.receive(it)
	g.ledger.settle(it.key, err)
	if err != nil {
		g.log.Error("not taken", "message", m.ID, "error", err)
		return err
	}
	j.count(&j.received)
	return nil
}

// trim makes a message fit for the disk and for a task: without secrets of ours, and not larger than allowed.
func (g *Gateway) trim(m Message) Message {
	m.Text, m.ReplyToText = g.mask(m.Text), g.mask(m.ReplyToText)
	if len(m.Text) > maxText {
		m.Text = strings.ToValidUTF8(m.Text[:maxText], "") + "\n(the rest of this message was too long)"
	}
	m.Attachments = slices.Clone(m.Attachments[:min(len(m.Attachments), maxFiles)])
	for i := range m.Attachments {
		m.Attachments[i].Name = g.mask(m.Attachments[i].Name)
	}
	if m.Time.IsZero() {
		m.Time = g.now()
	}
	return m
}

// empty: a sticker, a card that nobody can read. Channels leave out what nobody wrote to us, such as "Ann joined".
func empty(m Message) bool { return Blank(m.Text) && len(m.Attachments) == 0 }

// receive puts a message on disk and on its way.
func (g *Gateway) receive(it *item) error {
	switch {
	case g.now().Sub(it.message.Time) > seconds(g.config.Sessions.MaxAgeSeconds):
		return g.refuse(it, textTooOld, oldEvery)
	case empty(it.message):
		return g.refuse(it, textEmpty, noticeEvery)
	}
	if c := commandOf(it.message.Text); c != "" && c != "/new" {
		return g.command(it, c)
	}
	w := &waiting{item: it, stored: make(chan struct{})}
	if !g.enqueue(w) {
		return g.refuse(it, textFull, noticeEvery)
	}
	err := g.ledger.record(it.entry(received))
	w.lost = err != nil
	close(w.stored)
	if err == nil {
		g.tellStuck(it)
	}
	return err
}

// entry is a line about an item with its message.
func (it *item) entry(kind string) entry {
	return entry{Kind: kind, Key: it.key, Account: it.account, Session: it.session, Message: &it.message}
}

// enqueue gives an item its place; false: the queue is full.
func (g *Gateway) enqueue(w *waiting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.chats[w.session]
	if c != nil && len(c.queue) >= g.config.Sessions.PerSessionQueueSize {
		return false
	}
	if c == nil {
		c = &chat{}
		g.chats[w.session] = c
		g.workers.Add(1)
		go g.work(w.session, c)
	}
	c.queue = append(c.queue, w)
	return true
}

// How often a chat gets the same notice: a flood of messages must not become a flood of answers.
const (
	noticeEvery = 30 * time.Second
	oldEvery    = time.Hour
)

// refuse answers by a notice, or, when there was the same one just now, not at all.
func (g *Gateway) refuse(it *item, text string, every time.Duration) error {
	if g.noticed(it.session+" "+text, every) {
		return g.ledger.record(it.entry(received), entry{Kind: closed, Key: it.key, Status: "refused"})
	}
	return g.reply(it, text)
}

// noticed reports whether there was such a notice just now, and remembers this one.
func (g *Gateway) noticed(name string, every time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if now.Before(g.notices[name]) {
		return true
	}
	if len(g.notices) > 1000 {
		maps.DeleteFunc(g.notices, func(_ string, until time.Time) bool { return now.After(until) })
	}
	g.notices[name] = now.Add(every)
	return false
}

// reply answers at once, beside the queue.
func (g *Gateway) reply(it *item, text string) error {
	it.answered, it.found, it.status, it.parts = true, g.now(), "notice", g.texts(it, text)
	e := entry{Kind: answered, Key: it.key, Parts: it.parts, Status: it.status}
	if err := g.ledger.record(it.entry(received), e); err != nil {
		return err
	}
	g.finishBeside(it)
	return nil
}

// finishBeside sends a notice while the chat goes on: it waits for nothing that is stuck there.
func (g *Gateway) finishBeside(it *item) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.beginSend(it)
	g.workers.Go(func() { g.finish(o) })
}

// edit changes a message that nobody has begun to work on. After that an edit means nothing.
func (g *Gateway) edit(it *item) error {
	old := g.queued(it)
	if old == nil {
		return nil
	}
	<-old.stored // until then its first text is being written
	g.mu.Lock()
	if c := g.chats[it.session]; old.lost || c == nil || !slices.Contains(c.queue, old) {
		g.mu.Unlock()
		return nil
	}
	if commandOf(old.message.Text) != "" || commandOf(it.message.Text) != "" || Blank(it.message.Text) && len(old.message.Attachments) == 0 {
		g.mu.Unlock()
		return nil
	}
	old.message.Text = it.message.Text
	changed := old.item.entry(edited)
	m := old.message
	changed.Message = &m
	g.mu.Unlock()
	return g.ledger.record(changed)
}

// queued returns a message in its place in the queue; nil: it has none, or none any more.
func (g *Gateway) queued(it *item) *waiting {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.chats[it.session]
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.queue, func(w *waiting) bool { return w.key == it.key })
	if i < 0 {
		return nil
	}
	return c.queue[i]
}

// isOurs reports whether a message in a session was sent by us.
func (g *Gateway) isOurs(key, id string) bool {
	lines, err := (&session{dir: g.sessionDir(key)}).lines()
	if err != nil {
		g.log.Error("read transcript", "session", key, "error", err)
	}
	l, ok := said(lines, id)
	return ok && l.Role == "assistant" && !l.Unsent
}

// resume goes on with what an earlier process has left.
func (g *Gateway) resume(open []*item) {
	stored := make(chan struct{})
	close(stored)
	for _, it := range open {
		if g.joined[it.account] == nil {
			g.log.Warn("a message waits for a channel that is not enabled", "account", it.account)
			continue
		}
		if it.answered && it.status == "notice" {
			g.finishBeside(it)
			continue
		}
		g.mu.Lock()
		c := g.chats[it.session]
		if c == nil {
			c = &chat{}
			g.chats[it.session] = c
			g.workers.Add(1)
			defer func() { go g.work(it.session, c) }()
		}
		c.queue = append(c.queue, &waiting{item: it, stored: stored})
		g.mu.Unlock()
	}
	if len(open) > 0 {
		g.log.Info("going on with what was left", "messages", len(open))
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
