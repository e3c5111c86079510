package wire

// The record types.
const (
	TypeQuery    = "query"
	TypeHit      = "hit"
	TypeSkill    = "skill"
	TypeProblem  = "problem"
	TypeFinding  = "finding"
	TypeVersion  = "version"
	TypeFile     = "file"
	TypeDiff     = "diff"
	TypeImported = "imported"
	TypeUpload   = "upload"
	TypeSetting  = "setting"
	TypeTask     = "task"
	TypeStep     = "step"
	TypeTool     = "tool"
	TypeText     = "text"
	TypeUsage    = "usage"
	TypeAnswer   = "answer"
	TypeResult   = "result"
	TypeError    = "error"
	TypeSummary  = "summary"
)

// Record is what a command writes. Records are values or pointers to them; Typed returns a copy whose
// type field is set, so that nobody has to write it down.
type Record interface {
	Rower
	Typed() Record
}

// Query asks for skills.
type Query struct {
	Type   string `json:"type"`
	ID     string `json:"id,omitempty"`     // absent: the number of its line
	Query  string `json:"query"`            // the text to look for
	Limit  int    `json:"limit,omitempty"`  // absent: the command's
	Source string `json:"source,omitempty"` // local, cloud or all; absent: the command's
	Done   bool   `json:"done,omitempty"`   // a result record is to follow the last hit, for a reader that waits for it
}

// Hit is one skill found for a query, best first.
type Hit struct {
	Type             string   `json:"type"`
	ID               string   `json:"id,omitempty"`
	Rank             int      `json:"rank"` // from 1
	SkillID          string   `json:"skill_id"`
	SkillDir         string   `json:"skill_dir,omitempty"`
	Name             string   `json:"name"`
	Description      string   `json:"description"`
	Source           string   `json:"source"`
	Score            float64  `json:"score"` // greater than 0, comparable between queries
	Path             string   `json:"path,omitempty"`
	VectorScore      *float64 `json:"vector_score,omitempty"`
	ServerSearchRank *float64 `json:"server_search_rank,omitempty"`
	Visibility       string   `json:"visibility,omitempty"`
	CreatedBy        string   `json:"created_by,omitempty"`
	Origin           string   `json:"origin,omitempty"`
	Tags             []string `json:"tags,omitempty"`
	Quality          *Quality `json:"quality,omitempty"`
	SafetyFlags      []string `json:"safety_flags,omitempty"`
	AutoImported     bool     `json:"auto_imported,omitempty"` // it came from the registry with this search
	LocalPath        string   `json:"local_path,omitempty"`    // the folder of a skill of the registry that is here, too
	Explain          any      `json:"explain,omitempty"`       // how the score came about; its shape may change
	Warnings         []string `json:"warnings,omitempty"`
}

// Quality is what earlier uses of a skill say about it.
type Quality struct {
	TotalSelections int     `json:"total_selections"`
	CompletionRate  float64 `json:"completion_rate"` // completions by applications, 0 to 1
	EffectiveRate   float64 `json:"effective_rate"`  // completions by selections, 0 to 1
}

// Skill is one skill folder.
type Skill struct {
	Type           string    `json:"type"`
	ID             string    `json:"id,omitempty"`
	SkillID        string    `json:"skill_id"`
	SkillDir       string    `json:"skill_dir,omitempty"`
	Name           string    `json:"name"`
	Description    string    `json:"description,omitempty"`
	Path           string    `json:"path,omitempty"` // of the skill file
	Root           string    `json:"root,omitempty"` // the skill root it was found under
	Source         string    `json:"source,omitempty"`
	License        string    `json:"license,omitempty"`
	Compatibility  string    `json:"compatibility,omitempty"`
	AllowedTools   *[]string `json:"allowed_tools,omitempty"` // absent: not restricted; empty: no tool
	Tags           []string  `json:"tags,omitempty"`
	Version        string    `json:"version,omitempty"`
	Author         string    `json:"author,omitempty"`
	Homepage       string    `json:"homepage,omitempty"`
	Origin         string    `json:"origin,omitempty"`
	Generation     int       `json:"generation,omitempty"`
	ParentSkillIDs []string  `json:"parent_skill_ids,omitempty"`
	ChangeSummary  string    `json:"change_summary,omitempty"`
	UploadReady    bool      `json:"upload_ready,omitempty"` // a new version, as it lies in its folder
	Quality        *Quality  `json:"quality,omitempty"`
	SafetyFlags    []string  `json:"safety_flags,omitempty"`
	ShadowedBy     string    `json:"shadowed_by,omitempty"` // folder of the skill of the same name that is used instead
	Problems       []Problem `json:"problems,omitempty"`
	Body           string    `json:"body,omitempty"`
}

// Problem is a diagnostic about a skill, a folder or a setting.
type Problem struct {
	Type     string `json:"type"`
	ID       string `json:"id,omitempty"`
	Code     string `json:"code"`     // stable, kebab-case
	Severity string `json:"severity"` // error, warning or info
	Path     string `json:"path,omitempty"`
	Line     int    `json:"line,omitempty"`   // from 1
	Column   int    `json:"column,omitempty"` // from 1
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Fixable  bool   `json:"fixable,omitempty"`
	SkillDir string `json:"skill_dir,omitempty"`
}

// Finding is what a safety rule found in a file.
type Finding struct {
	Type     string `json:"type"`
	ID       string `json:"id,omitempty"`
	Rule     string `json:"rule"`     // stable, kebab-case
	Flag     string `json:"flag"`     // such as suspicious.script
	Severity string `json:"severity"` // critical, high, medium or low
	Verdict  string `json:"verdict"`  // what the policy makes of it: block, warn or allow
	SkillDir string `json:"skill_dir,omitempty"`
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"`
	Excerpt  string `json:"excerpt,omitempty"`
}

// Version is one version of a skill in the store.
type Version struct {
	Type           string   `json:"type"`
	ID             string   `json:"id,omitempty"`
	SkillID        string   `json:"skill_id"`
	SkillDir       string   `json:"skill_dir,omitempty"`
	Name           string   `json:"name"`
	Origin         string   `json:"origin"`
	Generation     int      `json:"generation"`
	ParentSkillIDs []string `json:"parent_skill_ids,omitempty"`
	Active         bool     `json:"active,omitempty"`
	ChangeSummary  string   `json:"change_summary,omitempty"`
	CreatedBy      string   `json:"created_by,omitempty"`
	CreatedAt      string   `json:"created_at,omitempty"`
	Digest         string   `json:"digest,omitempty"` // of all files, sha256 in hex
	Files          int      `json:"files,omitempty"`
}

// File is one file of a skill or an archive. Data holds at most 512 KiB.
type File struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Path      string `json:"path"` // below the skill folder, with slashes
	SkillDir  string `json:"skill_dir,omitempty"`
	SizeBytes int64  `json:"size_bytes"`
	Mode      string `json:"mode,omitempty"` // octal: 0644 or 0755
	SHA256    string `json:"sha256,omitempty"`
	LeftOut   string `json:"left_out,omitempty"` // why the file does not belong to the skill
	Data      []byte `json:"data,omitempty"`     // base64
}

// Diff is the change of one file between two versions.
type Diff struct {
	Type     string `json:"type"`
	ID       string `json:"id,omitempty"`
	SkillDir string `json:"skill_dir,omitempty"`
	From     string `json:"from"` // skill id, or "disk"
	To       string `json:"to"`
	Path     string `json:"path"`
	Change   string `json:"change"`         // added, removed or modified
	Diff     string `json:"diff,omitempty"` // unified; absent for a file that is not text
}

// Imported is a skill that came from a registry or an archive, or that was there already.
type Imported struct {
	Type            string   `json:"type"`
	ID              string   `json:"id,omitempty"`
	Status          string   `json:"status"` // success, already_exists, updated, unchanged, available, pinned or local
	SkillID         string   `json:"skill_id"`
	Name            string   `json:"name"`
	Description     string   `json:"description,omitempty"`
	SkillDir        string   `json:"skill_dir,omitempty"`
	LocalPath       string   `json:"local_path,omitempty"` // the same, under its older name
	PreviousSkillID string   `json:"previous_skill_id,omitempty"`
	LatestSkillID   string   `json:"latest_skill_id,omitempty"` // of a newer version that was not taken
	Visibility      string   `json:"visibility,omitempty"`
	Origin          string   `json:"origin,omitempty"`
	ParentSkillIDs  []string `json:"parent_skill_ids,omitempty"`
	CreatedBy       string   `json:"created_by,omitempty"`
	SignedBy        string   `json:"signed_by,omitempty"` // fingerprint of the key
	SafetyFlags     []string `json:"safety_flags,omitempty"`
	DryRun          bool     `json:"dry_run,omitempty"`
	Warnings        []string `json:"warnings,omitempty"`
	Files           []string `json:"files,omitempty"` // that were written, below the folder
}

// Upload says what became of a skill folder that was to be published.
type Upload struct {
	Type             string   `json:"type"`
	ID               string   `json:"id,omitempty"`
	Status           string   `json:"status"`           // success, duplicate or dry_run
	Action           string   `json:"action,omitempty"` // of a success: created or exists (idempotent)
	RecordID         string   `json:"record_id,omitempty"`
	SkillID          string   `json:"skill_id,omitempty"` // the same, as the other records call it
	SkillDir         string   `json:"skill_dir"`
	Name             string   `json:"name"`
	Description      string   `json:"description,omitempty"`
	Visibility       string   `json:"visibility"`
	Origin           string   `json:"origin,omitempty"`
	ParentSkillIDs   []string `json:"parent_skill_ids,omitempty"`
	Tags             []string `json:"tags,omitempty"`
	CreatedBy        string   `json:"created_by,omitempty"`
	ChangeSummary    string   `json:"change_summary,omitempty"`
	ArtifactID       string   `json:"artifact_id,omitempty"`
	FileCount        int      `json:"file_count"`
	SizeBytes        int64    `json:"size_bytes,omitempty"` // of the files
	LeftOut          int      `json:"left_out,omitempty"`   // files and folders that stay here
	ExistingRecordID string   `json:"existing_record_id,omitempty"`
	SignedBy         string   `json:"signed_by,omitempty"`
	Message          string   `json:"message,omitempty"`
	Warnings         []string `json:"warnings,omitempty"`
}

// Setting is an effective setting and where it came from.
type Setting struct {
	Type     string   `json:"type"`
	ID       string   `json:"id,omitempty"`
	Name     string   `json:"name"`
	Value    string   `json:"value"` // masked when it is a secret
	Source   string   `json:"source"`
	Where    string   `json:"where,omitempty"`
	Shadowed []string `json:"shadowed,omitempty"` // sources that say something else and lose
}

// Result says how an input ended that is not answered by a more telling record. The second half is about tasks.
type Result struct {
	Type          string  `json:"type"`
	ID            string  `json:"id,omitempty"`
	Status        string  `json:"status"` // such as success, unchanged or failed; of a task: success, incomplete, error or canceled
	Action        string  `json:"action,omitempty"`
	SkillID       string  `json:"skill_id,omitempty"`
	SkillDir      string  `json:"skill_dir,omitempty"`
	Path          string  `json:"path,omitempty"`
	Message       string  `json:"message,omitempty"`
	DryRun        bool    `json:"dry_run,omitempty"`
	Count         int     `json:"count,omitempty"`
	SizeBytes     int64   `json:"size_bytes,omitempty"`
	NewSkill      *Skill  `json:"new_skill,omitempty"` // of a repair: the version that it made
	EvolvedSkills []Skill `json:"evolved_skills,omitempty"`

	TaskID         string       `json:"task_id,omitempty"`
	Response       string       `json:"response,omitempty"`       // the answer, or what is known when there is none
	ExecutionTime  float64      `json:"execution_time,omitempty"` // seconds until the answer
	ElapsedMS      int64        `json:"elapsed_ms,omitempty"`     // until this record
	Iterations     int          `json:"iterations,omitempty"`     // calls of the model that did the work, of all phases
	SkillsUsed     []string     `json:"skills_used,omitempty"`    // ids of what was chosen, and of what was asked for on the way
	ToolCallCount  int          `json:"tool_call_count,omitempty"`
	ToolSummary    []ToolCall   `json:"tool_summary,omitempty"` // the first 20
	Warning        string       `json:"warning,omitempty"`      // why the task is incomplete
	Warnings       []string     `json:"warnings,omitempty"`     // what made the run less than it could be
	ActionRequired string       `json:"action_required,omitempty"`
	ImportedSkills []Import     `json:"imported_skills,omitempty"`
	Error          *Error       `json:"error,omitempty"` // why the task failed
	Model          string       `json:"model,omitempty"`
	Tokens         *Tokens      `json:"tokens,omitempty"`
	Cost           float64      `json:"cost,omitempty"` // US dollars
	Phases         []Phase      `json:"phases,omitempty"`
	WorkspaceDir   string       `json:"workspace_dir,omitempty"`
	RecordingDir   string       `json:"recording_dir,omitempty"`
	Files          []FileChange `json:"files,omitempty"` // of the workspace
}

// Summary is the last record of a run; a stream without it was cut off.
type Summary struct {
	Type      string   `json:"type"`
	In        int      `json:"in"`                 // inputs: arguments or lines
	Out       int      `json:"out"`                // records written, without errors and the summary
	Errors    int      `json:"errors"`             // error records written
	Skipped   int      `json:"skipped"`            // input records of a type that the command does not read
	Index     string   `json:"index,omitempty"`    // of a search: whether the index was compared with the disk (checked, unchecked or stale)
	Warnings  []string `json:"warnings,omitempty"` // what makes the answer less than it could be, such as a registry that was not reached
	ElapsedMS int64    `json:"elapsed_ms"`
}
