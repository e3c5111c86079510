package policy

import (
	"slices"
	"strings"
)

// git judges what git changes outside the repository, what it publishes over others' work, and what it runs.
func (j *judge) git(c cmd) {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch option := args[0].text; {
		case option == "-C" || option == "--git-dir" || option == "--work-tree":
			if len(args) > 1 {
				j.writes(j.path(args[1].text), c.node)
			}
			args = args[1:]
		case option == "-c" && len(args) > 1:
			j.gitSetting(args[1].text)
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 {
		return
	}
	verb, args := args[0].text, args[1:]
	switch verb {
	case "config":
		if flag(args, "", "--global", "--system") && !flag(args, "l", "--get", "--get-all", "--list") {
			j.say(Ask, "git-config", c.node, "it changes the user's settings of git: set it for this repository, without --global")
		}
		if ops := operands(args, "--type -f"); len(ops) > 1 {
			j.gitSetting(ops[0].text + "=" + ops[1].text)
		}
	case "push":
		forced := flag(args, "fd", "--force", "--force-with-lease", "--mirror", "--delete", "--prune") ||
			slices.ContainsFunc(args, func(a word) bool { return strings.HasPrefix(a.text, "+") || strings.HasPrefix(a.text, ":") })
		if forced {
			j.say(Ask, "git-push", c.node, "it would overwrite or delete what others may have: push without force, or to a new branch")
		}
	case "clone", "init", "worktree":
		j.clone(args, c)
	case "rebase":
		j.gitRuns(args, c, "-x", "--exec")
	case "filter-branch":
		j.gitRuns(args, c, "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter", "--tag-name-filter")
	case "bisect", "submodule":
		if len(args) > 1 && (args[0].text == "run" || args[0].text == "foreach") {
			j.note(j.script(j.render(args[1:])))
		}
	case "rm", "clean":
		for _, a := range operands(args, "") {
			if path := j.path(a.text); path != "" {
				j.writes(path, c.node)
			}
		}
	}
}

// clone judges the folder that is made.
func (j *judge) clone(args []word, c cmd) {
	ops := operands(args, "-b -o -c -u --depth --branch --reference --template")
	for _, a := range ops {
		if a.known && strings.HasPrefix(a.text, "/") || strings.HasPrefix(a.text, "../") || strings.HasPrefix(a.text, "~") {
			if last := ops[len(ops)-1]; last.text == a.text && !strings.Contains(a.text, ":") && (len(ops) > 1 || !strings.Contains(source(c.node), "clone")) {
				j.writes(j.path(a.text), c.node)
			}
		}
	}
}

// gitSetting judges a setting that git runs as a command.
func (j *judge) gitSetting(setting string) {
	name, value, _ := strings.Cut(setting, "=")
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "alias."):
		if script, ok := strings.CutPrefix(value, "!"); ok {
			j.note(j.script(script))
		}
	case strings.HasSuffix(name, "editor"), strings.HasSuffix(name, "pager"), strings.HasSuffix(name, "command"), strings.HasSuffix(name, ".cmd"),
		strings.HasSuffix(name, ".textconv"), strings.HasSuffix(name, ".clean"), strings.HasSuffix(name, ".smudge"), name == "core.fsmonitor",
		strings.HasPrefix(name, "credential") && strings.HasPrefix(value, "!"):
		j.note(j.script(strings.TrimPrefix(value, "!")))
	}
}

// gitRuns judges the values of options that are commands.
func (j *judge) gitRuns(args []word, c cmd, options ...string) {
	for i, a := range args {
		name, value, long := strings.Cut(a.text, "=")
		switch {
		case long && slices.Contains(options, name):
			j.note(j.script(value))
		case slices.Contains(options, a.text) && i+1 < len(args):
			j.note(j.script(j.render(args[i+1 : i+2])))
		}
	}
}

// find judges what find deletes and runs.
func (j *judge) find(c cmd) {
	var from []word
	i := 0
	for ; i < len(c.args) && !strings.HasPrefix(c.args[i].text, "-") && c.args[i].text != "(" && c.args[i].text != "!"; i++ {
		from = append(from, c.args[i])
	}
	if len(from) == 0 {
		from = []word{{text: ".", known: true}}
	}
	tests := c.args[i:]
	chosen := slices.ContainsFunc(tests, func(a word) bool {
		return slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-mtime", "-mmin", "-newer", "-size", "-empty", "-user", "-perm", "-maxdepth", "-links", "-inum", "-ctime", "-atime", "-wholename"}, a.text)
	})
	for k, a := range tests {
		switch a.text {
		case "-delete":
			j.findDeletes(from, chosen, c)
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if k+1 < len(tests) {
				j.writes(j.path(tests[k+1].text), c.node)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			j.findRuns(tests[k+1:], from, chosen, c)
		}
	}
}

// findDeletes judges the deletion of what is found: without a test that chooses, that is everything.
func (j *judge) findDeletes(from []word, chosen bool, c cmd) {
	for _, f := range from {
		path := j.path(f.text)
		switch {
		case path == "" || !f.known:
		case !chosen:
			j.removal(f, true, c.node)
		default:
			j.writes(resolve(path), c.node)
		}
	}
}

// findRuns judges the command that is run for what is found.
func (j *judge) findRuns(args, from []word, chosen bool, c cmd) {
	end := slices.IndexFunc(args, func(a word) bool { return a.text == ";" || a.text == "+" })
	if end >= 0 {
		args = args[:end]
	}
	if len(args) == 0 {
		return
	}
	if slices.Contains([]string{"rm", "shred", "unlink", "rmdir"}, args[0].text) {
		j.findDeletes(from, chosen, c)
	}
	with := slices.Clone(args)
	for i, a := range with {
		if a.text == "{}" {
			with[i] = word{}
		}
	}
	j.run(with, input{none: true}, c.node)
}

// publish judges package managers of programming languages: what is given to everybody, or installed for everybody.
func (j *judge) publish(c cmd) {
	if len(c.args) == 0 {
		return
	}
	verb := c.args[0].text
	switch {
	case slices.Contains([]string{"publish", "upload", "unpublish", "deprecate", "yank", "login", "adduser"}, verb), c.name == "gem" && verb == "push":
		j.say(Ask, "publish", c.node, "it publishes, or logs in, in the user's name")
	case c.name == "gh" && slices.ContainsFunc(c.args, func(a word) bool { return a.text == "delete" || a.text == "merge" || a.text == "release" }):
		j.say(Ask, "publish", c.node, "it changes something on GitHub in the user's name")
	case (c.name == "npm" || c.name == "pnpm" || c.name == "yarn") && (flag(c.args, "g", "--global") || verb == "global"):
		j.say(Ask, "packages", c.node, "it installs for the whole machine: install without -g, into the workspace")
	}
}
