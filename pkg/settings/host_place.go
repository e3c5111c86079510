package settings

import (
	"cmp"
	"path/filepath"
)

// HostPlace is where a host agent has what a user may want to add to.
type HostPlace struct {
	Config string   // the user's file with its MCP servers, absolute; it may not exist
	Keys   []string // where in it the servers stand
	Skills string   // the user's folder for skills, absolute; it may not exist
}

// HostPlace returns the places of a host of HostNames.
func (s *Settings) HostPlace(name string) (HostPlace, bool) {
	s.load()
	r := &hostReader{s: s}
	switch name {
	case "claude-code":
		base, user := r.claudeFiles()
		return HostPlace{user, []string{"mcpServers"}, filepath.Join(base, "skills")}, true
	case "codex":
		base := r.codexDir()
		return HostPlace{filepath.Join(base, "config.toml"), []string{"mcp_servers"}, filepath.Join(base, "skills")}, true
	case "cursor":
		return HostPlace{r.home(".cursor", "mcp.json"), []string{"mcpServers"}, r.home(".cursor", "skills")}, true
	case "vscode":
		return HostPlace{r.vscodeFile(), []string{"servers"}, r.home(".copilot", "skills")}, true
	case "nanobot":
		path := r.nanobotFile()
		usual := filepath.Join(filepath.Dir(path), "workspace", "skills")
		if dir := r.getenv("NANOBOT_WORKSPACE"); dir != "" {
			usual = filepath.Join(s.abs(dir), "skills")
		}
		return HostPlace{path, []string{"tools", "mcpServers"}, s.skillsOf(name, usual)}, true
	case "openclaw":
		path, state := r.openclawFile()
		if path == "" {
			state = s.abs(cmp.Or(r.getenv("OPENCLAW_STATE_DIR"), filepath.Join(s.abs(cmp.Or(r.getenv("OPENCLAW_HOME"), s.userHome())), openclawDirs[0])))
			path = filepath.Join(state, openclawFiles[0])
		}
		return HostPlace{path, []string{"mcp", "servers"}, s.skillsOf(name, filepath.Join(state, "workspace", "skills"))}, true
	}
	return HostPlace{}, false
}

// skillsOf returns where the host's own file says its skills are, else the usual place.
func (s *Settings) skillsOf(name, usual string) string {
	for _, h := range s.Hosts() {
		if h.Name == name && len(h.skillDirs) > 0 {
			return h.skillDirs[0].Value
		}
	}
	return usual
}

// DocumentValue returns what stands in the text of a host's file at keys.
func DocumentValue(path string, data []byte, keys ...string) (any, *Problem) {
	doc, bad := parseDocument(path, data)
	if bad != nil || len(keys) == 0 {
		return doc, bad
	}
	last := len(keys) - 1
	return at(doc, keys[:last]...)[keys[last]], nil
}
