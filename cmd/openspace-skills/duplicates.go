package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/similar"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// duplicate is a pair of skills whose texts are much the same.
type duplicate struct {
	Type         string  `json:"type"`
	SkillID      string  `json:"skill_id"`
	SkillDir     string  `json:"skill_dir"`
	Name         string  `json:"name"`
	LikeSkillID  string  `json:"like_skill_id"`
	LikeSkillDir string  `json:"like_skill_dir"`
	LikeName     string  `json:"like_name"`
	Share        float64 `json:"share"` // of the shorter text that stands in the other
}

// Typed returns a copy with its type set.
func (d duplicate) Typed() wire.Record { d.Type = "duplicate"; return d }

// Columns of the table.
func (duplicate) Columns() []string {
	return []string{"SHARE", "NAME", "LIKE", "SKILL ID", "LIKE ID", "DIRECTORY", "LIKE DIRECTORY"}
}

// Cells of the table.
func (d duplicate) Cells() []string {
	return []string{fmt.Sprintf("%.2f", d.Share), d.Name, d.LikeName, d.SkillID, d.LikeSkillID, d.SkillDir, d.LikeSkillDir}
}

func (a *app) duplicates() *cli.Command {
	var least float64
	return &cli.Command{
		Name: "duplicates", Short: "list pairs of skills whose texts are much the same", Args: "[DIR…]",
		Flags: func(fs *flag.FlagSet) {
			fs.Float64Var(&least, "share", 0.6, "how much of the shorter text must stand in the other, `SHARE` from 0 to 1")
		},
		Run: func(ctx context.Context, env *cli.Env) error {
			if !(least > 0 && least <= 1) {
				return wire.Errorf(wire.Usage, "--share must be above 0 and at most 1, not %v", least)
			}
			return a.withInventory(ctx, env, func(_ *store.Store, inv *inventory) error { return listPairs(env, inv, least) })
		},
	}
}

func listPairs(env *cli.Env, inv *inventory, least float64) error {
	texts := make([]similar.Text, len(inv.entries))
	for i, e := range inv.entries {
		if s, _, err := skill.Load(e.Dir); err == nil && s != nil { // else it is gone since
			texts[i] = similar.Of(s)
		}
	}
	for _, p := range similar.Pairs(texts, least) {
		one, other := inv.entries[p.A], inv.entries[p.B]
		err := env.Out.Emit(duplicate{
			SkillID: one.identity.ID, SkillDir: one.Dir, Name: one.skill.Name,
			LikeSkillID: other.identity.ID, LikeSkillDir: other.Dir, LikeName: other.skill.Name, Share: rounded(p.Share, 4),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
