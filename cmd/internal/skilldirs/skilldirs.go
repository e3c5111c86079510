// Package skilldirs is the --skill-dirs flag and its settings, for every command that looks for skills on disk.
package skilldirs

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"

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
// are any; else those of $OPENSPACE_HOST_SKILL_DIRS or of the host agents, of the config file (or
// $OPENSPACE_SKILLS_DIRS), and $OPENSPACE_HOME/skills. Files of host agents that cannot be used are problems with the
// code host-config.
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
	if len(flags) > 0 {
		return roots.Resolve(flags, nil, nil, "")
	}
	host, _ := env.Settings.Find("host-skill-dirs")
	where, problems := roots.Resolve(nil, split(env, host.List, host.Value), config, env.Settings.Home())
	if host.Source == settings.FromHost {
		for i := range where {
			if where[i].Origin == string(settings.Env) {
				where[i].Origin = string(settings.FromHost)
			}
		}
	}
	return where, append(problems, HostProblems(env)...)
}

// HostProblems returns what is wrong with the files of host agents, as far as they had to be read.
func HostProblems(env *cli.Env) (out []skill.Diagnostic) {
	for _, p := range env.Settings.HostProblems() {
		out = append(out, Problem(p))
	}
	return out
}

// Problem is a problem of a host's file as a diagnostic.
func Problem(p settings.Problem) skill.Diagnostic {
	return skill.Diagnostic{Code: HostConfig, Severity: skill.Warning, Path: p.Path, Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint}
}

// HostConfig is the code of problems with the files of host agents.
const HostConfig = "host-config"

// WarnHome says so when $OPENSPACE_HOME cannot be a folder. What is read there is empty then.
func WarnHome(env *cli.Env) {
	home := env.Settings.Home()
	if info, err := os.Stat(home); errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		env.Out.WarnOnce(fmt.Sprintf("%s is not a folder: there is no store, and nothing can be recorded; set OPENSPACE_HOME", home))
	}
}

// split returns the directories of a list whose elements may hold several, separated by commas, as absolute
// paths. A directory whose own name has a comma is taken whole.
func split(env *cli.Env, list []string, text string) (dirs []string) {
	if list == nil {
		list = []string{text}
	}
	for _, value := range list {
		parts := strings.Split(value, ",")
		if fi, err := os.Stat(env.Settings.Abs(value)); err == nil && fi.IsDir() {
			parts = []string{value}
		}
		for _, p := range parts {
			if p = strings.TrimSpace(p); p != "" {
				dirs = append(dirs, env.Settings.Abs(p))
			}
		}
	}
	return dirs
}
