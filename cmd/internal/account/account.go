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

// Resolver finds the account of a command. Its error says that no key may be sent.
type Resolver func(env *cli.Env) (settings.Account, error)

// Flag registers --api-base on fs.
func Flag(fs *flag.FlagSet) {
	fs.String("api-base", settings.DefaultAPIBase, "talk to the registry at `URL`, which ends in /api/v1")
}

// Settings takes key and address from flag, environment, .env, config file and host agents.
func Settings(env *cli.Env) (settings.Account, error) {
	a, err := env.Settings.Account()
	for _, p := range env.Settings.HostProblems() {
		env.Out.WarnOnce(p.String())
	}
	if err != nil {
		return a, wire.Errorf(wire.Usage, "%w", err)
	}
	return a, nil
}

// Client returns a client of the registry. What a user may not expect is said on stderr.
func Client(env *cli.Env, resolve Resolver, change ...func(*cloud.Options)) (*cloud.Client, error) {
	a, err := resolve(env)
	if err != nil {
		return nil, err
	}
	o := cloud.Options{Base: a.Base.Value, Key: a.Key.Value, UserAgent: "OpenSpace-Client/1.0 (" + cli.Version() + ")"}
	for _, f := range change {
		f(&o)
	}
	c, err := cloud.New(o)
	if err != nil {
		return nil, err
	}
	for _, note := range a.Notes() {
		env.Warn("%s", note)
	}
	if exposed(a.Base.Value) {
		env.Warn("%s is not encrypted: others on the way can read the key and the skills", c.Base())
	}
	return c, nil
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
