package main

import (
	"context"
	"flag"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/mcpserver"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// toolsVerb is the verb tools: the definitions of the tools as hosts get them.
func toolsVerb() *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "tools", Short: "print the definitions of all tools, as hosts get them",
		Flags: func(fs *flag.FlagSet) {
			o.tools = cli.List(fs, "tools", "only the tool `NAME`, or all; may be repeated, and names may be joined by commas (default all)")
		},
		Run: func(_ context.Context, env *cli.Env) error {
			if len(env.Args) > 0 {
				return wire.Errorf(wire.Usage, "unexpected argument %q", env.Args[0])
			}
			if len(*o.tools) == 0 {
				*o.tools = []string{"all"}
			}
			s, err := mcpserver.New(o.serverOptions(env, nil))
			if err != nil {
				return err
			}
			defer s.Close()
			lines := env.Out.Format() == cli.JSONL
			_, err = env.Out.Document().Write(s.Definitions(lines))
			return err
		},
	}
}
