package mcpserver

import (
	"cmp"
	"context"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (s *Server) fixSkill() tool {
	return tool{
		name: "fix_skill", title: "Mend a skill",
		text: `Have a skill mended in place. Say exactly what is wrong and how it should be: which step failed, with what message, on what input. The new version replaces the old one, which stays in the history.`,
		input: `{
	"type": "object",
	"properties": {
		"skill_dir": {"type": "string", "description": "folder with the SKILL.md, absolute"},
		"direction": {"type": "string", "description": "what is wrong, and what to change"}
	},
	"required": ["skill_dir", "direction"]
}`,
		output: `{
	"type": "object",
	"properties": {
		"status": {"type": "string", "description": "success, or failed when nothing was changed"},
		"new_skill": {"type": "object", "properties": {
			"skill_dir": {"type": "string"}, "name": {"type": "string"}, "origin": {"type": "string"},
			"change_summary": {"type": "string"}, "upload_ready": {"type": "boolean"}
		}},
		"warnings": {"type": "array", "items": {"type": "string"}},` + failureFields + `
	}
}`,
		hints: hints{readOnly: false, destructive: true, idempotent: false, openWorld: true},
		run:   s.runFix,
	}
}

// fixResult is the result of fix_skill.
type fixResult struct {
	Status   string    `json:"status"`
	NewSkill *evolved  `json:"new_skill,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	Error    string    `json:"error,omitempty"`
	Code     wire.Code `json:"code,omitempty"`
	Hint     string    `json:"hint,omitempty"`
}

// failed says that nothing was changed.
func (r fixResult) failed() bool { return r.Error != "" }

// fixRequest is the input record of openspace-fix-skill.
type fixRequest struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	SkillDir  string `json:"skill_dir"`
	Direction string `json:"direction"`
}

// fixRecord is its result record.
type fixRecord struct {
	Status   string   `json:"status"`
	Message  string   `json:"message"`
	NewSkill *evolved `json:"new_skill"`
	Warnings []string `json:"warnings"`
}

func (s *Server) runFix(ctx context.Context, a args) (any, error) {
	defer callOf(ctx).beats(s.o.Beat, "mending the skill")()
	var res *fixRecord
	in := fixRequest{Type: wire.TypeSkill, ID: "1", SkillDir: s.runs.abs(a.text("skill_dir")), Direction: a.text("direction")}
	err := s.runs.once(ctx, "openspace-fix-skill", []string{"--jsonl", "-"}, in, func(rec pipe.Record) {
		var r fixRecord
		if rec.Type == wire.TypeResult && rec.Decode(&r) == nil {
			res = &r
		}
	})
	switch {
	case err != nil:
		return nil, withHint(err, wire.NotFound, skillDirHint)
	case res == nil:
		return nil, wire.Errorf(wire.Internal, "fix_skill: the command said nothing about %s", in.SkillDir)
	case res.NewSkill == nil:
		return fixResult{
			Status: "failed", Error: cmp.Or(res.Message, "nothing was changed"), Code: wire.Invalid, Warnings: res.Warnings,
			Hint: "say more exactly what is wrong, and on what input",
		}, nil
	}
	res.NewSkill.UploadReady = true
	return fixResult{Status: "success", NewSkill: res.NewSkill, Warnings: res.Warnings}, nil
}
