package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/skilldirs"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// ofAccount are the settings that are found together.
var ofAccount = []string{"api_base", "api_key", "model"}

// accountRecords shows which key goes to which registry.
func accountRecords(env *cli.Env) error {
	a, err := env.Settings.TraceAccount()
	for _, v := range []settings.Value{a.Base, a.Key} {
		if err := env.Out.Emit(recordOf(env, v)); err != nil {
			return err
		}
	}
	notes, severity := a.Notes(), skill.Info
	if err != nil {
		notes, severity = []string{err.Error()}, skill.Error
	}
	return emitNotes(env, "key-and-registry", severity, notes)
}

func emitNotes(env *cli.Env, code string, severity skill.Severity, notes []string) error {
	for _, note := range notes {
		if err := env.Out.Emit(wire.Problem{Code: code, Severity: string(severity), Message: note}); err != nil {
			return err
		}
	}
	return nil
}

// modelRecords shows which model is asked, where, and where its key comes from. That there is none is no
// fault of a machine that runs no tasks.
func modelRecords(env *cli.Env) error {
	a, err := env.Settings.Model("")
	for _, v := range []settings.Value{a.Model, a.Base, a.Key} {
		if v.Value == "" {
			continue
		}
		if err := env.Out.Emit(recordOf(env, v)); err != nil {
			return err
		}
	}
	notes := a.Notes()
	if err != nil {
		notes = []string{err.Error()}
	}
	return emitNotes(env, "key-and-model", skill.Info, notes)
}

// knownHosts returns an error for a name that is no host agent's.
func knownHosts(names []string) error {
	known := settings.HostNames()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return wire.Errorf(wire.Usage, "unknown host agent %q: the known ones are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// checkHosts shows the host agents whose files are there: which files, what they give to the suite, and what is
// wrong with them. Arguments choose among them; then a host without files is shown too.
func (a *app) checkHosts(_ context.Context, env *cli.Env) error {
	for _, h := range env.Settings.Hosts() {
		if len(env.Args) > 0 && !slices.Contains(env.Args, h.Name) {
			continue
		}
		if err := showHost(env, h); err != nil {
			return err
		}
	}
	if len(env.Args) == 0 {
		return nil // modelRecords has it
	}
	return showModel(env)
}

func showHost(env *cli.Env, h settings.Host) error {
	problems := append(slices.Clone(h.Problems), h.ModelProblems...)
	if len(h.Files) > 0 || len(problems) > 0 || len(env.Args) > 0 {
		rec := wire.Result{Status: "ok", Action: "host", Message: hostMessage(h), Path: strings.Join(h.Files, ", "), Count: len(h.Env)}
		switch {
		case len(h.Problems) > 0:
			rec.Status = "warning"
		case len(h.Files) == 0:
			rec.Status = "absent"
		}
		if err := env.Out.Emit(rec); err != nil {
			return err
		}
	}
	for _, p := range problems {
		if err := env.Out.Emit(problem(skilldirs.Problem(p), "")); err != nil {
			return err
		}
	}
	return nil
}

// hostMessage says what a host gives to the suite, names only.
func hostMessage(h settings.Host) string {
	message := h.Name + ": "
	if len(h.Files) == 0 {
		return message + "no configuration file"
	}
	if !h.Named {
		message += "names no openspace server"
	} else {
		message += "names an openspace server"
	}
	if names := slices.Sorted(maps.Keys(h.Env)); len(names) > 0 {
		message += ", gives " + strings.Join(names, ", ")
	}
	return message
}

// showModel shows the key for the model of a host.
func showModel(env *cli.Env) error {
	host, model, p, ok := env.Settings.HostModel("")
	if !ok || !slices.Contains(env.Args, host) {
		return nil
	}
	if model != "" {
		if err := env.Out.Emit(wire.Setting{Name: "model", Value: model, Source: string(settings.FromHost), Where: host}); err != nil {
			return err
		}
	}
	p.Key.Name, p.Base.Name = "model_api_key", "model_api_base"
	for _, v := range []settings.Value{p.Key, p.Base} {
		if v.Value == "" {
			continue
		}
		if err := env.Out.Emit(recordOf(env, v)); err != nil {
			return err
		}
	}
	return nil
}
