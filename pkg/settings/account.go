package settings

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// DefaultAPIBase is the address of the public registry.
const DefaultAPIBase = "https://open-space.cloud/api/v1"

// Account is a registry and the key for it, and where each of both was found.
type Account struct {
	Base, Key Value // Base.Value is never empty; an empty Key.Value means that there is no key
}

// Account finds the registry and the key of the running command: each for itself in the order of all settings, host agents included. The error says
// that they do not go together; no key may be sent then.
func (s *Settings) Account() (Account, error) { return s.account(s.Find) }

// TraceAccount is Account that also tells what is hidden.
func (s *Settings) TraceAccount() (Account, error) { return s.account(s.Trace) }

func (s *Settings) account(find func(string) (Value, bool)) (Account, error) {
	a := Account{}
	a.Key, _ = find("api_key")
	if a.Key.Value == "" {
		a.Key.Source = Default
	}
	found, ok := find("api_base")
	switch noted, has := s.Get("api_base"); {
	case has && noted.Source == Flag:
		if a.Base = noted; ok {
			a.Base.Shadowed = append([]Value{found}, found.Shadowed...)
		}
	case ok:
		a.Base = found
	default:
		a.Base = Value{Name: "api_base", Value: DefaultAPIBase, Source: Default}
	}
	a.Base.Value, a.Key.Value = strings.TrimRight(strings.TrimSpace(a.Base.Value), "/"), strings.TrimSpace(a.Key.Value)
	return a, a.check()
}

// check refuses to send a user's key where a project says.
func (a Account) check() error {
	if !a.Base.Project || a.Key.Value == "" || a.together() || loopback(a.Base.Value) {
		return nil
	}
	return fmt.Errorf("the registry address of %s would get the key of %s: a folder must not direct a key that it does not have; "+
		"give the address with --api-base or OPENSPACE_API_BASE, or put the key beside it", a.Base.Place(), a.Key.Place())
}

// together tells whether both were said in one place.
func (a Account) together() bool { return a.Base.Source == a.Key.Source && a.Base.path == a.Key.path }

// Notes says what a user may not expect of the account, one sentence each.
func (a Account) Notes() (notes []string) {
	if a.Key.Value == "" {
		return nil
	}
	if !a.together() && a.Base.Source != Flag && a.Base.Source != Default {
		notes = append(notes, fmt.Sprintf("the key of %s goes to the registry of %s: %s", a.Key.Place(), a.Base.Place(), Masked("api_base", a.Base.Value)))
	} else if a.Key.Project {
		notes = append(notes, fmt.Sprintf("the key is that of %s and goes to %s", a.Key.Place(), Masked("api_base", a.Base.Value)))
	}
	return notes
}

// Place says in a few words where a value comes from.
func (v Value) Place() string {
	switch v.Source {
	case Flag, Default:
		return "the " + string(v.Source)
	case DotEnv:
		return ".env"
	}
	return v.Where
}

// loopback tells whether an address is on this machine.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && ip.IsLoopback()
}
