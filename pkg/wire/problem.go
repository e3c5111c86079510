package wire

import "github.com/openspace-dev/openspace/pkg/skill"

// NewProblem returns a diagnostic about the skill folder dir as a record; dir may be empty.
func NewProblem(d skill.Diagnostic, dir string) Problem {
	return Problem{
		Type: TypeProblem, Code: d.Code, Severity: string(d.Severity), Path: d.Path, Line: d.Line, Column: d.Column,
		Message: d.Message, Hint: d.Hint, Fixable: d.Fixable, SkillDir: dir,
	}
}
