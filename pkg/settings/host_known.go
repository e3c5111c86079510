package settings

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// The readers of each host: which files, and where in them. docs/settings.md has the same as a table.

// nanobotFile returns the configuration of nanobot.
func (r *hostReader) nanobotFile() string {
	if own := r.getenv("NANOBOT_CONFIG_PATH"); own != "" {
		return r.s.abs(own)
	}
	if dir := r.getenv("NANOBOT_STATE_DIR"); dir != "" {
		return filepath.Join(r.s.abs(dir), "config.json")
	}
	return r.home(".nanobot", "config.json")
}

func readNanobot(r *hostReader) {
	path := r.nanobotFile()
	if r.getenv("NANOBOT_CONFIG_PATH") != "" {
		r.demand(path, "NANOBOT_CONFIG_PATH")
	}
	doc, ok := r.open(path)
	if !ok {
		return
	}
	for _, key := range []string{"mcpServers", "mcp_servers"} {
		r.takeServer(place{path: path, keys: []string{"tools", key}}, at(doc, "tools", key))
	}
	r.skillsBelow(place{path: path, keys: []string{"agents", "defaults"}}, at(doc, "agents", "defaults"), filepath.Join(filepath.Dir(path), "workspace"))
	r.nanobotProviders(place{path: path}, doc)
}

// demand reports a file that a variable names and that is not there.
func (r *hostReader) demand(path, variable string) {
	if !r.isFile(path) {
		r.problem(Problem{Path: path, Message: "no such file, though " + variable + " names it"})
	}
}

// skillsBelow adds the skills folder of the workspace that an entry names.
func (r *hostReader) skillsBelow(p place, entry object, usual string) {
	dir, where := usual, r.host.Name+" "+p.path
	if raw, has := entry["workspace"]; has {
		if v, ok := r.value(p, "workspace", raw); ok {
			dir, where = r.pathIn(p.path, v.Value), v.Where
		}
	}
	r.addSkills(filepath.Join(dir, "skills"), where)
}

func (r *hostReader) addSkills(dir, where string) {
	r.host.skillDirs = append(r.host.skillDirs, Value{Value: dir, Where: where})
}

// pathIn makes a path in a file absolute: ~ is the home folder, anything relative is below the file's folder.
func (r *hostReader) pathIn(file, path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") && !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return r.s.abs(path)
}

var (
	openclawDirs  = []string{".openclaw", ".clawdbot", ".moldbot", ".moltbot"}
	openclawFiles = []string{"openclaw.json", "clawdbot.json", "moldbot.json", "moltbot.json"}
)

// openclawFile returns the configuration of openclaw and the folder of its state.
func (r *hostReader) openclawFile() (path, state string) {
	home := r.s.userHome()
	if own := r.getenv("OPENCLAW_HOME"); own != "" {
		home = r.s.abs(own)
	}
	dirs := []string{r.getenv("OPENCLAW_STATE_DIR")}
	if dirs[0] == "" {
		dirs = nil
		for _, name := range openclawDirs {
			dirs = append(dirs, filepath.Join(home, name))
		}
	}
	for i := range dirs {
		dirs[i] = r.s.abs(dirs[i])
	}
	if own := r.getenv("OPENCLAW_CONFIG_PATH"); own != "" {
		path = r.s.abs(own)
		r.demand(path, "OPENCLAW_CONFIG_PATH")
		return path, dirs[0]
	}
	for _, dir := range dirs {
		for _, name := range openclawFiles {
			if path = filepath.Join(dir, name); r.isFile(path) {
				return path, dir
			}
		}
	}
	return "", ""
}

func readOpenclaw(r *hostReader) {
	path, state := r.openclawFile()
	if path == "" {
		return
	}
	doc, ok := r.open(path)
	if !ok {
		return
	}
	env := at(doc, "env")
	p := place{path: path, more: merged(env, at(env, "vars"))}
	r.openclawEntry(p, at(doc, "skills", "entries", serverName))
	r.takeServer(p.below("mcp", "servers"), at(doc, "mcp", "servers"))
	r.takeEnv(p.below("env", "vars"), at(env, "vars"))
	r.takeEnv(p.below("env"), env)
	r.openclawSkills(p, doc, state)
	r.openclawProviders(p, doc)
}

// openclawEntry takes what stands in the entry of the suite's skill.
func (r *hostReader) openclawEntry(p place, entry object) {
	if entry == nil || off(entry) {
		return
	}
	r.host.Named = true
	p = p.below("skills", "entries", serverName)
	r.takeEnv(p.below("env"), at(entry, "env"))
	name := EnvName("api_key")
	if _, known := r.host.Env[name]; !known && entry["apiKey"] != nil {
		if v, ok := r.value(p, "apiKey", entry["apiKey"]); ok {
			r.host.Env[name] = v
		}
	}
}

// merged returns the entries of both, those of the second winning.
func merged(a, b object) object {
	res := object{}
	for _, o := range []object{a, b} {
		for k, v := range o {
			res[k] = v
		}
	}
	return res
}

// openclawSkills adds the skills of the agent's workspace and those that all agents share.
func (r *hostReader) openclawSkills(p place, doc object, state string) {
	p.keys = []string{"agents", "defaults"}
	entry := at(doc, "agents", "defaults")
	list, _ := at(doc, "agents")["list"].([]any)
	want := r.getenv("OPENCLAW_AGENT_ID")
	i := slices.IndexFunc(list, func(raw any) bool {
		agent, _ := raw.(object)
		return agent != nil && (want != "" && agent["id"] == want || want == "" && agent["default"] == true)
	})
	if i >= 0 {
		if agent := list[i].(object); agent["workspace"] != nil {
			p.keys, entry = []string{"agents", "list", strconv.Itoa(i)}, agent
		}
	}
	r.skillsBelow(p, entry, filepath.Join(state, "workspace"))
	r.addSkills(filepath.Join(state, "skills"), r.host.Name+" "+p.path)
}

// claudeFiles returns the folder of Claude Code and its file with servers.
func (r *hostReader) claudeFiles() (base, user string) {
	if dir := r.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		base = r.s.abs(dir)
		return base, filepath.Join(base, ".claude.json")
	}
	return r.home(".claude"), r.home(".claude.json")
}

// readClaudeCode asks in the order in which Claude Code itself lets entries win.
func readClaudeCode(r *hostReader) {
	base, user := r.claudeFiles()
	doc, _ := r.open(user, serverName)
	projects := at(doc, "projects")
	for dir := r.s.dir; ; dir = filepath.Dir(dir) {
		if entry := at(projects, dir); entry != nil {
			r.takeServer(place{path: user, keys: []string{"projects", dir, "mcpServers"}}, at(entry, "mcpServers"))
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	r.servers(r.here(".mcp.json"), "mcpServers", true)
	r.takeServer(place{path: user, keys: []string{"mcpServers"}}, at(doc, "mcpServers"))
	own := filepath.Join(base, "settings.json")
	for _, path := range []string{r.here(".claude", "settings.local.json"), r.here(".claude", "settings.json"), own} {
		if doc, ok := r.open(path, serverName); ok {
			r.takeEnv(place{path: path, keys: []string{"env"}, project: path != own && r.inProject()}, at(doc, "env"))
		}
	}
	r.skillsIfNamed(filepath.Join(base, "skills"))
}

// inProject tells whether the working directory may be somebody else's project: the user's home is not.
func (r *hostReader) inProject() bool { return r.s.dir != r.s.userHome() }

// servers reads a file with a list of servers.
func (r *hostReader) servers(path, key string, project bool) {
	if doc, ok := r.open(path); ok {
		r.takeServer(place{path: path, keys: []string{key}, project: project && r.inProject()}, at(doc, key))
	}
}

// skillsIfNamed adds the skill folder of a host that starts the suite.
func (r *hostReader) skillsIfNamed(dir string) {
	if r.host.Named {
		r.addSkills(dir, r.host.Name)
	}
}

// codexDir returns the folder of Codex.
func (r *hostReader) codexDir() string {
	if dir := r.getenv("CODEX_HOME"); dir != "" {
		return r.s.abs(dir)
	}
	return r.home(".codex")
}

func readCodex(r *hostReader) {
	base := r.codexDir()
	r.servers(r.here(".codex", "config.toml"), "mcp_servers", true)
	r.servers(filepath.Join(base, "config.toml"), "mcp_servers", false)
	r.skillsIfNamed(filepath.Join(base, "skills"))
}

func readCursor(r *hostReader) {
	r.servers(r.here(".cursor", "mcp.json"), "mcpServers", true)
	r.servers(r.home(".cursor", "mcp.json"), "mcpServers", false)
	r.skillsIfNamed(r.home(".cursor", "skills"))
}

// vscodeFile returns the user's servers of VS Code.
func (r *hostReader) vscodeFile() string {
	if runtime.GOOS == "darwin" {
		return r.home("Library", "Application Support", "Code", "User", "mcp.json")
	}
	if dir := r.s.env["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "Code", "User", "mcp.json")
	}
	return r.home(".config", "Code", "User", "mcp.json")
}

func readVSCode(r *hostReader) {
	r.servers(r.here(".vscode", "mcp.json"), "servers", true)
	r.servers(r.vscodeFile(), "servers", false)
	r.skillsIfNamed(r.home(".copilot", "skills"))
}
