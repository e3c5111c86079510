package main

import (
	"flag"
	"runtime"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/mcpclient"
	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// groundingOptions are the flags about the user's own servers of tools.
type groundingOptions struct {
	hosts string
	most  int
	none  bool
}

func (o *groundingOptions) flags(fs *flag.FlagSet) {
	fs.BoolVar(&o.none, "no-mcp", false, "use no MCP servers")
	fs.StringVar(&o.hosts, "mcp-hosts", "", "use the MCP servers of these host agents, too: `NAMES` as openspace-skills doctor has them, separated by commas, or all")
	fs.IntVar(&o.most, "max-tools", task.DefaultTools, "show the model at most `N` tools of MCP servers; it can find the others")
}

func (o *groundingOptions) check() error {
	if o.most < 1 || o.most > 1000 {
		return wire.Errorf(wire.Usage, "--max-tools: want a number from 1 to 1000, got %d", o.most)
	}
	return nil
}

// grounding is what is configured of servers and in the older files.
type grounding struct {
	task.Grounding
	rules   *policy.Rules // of the older files; nil: none
	secrets []string
}

// grounding reads the configuration and starts nothing. What is wrong in it is a warning, except where it would let a task do what it must not.
func (o *groundingOptions) grounding(env *cli.Env) (g grounding, err error) {
	old := env.Settings.Grounding()
	for _, p := range old.Problems {
		env.Out.WarnOnce(p.String())
	}
	if old.Err != nil {
		return g, wire.Errorf(wire.Usage, "%w", old.Err)
	}
	if g.rules, err = oldRules(env, old); err != nil {
		return g, err
	}
	g.MaxTools, g.WordsOnly, g.NoRanking = o.most, old.WordsOnly, old.NoRanking
	if v, ok := env.Settings.Get("max-tools"); old.MaxTools > 0 && (!ok || v.Source == settings.Default) {
		g.MaxTools = old.MaxTools
	}
	if o.none || old.NoMCP {
		return g, nil
	}
	servers, problems := env.Settings.MCPServers(names(o.hosts), old)
	for _, p := range problems {
		env.Out.WarnOnce(p.String())
	}
	options := mcpclient.Options{Cache: mcpclient.CacheDir(env.Settings.Home()), Age: old.CacheAge, Environ: env.Environ, Dir: env.Dir, Version: cli.Version()}
	for _, s := range servers {
		g.secrets = append(g.secrets, s.Secrets()...)
		if s.StartTimeout == 0 {
			s.StartTimeout = old.StartTimeout
		}
		options.Servers = append(options.Servers, mcpclient.Server(s))
	}
	if len(options.Servers) > 0 {
		g.Pool = mcpclient.Open(options)
	}
	return g, nil
}

// oldRules reads the rules for commands of the older files; nil when there are none.
func oldRules(env *cli.Env, old settings.Grounding) (*policy.Rules, error) {
	if old.Rules == nil {
		return nil, nil
	}
	rules, notes, err := policy.ParseRules(old.Rules, runtime.GOOS)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "security_policies: %w", err)
	}
	for _, note := range notes {
		env.Out.WarnOnce("security_policies: " + note)
	}
	return &rules, nil
}

// names are the words of a list with commas.
func names(list string) []string {
	words := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(words)
	return slices.Compact(words)
}
