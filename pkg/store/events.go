package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// RecordAnalysis writes how a task went; the counters of the judged skills
// follow from it. It does nothing and reports false when the task has an
// analysis already. Of several judgments of one skill the first counts.
func (s *Store) RecordAnalysis(ctx context.Context, a Analysis) (recorded bool, err error) {
	if err := checkKey("task id", a.TaskID); err != nil {
		return false, err
	}
	now := s.opts.Now().UTC()
	if a.AnalyzedAt.IsZero() {
		a.AnalyzedAt = now
	}
	if a.Timestamp.IsZero() {
		a.Timestamp = now
	}
	a.ToolIssues = orEmpty(a.ToolIssues)
	a.EvolutionSuggestions = orEmpty(slices.Clone(a.EvolutionSuggestions))
	for i := range a.EvolutionSuggestions {
		a.EvolutionSuggestions[i].TargetSkills = orEmpty(a.EvolutionSuggestions[i].TargetSkills)
	}
	judged, seen := []Judgment{}, map[string]bool{}
	for _, j := range a.SkillJudgments {
		if !validID(j.SkillID) {
			return false, fmt.Errorf("record analysis: %w: judgment of %.80q", ErrInvalid, j.SkillID)
		}
		if !seen[j.SkillID] {
			judged = append(judged, j)
		}
		seen[j.SkillID] = true
	}
	a.SkillJudgments = judged
	err = s.writing(ctx, func(v *view) error {
		if _, ok := v.task(a.TaskID); ok {
			return nil
		}
		recorded = true
		return s.append(!s.opts.Fast, &event{Op: opAnalysis, Analysis: &a})
	})
	return recorded && err == nil, err
}

// RecordProcessed ends the pending state of a task's suggestions.
func (s *Store) RecordProcessed(ctx context.Context, p Processed) error {
	if err := checkKey("task id", p.TaskID); err != nil {
		return err
	}
	p.Outcomes = orEmpty(p.Outcomes)
	return s.record(ctx, &event{Op: opProcessed, Processed: &p})
}

// RecordMark remembers what a trigger has seen.
func (s *Store) RecordMark(ctx context.Context, m Mark) error {
	for _, part := range []string{m.Kind, m.Key, m.SkillID} {
		if strings.Contains(part, nul) {
			return fmt.Errorf("record mark: %w: %q", ErrInvalid, part)
		}
	}
	return s.record(ctx, &event{Op: opMark, Mark: &m})
}

// RecordTool writes calls of tools.
func (s *Store) RecordTool(ctx context.Context, samples ...ToolSample) error {
	var events []*event
	for i := range samples {
		if err := checkKey("tool key", samples[i].Key); err != nil {
			return err
		}
		samples[i].MS = max(samples[i].MS, 0)
		events = append(events, &event{Op: opTool, Tool: &samples[i]})
	}
	if len(events) == 0 {
		return nil
	}
	return s.writing(ctx, func(*view) error { return s.append(!s.opts.Fast, events...) })
}

// RecordAttempt writes one try to change a skill.
func (s *Store) RecordAttempt(ctx context.Context, a Attempt) error {
	for _, target := range a.Targets {
		if !validID(target) {
			return fmt.Errorf("record attempt: %w: target %.80q", ErrInvalid, target)
		}
	}
	a.Targets = orEmpty(a.Targets)
	return s.record(ctx, &event{Op: opAttempt, Attempt: &a})
}

// orEmpty makes an empty list of a nil one, so that JSON has no null for it.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// checkKey refuses what cannot be a key of the fold.
func checkKey(what, key string) error {
	if key == "" || strings.Contains(key, nul) {
		return fmt.Errorf("%w: %s %.80q", ErrInvalid, what, key)
	}
	return nil
}

// Analysis returns the analysis of a task.
func (s *Store) Analysis(taskID string) (a Analysis, ok bool, err error) {
	err = s.read(func(v *view) error {
		var t task
		if t, ok = v.task(taskID); !ok {
			return nil
		}
		a, err = s.analysisAt(t.at)
		return err
	})
	return a, ok && err == nil, err
}

func (s *Store) analysisAt(at place) (Analysis, error) {
	var e event
	if err := s.eventAt(at, &e); err != nil {
		return Analysis{}, err
	}
	if e.Analysis == nil {
		return Analysis{}, fmt.Errorf("%w: no analysis in its journal line", ErrCorrupt)
	}
	return *e.Analysis, nil
}

// Analyses returns the latest analyses that judged a skill, at most limit,
// oldest first.
func (s *Store) Analyses(id string, limit int) (out []Analysis, err error) {
	err = s.read(func(v *view) error {
		out = nil
		for _, at := range v.places(keyJudged+id+nul, limit) {
			a, err := s.analysisAt(at)
			if err != nil {
				return err
			}
			out = append(out, a)
		}
		return nil
	})
	slices.Reverse(out)
	return out, err
}

// places collects the values of the first limit keys with a prefix.
func (v *view) places(prefix string, limit int) (out []place) {
	v.scan(prefix, func(_ string, value []byte) bool {
		if len(out) < limit {
			f := fields(value)
			out = append(out, f.place())
		}
		return len(out) < limit
	})
	return out
}

// Attempts returns the latest attempts on a skill, at most limit, oldest first.
func (s *Store) Attempts(id string, limit int) (out []Attempt, err error) {
	err = s.read(func(v *view) error {
		out = nil
		for _, at := range v.places(keyAttempt+id+nul, limit) {
			var e event
			if err := s.eventAt(at, &e); err != nil {
				return err
			}
			if e.Attempt != nil {
				out = append(out, *e.Attempt)
			}
		}
		return nil
	})
	slices.Reverse(out)
	return out, err
}

// Pending returns the analyses whose suggestions nobody has processed, oldest
// first, at most limit.
func (s *Store) Pending(limit int) (out []Analysis, err error) {
	err = s.read(func(v *view) error {
		var tasks []string
		v.scan(keyPending, func(_ string, value []byte) bool {
			if len(tasks) < limit {
				tasks = append(tasks, string(value))
			}
			return len(tasks) < limit
		})
		out = nil
		for _, id := range tasks {
			t, _ := v.task(id)
			a, err := s.analysisAt(t.at)
			if err != nil {
				return err
			}
			out = append(out, a)
		}
		return nil
	})
	return out, err
}

// MarkState returns the last state of a mark; m.State is not looked at.
func (s *Store) MarkState(m Mark) (state string, ok bool, err error) {
	err = s.read(func(v *view) error {
		var b []byte
		b, ok = v.get(markKey(m))
		state = string(b)
		return nil
	})
	return state, ok, err
}

// Tool sums up the samples of one tool.
func (s *Store) Tool(key string) (out ToolStats, err error) {
	err = s.read(func(v *view) error {
		out = v.toolStats(key)
		return nil
	})
	return out, err
}
