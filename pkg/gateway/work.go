package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// turn is a task that runs for a chat, or waits to.
type turn struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	since  time.Time
	steps  int
	doing  string // the tool that was used last
}

// errStopped ends a turn that somebody in the chat does not want any more.
var errStopped = errors.New("stopped in the chat")

// maxBegun is how often a task is started for one message: one that takes the process down must not do so for
// ever.
const maxBegun = 5

// work answers what waits in a chat, in order, until nothing does.
func (g *Gateway) work(key string, c *chat) {
	defer g.workers.Done()
	for {
		w, t := g.next(key, c)
		if w == nil {
			return
		}
		<-w.stored
		if !w.lost {
			g.process(c, w.item, t)
		}
		g.endTurn(c, t, nil)
	}
}

// next takes the first of the queue, and begins its turn: from here on it can be stopped. Without one the
// chat is forgotten.
func (g *Gateway) next(key string, c *chat) (*waiting, *turn) {
	select {
	case <-g.draining:
		return nil, nil
	default:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(c.queue) == 0 {
		delete(g.chats, key)
		return nil, nil
	}
	w := c.queue[0]
	c.queue = c.queue[1:]
	t := g.newTurn()
	switch {
	case w.answered: // by an earlier process
		w.out = g.beginSend(w.item)
	case commandOf(w.message.Text) == "":
		c.turn = t
	}
	return w, t
}

func (g *Gateway) newTurn() *turn {
	t := &turn{since: g.now()}
	t.ctx, t.cancel = context.WithCancelCause(g.ctx)
	return t
}

// process brings one message to its end, as far as that is possible before the gateway stops.
func (g *Gateway) process(c *chat, it *item, t *turn) {
	defer func() {
		if v := recover(); v != nil {
			g.log.Error("internal fault", "session", it.session, "message", it.message.ID, "fault", fmt.Sprint(v))
		}
	}()
	defer g.showWork(it)()
	for try := 0; !it.answered; try++ {
		err := g.answer(it, t)
		if g.ctx.Err() != nil || errors.Is(err, errLeft) {
			return
		}
		if err == nil {
			break
		}
		g.log.Error("no answer yet", "session", it.session, "message", it.message.ID, "error", g.mask(err.Error()))
		if !g.pause(g.ctx, try) {
			return
		}
	}
	g.finish(g.endTurn(c, t, it))
}

// showWork shows that a message is being worked on, until the function that it returns is called.
func (g *Gateway) showWork(it *item) (done func()) {
	if it.answered || commandOf(it.message.Text) != "" {
		return func() {}
	}
	ch := g.joined[it.account].Channel
	ctx, cancel := context.WithCancel(g.ctx)
	ended := make(chan struct{})
	show := func(ctx context.Context, on bool) {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		if err := ch.Working(ctx, it.message, on); err != nil && ctx.Err() == nil {
			g.log.Debug("sign of work", "error", g.mask(err.Error()))
		}
	}
	go func() {
		defer close(ended)
		show(ctx, true)
		for every := ch.Limits().Working; every > 0 && sleep(ctx, every); {
			show(ctx, true)
		}
	}()
	return func() {
		cancel()
		<-ended
		show(context.WithoutCancel(ctx), false)
	}
}

// answer finds the answer to a message and puts it on disk.
func (g *Gateway) answer(it *item, t *turn) error {
	s, err := g.openSession(it.session, g.joined[it.account].account, it.message.Chat)
	if err != nil {
		return err
	}
	if name := commandOf(it.message.Text); name != "" {
		return g.obey(s, it, name)
	}
	if it.begun >= maxBegun {
		return g.settleAnswer(it, wire.Result{Status: "error"}, g.texts(it, textGivenUp))
	}
	kept, notes, err := g.keepAttachments(t.ctx, s, it)
	if err != nil {
		return err
	}
	res, err := g.inTurn(s, t, it, kept, notes)
	switch {
	case g.ctx.Err() != nil:
		return g.ctx.Err()
	case errors.Is(context.Cause(t.ctx), errStopped):
		return g.settleAnswer(it, wire.Result{Status: "canceled", TaskID: res.TaskID}, nil)
	case errors.Is(err, errLeft):
		return err
	case err != nil:
		g.log.Error("task failed", "session", it.session, "error", g.mask(err.Error()))
		res = wire.Result{Status: "error", Error: wire.AsError(err)}
	}
	parts, text := g.compose(s, it, res, notes)
	res.Response = text
	return g.settleAnswer(it, res, parts)
}

// endTurn ends a turn, and in the same moment begins to send its answer, if there is one: whoever asks for it to be
// stopped stops the one or the other.
func (g *Gateway) endTurn(c *chat, t *turn, answered *item) (out *outgoing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.turn = nil
	if answered != nil {
		if out = answered.out; out == nil {
			out = g.beginSend(answered)
		}
		if errors.Is(context.Cause(t.ctx), errStopped) && answered.status != "canceled" {
			out.cancel(errDropped)
		}
	}
	t.cancel(nil)
	return out
}

// settleAnswer puts the answer on disk: from here on it is this one.
func (g *Gateway) settleAnswer(it *item, res wire.Result, parts []part) error {
	it.found, it.parts, it.status, it.taskID, it.response = g.now(), parts, res.Status, res.TaskID, res.Response
	e := entry{Kind: answered, Key: it.key, Parts: parts, Status: it.status, TaskID: it.taskID, Response: it.response}
	err := g.retry(g.ctx, func() error { return g.ledger.record(e) }) // the task is done: it must not run again for a full disk
	it.answered = err == nil
	return err
}

// inTurn runs the task of a message as soon as not too many others run. It begins nothing when the gateway is to stop.
func (g *Gateway) inTurn(s *session, t *turn, it *item, kept []Attachment, notes []string) (wire.Result, error) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-t.ctx.Done():
		return wire.Result{}, t.ctx.Err()
	case <-g.draining:
		return wire.Result{}, errLeft
	}
	select {
	case <-g.draining: // both at once
		return wire.Result{}, errLeft
	default:
	}
	if err := t.ctx.Err(); err != nil {
		return wire.Result{}, err
	}
	return g.turn(t.ctx, s, t, it, kept, notes)
}

// turn runs the task of a message with the files that came with it, and notes about those that did not.
func (g *Gateway) turn(ctx context.Context, s *session, t *turn, it *item, kept []Attachment, notes []string) (wire.Result, error) {
	if err := g.ledger.record(entry{Kind: begun, Key: it.key}); err != nil {
		return wire.Result{}, err
	}
	it.begun++
	task, err := g.taskOf(ctx, s, it, kept, notes)
	if err != nil {
		return wire.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, seconds(g.config.Agent.TimeoutSeconds)+graceTime)
	defer cancel()
	defer g.tellProgress(ctx, t, it)()
	res, err := g.runner.Run(ctx, task, func(tool string) {
		g.mu.Lock()
		defer g.mu.Unlock()
		t.steps, t.doing = t.steps+1, tool
	})
	if res.TaskID == "" {
		res.TaskID = task.TaskID
	}
	return res, err
}

// taskOf writes a message into the transcript and makes the task of it.
func (g *Gateway) taskOf(ctx context.Context, s *session, it *item, kept []Attachment, notes []string) (wire.Task, error) {
	m, entryID := it.message, it.key+"-user"
	lines, err := s.lines()
	if err != nil {
		g.log.Error("read transcript", "session", s.key, "error", err)
	}
	if m.ReplyToText == "" && m.ReplyTo != "" {
		m.ReplyToText = g.mask(g.quoted(ctx, lines, it))
	}
	err = s.append(line{
		EntryID: entryID, Role: "user", Content: m.Text, MessageID: m.ID, ReplyTo: m.ReplyTo, UserID: m.From.ID, UserName: m.From.Name,
		Attachments: kept, Timestamp: stamp(m.Time),
	})
	return wire.Task{
		ID: "1", Task: taskText(m, kept, notes), TaskID: fmt.Sprintf("chat_%s_%d", it.key[:12], it.begun), WorkspaceDir: s.workspace,
		MaxIterations: g.config.Agent.MaxIterations, TimeoutMS: int64(g.config.Agent.TimeoutSeconds * 1000),
		History: history(lines, entryID, g.config.Sessions.HistoryMaxTurns, m.Chat.Type == Group), Channel: channelOf(g.joined[it.account].account, s.key, m, kept),
	}, err
}

// quoted returns what a message answers: from the transcript, else from the platform.
func (g *Gateway) quoted(ctx context.Context, lines []line, it *item) (text string) {
	if l, ok := said(lines, it.message.ReplyTo); ok {
		return l.Content
	}
	if q, ok := g.joined[it.account].Channel.(Quoter); ok {
		g.call(ctx, func(ctx context.Context) (err error) {
			text, err = q.Quote(ctx, it.message)
			return err
		})
	}
	return text
}

// graceTime is what a task may take over its time to end by itself.
const graceTime = 30 * time.Second

// taskText is what the agent is asked: what was written, and what happened to files that came with it.
func taskText(m Message, kept []Attachment, notes []string) string {
	text := strings.TrimSpace(m.Text)
	if text == "" && len(kept) > 0 {
		text = "Look at the attached files and say what is in them."
	}
	for _, n := range notes {
		text += "\n(" + n + ")"
	}
	return strings.TrimSpace(text)
}

func channelOf(a Account, key string, m Message, kept []Attachment) *wire.Channel {
	c := &wire.Channel{
		Platform: a.Platform, ChatType: m.Chat.Type, ChatID: m.Chat.ID, ChatName: oneLine(m.Chat.Name, 100), ThreadID: m.Chat.Thread,
		UserName: oneLine(m.From.Name, 100), UserID: m.From.ID, SessionKey: key, MessageID: m.ID, ReplyToMessageID: m.ReplyTo,
		ReplyToText: oneLine(m.ReplyToText, 500),
	}
	for _, k := range kept {
		c.Attachments = append(c.Attachments, wire.Attachment{Kind: k.Kind, Path: k.Path, Name: k.Name})
	}
	return c
}

// progressEvery is when a turn that takes long says so, the first time and then each time.
const progressEvery = time.Minute

// tellProgress says from time to time that a turn is still running, in one message where the platform can
// change it, else once.
func (g *Gateway) tellProgress(ctx context.Context, t *turn, it *item) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	ch := g.joined[it.account].Channel
	editor, _ := ch.(Editor)
	go func() {
		defer close(ended)
		id := ""
		for sleep(ctx, progressEvery) {
			text := g.mask(g.progressText(t))
			if id != "" {
				g.call(ctx, func(ctx context.Context) error { return editor.Edit(ctx, it.message.Chat, id, text) })
				continue
			}
			g.call(ctx, func(ctx context.Context) (err error) {
				id, err = ch.Send(ctx, Out{Chat: it.message.Chat, Text: text, Key: it.key + "-p"})
				return err
			})
			if editor == nil {
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// call makes one call that is not worth a second try.
func (g *Gateway) call(ctx context.Context, do func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := do(ctx); err != nil {
		g.log.Debug("progress", "error", g.mask(err.Error()))
	}
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

func (g *Gateway) progressText(t *turn) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	text := fmt.Sprintf("Still working, for %s now", g.now().Sub(t.since).Round(time.Second))
	if t.steps > 0 {
		text += fmt.Sprintf(": %s so far, the last one with `%s`", steps(t.steps), t.doing)
	}
	return text + ". `/stop` ends it."
}
