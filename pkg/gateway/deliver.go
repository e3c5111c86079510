package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	callTime   = 30 * time.Second // for one request to a platform
	uploadTime = 5 * time.Minute  // for one with a file
	giveUp     = 24 * time.Hour   // how long an answer is tried to be sent
	leastTry   = 10 * time.Minute // how long at least after a start, however old the answer is
)

// outgoing is an answer on its way to the platform. Its tries are guarded by Gateway.mu.
type outgoing struct {
	*item
	ctx    context.Context // ends with the gateway, and when nobody wants the answer any more
	cancel context.CancelCauseFunc
	begun  time.Time

	since time.Time // when it was tried first without success
	why   error     // of the last try; nil: it goes well
	sent  bool      // all of it, or there is nothing to send
}

var (
	errDropped = errors.New("dropped in the chat") // ends an answer that nobody wants any more
	errLeft    = errors.New("left to the next start")
)

// beginSend begins to send an answer: from here on the chat can see and drop it. The caller holds g.mu.
func (g *Gateway) beginSend(it *item) *outgoing {
	o := &outgoing{item: it, begun: g.now(), sent: len(it.ids) == len(it.parts)}
	o.ctx, o.cancel = context.WithCancelCause(g.ctx)
	g.sending[it.session] = append(g.sending[it.session], o)
	return o
}

// endSend ends what beginSend began.
func (g *Gateway) endSend(o *outgoing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o.cancel(nil)
	left := slices.DeleteFunc(g.sending[o.session], func(other *outgoing) bool { return other == o })
	if g.sending[o.session] = left; len(left) == 0 {
		delete(g.sending, o.session)
	}
}

// waits reports whether an answer can be dropped: one of a task that is not all sent, or a notice that cannot be
// sent at the moment. The caller holds g.mu.
func (o *outgoing) waits() bool { return !o.sent && (o.why != nil || o.status != "notice") }

// finish sends what is not sent yet of an answer, writes it into the transcript, and closes the message. When
// the gateway stops, it goes on after the next start.
func (g *Gateway) finish(o *outgoing) {
	defer g.endSend(o)
	it, status := o.item, o.status
	err := g.deliver(o)
	if errors.Is(err, errDropped) {
		err, status = nil, "dropped"
	}
	if err == nil {
		err = g.retry(g.ctx, func() error {
			if err := g.remember(it); err != nil {
				return err
			}
			return g.ledger.record(entry{Kind: closed, Key: it.key, Status: status})
		})
	}
	if err != nil {
		g.log.Info("an answer is left to the next start", "session", it.session, "message", it.message.ID, "why", g.mask(err.Error()))
		return
	}
	g.removeCopies(it)
}

// removeCopies removes the copies of files that were made to be sent.
func (g *Gateway) removeCopies(it *item) {
	kept := filepath.Join(g.sessionDir(it.session), outDir) + string(filepath.Separator)
	for _, p := range it.parts {
		if p.File != nil && strings.HasPrefix(p.File.Path, kept) {
			os.Remove(p.File.Path)
		}
	}
}

// remember writes an answer into the transcript.
func (g *Gateway) remember(it *item) error {
	if it.status == "notice" || it.status == "canceled" {
		return nil
	}
	s := &session{key: it.session, dir: g.sessionDir(it.session)}
	l := line{EntryID: it.key + "-assistant", Role: "assistant", Content: it.response, TaskID: it.taskID, Status: it.status, Timestamp: stamp(g.now())}
	l.MessageIDs = slices.DeleteFunc(slices.Clone(it.ids), func(id string) bool { return id == "" })
	l.Unsent = len(l.MessageIDs) == 0
	return s.append(l)
}

// retry tries until it works or ctx ends: a disk that is full is not so for ever.
func (g *Gateway) retry(ctx context.Context, do func() error) error {
	for try := 0; ; try++ {
		err := do()
		if err == nil {
			return nil
		}
		g.log.Error("try again", "error", g.mask(err.Error()))
		if !g.pause(ctx, try) {
			return err
		}
	}
}

func (g *Gateway) sessionDir(key string) string {
	return filepath.Join(g.config.DataDir, "sessions", key)
}

// deliver sends the parts that are not sent yet, in order. Its error says that it is to be gone on with later, or
// never.
func (g *Gateway) deliver(o *outgoing) error {
	j := g.joined[o.account]
	for i := len(o.ids); i < len(o.parts); i++ {
		if i > 0 {
			sleep(o.ctx, j.Channel.Limits().Pause)
		}
		if o.ctx.Err() != nil {
			return context.Cause(o.ctx)
		}
		id, err := g.sendPart(j, o, i)
		switch {
		case errors.Is(err, errLeft), err != nil && o.ctx.Err() != nil:
			return err
		case err != nil:
			j.count(&j.failed)
			g.log.Error("part cannot be sent", "session", o.session, "part", i, "error", g.mask(err.Error()))
		default:
			j.count(&j.sent)
		}
		o.ids = append(o.ids, id)
		g.tried(o, nil, len(o.ids) == len(o.parts))
		line := entry{Kind: sent, Key: o.key, Part: i, PartID: id, Undone: id == ""}
		if err := g.retry(g.ctx, func() error { return g.ledger.record(line) }); err != nil {
			return err
		}
	}
	return nil
}

// tried notes how a try to send went.
func (g *Gateway) tried(o *outgoing, err error, all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.why == nil {
		o.since = g.now()
	}
	o.why, o.sent = err, all
}

// sendPart sends one part, again and again until it is sent, can never be sent, or is too late. A file that
// cannot be sent is told of by a text. A key that is refused is no reason to give up: it is mended one day.
func (g *Gateway) sendPart(j *joined, o *outgoing, i int) (string, error) {
	p := o.parts[i]
	out := Out{Chat: o.message.Chat, Text: p.Text, File: p.File, Key: fmt.Sprintf("%s-%d", o.key, i)}
	if i == 0 || o.message.Chat.Thread != "" {
		out.ReplyTo = o.message.ID
	}
	for try := 0; ; try++ {
		id, err := g.sendOnce(o.ctx, j, out)
		switch {
		case err == nil:
			return id, nil
		case o.ctx.Err() != nil:
			return "", context.Cause(o.ctx)
		case errors.Is(err, ErrPermanent) && out.File != nil:
			g.log.Warn("file cannot be sent", "session", o.session, "error", g.mask(err.Error()))
			out.Text, out.File, out.Key = fmt.Sprintf("(the file `%s` could not be sent)", strings.ReplaceAll(out.File.Name, "`", "'")), nil, out.Key+"-f"
			continue
		case errors.Is(err, ErrPermanent), g.tooLate(o):
			return "", err
		}
		g.tried(o, err, false)
		g.log.Warn("send again", "session", o.session, "try", try+1, "error", g.mask(err.Error()))
		if err := g.wait(o.ctx, g.pauseAfter(err, try)); err != nil {
			return "", err
		}
	}
}

// tooLate reports whether an answer has been tried to be sent long enough.
func (g *Gateway) tooLate(o *outgoing) bool {
	now := g.now()
	return now.Sub(o.found) > giveUp && now.Sub(o.begun) > leastTry
}

// pauseAfter is how long to wait after an error before another try: as long as the platform says, a while when it refuses
// the key, else longer each time.
func (g *Gateway) pauseAfter(err error, try int) time.Duration {
	var later *LaterError
	switch {
	case errors.As(err, &later):
		return min(later.After, time.Hour)
	case errors.Is(err, ErrFatal):
		return min(60*g.options.Pause, longestPause)
	}
	return min(g.options.Pause<<min(try, 16), longestPause)
}

// wait waits before another try. What would wait when the gateway is to stop is left to the next start.
func (g *Gateway) wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.draining:
		return errLeft
	}
}

func (g *Gateway) sendOnce(ctx context.Context, j *joined, out Out) (id string, err error) {
	limit := callTime
	if out.File != nil {
		limit = uploadTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	id, err = j.Channel.Send(ctx, out)
	if err == nil && id == "" {
		id = "?" // it is sent, whatever it is called
	}
	return id, err
}
