package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// kept is how many tasks that have ended are remembered, for task_result.
const kept = 200

// tasks are the tasks of a server. Each is a process of its own.
type tasks struct {
	runs  *runner
	most  int
	mu    sync.Mutex
	byID  map[string]*taskRun
	order []*taskRun // oldest first
	n     int        // that are running
}

// taskRun is one task.
type taskRun struct {
	id      string
	text    string
	started time.Time
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed at its end
	news    chan struct{} // has an element when there is news; for the one who follows

	mu     sync.Mutex
	fresh  []string // what happened and was not fetched yet
	last   string   // what happened last
	steps  int
	answer *wire.Answer
	result taskResult // of its end
	err    error      // why there is no result
	ended  time.Time
}

func newTasks(r *runner, most int) *tasks {
	return &tasks{runs: r, most: most, byID: map[string]*taskRun{}}
}

// begin starts a task. It ends with the server, or when it is canceled.
func (t *tasks) begin(task wire.Task) (*taskRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n >= t.most {
		return nil, wire.Errorf(wire.RateLimited, "%d tasks are being worked on, which is all that are taken at once", t.n).
			WithHint("call again when one has ended")
	}
	ctx, cancel := context.WithCancelCause(t.runs.s.ctx)
	r := &taskRun{id: task.TaskID, text: task.Task, started: time.Now(), cancel: cancel, done: make(chan struct{}), news: make(chan struct{}, 1)}
	t.n++
	t.byID[r.id] = r
	t.order = append(t.order, r)
	t.forget()
	t.runs.s.work.Go(func() {
		result, err := t.run(ctx, r, task)
		cancel(nil)
		r.end(result, err)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.n--
	})
	return r, nil
}

// forget drops the oldest tasks that have ended.
func (t *tasks) forget() {
	for i := 0; len(t.order) > kept+t.most && i < len(t.order); {
		select {
		case <-t.order[i].done:
			delete(t.byID, t.order[i].id)
			t.order = append(t.order[:i], t.order[i+1:]...)
		default:
			i++
		}
	}
}

// run does the task in a process.
func (t *tasks) run(ctx context.Context, r *taskRun, task wire.Task) (res taskResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = wire.Errorf(wire.Internal, "task %s: internal fault: %v", r.id, v)
		}
	}()
	whole := false
	err = t.runs.once(ctx, "openspace-execute", []string{"--jsonl", "-"}, task.Typed(), func(rec pipe.Record) {
		var end taskRecord
		if rec.Type == wire.TypeResult && rec.Decode(&end) == nil {
			res, whole = resultOf(end), true
			return
		}
		r.note(rec)
	})
	switch {
	case whole: // also when it was canceled: the process said how far it came
		return res, nil
	case ctx.Err() != nil:
		return res, wire.Errorf(wire.Canceled, "task %s: %w", r.id, context.Cause(ctx))
	case err != nil:
		return res, err
	}
	return res, wire.Errorf(wire.Internal, "task %s: the command ended without a result", r.id)
}

// note remembers what a record says for those who follow the task.
func (r *taskRun) note(rec pipe.Record) {
	text := ""
	switch rec.Type {
	case wire.TypeStep:
		var s wire.Step
		if rec.Decode(&s) == nil {
			text = joined(": ", joined(" ", s.Kind, s.Phase), s.Message)
		}
	case wire.TypeTool:
		var u wire.Tool
		if rec.Decode(&u) == nil {
			text = joined(" ", u.Name, u.Status, u.Summary, u.Error)
		}
	case wire.TypeAnswer:
		var a wire.Answer
		if rec.Decode(&a) == nil {
			r.mu.Lock()
			r.answer = &a
			r.mu.Unlock()
			text = joined(": ", "answer", a.Response)
		}
	}
	if text == "" {
		return
	}
	r.mu.Lock()
	r.steps++
	r.last = text
	r.fresh = append(r.fresh, text)
	if len(r.fresh) > 64 { // nobody listens
		r.fresh = r.fresh[1:]
	}
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func joined(sep string, parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, sep)
}

func (r *taskRun) end(res taskResult, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result, r.err, r.ended = res, err, time.Now()
	if res.TaskID == "" {
		r.result.TaskID = r.id
	}
	close(r.done)
}

// fetch returns what happened since it was called last.
func (r *taskRun) fetch() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.fresh
	r.fresh = nil
	return fresh
}

func (r *taskRun) outcome() (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	return r.result, nil
}

// follow waits for the end of a task and tells the host of its progress meanwhile. A host that takes the call
// back, or goes away, ends the task.
func (t *tasks) follow(ctx context.Context, r *taskRun) (any, error) {
	c := callOf(ctx)
	tick := time.NewTicker(t.runs.s.o.Beat)
	defer tick.Stop()
	c.progress("started " + r.id)
	for {
		select {
		case <-r.done:
			return r.outcome()
		case <-r.news:
			for _, text := range r.fetch() {
				c.progress(text)
				c.log(mcp.LoggingLevelInfo, r.id, text)
			}
		case <-tick.C:
			c.progress(fmt.Sprintf("working for %s%s", time.Since(r.started).Round(time.Second), r.latest()))
		case <-ctx.Done():
			r.cancel(fmt.Errorf("the host has canceled the call"))
			<-r.done
			return nil, wire.Errorf(wire.Canceled, "task %s: canceled by the host", r.id)
		}
	}
}

// latest is what happened last, for a line that says that nothing new has.
func (r *taskRun) latest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == "" {
		return ""
	}
	text := []rune(r.last)
	if len(text) > 200 {
		text = append(text[:200], '…')
	}
	return ", last: " + string(text)
}

// find returns a task by its id; nil: this server does not know it, or not any more.
func (t *tasks) find(id string) *taskRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}
