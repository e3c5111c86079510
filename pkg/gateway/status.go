package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// stop ends the turn of a chat and drops what waits: messages that are not begun, and answers that are not sent. What
// it dropped is on disk as closed before it says so.
func (g *Gateway) stop(it *item) error {
	running, dropped, answers := g.cancelAll(it.session)
	var ends []entry
	for _, w := range dropped {
		if <-w.stored; !w.lost {
			ends = append(ends, entry{Kind: closed, Key: w.key, Status: "dropped"})
		}
	}
	for _, a := range answers {
		ends = append(ends, entry{Kind: closed, Key: a.key, Status: "dropped"})
		g.removeCopies(a)
	}
	if err := g.ledger.record(ends...); err != nil {
		return err
	}
	text := "Nothing is running here."
	if running {
		text = "Stopped."
	}
	if n := len(dropped); n > 0 {
		text += fmt.Sprintf(" Messages that waited and are dropped: %d.", n)
	}
	if n := len(answers); n > 0 {
		text += fmt.Sprintf(" Answers that were not sent yet and are dropped: %d.", n)
	}
	return g.reply(it, text)
}

// cancelAll ends what a chat has, and returns the messages of its queue and the answers that are not sent.
func (g *Gateway) cancelAll(session string) (running bool, dropped []*waiting, answers []*item) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.chats[session]; c != nil {
		for _, w := range c.queue {
			if w.answered {
				answers = append(answers, w.item)
			} else {
				dropped = append(dropped, w)
			}
		}
		c.queue = nil
		if running = c.turn != nil; running {
			c.turn.cancel(errStopped)
		}
	}
	for _, o := range g.sending[session] {
		if o.waits() && o.ctx.Err() == nil {
			o.cancel(errDropped)
			answers = append(answers, o.item)
		}
	}
	return running, dropped, answers
}

// statusText says what a chat has.
func (g *Gateway) statusText(session string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	c := g.chats[session]
	if c == nil || c.turn == nil {
		fmt.Fprintf(&b, "Nothing is running here. Tasks in all chats: %d, at once at most %d.", g.busy(), cap(g.slots))
	} else {
		fmt.Fprintf(&b, "Running for %s", g.since(c.turn.since))
		if c.turn.steps > 0 {
			fmt.Fprintf(&b, ", %s, the last one with `%s`", steps(c.turn.steps), c.turn.doing)
		}
		b.WriteString(".")
	}
	if c != nil && len(c.queue) > 0 {
		fmt.Fprintf(&b, " Messages that wait here: %d.", len(c.queue))
	}
	b.WriteString(g.stuckText(session, 0))
	return b.String()
}

// stuckText tells of answers that could not be sent for longer than some time; "": there is none. The caller holds g.mu.
func (g *Gateway) stuckText(session string, longer time.Duration) string {
	var b strings.Builder
	for _, o := range g.sending[session] {
		if o.why != nil && !o.sent && g.now().Sub(o.since) >= longer {
			fmt.Fprintf(&b, "\n\n- The answer to %s cannot be sent, for %s now: %s. I try again; `/stop` drops it.", named(o.message), g.since(o.since), whyText(o.why))
		}
	}
	return b.String()
}

const (
	stuckAfter = time.Minute      // an answer is stuck
	stuckEvery = 10 * time.Minute // a chat is told so
)

// tellStuck tells who writes where an answer is stuck why there is silence, if the platform takes that.
func (g *Gateway) tellStuck(it *item) {
	g.mu.Lock()
	text := g.stuckText(it.session, stuckAfter)
	g.mu.Unlock()
	if text == "" || g.noticed(it.session+" stuck", stuckEvery) {
		return
	}
	j := g.joined[it.account]
	out := Out{Chat: it.message.Chat, ReplyTo: it.message.ID, Text: g.texts(it, "Your message waits for its turn."+text)[0].Text, Key: it.key + "-w"}
	g.workers.Go(func() {
		g.call(g.ctx, func(ctx context.Context) error { _, err := j.Channel.Send(ctx, out); return err })
	})
}

// busy counts the tasks that run. The caller holds g.mu.
func (g *Gateway) busy() (n int) {
	for _, c := range g.chats {
		if c.turn != nil {
			n++
		}
	}
	return n
}

// unsent counts the answers that cannot be sent at the moment. The caller holds g.mu.
func (g *Gateway) unsent() (n int) {
	for _, all := range g.sending {
		for _, o := range all {
			if o.why != nil && !o.sent {
				n++
			}
		}
	}
	return n
}

func (g *Gateway) since(t time.Time) time.Duration { return g.now().Sub(t).Round(time.Second) }

// named is a message in a few words.
func named(m Message) string {
	text := oneLine(m.Text, 40)
	if text == "" {
		return "a file"
	}
	return "“" + text + "”"
}

// whyText says why an answer is not sent, for people who cannot do anything about the inside of the program.
func whyText(err error) string {
	var later *LaterError
	switch {
	case errors.Is(err, ErrFatal):
		return "the platform does not accept my key"
	case errors.As(err, &later):
		return "the platform takes so many messages only at a time"
	}
	return "the platform cannot be reached, or has a fault"
}
