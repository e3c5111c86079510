// Package account is the --api-base flag and what belongs to it: which key goes to which registry.
package account

import (
	"flag"
	"net"
	"net/url"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Account is a registry and the key for it, and where both were said.
type Account struct {
	Key, Base settings.Value
}

// Resolver finds the account of a command.
type Resolver func(env *cli.Env) Account

// Flag registers --api-base on fs.
func Flag(fs *flag.FlagSet) {
	fs.String("api-base", cloud.DefaultBase, "talk to the registry at `URL`, which ends in /api/v1")
}

// Settings takes key and address from flag, environment, .env and config file.
func Settings(env *cli.Env) Account {
	key, _ := env.Settings.Lookup("api-key")
	key.Value = strings.TrimSpace(key.Value)
	base, _ := env.Settings.Get("api-base")
	return Account{key, base}
}

// Client returns a client of the registry. What a user may not expect is said on stderr.
func Client(env *cli.Env, resolve Resolver) (*cloud.Client, error) {
	a := resolve(env)
	base := strings.TrimSpace(a.Base.Value)
	c, err := cloud.New(cloud.Options{Base: base, Key: a.Key.Value, UserAgent: "OpenSpace-Client/1.0 (" + cli.Version() + ")"})
	if err != nil {
		return nil, err
	}
	if a.mixed() {
		env.Warn("the key of %s goes to the registry of %s: %s", place(a.Key), place(a.Base), c.Base())
	}
	if exposed(base) {
		env.Warn("%s is not encrypted: others on the way can read the key and the skills", c.Base())
	}
	return c, nil
}

// mixed tells whether key and address were said in different places. A flag is said by hand, and the default is no place.
func (a Account) mixed() bool {
	switch a.Base.Source {
	case settings.Flag, settings.Default:
		return false
	}
	return a.Base.Source != a.Key.Source
}

func place(v settings.Value) string {
	if v.Source == settings.DotEnv {
		return ".env"
	}
	return v.Where
}

// exposed tells whether an address leads off this machine without encryption.
func exposed(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return !strings.EqualFold(u.Hostname(), "localhost") && !(ip != nil && ip.IsLoopback())
}

// Jobs is the --jobs flag.
type Jobs int

// Flag registers --jobs on fs.
func (j *Jobs) Flag(fs *flag.FlagSet) {
	fs.IntVar((*int)(j), "jobs", 8, "work on `N` skills at once")
}

// maxJobs bounds what one client asks of a registry.
const maxJobs = 64

// Check validates the number.
func (j Jobs) Check() error {
	if j < 1 || j > maxJobs {
		return wire.Errorf(wire.Usage, "--jobs: want a number from 1 to %d, got %d", maxJobs, j)
	}
	return nil
}
