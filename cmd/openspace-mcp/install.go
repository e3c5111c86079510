package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/hosts"
	"github.com/openspace-dev/openspace/pkg/settings"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// setup are the flags of install and uninstall.
type setup struct {
	host    string
	command string
	env     *[]string
	tools   *[]string
	dryRun  bool
	yes     bool
}

func (o *setup) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.host, "host", "", "the host agent: `NAME` is "+strings.Join(settings.HostNames(), ", "))
	fs.BoolVar(&o.dryRun, "dry-run", false, "show what would be changed; nothing is")
	fs.BoolVar(&o.yes, "yes", false, "do not ask, also on a terminal")
}

func installVerb() *cli.Command {
	o := &setup{}
	return &cli.Command{
		Name: "install", Short: "set a host up: its entry for the server, and two skills",
		Manual: `Shows what changes in the host's own configuration and in its folder of skills, and then changes it; on a terminal it asks before. Everything else in the files stays as it is, comments too, and what is there already is not written again. docs/hosts.md has the entry for each host, to be put in by hand.`,
		Flags: func(fs *flag.FlagSet) {
			o.flags(fs)
			fs.StringVar(&o.command, "command", "", "start the server by `COMMAND` (default this program)")
			o.env = cli.List(fs, "env", "start the server with `NAME=VALUE` in its environment; may be repeated")
			o.tools = cli.List(fs, "tools", "start the server with --tools `NAME`; may be repeated")
		},
		Run: func(_ context.Context, env *cli.Env) error { return o.run(env, "install", hosts.Install) },
	}
}

func uninstallVerb() *cli.Command {
	o := &setup{env: &[]string{}, tools: &[]string{}}
	return &cli.Command{
		Name: "uninstall", Short: "undo install",
		Manual: `Shows what changes and then changes it; on a terminal it asks before. A skill that was changed by hand since stays.`,
		Flags:  o.flags,
		Run:    func(_ context.Context, env *cli.Env) error { return o.run(env, "uninstall", hosts.Uninstall) },
	}
}

func (o *setup) run(env *cli.Env, action string, plan func(hosts.Options) ([]hosts.Change, error)) error {
	h, err := o.options(env)
	if err != nil {
		return err
	}
	changes, err := plan(h)
	if err != nil {
		return wire.Errorf(wire.Invalid, "%s %s: %w", action, o.host, err)
	}
	for _, c := range changes {
		if err := env.Out.Emit(shown(c)); err != nil {
			return err
		}
	}
	res := wire.Result{Status: "unchanged", Action: action, Path: h.Place.Config, Count: len(changes), DryRun: o.dryRun, Message: hints[o.host]}
	if len(changes) > 0 {
		res.Status = "success"
		if err := o.apply(env, changes); err != nil {
			return err
		}
	}
	return env.Out.Emit(res)
}

// hints say what a user should know about a host.
var hints = map[string]string{
	"claude-code": "restart Claude Code; long tasks need MCP_TOOL_TIMEOUT=1200000 in its environment",
	"codex":       "restart Codex",
	"cursor":      "switch the server on in Cursor's settings for MCP",
	"vscode":      "start the server by MCP: List Servers",
	"nanobot":     "restart nanobot",
	"openclaw":    "restart the gateway of openclaw",
}

// options checks the flags.
func (o *setup) options(env *cli.Env) (h hosts.Options, err error) {
	if len(env.Args) > 0 {
		return h, wire.Errorf(wire.Usage, "unexpected argument %q", env.Args[0])
	}
	place, ok := env.Settings.HostPlace(o.host)
	if !ok {
		hint := "the hosts are " + strings.Join(settings.HostNames(), ", ")
		if near := settings.Nearest(o.host, settings.HostNames()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return h, wire.Errorf(wire.Usage, "--host %q: there is no such host", o.host).WithHint("%s", hint)
	}
	for _, kv := range *o.env {
		if name, _, ok := strings.Cut(kv, "="); !ok || !variableName.MatchString(name) {
			return h, wire.Errorf(wire.Usage, "--env %q: want NAME=VALUE", kv)
		}
	}
	h = hosts.Options{Host: o.host, Place: place, Environ: *o.env, Command: o.command}
	for _, name := range names(*o.tools) {
		h.Args = append(h.Args, "--tools="+name)
	}
	if h.Command == "" {
		h.Command, err = self(env)
	}
	return h, err
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// self is how a host starts this program: by its path, because hosts with a window have another $PATH than a
// shell.
func self(env *cli.Env) (string, error) {
	if path, err := exec.LookPath("openspace-mcp"); err == nil && filepath.IsAbs(path) && sameFile(path) {
		return path, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", wire.Errorf(wire.Internal, "find this program: %w", err).WithHint("say it with --command")
	}
	return env.Abs(path), nil
}

// sameFile reports whether a path is this program: one that a user put there stays good when a new version is
// installed.
func sameFile(path string) bool {
	me, err := os.Executable()
	if err != nil {
		return false
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(me)
	return err == nil && os.SameFile(a, b)
}

// apply asks, on a terminal, and writes.
func (o *setup) apply(env *cli.Env, changes []hosts.Change) error {
	if o.dryRun {
		return nil
	}
	if env.StdinTerminal && env.StderrTerminal && !o.yes {
		if err := env.Out.Flush(); err != nil {
			return err
		}
		fmt.Fprint(env.Stderr, "Write these changes? [y/N] ")
		answer, _ := bufio.NewReader(env.Stdin).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return wire.Errorf(wire.Canceled, "nothing was written")
		}
	}
	err := hosts.Apply(changes)
	if err != nil && !errors.Is(err, hosts.ErrTargets) {
		return wire.Errorf(wire.Internal, "%w", err)
	}
	return err
}

// shown is a change for people. Values that look like secrets are not shown: a host's file may hold keys of
// others.
func shown(c hosts.Change) wire.Diff {
	d := wire.Diff{From: "disk", To: "disk", Path: c.Path, Change: "modified"}
	switch {
	case c.Before == nil:
		d.Change = "added"
	case c.After == nil:
		d.Change = "removed"
	}
	d.Diff = hideSecrets(udiff.Unified(c.Path, c.Path, string(c.Before), string(c.After)))
	return d
}

// setValue finds a name and its value in a line of JSON or TOML.
var setValue = regexp.MustCompile(`(["']?)([A-Za-z0-9_.-]+)(["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)

func hideSecrets(text string) string {
	return setValue.ReplaceAllStringFunc(text, func(part string) string {
		m := setValue.FindStringSubmatch(part)
		if !settings.Secret(m[2]) || len(m[4]) == 2 {
			return part
		}
		return m[1] + m[2] + m[3] + `"********"`
	})
}
