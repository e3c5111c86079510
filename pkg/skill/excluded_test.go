package skill_test

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/skill"
)

func TestExcluded(t *testing.T) {
	for path, want := range map[string]string{
		"SKILL.md": "", ".env.example": "", "scripts/run.sh": "", "venv": "", ".github/x.yml": "",
		".skill_id": skill.ReasonSidecar, "sub/.upload_meta.json": skill.ReasonSidecar, ".git/config": skill.ReasonVCS,
		"a/.env": skill.ReasonEnv, "keys/id_rsa": skill.ReasonSecret, "node_modules/x/y.js": skill.ReasonCache, "venv/bin/x": skill.ReasonCache,
		"__MACOSX/w/._SKILL.md": skill.ReasonEditor, ".DS_Store": skill.ReasonEditor,
	} {
		if got := skill.Excluded(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
