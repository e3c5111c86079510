package main

import (
	"context"
	"errors"
	"flag"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// app is what all verbs share.
type app struct{ data string }

func command(manual string) *cli.Command {
	a := &app{}
	return &cli.Command{
		Name: "openspace-registry", Short: "run a skill community of your own", Manual: manual,
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&a.data, "data", "", "`DIR`ectory with everything (default $OPENSPACE_HOME/registry)")
		},
		Verbs: []*cli.Command{a.serve(), a.keys(), a.records(), a.gc(), a.verify()},
	}
}

// dir returns the data directory.
func (a *app) dir(env *cli.Env) string {
	if a.data == "" {
		return filepath.Join(env.Settings.Home(), "registry")
	}
	return env.Abs(a.data)
}

// withFiles opens the data directory for the length of do.
func (a *app) withFiles(env *cli.Env, do func(*registry.Files) error) error {
	files, err := registry.OpenFiles(a.dir(env))
	if err != nil {
		return coded(err)
	}
	return coded(errors.Join(do(files), files.Close()))
}

// coded gives an error of the registry its code.
func coded(err error) error {
	var known *wire.Error
	var version *registry.VersionError
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, wire.ErrNone):
		return err
	case errors.Is(err, context.Canceled):
		return wire.Errorf(wire.Canceled, "%w", err)
	case errors.As(err, &version):
		return wire.Errorf(wire.WrongVersion, "%w", err).WithHint("use the version of the suite that wrote it")
	case errors.Is(err, atomicfile.ErrLocked):
		return wire.Errorf(wire.Locked, "%w", err).WithHint("another server works on this directory")
	case errors.Is(err, registry.ErrForeign):
		return wire.Errorf(wire.Usage, "%w", err).WithHint("name an empty directory, or one that does not exist, with --data")
	case errors.Is(err, registry.ErrKey):
		return wire.Errorf(wire.Usage, "%w", err)
	case errors.Is(err, registry.ErrNotFound):
		return wire.Errorf(wire.NotFound, "%w", err)
	case errors.Is(err, registry.ErrDamaged):
		return wire.Errorf(wire.Corrupt, "%w", err).WithHint("openspace-registry verify tells more")
	}
	return wire.Errorf(wire.Internal, "%w", err)
}

// none refuses arguments.
func none(env *cli.Env) error {
	if len(env.Args) > 0 {
		return wire.Errorf(wire.Usage, "unexpected argument %q", env.Args[0])
	}
	return nil
}
