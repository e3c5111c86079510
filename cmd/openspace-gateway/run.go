package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/settings"
)

// run is the verb run.
func (a *app) run() *cli.Command {
	var addrFile string
	var level *string
	return &cli.Command{
		Name: "run", Short: "serve the channels", Signals: true,
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&addrFile, "addr-file", "", "write the address it listens on into `FILE`")
			level = cli.Choice(fs, "log-level", "what goes to stderr: `LEVEL` is info, error or debug", "info", "error", "debug")
		},
		Run: func(ctx context.Context, env *cli.Env) error {
			s, err := a.load(env)
			if err != nil {
				return err
			}
			for _, w := range s.warnings {
				env.Warn("%s", w)
			}
			o, err := s.options(env, logger(env.Stderr, *level))
			if err != nil {
				return err
			}
			for _, j := range o.Channels {
				for _, w := range j.Doubts() {
					env.Warn("%s", w)
				}
			}
			g, err := gateway.New(o)
			if err != nil {
				return err
			}
			var failed error
			err = g.Run(ctx, func(addr string) {
				o.Log.Info("listening", "addr", addr)
				if addrFile != "" {
					failed = atomicfile.Write(env.Abs(addrFile), []byte(addr+"\n"), 0o644, atomicfile.NoSync())
				}
			})
			return errors.Join(err, failed)
		},
	}
}

func logger(w io.Writer, level string) *slog.Logger {
	l := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "error": slog.LevelError}[level]
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l}))
}

// options makes a gateway of what is settled.
func (s *settled) options(env *cli.Env, log *slog.Logger) (gateway.Options, error) {
	channels, err := s.open()
	if err != nil {
		return gateway.Options{}, err
	}
	secrets, hidden := s.secrets()
	return gateway.Options{
		Config: s.Config, Channels: channels, Log: log, Secrets: append(secrets, secretValues(env)...),
		LockDir: env.Settings.Home(), Version: cli.Version(), Runner: s.suite(env, hidden, log),
	}, nil
}

// suite runs tasks by the other commands. They get the environment without what is for the channels. Their secrets are
// in it under names that say nothing but that: so openspace-execute knows what it must not show, record or hand on.
func (s *settled) suite(env *cli.Env, hidden []string, log *slog.Logger) *gateway.Suite {
	args := slices.Clone(s.Agent.ExecuteArgs)
	if !s.Agent.EnableRecording {
		args = append(args, "--no-recording")
	}
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--learn") }) {
		args = append(args, "--learn=detach") // nobody waits for what a task teaches
	}
	environ := slices.DeleteFunc(slices.Clone(env.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(hidden, name)
	})
	secrets, _ := s.secrets()
	for i, secret := range secrets {
		environ = append(environ, fmt.Sprintf("GATEWAY_SECRET_%d=%s", i+1, secret))
	}
	mask := gateway.Masker(append(secrets, secretValues(env)...))
	return &gateway.Suite{
		Find: func(name string) (string, error) { return pipe.Find(name, env.Settings.Getenv("PATH")) },
		Args: args, Dir: s.DataDir, Environ: environ,
		Log: func(line string) { log.Debug("command", "said", mask(line)) },
	}
}

// secrets returns the secrets of the channels, and the variables that are for the gateway alone.
func (s *settled) secrets() (values, hidden []string) {
	for _, p := range s.platforms {
		v, names := gateway.Secrets(p.name, p.config)
		values, hidden = append(values, v...), append(hidden, names...)
	}
	return values, hidden
}

// secretValues returns the values of variables and settings whose names say that they are secret, the key of the model
// among them.
func secretValues(env *cli.Env) (out []string) {
	for _, kv := range env.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok && settings.Secret(name) {
			out = append(out, value)
		}
	}
	for _, v := range env.Settings.All() {
		if settings.Secret(v.Name) {
			out = append(out, v.Value)
		}
	}
	if model, err := env.Settings.Model(""); err == nil { // else tasks say what is wrong with it
		out = append(out, model.Secrets()...)
	}
	return out
}

// listensFor reports whether other machines can reach the listener.
func listensFor(host string) (others bool) {
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}
