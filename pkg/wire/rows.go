package wire

import (
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
func (r Query) Typed() Record   { r.Type = TypeQuery; return r }
func (r Hit) Typed() Record     { r.Type = TypeHit; return r }
func (r Skill) Typed() Record   { r.Type = TypeSkill; r.Problems = typedProblems(r.Problems); return r }
func (r Problem) Typed() Record { r.Type = TypeProblem; return r }
func (r Finding) Typed() Record { r.Type = TypeFinding; return r }
func (r Version) Typed() Record { r.Type = TypeVersion; return r }
func (r File) Typed() Record    { r.Type = TypeFile; return r }
func (r Diff) Typed() Record    { r.Type = TypeDiff; return r }
func (r Setting) Typed() Record { r.Type = TypeSetting; return r }
func (r Task) Typed() Record    { r.Type = TypeTask; return r }
func (r Step) Typed() Record    { r.Type = TypeStep; return r }
func (r Result) Typed() Record  { r.Type = TypeResult; return r }
func (r Error) Typed() Record   { r.Type = TypeError; return r }
func (r Summary) Typed() Record { r.Type = TypeSummary; return r }

func typedProblems(in []Problem) []Problem {
	out := make([]Problem, 0, len(in))
	for _, p := range in {
		p.Type = TypeProblem
		out = append(out, p)
	}
	return out
}

// Columns and Cells make the rows of the table.
func (Query) Columns() []string { return []string{"ID", "QUERY"} }
func (r Query) Cells() []string { return []string{r.ID, r.Query} }

func (Hit) Columns() []string {
	return []string{"RANK", "SCORE", "NAME", "SOURCE", "SKILL ID", "DIRECTORY", "DESCRIPTION"}
}
func (r Hit) Cells() []string {
	return []string{strconv.Itoa(r.Rank), strconv.FormatFloat(r.Score, 'f', 3, 64), r.Name, r.Source, r.SkillID,
		r.SkillDir, r.Description}
}

func (Skill) Columns() []string {
	return []string{"NAME", "SKILL ID", "DIRECTORY", "DESCRIPTION"}
}
func (r Skill) Cells() []string { return []string{r.Name, r.SkillID, r.SkillDir, r.Description} }

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

func (Diff) Columns() []string { return []string{"CHANGE", "PATH", "FROM", "TO"} }
func (r Diff) Cells() []string { return []string{r.Change, r.Path, r.From, r.To} }

func (Setting) Columns() []string { return []string{"NAME", "VALUE", "SOURCE", "WHERE", "SHADOWED"} }
func (r Setting) Cells() []string {
	return []string{r.Name, r.Value, r.Source, r.Where, strings.Join(r.Shadowed, ", ")}
}

func (Task) Columns() []string { return []string{"ID", "TASK", "WORKSPACE"} }
func (r Task) Cells() []string { return []string{r.ID, r.Task, r.Workspace} }

func (Step) Columns() []string { return []string{"STEP", "KIND", "MESSAGE"} }
func (r Step) Cells() []string { return []string{strconv.Itoa(r.Step), r.Kind, r.Message} }

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

// Texter is a record that people want to read as text rather than as a row. An empty text means a row.
type Texter interface{ Text() string }

// Text is the unified diff.
func (r Diff) Text() string { return r.Diff }
