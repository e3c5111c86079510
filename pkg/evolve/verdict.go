package evolve

import (
	"errors"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/store"
)

// maxSuggestions is how many suggestions of one analysis are taken.
const maxSuggestions = 3

// Types of suggestions, as the store has them.
const (
	fixType      = "fix"
	derivedType  = "derived"
	capturedType = "captured"
)

// verdict is what a model made of a run.
type verdict struct {
	completed   bool
	note        string
	issues      []string
	judgments   map[string]store.Judgment
	suggestions []store.Suggestion
}

var errNoVerdict = errors.New("there is no JSON object with task_completed in the answer")

// parseVerdict reads an answer. What cannot be read in it is left out; only an answer without an object is an error.
func parseVerdict(text string, run Run) (verdict, error) {
	obj, ok := object(text, "task_completed")
	if !ok {
		return verdict{}, errNoVerdict
	}
	ids := run.ids()
	v := verdict{completed: truth(obj["task_completed"]), note: line(words(obj["execution_note"]), 1000), judgments: judgments(obj["skill_judgments"], ids)}
	for _, entry := range list(obj["tool_issues"]) {
		if text := issue(entry); text != "" && len(v.issues) < 20 {
			v.issues = append(v.issues, text)
		}
	}
	for _, entry := range list(obj["evolution_suggestions"]) {
		if s, ok := suggestion(entry, ids); ok {
			v.suggestions = merged(v.suggestions, s)
		}
	}
	v.suggestions = v.suggestions[:min(len(v.suggestions), maxSuggestions)]
	return v, nil
}

// hide masks all texts of a verdict: it is journaled, and a model may have seen what the mask does not find in another form.
func (v *verdict) hide(mask func(string) string) {
	v.note = mask(v.note)
	for i := range v.issues {
		v.issues[i] = mask(v.issues[i])
	}
	for id, j := range v.judgments {
		j.Note = mask(j.Note)
		v.judgments[id] = j
	}
	for i := range v.suggestions {
		v.suggestions[i].Direction = mask(v.suggestions[i].Direction)
	}
}

// issue reads one issue of a tool: a text, or an object of key and text.
func issue(v any) string {
	if m, ok := v.(map[string]any); ok {
		key := words(m["key"])
		if key == "" {
			key = words(m["tool"])
		}
		for _, k := range []string{"text", "issue", "symptom", "note"} {
			if t := words(m[k]); key != "" && t != "" {
				return line(key+" — "+t, 500)
			}
		}
		return ""
	}
	return line(words(v), 500)
}

// judgments reads one judgment per offered id; of several the first counts.
func judgments(v any, ids []string) map[string]store.Judgment {
	out := map[string]store.Judgment{}
	for _, entry := range list(v) {
		m, _ := entry.(map[string]any)
		id, ok := repairID(words(m["skill_id"]), ids)
		if _, again := out[id]; !ok || again {
			continue
		}
		out[id] = store.Judgment{SkillID: id, SkillApplied: truth(m["skill_applied"]), Note: line(words(m["note"]), 500)}
	}
	return out
}

// suggestion reads one suggestion and checks how many targets it has.
func suggestion(v any, ids []string) (store.Suggestion, bool) {
	m, _ := v.(map[string]any)
	s := store.Suggestion{Type: strings.ToLower(words(m["type"])), Direction: line(words(m["direction"]), 1000), TargetSkills: []string{}}
	if c := strings.ToLower(words(m["category"])); slices.Contains(categories, c) {
		s.Category = c
	}
	targets := list(m["target_skills"])
	if len(targets) == 0 {
		targets = list(m["target_skill"])
	}
	for _, t := range targets {
		if id, ok := repairID(words(t), ids); ok && !slices.Contains(s.TargetSkills, id) {
			s.TargetSkills = append(s.TargetSkills, id)
		}
	}
	switch s.Type {
	case fixType:
		return s, len(s.TargetSkills) == 1 && s.Direction != ""
	case derivedType:
		return s, len(s.TargetSkills) > 0 && s.Direction != ""
	case capturedType:
		s.TargetSkills = []string{}
		return s, s.Direction != ""
	}
	return s, false
}

var categories = []string{"tool_guide", "workflow", "reference"}

// merged adds a suggestion; two fixes of one skill become one, for they would work on the same folder.
func merged(all []store.Suggestion, s store.Suggestion) []store.Suggestion {
	for i := range all {
		if all[i].Type == fixType && s.Type == fixType && all[i].TargetSkills[0] == s.TargetSkills[0] {
			if !strings.Contains(all[i].Direction, s.Direction) {
				all[i].Direction += " Also: " + s.Direction
			}
			return all
		}
	}
	return append(all, s)
}

// into puts a verdict into the analysis of a run, which has a judgment for each offered skill already.
func (v verdict) into(a *store.Analysis) {
	a.TaskCompleted, a.ExecutionNote = v.completed, v.note
	if v.issues != nil {
		a.ToolIssues = v.issues
	}
	if v.suggestions != nil {
		a.EvolutionSuggestions = v.suggestions
	}
	for i := range a.SkillJudgments {
		j := &a.SkillJudgments[i]
		said, ok := v.judgments[j.SkillID]
		if !ok {
			said = store.Judgment{SkillID: j.SkillID, Note: "not judged"}
		}
		said.Fallback = j.Fallback
		*j = said
	}
}
