package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/recording"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// recordingFlags are the flags of the verb recordings.
type recordingFlags struct {
	conversation bool
	keep, older  string
	dryRun       bool
}

// recordings is the verb recordings.
func (a *app) recordings() *cli.Command {
	var f recordingFlags
	return &cli.Command{
		Name: "recordings", Short: "list, show and prune the recordings of tasks", Args: "list|show ID…|prune", Stdin: "ids of tasks, or folders, one a line",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&f.conversation, "conversation", false, "with show: what the model was sent and answered, too")
			fs.StringVar(&f.keep, "keep", "", "with prune: keep the newest `N`")
			fs.StringVar(&f.older, "older-than", "", "with prune: remove what began longer ago than `AGE`, such as 30d or 12h")
			fs.BoolVar(&f.dryRun, "dry-run", false, "with prune: only show what would go")
		},
		Signals: true,
		Run:     func(ctx context.Context, env *cli.Env) error { return runRecordings(ctx, env, f) },
	}
}

func runRecordings(ctx context.Context, env *cli.Env, f recordingFlags) error {
	if len(env.Args) == 0 {
		return wire.Errorf(wire.Usage, "want list, show or prune")
	}
	word := env.Args[0]
	env.Args = env.Args[1:]
	dir := filepath.Join(env.Settings.Home(), "recordings")
	switch {
	case word != "list" && word != "show" && word != "prune":
		return wire.Errorf(wire.Usage, "unknown word %q: want list, show or prune", word)
	case f.conversation && word != "show":
		return wire.Errorf(wire.Usage, "--conversation goes with show")
	case (f.keep != "" || f.older != "" || f.dryRun) && word != "prune":
		return wire.Errorf(wire.Usage, "--keep, --older-than and --dry-run go with prune")
	case word == "show":
		return showRecordings(env, dir, f.conversation)
	case len(env.Args) > 0:
		return wire.Errorf(wire.Usage, "unexpected argument %q", env.Args[0])
	case word == "list":
		return listRecordings(ctx, env, dir)
	}
	return pruneRecordings(ctx, env, dir, f)
}

// saved returns the recordings in a folder, newest first, and tells of what cannot be read.
func saved(env *cli.Env, dir string) ([]*recording.Saved, error) {
	all, problems, err := recording.List(dir)
	for _, p := range problems {
		env.Warn("%v", p)
	}
	return all, fault.Of(err)
}

func listRecordings(ctx context.Context, env *cli.Env, dir string) error {
	all, err := saved(env, dir)
	if err != nil {
		return err
	}
	for _, s := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sum, err := s.Summary()
		if err != nil {
			env.Warn("%v", err)
		}
		if err := env.Out.Emit(taskRecord(s, sum)); err != nil {
			return err
		}
	}
	return nil
}

// readsRecordings are the records that name a task.
var readsRecordings = []string{typeRecording, wire.TypeResult, wire.TypeAnswer}

func showRecordings(env *cli.Env, dir string, conversation bool) error {
	return each(env.Inputs(readsRecordings...), env.Out, func(in cli.Input) error {
		s, err := findRecording(env, dir, in)
		if err != nil {
			return err
		}
		rec, err := wholeRecording(env, s, conversation)
		if err != nil {
			return err
		}
		rec.ID = in.ID
		return env.Out.Emit(rec)
	})
}

// findRecording finds what one input names: a folder of a recording, or a task's id.
func findRecording(env *cli.Env, dir string, in cli.Input) (*recording.Saved, error) {
	rec := struct {
		TaskID       string `json:"task_id"`
		RecordingDir string `json:"recording_dir"`
	}{TaskID: in.Value}
	if in.Data != nil {
		if err := in.Decode(&rec); err != nil {
			return nil, err
		}
	} else if strings.ContainsRune(in.Value, filepath.Separator) {
		rec.RecordingDir = env.Abs(in.Value)
	}
	if _, err := os.Stat(filepath.Join(rec.RecordingDir, recording.MetadataFile)); rec.RecordingDir != "" && err == nil {
		return recording.Open(filepath.Dir(rec.RecordingDir), filepath.Base(rec.RecordingDir))
	}
	if rec.TaskID == "" {
		return nil, wire.Errorf(wire.Usage, "no task is named")
	}
	s, err := recording.Open(dir, rec.TaskID)
	if errors.Is(err, recording.ErrNotFound) {
		e := wire.Errorf(wire.NotFound, "%w", err)
		e.Hint = "openspace-skills recordings list"
		return nil, e
	}
	return s, err
}

func pruneRecordings(ctx context.Context, env *cli.Env, dir string, f recordingFlags) error {
	keep, before, err := f.limits(time.Now())
	if err != nil {
		return err
	}
	all, err := saved(env, dir)
	if err != nil {
		return err
	}
	for _, s := range recording.Old(all, keep, before) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rec := wire.Result{Status: "success", Action: "prune", TaskID: s.TaskID, RecordingDir: s.Dir, Path: s.Dir, Message: "removed"}
		rec.SizeBytes, _ = s.Size()
		if f.dryRun {
			rec.Status, rec.DryRun, rec.Message = "preview", true, "would be removed"
		} else if err := s.Remove(); err != nil {
			if err := env.Out.Fail(fault.Of(err)); err != nil {
				return err
			}
			continue
		}
		if err := env.Out.Emit(rec); err != nil {
			return err
		}
	}
	if f.dryRun {
		return nil
	}
	return fault.Of(recording.Sweep(dir))
}

// limits reads what is to be kept. Without any limit nothing may be removed.
func (f recordingFlags) limits(now time.Time) (keep int, before time.Time, err error) {
	if f.keep == "" && f.older == "" {
		return 0, before, wire.Errorf(wire.Usage, "want --keep or --older-than")
	}
	keep = -1
	if f.keep != "" {
		if keep, err = strconv.Atoi(f.keep); err != nil || keep < 0 {
			return 0, before, wire.Errorf(wire.Usage, "--keep %q: want a number from 0", f.keep)
		}
	}
	if f.older != "" {
		age, err := parseAge(f.older)
		if err != nil {
			return 0, before, err
		}
		before = now.Add(-age)
	}
	return keep, before, nil
}

// parseAge reads a duration, which may be in days.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 36_500 {
			return time.Duration(n * 24 * float64(time.Hour)), nil
		}
	} else if age, err := time.ParseDuration(s); err == nil && age >= 0 {
		return age, nil
	}
	return 0, wire.Errorf(wire.Usage, "--older-than %q: want an age such as 30d or 12h", s)
}

// wholeRecording reads a recording with its steps and, when asked, its conversations.
func wholeRecording(env *cli.Env, s *recording.Saved, conversation bool) (whole, error) {
	steps, bad, err := s.Steps()
	if err != nil {
		return whole{}, err
	}
	sum, err := s.Summary()
	if err != nil {
		return whole{}, err
	}
	rec := whole{task: taskRecord(s, sum), Trajectory: steps}
	entries, damaged, err := s.Conversations()
	if conversation {
		for _, e := range entries {
			rec.Conversation = append(rec.Conversation, said{e})
		}
	}
	if bad += damaged; bad > 0 {
		env.Warn("%s: damaged lines that were passed over: %s", s.Name, fmt.Sprint(bad))
	}
	return rec, err
}
