package task

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// maxBody bounds the text of one skill, in bytes: some twelve thousand tokens.
const maxBody = 48 << 10

// load reads the skill of a hit and judges its files anew: what was indexed may have changed since.
func load(h wire.Hit, p safety.Policy) (s agent.Skill, err error) {
	report, err := safety.ScanDir(h.SkillDir, p)
	if err != nil {
		return s, fmt.Errorf("scan skill %q: %w", h.SkillID, err)
	}
	if report.Verdict == safety.Block {
		return s, wire.Errorf(wire.Unsafe, "skill %q is blocked by the safety policy: %s", h.SkillID, strings.Join(report.Flags, ", ")).
			WithHint("openspace-skills scan %s", h.SkillDir)
	}
	loaded, _, err := skill.Load(h.SkillDir)
	switch {
	case err != nil:
		return s, fmt.Errorf("read skill %q: %w", h.SkillID, err)
	case loaded == nil:
		return s, wire.Errorf(wire.Invalid, "skill %q in %q cannot be read", h.SkillID, h.SkillDir)
	}
	return agent.Skill{ID: h.SkillID, Dir: h.SkillDir, Body: body(string(loaded.Body), h.SkillDir)}, nil
}

// body makes the body of a skill fit for a model.
func body(text, dir string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if len(text) <= maxBody {
		return text
	}
	end := strings.LastIndexByte(text[:maxBody], '\n')
	if end < maxBody/2 {
		for end = maxBody; !utf8.RuneStart(text[end]); end-- {
		}
	}
	return text[:end] + fmt.Sprintf("\n\n[%d more bytes are in %s]", len(text)-end, filepath.Join(dir, skill.FileName))
}
