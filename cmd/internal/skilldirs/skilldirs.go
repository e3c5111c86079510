// Package skilldirs is the --skill-dirs flag and its settings, for every command that looks for skills on disk.
package skilldirs

import (
	"flag"
	"os"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// Flag registers --skill-dirs on fs.
func Flag(fs *flag.FlagSet) *[]string {
	return cli.List(fs, "skill-dirs", "look for skills below `DIR[,DIR]` instead of the usual places; may be repeated")
}

// Roots returns the skill roots in their order: those of the flag (or $OPENSPACE_SKILL_DIRS) alone when there
// are any; else those of $OPENSPACE_HOST_SKILL_DIRS, of the config file (or $OPENSPACE_SKILLS_DIRS), and
// $OPENSPACE_HOME/skills.
func Roots(env *cli.Env, given []string) ([]roots.Root, []skill.Diagnostic) {
	var flags, config []string
	if v, ok := env.Settings.Get("skill-dirs"); ok && v.Source == settings.Config {
		config = split(env, v.List, v.Value)
	} else {
		flags = split(env, given, "")
	}
	if old := env.Settings.Getenv("OPENSPACE_SKILLS_DIRS"); old != "" {
		config = split(env, nil, old)
	}
	host, _ := env.Settings.Lookup("host-skill-dirs")
	return roots.Resolve(flags, split(env, host.List, host.Value), config, env.Settings.Home())
}

// split returns the directories of a list whose elements may hold several, separated by commas, as absolute
// paths. A directory whose own name has a comma is taken whole.
func split(env *cli.Env, list []string, text string) (dirs []string) {
	if list == nil {
		list = []string{text}
	}
	for _, value := range list {
		parts := strings.Split(value, ",")
		if fi, err := os.Stat(env.Abs(value)); err == nil && fi.IsDir() {
			parts = []string{value}
		}
		for _, p := range parts {
			if p = strings.TrimSpace(p); p != "" {
				dirs = append(dirs, env.Abs(p))
			}
		}
	}
	return dirs
}
