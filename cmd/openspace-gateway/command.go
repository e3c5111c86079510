package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
	"github.com/openspace-dev/openspace/pkg/gateway/slack"
	"github.com/openspace-dev/openspace/pkg/gateway/telegram"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/web"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// app is what all verbs share.
type app struct{ config string }

func command(manual string) *cli.Command {
	a := &app{}
	return &cli.Command{
		Name: "openspace-gateway", Short: "let people write to it from chat", Manual: manual,
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&a.config, "config", "", "read the config `FILE` (default $OPENSPACE_COMMUNICATION_CONFIG, else gateway.json beside the suite's own)")
		},
		Verbs: []*cli.Command{a.run(), a.status(), a.health(), a.stop(), a.doctor(), a.pair()},
	}
}

// platform is one that can be set up.
type platform struct {
	name   string
	config any // the section, with its defaults
	access *gateway.Access
	open   func(s *settled) (gateway.Channel, error)
}

// platforms are all of them. A new channel is one more entry.
func platforms() []platform {
	lark, app, bot, phone := feishu.DefaultConfig(), slack.DefaultConfig(), telegram.DefaultConfig(), whatsapp.DefaultConfig()
	return []platform{
		{"feishu", &lark, &lark.Access, func(*settled) (gateway.Channel, error) { return feishu.New(lark) }},
		{"slack", &app, &app.Access, func(*settled) (gateway.Channel, error) { return slack.New(app) }},
		{"telegram", &bot, &bot.Access, func(*settled) (gateway.Channel, error) { return telegram.New(bot) }},
		{"whatsapp", &phone, &phone.Access, func(s *settled) (gateway.Channel, error) { return openWhatsApp(s, phone) }},
	}
}

// openWhatsApp opens the transport that is set.
func openWhatsApp(s *settled, c whatsapp.Config) (gateway.Channel, error) {
	if c.Transport != whatsapp.Linked {
		return whatsapp.New(c)
	}
	return linked.New(web.New(s.sessionDir(c)), c.Mode)
}

// sessionDir is where the keys of a linked phone are.
func (s *settled) sessionDir(c whatsapp.Config) string {
	if c.SessionDir == "" {
		return filepath.Join(s.DataDir, "whatsapp")
	}
	return s.abs(c.SessionDir)
}

// settled is the config file with the environment over it.
type settled struct {
	gateway.Config
	path      string // "" when there is no file
	warnings  []string
	platforms []platform
	abs       func(string) string
}

// load reads the config file.
func (a *app) load(env *cli.Env) (*settled, error) {
	if len(env.Args) > 0 {
		return nil, wire.Errorf(wire.Usage, "unexpected argument %q", env.Args[0])
	}
	s := &settled{platforms: platforms(), abs: env.Settings.Abs}
	data, path, err := a.read(env)
	if err != nil {
		return nil, err
	}
	r := gateway.Reader{Sections: map[string]any{}, Getenv: variables(env.Environ), Abs: env.Settings.Abs}
	for _, p := range s.platforms {
		r.Sections[p.name] = p.config
	}
	s.path = path
	if s.Config, s.warnings, err = r.Read(data); err != nil {
		if path == "" {
			path = "the environment"
		}
		return nil, wire.Errorf(wire.Usage, "config %s: %w", path, err)
	}
	if s.DataDir == "" {
		s.DataDir = filepath.Join(env.Settings.Home(), "gateway")
	}
	return s, nil
}

// read reads the file: one that is named must be there.
func (a *app) read(env *cli.Env) (data []byte, path string, err error) {
	named := a.config
	if named == "" {
		named = variables(env.Environ)("OPENSPACE_COMMUNICATION_CONFIG")
	}
	path = env.Settings.Abs(named)
	if named == "" {
		path = filepath.Join(filepath.Dir(env.Settings.ConfigFile()), "gateway.json")
	}
	data, err = os.ReadFile(path)
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, path, wire.Errorf(wire.Usage, "read config: %w", err)
	}
	return data, path, nil
}

// variables looks into the environment only: a .env of the working directory must not say who may write.
func variables(environ []string) func(string) string {
	return func(name string) string {
		for _, kv := range environ {
			if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
				return kv[len(name)+1:]
			}
		}
		return ""
	}
}

// open opens the channels that are enabled.
func (s *settled) open() (channels []gateway.Joined, err error) {
	for _, p := range s.platforms {
		if !p.access.Enabled {
			continue
		}
		ch, err := p.open(s)
		if err != nil {
			return nil, err
		}
		channels = append(channels, gateway.Joined{Channel: ch, Access: *p.access})
	}
	return channels, nil
}
