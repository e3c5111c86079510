package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Runner runs tasks.
type Runner interface {
	// Run runs one task to its end. It calls used with the name of each tool that the task uses. The result
	// has a status unless there is an error.
	Run(ctx context.Context, t wire.Task, used func(tool string)) (wire.Result, error)
	// Skills lists the skills that tasks have.
	Skills(ctx context.Context) ([]wire.Skill, error)
}

// Suite runs tasks by the commands of the suite, one process a task.
type Suite struct {
	Find    func(name string) (string, error)
	Args    []string // more arguments of openspace-execute
	Dir     string
	Environ []string
	Log     func(line string) // what the commands say on stderr
}

// Run runs openspace-execute for one task.
func (s *Suite) Run(ctx context.Context, t wire.Task, used func(string)) (wire.Result, error) {
	var res wire.Result
	err := s.run(ctx, "openspace-execute", append(append([]string{"--jsonl"}, s.Args...), "-"), &t, func(r pipe.Record) error {
		switch r.Type {
		case wire.TypeTool:
			var tool wire.Tool
			if r.Decode(&tool) == nil && tool.Status == "started" {
				used(tool.Name)
			}
		case wire.TypeResult:
			return r.Decode(&res)
		case wire.TypeError:
			var e wire.Error
			if err := r.Decode(&e); err != nil {
				return err
			}
			res = wire.Result{Status: "error", Error: &e}
		}
		return nil
	})
	if res.Status != "" {
		return res, nil
	}
	if err == nil {
		err = wire.Errorf(wire.Internal, "openspace-execute ended without a result")
	}
	return res, err
}

// Check runs openspace-execute without a task: its error tells what is wrong with its arguments or the model's
// settings. It asks no model. A run that is to be recorded is not tried, as that would write the recording.
func (s *Suite) Check(ctx context.Context) error {
	if slices.ContainsFunc(s.Args, func(a string) bool {
		return strings.TrimLeft(a, "-") == "record" || strings.HasPrefix(strings.TrimLeft(a, "-"), "record=")
	}) {
		return nil
	}
	return s.run(ctx, "openspace-execute", append(append([]string{"--jsonl"}, s.Args...), "-"), nil, func(pipe.Record) error { return nil })
}

// Skills runs openspace-skills.
func (s *Suite) Skills(ctx context.Context) (skills []wire.Skill, err error) {
	err = s.run(ctx, "openspace-skills", []string{"list", "--jsonl"}, nil, func(r pipe.Record) error {
		if r.Type != wire.TypeSkill {
			return nil
		}
		var skill wire.Skill
		err := r.Decode(&skill)
		skills = append(skills, skill)
		return err
	})
	return skills, err
}

// run runs a command with at most one record as its input, and hands out what it writes. Its error is the
// command's own when that has one.
func (s *Suite) run(ctx context.Context, name string, args []string, input any, got func(pipe.Record) error) error {
	path, err := s.Find(name)
	if err != nil {
		return err
	}
	child, err := pipe.Start(ctx, path, pipe.Options{Args: args, Dir: s.Dir, Environ: s.Environ, Stderr: s.Log})
	if err != nil {
		return err
	}
	if input != nil {
		err = child.Send(input)
	}
	child.CloseInput()
	for r := range child.Records() {
		if r.Type == wire.TypeSummary || err != nil {
			continue
		}
		err = got(r)
	}
	status, werr := child.Wait()
	switch {
	case werr != nil:
		return werr
	case err != nil:
		return err
	case status != 0 && status != wire.StatusNone && status != 3:
		return child.Trouble(status)
	}
	return nil
}
