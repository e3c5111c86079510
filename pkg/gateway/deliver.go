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
)

// finish sends what is not sent yet of an answer, writes it into the transcript, and closes the message. When
// the gateway stops, it goes on after the next start.
func (g *Gateway) finish(ctx context.Context, it *item) {
	err := g.deliver(ctx, it)
	if err == nil {
		if err = g.remember(it); err == nil {
			err = g.retry(ctx, func() error { return g.ledger.record(entry{Kind: closed, Key: it.key, Status: it.status}) })
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			g.log.Error("not finished", "session", it.session, "message", it.message.ID, "error", g.mask(err.Error()))
		}
		return
	}
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

// deliver sends the parts that are not sent yet, in order. Its error says that it is to be gone on with later.
func (g *Gateway) deliver(ctx context.Context, it *item) error {
	j := g.joined[it.account]
	since := g.now()
	for i := len(it.ids); i < len(it.parts); i++ {
		if i > 0 && !sleep(ctx, j.Channel.Limits().Pause) {
			return ctx.Err()
		}
		id, err := g.send(ctx, j, it, i, since)
		if ctx.Err() != nil && err != nil {
			return err
		}
		if err != nil {
			j.count(&j.failed)
			g.log.Error("part cannot be sent", "session", it.session, "part", i, "error", g.mask(err.Error()))
		} else {
			j.count(&j.sent)
		}
		it.ids = append(it.ids, id)
		line := entry{Kind: sent, Key: it.key, Part: i, PartID: id, Undone: id == ""}
		if err := g.retry(ctx, func() error { return g.ledger.record(line) }); err != nil {
			return err
		}
	}
	return nil
}

// send sends one part, again and again until it is sent, can never be sent, or is too late. A file that
// cannot be sent is told of by a text.
func (g *Gateway) send(ctx context.Context, j *joined, it *item, i int, since time.Time) (string, error) {
	p := it.parts[i]
	out := Out{Chat: it.message.Chat, Text: p.Text, File: p.File, Key: fmt.Sprintf("%s-%d", it.key, i)}
	if i == 0 || it.message.Chat.Thread != "" {
		out.ReplyTo = it.message.ID
	}
	for try := 0; ; try++ {
		id, err := g.sendOnce(ctx, j, out)
		if err == nil || ctx.Err() != nil {
			return id, err
		}
		if errors.Is(err, ErrPermanent) && out.File != nil {
			g.log.Warn("file cannot be sent", "session", it.session, "error", g.mask(err.Error()))
			out.Text, out.File, out.Key = fmt.Sprintf("(the file `%s` could not be sent)", strings.ReplaceAll(out.File.Name, "`", "'")), nil, out.Key+"-f"
			continue
		}
		if errors.Is(err, ErrPermanent) || g.now().Sub(since) > giveUp {
			return "", err
		}
		g.log.Warn("send again", "session", it.session, "try", try+1, "error", g.mask(err.Error()))
		var later *LaterError
		if errors.As(err, &later) {
			if !sleep(ctx, min(later.After, time.Hour)) {
				return "", ctx.Err()
			}
		} else if !g.pause(ctx, try) {
			return "", ctx.Err()
		}
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
