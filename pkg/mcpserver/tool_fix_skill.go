package mcpserver

import (
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
		}},` + failureFields + `
	}
}`,
		hints: hints{readOnly: false, destructive: true, idempotent: false, openWorld: true},
		run:   s.runFix,
	}
}

// fixResult is the result of fix_skill.
type fixResult struct {
	Status   string   `json:"status"`
	NewSkill *evolved `json:"new_skill,omitempty"`
}

// fixRequest is the input record of openspace-fix-skill.
type fixRequest struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	SkillDir  string `json:"skill_dir"`
	Direction string `json:"direction"`
}

func (s *Server) runFix(ctx context.Context, a args) (any, error) {
	c := callOf(ctx)
	defer c.beats(s.o.Beat, "mending the skill")()
	var made *evolved
	in := fixRequest{Type: wire.TypeSkill, ID: "1", SkillDir: s.runs.abs(a.text("skill_dir")), Direction: a.text("direction")}
	err := s.runs.once(ctx, "openspace-fix-skill", []string{"--jsonl", "-"}, in, func(rec pipe.Record) {
		var e evolved
		if rec.Type == wire.TypeSkill && rec.Decode(&e) == nil {
			made = &e
		}
	})
	switch {
	case err != nil:
		return nil, err
	case made == nil:
		return nil, wire.Errorf(wire.Invalid, "fix_skill: nothing was changed").
			WithHint("say more exactly what is wrong, and on what input")
	}
	made.UploadReady = true
	return fixResult{Status: "success", NewSkill: made}, nil
}
