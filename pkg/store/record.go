package store

import (
	"path/filepath"
	"time"
)

// How a version came to exist. Other values are kept and shown as they are.
const (
	OriginImported = "imported"
	OriginCaptured = "captured"
	OriginDerived  = "derived"
	OriginFixed    = "fixed"
)

// Human is the CreatedBy of versions that somebody made by hand.
const Human = "human"

// Record is one version of a skill as the store knows it.
type Record struct {
	SkillID          string    `json:"skill_id"`
	Name             string    `json:"name"`
	Description      string    `json:"description"`
	Path             string    `json:"path"` // of the skill file, absolute
	IsActive         bool      `json:"is_active"`
	Category         string    `json:"category"`
	Tags             []string  `json:"tags"`
	Visibility       string    `json:"visibility"`
	CreatorID        string    `json:"creator_id"`
	Lineage          Lineage   `json:"lineage"`
	ToolDependencies []string  `json:"tool_dependencies"`
	CriticalTools    []string  `json:"critical_tools"`
	FirstSeen        time.Time `json:"first_seen"`
	LastUpdated      time.Time `json:"last_updated"`
}

// Dir is the canonical folder of the record.
func (r Record) Dir() string { return filepath.Dir(r.Path) }

// Lineage tells where a version comes from. Tree is the hash of its manifest.
type Lineage struct {
	Origin         string    `json:"origin"`
	Generation     int       `json:"generation"`
	ParentSkillIDs []string  `json:"parent_skill_ids"`
	SourceTaskID   string    `json:"source_task_id,omitempty"`
	ChangeSummary  string    `json:"change_summary"`
	Tree           string    `json:"tree"`
	Restores       string    `json:"restores,omitempty"` // the id whose files a rollback brought back
	CreatedAt      time.Time `json:"created_at"`
	CreatedBy      string    `json:"created_by"`
}

// Counters are counted from the analyses of one version.
type Counters struct {
	Selections  int `json:"total_selections"`
	Applied     int `json:"total_applied"`
	Completions int `json:"total_completions"`
	Fallbacks   int `json:"total_fallbacks"`
	// Last is when the last counted analysis was written; zero if none was.
	Last time.Time `json:"-"`
}

// AppliedRate is applied / selections, 0 without selections.
func (c Counters) AppliedRate() float64 { return rate(c.Applied, c.Selections) }

// CompletionRate is completions / applied, 0 when never applied.
func (c Counters) CompletionRate() float64 { return rate(c.Completions, c.Applied) }

// EffectiveRate is completions / selections, 0 without selections.
func (c Counters) EffectiveRate() float64 { return rate(c.Completions, c.Selections) }

// FallbackRate is fallbacks / selections, 0 without selections.
func (c Counters) FallbackRate() float64 { return rate(c.Fallbacks, c.Selections) }

func rate(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Analysis tells how one task went and what could be learnt from it.
type Analysis struct {
	TaskID               string       `json:"task_id"`
	Timestamp            time.Time    `json:"timestamp"`
	TaskCompleted        bool         `json:"task_completed"`
	ExecutionNote        string       `json:"execution_note"`
	ToolIssues           []string     `json:"tool_issues"`
	SkillJudgments       []Judgment   `json:"skill_judgments"`
	EvolutionSuggestions []Suggestion `json:"evolution_suggestions"`
	AnalyzedBy           string       `json:"analyzed_by"`
	AnalyzedAt           time.Time    `json:"analyzed_at"`
	RecDir               string       `json:"rec_dir,omitempty"`
	Run                  *RunFigures  `json:"run,omitempty"`
}

// RunFigures is what the run of a task took, so that versions of a skill can be compared.
type RunFigures struct {
	Status     string  `json:"status"` // as the run itself saw it
	Iterations int     `json:"iterations"`
	Tokens     int64   `json:"tokens"`
	CostUSD    float64 `json:"cost_usd,omitempty"`
	MS         int64   `json:"ms"`
}

// Judgment tells whether a selected skill was used in a task.
type Judgment struct {
	SkillID      string `json:"skill_id"`
	SkillApplied bool   `json:"skill_applied"`
	Note         string `json:"note"`
	// Fallback: the task was done, or tried, once more without the skill, so it counts as a fallback and never as a completion.
	Fallback bool `json:"fallback,omitempty"`
}

// Suggestion is a change that an analysis proposes.
type Suggestion struct {
	Type         string   `json:"type"`
	TargetSkills []string `json:"target_skills"`
	Category     string   `json:"category,omitempty"`
	Direction    string   `json:"direction"`
}

// Processed tells what became of the suggestions of an analysis.
type Processed struct {
	TaskID   string    `json:"task_id"`
	Outcomes []Outcome `json:"outcomes"`
}

// Outcome is done, failed, rejected or superseded.
type Outcome struct {
	Outcome string   `json:"outcome"`
	Targets []string `json:"targets,omitempty"`
	NewIDs  []string `json:"new_ids,omitempty"`
}

// Mark is what a trigger has seen already; the last State of a (Kind, Key,
// SkillID) holds.
type Mark struct {
	Kind    string `json:"kind"`
	Key     string `json:"key"`
	SkillID string `json:"skill_id"`
	State   string `json:"state"`
}

// ToolSample is one call of a tool.
type ToolSample struct {
	Key   string `json:"key"`
	OK    bool   `json:"ok"`
	MS    int64  `json:"ms"`
	Error string `json:"error,omitempty"`
}

// ToolStats sums up the samples of one tool.
type ToolStats struct {
	Calls int   `json:"calls"`
	OK    int   `json:"ok"`
	MS    int64 `json:"ms"` // of all calls together
	// Of the last 64 calls: how many are known, and how many of them went well.
	Recent   int `json:"recent"`
	RecentOK int `json:"recent_ok"`
}

// RecentRate is the share of the recent calls that went well, 1 without any.
func (s ToolStats) RecentRate() float64 {
	if s.Recent == 0 {
		return 1
	}
	return rate(s.RecentOK, s.Recent)
}

// Attempt is one try to change a skill, also when nothing came of it.
type Attempt struct {
	ID      string   `json:"id"`
	Trigger string   `json:"trigger"`
	Type    string   `json:"type"`
	Targets []string `json:"targets"`
	Outcome string   `json:"outcome"`
	Error   string   `json:"error,omitempty"`
	NewID   string   `json:"new_id,omitempty"`
	Tokens  int64    `json:"tokens,omitempty"`
	CostUSD float64  `json:"cost_usd,omitempty"`
	MS      int64    `json:"ms,omitempty"`
}
