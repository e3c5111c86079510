package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/web"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// code is the record of a pairing code: of a person, or of a phone.
type code struct {
	Type      string `json:"type"` // "pairing"
	ID        string `json:"id,omitempty"`
	Channel   string `json:"channel,omitempty"` // whose phone it links
	Code      string `json:"code"`
	ExpiresAt string `json:"expires_at"`
	Message   string `json:"message"`
}

// Typed returns the record with its type.
func (r code) Typed() wire.Record { r.Type = "pairing"; return r }

// Columns are the headings of Cells.
func (code) Columns() []string { return []string{"CODE", "EXPIRES", "WHAT TO DO WITH IT"} }

// Cells are the values of a row.
func (r code) Cells() []string { return []string{r.Code, r.ExpiresAt, r.Message} }

// pairing has the flags of the verb pair.
type pairing struct {
	*app
	phone  string
	unlink bool
}

// pair is the verb pair.
func (a *app) pair() *cli.Command {
	p := &pairing{app: a}
	return &cli.Command{
		Name: "pair", Short: "make a code that lets one person in, or link a phone", Args: "[whatsapp]", Signals: true,
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&p.phone, "phone", "", "with whatsapp: link by a code to type on the phone with this `NUMBER`, in place of a picture to scan")
			fs.BoolVar(&p.unlink, "unlink", false, "with whatsapp: forget the linked phone")
		},
		Run: p.run,
	}
}

func (p *pairing) run(ctx context.Context, env *cli.Env) error {
	args := env.Args
	switch {
	case len(args) == 0 && (p.phone != "" || p.unlink):
		return wire.Errorf(wire.Usage, "--phone and --unlink are for phones").WithHint(linked.HowToLink)
	case len(args) == 0:
		return p.person(env)
	case len(args) > 1 || args[0] != "whatsapp":
		return wire.Errorf(wire.Usage, "unexpected argument %q", args[len(args)-1]).WithHint("pair alone lets a person in; pair whatsapp links a phone")
	case p.phone != "" && p.unlink:
		return wire.Errorf(wire.Usage, "--phone and --unlink exclude each other")
	case p.phone != "" && !whatsapp.IsNumber(digits(p.phone)):
		return wire.Errorf(wire.Usage, "--phone: want a number with its country, such as +49 170 1234567, got %q", p.phone)
	}
	env.Args = nil
	s, err := p.load(env)
	if err != nil {
		return err
	}
	phone, err := s.phone()
	if err != nil {
		return err
	}
	if p.unlink {
		return unlink(ctx, env, phone)
	}
	return p.link(ctx, env, phone)
}

// digits leaves out what people write between the digits of a number, and the plus before it.
func digits(number string) string {
	return strings.NewReplacer(" ", "", "-", "", "/", "", "(", "", ")", "", ".", "").Replace(strings.TrimPrefix(strings.TrimSpace(number), "+"))
}

// person makes a code that lets one person in.
func (p *pairing) person(env *cli.Env) error {
	s, err := p.load(env)
	if err != nil {
		return err
	}
	c, expires, err := gateway.NewPairingCode(s.DataDir, time.Now())
	if err != nil {
		return err
	}
	return env.Out.Emit(code{Code: c, ExpiresAt: expires.Format(time.RFC3339), Message: "who is to be let in sends to the bot, in a direct chat: /pair " + c})
}

// phone is the phone of the config file.
func (s *settled) phone() (linked.Pairer, error) {
	for _, p := range s.platforms {
		if c, ok := p.config.(*whatsapp.Config); ok {
			if c.Transport != whatsapp.Linked {
				return nil, wire.Errorf(wire.Usage, "whatsapp.transport is %q: only %q has a phone to link", c.Transport, whatsapp.Linked).WithHint("set whatsapp.transport, or WHATSAPP_TRANSPORT=%s", whatsapp.Linked)
			}
			return web.New(s.sessionDir(*c)), nil
		}
	}
	return nil, wire.Errorf(wire.Internal, "there is no WhatsApp")
}

// link links a phone. What has to be scanned or typed is shown on stderr: stdout may be a pipe that nobody sees.
func (p *pairing) link(ctx context.Context, env *cli.Env, phone linked.Pairer) error {
	var failed error
	self, err := phone.Pair(ctx, digits(p.phone), func(c linked.Code) {
		if c.Type == "" {
			failed = firstOf(failed, showScan(env.Stderr, c, env.StderrTerminal))
			return
		}
		fmt.Fprintf(env.Stderr, "On the phone: Settings, Linked devices, Link a device, Link with phone number instead. Type within %v:\n\n    %s\n\n", c.Valid, c.Type)
		failed = firstOf(failed, env.Out.Emit(code{Channel: "whatsapp", Code: c.Type, ExpiresAt: time.Now().Add(c.Valid).UTC().Format(time.RFC3339), Message: "type it on the phone"}), env.Stdout.Flush())
	})
	if err = firstOf(err, failed); err != nil {
		if wire.CodeOf(err) == wire.Locked {
			return wire.Errorf(wire.Locked, "%w", err).WithHint("openspace-gateway stop, when a gateway runs")
		}
		return err
	}
	return env.Out.Emit(wire.Result{Status: "success", Action: "pair", Message: "the phone " + self.Number() + " is linked"})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// showScan draws what is to be scanned.
func showScan(w io.Writer, c linked.Code, terminal bool) error {
	picture, err := drawQR(c.Scan, terminal)
	if err != nil {
		return wire.Errorf(wire.Internal, "draw the code: %w", err)
	}
	_, err = fmt.Fprintf(w, "\n%s\nOn the phone: Settings, Linked devices, Link a device. Scan within %v; a new one follows.\n", picture, c.Valid)
	if terminal && err == nil {
		_, err = fmt.Fprintf(w, "It has %d lines: when its top is missing, make the window larger, or use --phone NUMBER.\n", strings.Count(picture, "\n"))
	}
	return err
}

// unlink forgets the phone.
func unlink(ctx context.Context, env *cli.Env, phone linked.Pairer) error {
	told, err := phone.Unlink(ctx)
	if wire.CodeOf(err) == wire.NotFound {
		if err := env.Out.Emit(wire.Result{Status: "unchanged", Action: "unlink", Message: "no phone is linked"}); err != nil {
			return err
		}
		return wire.ErrNone
	}
	if err != nil {
		return err
	}
	if !told {
		env.Warn("the servers could not be told: remove the device on the phone, in Settings, Linked devices")
	}
	return env.Out.Emit(wire.Result{Status: "success", Action: "unlink", Message: "no phone is linked any more"})
}
