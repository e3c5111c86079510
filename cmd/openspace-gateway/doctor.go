package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/pipe"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// checker is a channel that can try its keys.
type checker interface {
	Check(ctx context.Context) error
}

// checkTime bounds the trying of one channel's keys.
const checkTime = 20 * time.Second

// diagnosis collects what doctor finds.
type diagnosis struct {
	env   *cli.Env
	wrong bool
	err   error
}

// doctor is the verb doctor.
func (a *app) doctor() *cli.Command {
	return &cli.Command{
		Name: "doctor", Short: "check the config file, the commands that are needed and the keys of each channel", Signals: true,
		Run: func(ctx context.Context, env *cli.Env) error {
			s, err := a.load(env)
			if err != nil {
				return err
			}
			d := &diagnosis{env: env}
			d.files(s)
			d.commands()
			d.tasks(ctx, s)
			enabled := 0
			for _, p := range s.platforms {
				if p.access.Enabled {
					enabled++
					d.channel(ctx, s, p)
				}
			}
			if enabled == 0 {
				d.tell("error", "no-channel", "no channel is enabled", "docs/gateway.md tells how to set one up")
			}
			if d.err == nil && d.wrong {
				return wire.ErrNone
			}
			return d.err
		},
	}
}

func (d *diagnosis) tell(severity, code, message, hint string) {
	d.wrong = d.wrong || severity == "error"
	d.err = errors.Join(d.err, d.env.Out.Emit(wire.Problem{Severity: severity, Code: code, Message: message, Hint: hint}))
}

// files looks at the config file and the data directory.
func (d *diagnosis) files(s *settled) {
	switch {
	case s.path == "":
		d.tell("info", "config", "there is no config file: only the environment counts", "")
	default:
		d.tell("info", "config", "the config file is "+s.path, "")
		if info, err := os.Stat(s.path); err == nil && info.Mode().Perm()&0o077 != 0 && s.hasSecrets() {
			d.tell("warning", "config-mode", "others on this machine can read "+s.path+", which has secrets", "chmod 600, or keep secrets in the environment")
		}
	}
	for _, w := range s.warnings {
		d.tell("warning", "no-effect", w, "remove the key")
	}
	if err := tryWriting(s.DataDir); err != nil {
		d.tell("error", "data-dir", err.Error(), "make room there, or set data_dir")
	} else {
		d.tell("info", "data-dir", "data is kept in "+filepath.Clean(s.DataDir), "")
	}
	if err := gateway.CheckPairing(s.DataDir); err != nil {
		d.tell("error", "pairing", err.Error(), wire.AsError(err).Hint)
	}
	if listensFor(s.Server.Host) {
		d.tell("warning", "listener", "other machines can reach the listener on "+s.Server.Host+", without TLS", "put a proxy with TLS before it, and listen on 127.0.0.1")
	}
}

// tryWriting makes a folder and writes into it as much as a few messages would.
func tryWriting(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, atomicfile.TempGlob)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// hasSecrets reports whether the config file has a secret in it.
func (s *settled) hasSecrets() bool {
	data, err := os.ReadFile(s.path)
	values, _ := s.secrets()
	return err != nil || slices.ContainsFunc(values, func(v string) bool { return bytes.Contains(data, []byte(`"`+v+`"`)) })
}

// commands looks for the commands that do the work.
func (d *diagnosis) commands() {
	for _, name := range []string{"openspace-execute", "openspace-skills"} {
		if path, err := pipe.Find(name, d.env.Settings.Getenv("PATH")); err != nil {
			d.tell("error", "command", err.Error(), "install it beside openspace-gateway")
		} else {
			d.tell("info", "command", name+" is "+path, "")
		}
	}
}

// tasks looks whether a task could begin: the arguments of openspace-execute, and the model's settings.
func (d *diagnosis) tasks(ctx context.Context, s *settled) {
	if d.wrong {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	_, hidden := s.secrets()
	if err := s.suite(d.env, hidden, slog.New(slog.DiscardHandler)).Check(ctx); err != nil {
		d.tell("error", "tasks", "openspace-execute cannot run tasks: "+err.Error(), cmp.Or(wire.AsError(err).Hint, "docs/models.md tells how to set a model up; agent.execute_args may be wrong"))
	}
}

// channel looks at one channel, and asks the platform whether it knows us.
func (d *diagnosis) channel(ctx context.Context, s *settled, p platform) {
	a := p.access
	switch {
	case a.AllowAllUsers:
		d.tell("warning", "access", p.name+": everybody may write, and have tasks run", "set allowed_users")
	case len(a.AllowedUsers) == 0:
		d.tell("warning", "access", p.name+": allowed_users is empty: only who was let in by a code may write", "openspace-gateway pair")
	}
	ch, err := p.open(s)
	if err != nil {
		d.tell("error", "channel", err.Error(), wire.AsError(err).Hint)
		return
	}
	for _, doubt := range (gateway.Joined{Channel: ch, Access: *a}).Doubts() {
		d.tell("warning", "access-id", doubt, "openspace-gateway pair lets in somebody whose id you do not know")
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if c, ok := ch.(checker); ok {
		if err := c.Check(ctx); err != nil {
			d.tell("error", "channel", p.name+": "+strings.TrimPrefix(err.Error(), p.name+": "), wire.AsError(err).Hint)
			return
		}
	}
	d.tell("info", "channel", p.name+": "+ready(ch), "")
}

// ready says that all is well. Whether the servers still know a phone is not asked: one connection at a time may do that.
func ready(ch gateway.Channel) string {
	if phone, ok := ch.(*linked.Channel); ok {
		return "the phone " + phone.Number() + " is linked"
	}
	return ch.Account().ID + " is ready"
}
