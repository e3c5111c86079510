package main

import (
	"context"
	"errors"
	"flag"
	"strings"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// key is the record of a key.
type key struct {
	Type      string   `json:"type"` // "key"
	ID        string   `json:"id,omitempty"`
	Key       string   `json:"key,omitempty"` // only when it was made just now
	KeyID     string   `json:"key_id"`
	Owner     string   `json:"owner"`
	Scope     string   `json:"scope"`
	Groups    []string `json:"groups,omitempty"`
	CreatedAt string   `json:"created_at"`
	RevokedAt string   `json:"revoked_at,omitempty"`
}

// Typed returns the record with its type.
func (k key) Typed() wire.Record { k.Type = "key"; return k }

// Columns are the headings of Cells.
func (key) Columns() []string {
	return []string{"KEY", "OWNER", "SCOPE", "GROUPS", "KEY ID", "CREATED", "REVOKED"}
}

// Cells has the key first, so that a script can cut it off.
func (k key) Cells() []string {
	shown := k.Key
	if shown == "" {
		shown = "-"
	}
	return []string{shown, k.Owner, k.Scope, strings.Join(k.Groups, ","), k.KeyID, k.CreatedAt, k.RevokedAt}
}

func keyRecord(k registry.Key, secret string) key {
	return key{Key: secret, KeyID: k.ID, Owner: k.Owner, Scope: k.Scope, Groups: k.Groups, CreatedAt: k.CreatedAt, RevokedAt: k.RevokedAt}
}

// keys is the verb keys.
func (a *app) keys() *cli.Command {
	var scope *string
	var groups *[]string
	return &cli.Command{
		Name: "keys", Short: "make, list and end keys", Args: "add|list|revoke [NAME…]",
		Flags: func(fs *flag.FlagSet) {
			scope = cli.Choice(fs, "scope", "what a new key may do: `SCOPE` is read, write or admin", registry.ScopeWrite, registry.ScopeRead, registry.ScopeAdmin)
			groups = cli.List(fs, "group", "`GROUP` that a new key belongs to; may be given several times")
		},
		Run: func(ctx context.Context, env *cli.Env) error {
			if len(env.Args) == 0 {
				return wire.Errorf(wire.Usage, "want add, list or revoke")
			}
			verb, names := env.Args[0], env.Args[1:]
			return a.withFiles(env, func(s *registry.Files) error {
				switch {
				case verb == "add" && len(names) == 1:
					return addKey(ctx, env, s, names[0], *scope, *groups)
				case verb == "list" && len(names) == 0:
					return listKeys(ctx, env, s)
				case verb == "revoke" && len(names) > 0:
					return revokeKeys(ctx, env, s, names)
				}
				return wire.Errorf(wire.Usage, "want keys add NAME, keys list, or keys revoke NAME|KEY_ID…")
			})
		},
	}
}

func addKey(ctx context.Context, env *cli.Env, s registry.Storage, name, scope string, groups []string) error {
	k, secret, err := registry.AddKey(ctx, s, name, scope, groups)
	if err != nil {
		return err
	}
	return env.Out.Emit(keyRecord(k, secret))
}

func listKeys(ctx context.Context, env *cli.Env, s registry.Storage) error {
	keys, err := registry.Keys(ctx, s)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return wire.ErrNone
	}
	for _, k := range keys {
		if err := env.Out.Emit(keyRecord(k, "")); err != nil {
			return err
		}
	}
	return nil
}

func revokeKeys(ctx context.Context, env *cli.Env, s registry.Storage, names []string) error {
	for _, name := range names {
		ended, err := registry.RevokeKey(ctx, s, name)
		if errors.Is(err, registry.ErrNotFound) {
			e := wire.AsError(coded(err)).WithHint("openspace-registry keys list")
			e.Input = name
			if err := env.Out.Fail(e); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		for _, k := range ended {
			if err := env.Out.Emit(keyRecord(k, "")); err != nil {
				return err
			}
		}
	}
	return nil
}
