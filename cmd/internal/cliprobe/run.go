package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// options are flags of every kind.
type options struct {
	limit   int
	score   float64
	source  *string
	header  *[]string
	quiet   bool
	timeout time.Duration
	repeat  int
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.IntVar(&o.limit, "limit", 10, "at most `N` results")
	fs.IntVar(&o.limit, "n", 10, "at most `N` results")
	fs.Float64Var(&o.score, "min-score", 0, "leave out results below `SCORE`")
	o.source = cli.Choice(fs, "source", "look in `WHERE`: local, cloud or all", "local", "cloud", "all")
	o.header = cli.List(fs, "header", "send `LINE`; may be given several times")
	fs.BoolVar(&o.quiet, "quiet", false, "say less")
	fs.DurationVar(&o.timeout, "timeout", time.Minute, "give up after `TIME`")
	fs.IntVar(&o.repeat, "repeat", 1, "answer each query `N` times")
}

func command(manual string) *cli.Command {
	var o options
	return &cli.Command{
		Name: "cliprobe", Short: "test what all commands share", Args: "QUERY...", Stdin: "queries, one a line",
		Manual: manual, Flags: o.flags, Run: o.run, Signals: true,
	}
}

func (o *options) run(ctx context.Context, env *cli.Env) error {
	found := false
	for in := range env.Inputs(wire.TypeQuery) {
		hits, err := o.answer(ctx, env, in)
		if err != nil {
			return err
		}
		found = found || hits
	}
	if !found {
		return wire.ErrNone
	}
	return nil
}

// answer does what the query says.
func (o *options) answer(ctx context.Context, env *cli.Env, in cli.Input) (found bool, err error) {
	query := wire.Query{Query: in.Value}
	if in.Data != nil {
		if err := in.Decode(&query); err != nil {
			return false, env.Out.Fail(err)
		}
	}
	word, code, _ := strings.Cut(query.Query, ":")
	score := 1.0
	switch word {
	case "none":
		return false, nil
	case "fail":
		return false, env.Out.Fail(in.Errorf(wire.Code(code), "%s as asked", code).WithHint("ask for less"))
	case "stop":
		inner := wire.Errorf(wire.Code(code), "%s as asked", code).WithHint("ask for less")
		return false, fmt.Errorf("answer %q: %w", query.Query, fmt.Errorf("try: %w", inner))
	case "panic":
		panic("as asked")
	case "wait":
		<-ctx.Done()
		return false, ctx.Err()
	case "deaf": // says so, and does not end when it is asked to
		if err := errors.Join(o.emit(env, in.ID, query.Query, score), env.Out.Flush()); err != nil {
			return true, err
		}
		time.Sleep(time.Hour)
	case "nan":
		score = math.NaN()
	case "long":
		query.Query = strings.Repeat("long ", 4<<20)
	}
	return true, o.emit(env, in.ID, query.Query, score)
}

func (o *options) emit(env *cli.Env, id, query string, score float64) error {
	for i := range o.repeat {
		hit := wire.Hit{
			ID: id, Rank: i + 1, SkillID: "probe__imp_00000000", Name: query, Score: score, Source: *o.source,
			Description: fmt.Sprintf("limit=%d min-score=%g header=%q", o.limit, o.score, *o.header),
		}
		if err := env.Out.Emit(hit); err != nil {
			return err
		}
	}
	return nil
}
