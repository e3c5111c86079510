package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// said collects what flags and settings say; everything else is looked up for each skill.
func (o *options) said(env *cli.Env) transfer.Said {
	given := func(name string) bool {
		v, ok := env.Settings.Get(name)
		return ok && v.Source != settings.Default
	}
	var s transfer.Said
	for name, f := range map[string]struct {
		from *string
		to   **string
	}{"origin": {&o.origin, &s.Origin}, "created-by": {&o.createdBy, &s.CreatedBy}, "change-summary": {&o.summary, &s.ChangeSummary}} {
		if given(name) {
			*f.to = f.from
		}
	}
	for name, f := range map[string]struct {
		from string
		to   **[]string
	}{"parent-ids": {o.parents, &s.Parents}, "tags": {o.tags, &s.Tags}} {
		if given(name) {
			list := splitList(f.from)
			*f.to = &list
		}
	}
	return s
}

// splitList cuts a list at its commas.
func splitList(text string) []string {
	list := []string{}
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// visible returns a visibility as the registry calls it.
func visible(word string) (string, error) {
	switch word {
	case "public", "private":
		return word, nil
	case "group", api.Group:
		return api.Group, nil
	case "":
		return "", wire.Errorf(wire.Usage, "nobody has said who may see the skill").WithHint("say --visibility public or --visibility private")
	}
	return "", wire.Errorf(wire.Usage, "unknown visibility %q", word).WithHint("use public, private or group")
}

// target is what an input names.
type target struct{ dir, visibility string }

// target reads one input. A skill file stands for its folder.
func (o *options) target(env *cli.Env, in cli.Input) (target, error) {
	t := target{dir: in.Value}
	if in.Data != nil {
		var rec struct {
			SkillDir   string `json:"skill_dir"`
			Visibility string `json:"visibility"`
		}
		if err := in.Decode(&rec); err != nil {
			return t, err
		}
		if rec.SkillDir == "" {
			return t, wire.Errorf(wire.Invalid, "the record has no skill_dir")
		}
		t = target{rec.SkillDir, rec.Visibility}
	}
	t.dir = env.Abs(t.dir)
	if info, err := os.Stat(t.dir); err == nil && !info.IsDir() {
		t.dir = filepath.Dir(t.dir)
	}
	if o.visibility != "" {
		t.visibility = o.visibility
	}
	var err error
	if t.visibility, err = visible(t.visibility); o.dryRun && o.visibility == "" {
		err = nil
	}
	return t, err
}
