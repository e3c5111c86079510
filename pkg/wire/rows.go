package wire

import (
	"cmp"
	"strconv"
	"strings"
)

// Rower is a record as a row of the table and of the plain output. The columns of a type are stable: a
// new one is added at the end.
type Rower interface {
	Columns() []string // headings, the same for every record of a type
	Cells() []string   // one for each column
}

// Typed returns a copy of the record with its type set.
func (r Query) Typed() Record    { r.Type = TypeQuery; return r }
func (r Hit) Typed() Record      { r.Type = TypeHit; return r }
func (r Skill) Typed() Record    { r.Type = TypeSkill; r.Problems = typed(r.Problems); return r }
func (r Problem) Typed() Record  { r.Type = TypeProblem; return r }
func (r Finding) Typed() Record  { r.Type = TypeFinding; return r }
func (r Version) Typed() Record  { r.Type = TypeVersion; return r }
func (r File) Typed() Record     { r.Type = TypeFile; return r }
func (r Diff) Typed() Record     { r.Type = TypeDiff; return r }
func (r Imported) Typed() Record { r.Type = TypeImported; return r }
func (r Upload) Typed() Record   { r.Type = TypeUpload; return r }
func (r Setting) Typed() Record  { r.Type = TypeSetting; return r }
func (r Task) Typed() Record     { r.Type = TypeTask; return r }
func (r Step) Typed() Record     { r.Type = TypeStep; return r }
func (r Result) Typed() Record {
	r.Type = TypeResult
	r.EvolvedSkills = typed(r.EvolvedSkills)
	if r.NewSkill != nil {
		s := r.NewSkill.Typed().(Skill)
		r.NewSkill = &s
	}
	if r.Error != nil {
		e := r.Error.Typed().(Error)
		r.Error = &e
	}
	return r
}
func (r Tool) Typed() Record    { r.Type = TypeTool; return r }
func (r Text) Typed() Record    { r.Type = TypeText; return r }
func (r Spent) Typed() Record   { r.Type = TypeUsage; return r }
func (r Answer) Typed() Record  { r.Type = TypeAnswer; return r }
func (r Error) Typed() Record   { r.Type = TypeError; return r }
func (r Summary) Typed() Record { r.Type = TypeSummary; return r }

// typed returns copies of records that stand inside another one, with their types set.
func typed[R Record](in []R) []R {
	if len(in) == 0 {
		return in
	}
	out := make([]R, len(in))
	for i, r := range in {
		out[i] = r.Typed().(R)
	}
	return out
}

// Columns and Cells make the rows of the table. On a narrow terminal columns on the right are left out, so
// what people look for comes first.
func (Query) Columns() []string { return []string{"ID", "QUERY"} }
func (r Query) Cells() []string { return []string{r.ID, r.Query} }

func (Hit) Columns() []string {
	return []string{"RANK", "SCORE", "NAME", "DESCRIPTION", "SOURCE", "SKILL ID", "DIRECTORY"}
}
func (r Hit) Cells() []string {
	return []string{strconv.Itoa(r.Rank), strconv.FormatFloat(r.Score, 'f', 3, 64), r.Name, r.Description,
		r.Source, r.SkillID, r.SkillDir}
}

func (Skill) Columns() []string {
	return []string{"NAME", "DESCRIPTION", "SKILL ID", "DIRECTORY"}
}
func (r Skill) Cells() []string { return []string{r.Name, r.Description, r.SkillID, r.SkillDir} }

func (Problem) Columns() []string {
	return []string{"SEVERITY", "CODE", "WHERE", "MESSAGE", "HINT"}
}
func (r Problem) Cells() []string {
	return []string{r.Severity, r.Code, where(r.Path, r.Line, r.Column), r.Message, r.Hint}
}

func (Finding) Columns() []string {
	return []string{"VERDICT", "SEVERITY", "RULE", "WHERE", "MESSAGE", "EXCERPT"}
}
func (r Finding) Cells() []string {
	return []string{r.Verdict, r.Severity, r.Rule, where(r.Path, r.Line, r.Column), r.Message, r.Excerpt}
}

func (Version) Columns() []string {
	return []string{"GENERATION", "SKILL ID", "ORIGIN", "ACTIVE", "CREATED", "CHANGE"}
}
func (r Version) Cells() []string {
	return []string{strconv.Itoa(r.Generation), r.SkillID, r.Origin, yes(r.Active), r.CreatedAt, r.ChangeSummary}
}

func (File) Columns() []string { return []string{"MODE", "SIZE", "PATH", "LEFT OUT"} }
func (r File) Cells() []string {
	return []string{r.Mode, strconv.FormatInt(r.SizeBytes, 10), r.Path, r.LeftOut}
}

func (Diff) Columns() []string { return nil }
func (Diff) Cells() []string   { return nil }

func (Imported) Columns() []string {
	return []string{"STATUS", "NAME", "SKILL ID", "DIRECTORY", "SIGNED BY"}
}
func (r Imported) Cells() []string {
	return []string{r.Status, r.Name, r.SkillID, r.SkillDir, r.SignedBy}
}

func (Upload) Columns() []string {
	return []string{"STATUS", "ACTION", "NAME", "RECORD ID", "VISIBILITY", "FILES", "DIRECTORY"}
}
func (r Upload) Cells() []string {
	return []string{r.Status, r.Action, r.Name, r.RecordID, r.Visibility, strconv.Itoa(r.FileCount), r.SkillDir}
}

func (Setting) Columns() []string { return []string{"NAME", "VALUE", "SOURCE", "WHERE", "SHADOWED"} }
func (r Setting) Cells() []string {
	return []string{r.Name, r.Value, r.Source, r.Where, strings.Join(r.Shadowed, ", ")}
}

func (Task) Columns() []string { return []string{"ID", "TASK", "WORKSPACE"} }
func (r Task) Cells() []string { return []string{r.ID, r.Task, cmp.Or(r.WorkspaceDir, r.Workspace)} }

func (Step) Columns() []string { return []string{"STEP", "KIND", "MESSAGE"} }
func (r Step) Cells() []string { return []string{strconv.Itoa(r.Step), r.Kind, r.Message} }

func (Tool) Columns() []string { return []string{"STATUS", "TOOL", "SUMMARY", "ERROR"} }
func (r Tool) Cells() []string { return []string{r.Status, r.Name, r.Summary, r.Error} }

func (Text) Columns() []string { return nil }
func (Text) Cells() []string   { return nil }

func (Spent) Columns() []string { return []string{"PHASE", "INPUT", "OUTPUT", "COST"} }
func (r Spent) Cells() []string {
	return []string{r.Phase, strconv.FormatInt(r.Tokens.Input, 10), strconv.FormatInt(r.Tokens.Output, 10),
		strconv.FormatFloat(r.Cost, 'f', -1, 64)}
}

func (Answer) Columns() []string { return nil }
func (Answer) Cells() []string   { return nil }

func (Result) Columns() []string {
	return []string{"STATUS", "ACTION", "SKILL ID", "DIRECTORY", "PATH", "MESSAGE"}
}
func (r Result) Cells() []string {
	return []string{r.Status, r.Action, r.SkillID, r.SkillDir, r.Path, r.Message}
}

func (Error) Columns() []string { return []string{"CODE", "INPUT", "MESSAGE", "HINT"} }
func (r Error) Cells() []string { return []string{string(r.Code), r.Input, r.Message, r.Hint} }

func (Summary) Columns() []string { return []string{"IN", "OUT", "ERRORS", "SKIPPED"} }
func (r Summary) Cells() []string {
	return []string{strconv.Itoa(r.In), strconv.Itoa(r.Out), strconv.Itoa(r.Errors), strconv.Itoa(r.Skipped)}
}

// where returns path:line:column without what is not known.
func where(path string, line, column int) string {
	if line > 0 {
		path += ":" + strconv.Itoa(line)
		if column > 0 {
			path += ":" + strconv.Itoa(column)
		}
	}
	return path
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// Texter is a record that is text rather than a row: on a terminal, and also in the plain output when it has
// no columns.
type Texter interface{ Text() string }

// Text is the unified diff, or what changed when the file is not text.
func (r Diff) Text() string {
	if r.Diff != "" {
		return r.Diff
	}
	return r.Change + " " + r.Path
}

// Text is what the model said.
func (r Text) Text() string { return r.Piece }

// Text is the answer.
func (r Answer) Text() string { return r.Response }

// Text is the problem as compilers write it.
func (r Problem) Text() string {
	text := located(r.Path, r.Line, r.Column) + r.Severity + ": " + r.Message + " [" + r.Code + "]"
	if r.Hint != "" {
		text += "\n    hint: " + r.Hint
	}
	return text
}

// Text is the finding as compilers write it, with the excerpt below.
func (r Finding) Text() string {
	text := located(r.Path, r.Line, r.Column) + r.Severity + ": " + r.Message + " [" + r.Rule + ": " + r.Verdict + "]"
	if r.Excerpt != "" {
		text += "\n    " + r.Excerpt
	}
	return text
}

// located returns path:line:column: as a prefix; it is empty without a path.
func located(path string, line, column int) string {
	if path == "" {
		return ""
	}
	return where(path, line, column) + ": "
}
