package tools

import (
	"context"
	"encoding/json"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// builtin is a tool of ours: what it is, and what it does with its arguments, which A holds.
type builtin[A any] struct {
	env      *Env // nil: it needs none
	spec     Spec
	synonyms map[string]string // other names of arguments that models use
	run      func(ctx context.Context, args A) Result
}

// Spec tells what the tool is.
func (t *builtin[A]) Spec() Spec { return t.spec }

// Synonyms returns other names under which arguments are taken.
func (t *builtin[A]) Synonyms() map[string]string { return t.synonyms }

// Run does the work. What a model reads of the result has no secrets in it.
func (t *builtin[A]) Run(ctx context.Context, call Call) Result {
	var args A
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return failed(wire.Invalid, "%s was not run: read its arguments: %v", t.spec.Name, err)
	}
	r := t.run(ctx, args)
	if t.env == nil {
		return r
	}
	return masked(t.env.Mask, r)
}
