// Package parallel works on many inputs of a command at once and gives the results in the order of the inputs.
package parallel

import (
	"fmt"
	"iter"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
)

// Emit writes the result of one input. Its error ends the run.
type Emit func() error

// Each calls work for every input, for at most n at once, and what it returns in the order of the inputs, one after the other. Results are
// handed on before anything is waited for, so that whoever reads them sees how far the work is. A table, whose columns are as wide as its widest
// rows, comes when no input is left to wait for.
func Each(env *cli.Env, n int, inputs iter.Seq[cli.Input], work func(in cli.Input) Emit) error {
	results, stop := make(chan chan Emit, n), make(chan struct{})
	go func() {
		defer close(results)
		for in := range inputs {
			one := make(chan Emit, 1)
			select {
			case results <- one:
			case <-stop:
				return
			}
			go func() { one <- work(in) }()
		}
	}()
	defer close(stop)
	p := newProgress(env)
	defer p.end()
	for one := range results {
		emit, err := next(env, one)
		if err == nil {
			err = emit()
		}
		if err != nil {
			return err
		}
		p.step()
		if len(results) > 0 {
			continue
		}
		if err := env.Out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// next waits for a result. What was written before goes to the reader first.
func next(env *cli.Env, one <-chan Emit) (Emit, error) {
	select {
	case emit := <-one:
		return emit, nil
	default:
	}
	if env.Out.Format() != cli.Table {
		if err := env.Out.Flush(); err != nil {
			return nil, err
		}
	}
	return <-one, nil
}

// progress counts on a terminal whose output goes elsewhere.
type progress struct {
	env  *cli.Env
	on   bool
	n    int
	last time.Time
}

func newProgress(env *cli.Env) *progress {
	on := env.StderrTerminal && !env.StdoutTerminal && env.Settings.Getenv("TERM") != "dumb"
	return &progress{env: env, on: on, last: time.Now()}
}

// step counts one result and says so at most five times a second.
func (p *progress) step() {
	p.n++
	if p.on && time.Since(p.last) > 200*time.Millisecond {
		p.last = time.Now()
		fmt.Fprintf(p.env.Stderr, "\r%d done", p.n)
	}
}

// end clears the line.
func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.env.Stderr, "\r\x1b[K")
	}
}
