package mcpserver

import (
	"context"
	"strings"

	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func (s *Server) uploadSkill() tool {
	return tool{
		name: "upload_skill", title: "Publish a skill",
		text: `Publish a skill folder in the community registry, so that other agents find it. Needs an API key of the registry.
For a skill that execute_task or fix_skill made, skill_dir and visibility are enough: what else is known about it is kept with it. For a new one give origin, tags, created_by and change_summary, too.
A folder that holds what looks like a secret is refused. What is there already with the same content is not sent again.`,
		input: `{
	"type": "object",
	"properties": {
		"skill_dir": {"type": "string", "description": "folder with the SKILL.md, absolute"},
		"visibility": {"type": "string", "enum": ["public", "private"], "default": "private", "description": "who can see it: everybody, or only you; nothing is public unless that is said"},
		"origin": {"type": "string", "enum": ["imported", "captured", "derived", "fixed"], "description": "how it came to be; left out: as saved with it"},
		"parent_skill_ids": {"type": "array", "items": {"type": "string"}, "description": "ids of the skills that it was made from; left out: as saved"},
		"tags": {"type": "array", "items": {"type": "string"}, "description": "what it is about; left out: as saved"},
		"created_by": {"type": "string", "description": "who made it; left out: as saved"},
		"change_summary": {"type": "string", "description": "what was changed, in a sentence; left out: as saved"}
	},
	"required": ["skill_dir"]
}`,
		output: `{
	"type": "object",
	"properties": {
		"status": {"type": "string", "description": "success; duplicate when the same content is there already under another id; error"},
		"action": {"type": "string", "description": "created, or exists (idempotent)"},
		"record_id": {"type": "string", "description": "its id in the registry"},
		"name": {"type": "string"},
		"description": {"type": "string"},
		"visibility": {"type": "string"},
		"origin": {"type": "string"},
		"parent_skill_ids": {"type": "array", "items": {"type": "string"}},
		"artifact_id": {"type": "string"},
		"file_count": {"type": "integer"},
		"message": {"type": "string"},
		"existing_record_id": {"type": "string", "description": "of a duplicate"},
		"warnings": {"type": "array", "items": {"type": "string"}},` + failureFields + `
	}
}`,
		hints: hints{readOnly: false, destructive: false, idempotent: true, openWorld: true},
		run:   s.runUpload,
	}
}

// uploadResult is the result of upload_skill.
type uploadResult struct {
	Status           string   `json:"status"`
	Action           string   `json:"action,omitempty"`
	RecordID         string   `json:"record_id,omitempty"`
	Name             string   `json:"name,omitempty"`
	Description      string   `json:"description,omitempty"`
	Visibility       string   `json:"visibility,omitempty"`
	Origin           string   `json:"origin,omitempty"`
	ParentSkillIDs   []string `json:"parent_skill_ids,omitempty"`
	ArtifactID       string   `json:"artifact_id,omitempty"`
	FileCount        int      `json:"file_count,omitempty"`
	Message          string   `json:"message,omitempty"`
	ExistingRecordID string   `json:"existing_record_id,omitempty"`
	Warnings         []string `json:"warnings,omitempty"`
}

func (s *Server) runUpload(ctx context.Context, a args) (any, error) {
	flags := []string{"--jsonl", "--visibility=" + a.text("visibility")}
	for name, flag := range map[string]string{"origin": "origin", "created_by": "created-by", "change_summary": "change-summary"} {
		if _, given := a[name]; given {
			flags = append(flags, "--"+flag+"="+a.text(name))
		}
	}
	for name, flag := range map[string]string{"parent_skill_ids": "parent-ids", "tags": "tags"} {
		if _, given := a[name]; given {
			for _, item := range a.list(name) {
				if strings.Contains(item, ",") {
					return nil, say("upload_skill", name, "has the element %q: a comma cannot stand in one", item)
				}
			}
			flags = append(flags, "--"+flag+"="+strings.Join(a.list(name), ","))
		}
	}
	defer callOf(ctx).beats(s.o.Beat, "publishing")()
	var up *wire.Upload
	err := s.runs.once(ctx, "openspace-upload-skill", append(flags, "--", s.runs.abs(a.text("skill_dir"))), nil, func(rec pipe.Record) {
		var u wire.Upload
		if rec.Type == wire.TypeUpload && rec.Decode(&u) == nil {
			up = &u
		}
	})
	switch {
	case err != nil:
		return nil, withHint(err, wire.NotFound, skillDirHint)
	case up == nil:
		return nil, wire.Errorf(wire.Internal, "upload: the command said nothing about %s", a.text("skill_dir"))
	}
	return uploadResult{
		Status: up.Status, Action: up.Action, RecordID: up.RecordID, Name: up.Name, Description: up.Description, Visibility: up.Visibility,
		Origin: up.Origin, ParentSkillIDs: up.ParentSkillIDs, ArtifactID: up.ArtifactID, FileCount: up.FileCount, Message: up.Message,
		ExistingRecordID: up.ExistingRecordID, Warnings: up.Warnings,
	}, nil
}
