package main

import (
	"flag"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/mcpserver"
	"github.com/openspace-dev/openspace/pkg/pipe"
)

// options are the flags of the server.
type options struct {
	transport *string
	host      string
	port      string
	tools     *[]string
	tasks     int
	tokenFile string
	insecure  bool
	origins   *[]string
	names     *[]string
	addrFile  string
}

func (o *options) flags(fs *flag.FlagSet) {
	o.transport = cli.Choice(fs, "transport", "how hosts talk to the server: `HOW` is auto, stdio, sse or streamable-http", transports...)
	fs.StringVar(&o.host, "host", "", "listen on `ADDRESS` (default 127.0.0.1)")
	fs.StringVar(&o.port, "port", "", "listen on `PORT`; 0 takes one that is free (default 8080)")
	fs.StringVar(&o.addrFile, "addr-file", "", "write the address it listens on into `FILE`")
	o.tools = cli.List(fs, "tools", "offer the tool `NAME`, or all; may be repeated, and names may be joined by commas (default the four of every host)")
	fs.IntVar(&o.tasks, "max-tasks", 16, "work on at most `N` tasks at once")
	fs.StringVar(&o.tokenFile, "auth-token-file", "", "over HTTP let in those who know the token in `FILE`")
	fs.BoolVar(&o.insecure, "insecure", false, "listen where other machines can reach it without a token")
	o.origins = cli.List(fs, "allow-origin", "let web pages of `ORIGIN` call, such as https://app.example; may be repeated")
	o.names = cli.List(fs, "allow-host", "answer requests that call this server `NAME`; may be repeated")
}

func command(manual string) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name: "openspace-mcp", Short: "offer the suite to agents over the Model Context Protocol", Manual: manual,
		Flags: o.flags, Run: o.run, Signals: true,
		Verbs: []*cli.Command{installVerb(), uninstallVerb(), toolsVerb()},
	}
}

// serverOptions say how tools are run.
func (o *options) serverOptions(env *cli.Env, log func(string, ...any)) mcpserver.Options {
	return mcpserver.Options{
		Version: cli.Version(), Tools: names(*o.tools), Tasks: o.tasks, Dir: env.Dir, Environ: env.Environ, Log: log,
		Find: func(name string) (string, error) { return pipe.Find(name, env.Settings.Getenv("PATH")) },
	}
}
