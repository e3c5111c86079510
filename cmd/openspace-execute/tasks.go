package main

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// tasks runs all inputs, at most as many at once as --jobs says. When the output fails, everything that was begun is ended.
func (o *options) tasks(ctx context.Context, cancel context.CancelFunc, env *cli.Env, s *task.Suite) error {
	out := newOutput(env, o.jobs, cancel)
	slots := make(chan struct{}, o.jobs)
	var all sync.WaitGroup
	place := 0
	for in := range inputs(ctx, env) {
		t, err := o.task(env, in)
		if err != nil {
			out.fail(in.About(err))
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		n := place
		place++
		all.Go(func() {
			defer func() { <-slots }()
			res := task.Run(ctx, t, s, func(rec wire.Record) { out.event(n, rec) })
			out.ended(n, res)
			o.learnApart(env, res)
		})
	}
	all.Wait()
	return out.close()
}

// inputs yields inputs until there are none or ctx ends. Without a reader of our output nobody may write to our input any more, and a read would
// wait for ever: it is left behind then.
func inputs(ctx context.Context, env *cli.Env) iter.Seq[cli.Input] {
	return func(yield func(cli.Input) bool) {
		read := make(chan cli.Input)
		go func() {
			defer close(read)
			for in := range env.Inputs(wire.TypeTask) {
				select {
				case read <- in:
				case <-ctx.Done():
					return
				}
			}
		}()
		for {
			select {
			case in, ok := <-read:
				if !ok || !yield(in) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// output writes what tasks tell: as records, as answers alone, or for people.
type output struct {
	env    *cli.Env
	cancel context.CancelFunc // ends all tasks
	view   *view              // nil: nobody watches

	mu   sync.Mutex
	err  error
	last map[int]wire.Result // of --plain: results that wait for those of earlier inputs
	next int
}

func newOutput(env *cli.Env, jobs int, cancel context.CancelFunc) *output {
	return &output{env: env, cancel: cancel, view: newView(env, jobs), last: map[int]wire.Result{}}
}

// asRecords tells whether the output is made of all records.
func (o *output) asRecords() bool {
	return o.env.Out.Format() == cli.JSONL || o.env.Out.Format() == cli.JSON
}

// event hands on what a task tells while it runs.
func (o *output) event(n int, rec wire.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.view != nil {
		o.note(o.view.event(n, rec))
	}
	if o.asRecords() {
		o.note(o.env.Out.Emit(rec))
		o.note(o.env.Out.Flush())
	}
}

// ended hands on the result of a task.
func (o *output) ended(n int, res wire.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if exit := exitOf(res); exit != wire.StatusOK {
		o.env.Out.Miss(exit)
	}
	if o.view != nil {
		o.note(o.view.result(n, res))
	}
	switch {
	case o.asRecords():
		o.note(o.env.Out.Emit(res))
	case o.env.Out.Format() == cli.Plain:
		o.last[n] = res
		o.plain()
	}
	o.note(o.env.Out.Flush())
}

// plain writes the answers in the order of the inputs, as far as they are there.
func (o *output) plain() {
	for {
		res, ok := o.last[o.next]
		if !ok {
			return
		}
		delete(o.last, o.next)
		o.next++
		if res.Response != "" && (res.Status == "success" || res.Status == "incomplete") {
			o.note(o.env.Out.Emit(wire.Answer{ID: res.ID, Status: res.Status, Response: res.Response}))
		}
		if o.view == nil {
			for _, w := range res.Warnings {
				o.env.Out.WarnOnce(w)
			}
		}
		o.complain(res)
	}
}

// complain tells people why a task did not succeed.
func (o *output) complain(res wire.Result) {
	switch {
	case res.Error != nil && res.Error.Hint != "":
		o.env.Warn("task %s: %s; %s", res.ID, res.Error.Message, res.Error.Hint)
	case res.Error != nil:
		o.env.Warn("task %s: %s", res.ID, res.Error.Message)
	case res.Status != "success":
		o.env.Warn("task %s is %s: %s", res.ID, res.Status, res.Warning)
	}
}

func (o *output) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(o.env.Out.Fail(err))
	o.note(o.env.Out.Flush())
}

// note keeps the first error of the output and ends everything: nobody would learn of what the tasks do.
func (o *output) note(err error) {
	if err != nil && o.err == nil {
		o.err = err
		o.cancel()
	}
}

func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// exitOf is the exit status of a run in which all tasks end as this one.
func exitOf(res wire.Result) int {
	var e *wire.Error
	switch {
	case res.Status == "success":
		return wire.StatusOK
	case res.Status == "incomplete":
		return wire.StatusNone
	case res.Error != nil && errors.As(error(res.Error), &e) && e.Code.Exit() != wire.StatusNone: // a model that is not there is no answer "none"
		return e.Code.Exit()
	}
	return wire.StatusFailed
}
