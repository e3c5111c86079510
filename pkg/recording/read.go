package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// ErrNotFound tells that there is no recording of this name or id.
var ErrNotFound = errors.New("there is no such recording")

// Saved is a recording on disk. It may still be written to.
type Saved struct {
	Name string // of the folder
	Dir  string
	Metadata
}

// Open returns the recording with this folder name, else the newest of the task with this id. The error is
// ErrNotFound, wrapped, when there is none.
func Open(dir, id string) (*Saved, error) {
	if folderName(id) == id { // so it may be the name of a folder
		if s, err := load(filepath.Join(dir, id)); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
	}
	all, _, err := List(dir)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.TaskID == id {
			return s, nil
		}
	}
	return nil, fmt.Errorf("open recording %q in %q: %w", id, dir, ErrNotFound)
}

// List returns the recordings in a folder, newest first, and what could not be read. A missing folder is empty.
func List(dir string) (found []*Saved, problems []error, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("list recordings: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		s, err := load(filepath.Join(dir, e.Name()))
		if err != nil {
			problems = append(problems, err)
			continue
		}
		found = append(found, s)
	}
	slices.SortStableFunc(found, func(a, b *Saved) int {
		if c := b.StartTime.Compare(a.StartTime); c != 0 {
			return c
		}
		return strings.Compare(b.Name, a.Name)
	})
	return found, problems, nil
}

// load reads the metadata of a recording.
func load(dir string) (*Saved, error) {
	raw, err := os.ReadFile(filepath.Join(dir, MetadataFile))
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	s := &Saved{Name: filepath.Base(dir), Dir: dir}
	if err := json.Unmarshal(raw, &s.Metadata); err != nil {
		return nil, fmt.Errorf("read recording %q: %s: %w", dir, MetadataFile, err)
	}
	if s.Schema > Schema {
		return nil, fmt.Errorf("read recording %q: its schema is %d, this program knows %d", dir, s.Schema, Schema)
	}
	s.Other, err = otherKeys(raw)
	return s, err
}

// otherKeys returns the values that Metadata has no field for.
func otherKeys(raw []byte) (map[string]json.RawMessage, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, err
	}
	fields := reflect.TypeFor[Metadata]()
	for i := range fields.NumField() {
		key, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		delete(keys, key)
	}
	return keys, nil
}

// State is how the task ended: a status of its outcome, or "unfinished" when it runs or was killed.
func (s *Saved) State() string {
	switch {
	case s.EndTime.IsZero():
		return "unfinished"
	case s.ExecutionOutcome == nil || s.ExecutionOutcome.Status == "":
		return "unknown"
	}
	return s.ExecutionOutcome.Status
}

// Entry is a line of conversations.jsonl: one of the two is set.
type Entry struct {
	Setup     *Setup
	Iteration *Iteration
}

// Conversations returns the entries of all conversations in the order in which they were written, and how
// many lines were damaged. The last one may be an iteration whose calls run, or ran when the process was
// killed.
func (s *Saved) Conversations() (entries []Entry, bad int, err error) {
	for line, problem := range s.lines(ConversationsFile, &err) {
		var kind struct {
			Type string `json:"type"`
		}
		if problem != nil || json.Unmarshal(line, &kind) != nil {
			bad++
			continue
		}
		var e Entry
		switch kind.Type {
		case TypeSetup:
			e.Setup = &Setup{}
			problem = json.Unmarshal(line, e.Setup)
		case TypeIteration:
			e.Iteration = &Iteration{}
			problem = json.Unmarshal(line, e.Iteration)
		default:
			continue
		}
		if problem != nil {
			bad++
			continue
		}
		entries = append(entries, e)
	}
	if raw, problem := os.ReadFile(filepath.Join(s.Dir, PendingFile)); problem == nil {
		it := &Iteration{}
		if json.Unmarshal(raw, it) == nil && !has(entries, it) {
			entries = append(entries, Entry{Iteration: it})
		}
	}
	return entries, bad, err
}

// has tells whether the last entry is this iteration: its process was killed before the pending one was taken
// away.
func has(entries []Entry, it *Iteration) bool {
	if len(entries) == 0 {
		return false
	}
	last := entries[len(entries)-1].Iteration
	return last != nil && last.Agent == it.Agent && last.Phase == it.Phase && last.Iteration == it.Iteration
}

// Steps returns the calls of tools in their order, and how many lines were damaged.
func (s *Saved) Steps() (steps []Step, bad int, err error) {
	return read[Step](s, TrajectoryFile)
}

// Actions returns the runs of agents in their order, and how many lines were damaged.
func (s *Saved) Actions() (actions []Action, bad int, err error) {
	return read[Action](s, ActionsFile)
}

func read[T any](s *Saved, name string) (out []T, bad int, err error) {
	for line, problem := range s.lines(name, &err) {
		var v T
		if problem != nil || json.Unmarshal(line, &v) != nil {
			bad++
			continue
		}
		out = append(out, v)
	}
	return out, bad, err
}

// Summary returns the counts: those of summary.json, else counted from the lines.
func (s *Saved) Summary() (Summary, error) {
	raw, err := os.ReadFile(filepath.Join(s.Dir, SummaryFile))
	var sum Summary
	if err == nil && json.Unmarshal(raw, &sum) == nil {
		return sum, nil
	}
	sum = newSummary(s.Metadata)
	steps, _, err := s.Steps()
	for _, step := range steps {
		sum.addStep(step)
	}
	actions, _, problem := s.Actions()
	for _, a := range actions {
		sum.addAction(a)
	}
	return sum, errors.Join(err, problem)
}

// lines returns the lines of a file, which may be missing. A problem comes in place of a line that is too long.
func (s *Saved) lines(name string, failed *error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(filepath.Join(s.Dir, name))
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				*failed = fmt.Errorf("read recording: %w", err)
			}
			return
		}
		defer f.Close()
		for r := jsonl.NewReader(f); ; {
			line, err := r.Next()
			var long *jsonl.TooLongError
			switch {
			case err == io.EOF:
				return
			case err != nil && !errors.As(err, &long):
				*failed = fmt.Errorf("read recording %q: %w", name, err)
				return
			}
			if !yield(line.Data, err) {
				return
			}
		}
	}
}
