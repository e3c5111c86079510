package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Grounding is what the older configuration says: the files config_grounding.json, config_security.json and
// config_mcp.json beside the config file, the file that OPENSPACE_CONFIG_PATH names, and OPENSPACE_CONFIG_JSON. A zero
// means that it says nothing.
type Grounding struct {
	Files    []string // that were read
	Problems []Problem
	Err      error // the security policies cannot be read, so that nobody knows what they forbid

	NoMCP        bool            // the backend mcp is not among those that are on
	MaxTools     int             // of MCP servers that a model is shown
	WordsOnly    bool            // tools are ranked by words alone
	NoRanking    bool            // how tools did before does not count in their ranking
	CacheAge     time.Duration   // of lists of tools
	StartTimeout time.Duration   // of a server that names none
	Rules        json.RawMessage // the part of the security policies that is about commands, as policy.ParseRules reads it

	servers   object
	serversAt place
}

// The variables of the older configuration.
const (
	configPath = "OPENSPACE_CONFIG_PATH"
	configJSON = "OPENSPACE_CONFIG_JSON"
)

// OtherVariables are those of the suite that are no settings with a name of their own.
func OtherVariables() []string {
	return []string{mcpVariable, configPath, configJSON, EnvName("backend_scope")}
}

// Grounding reads the older configuration. A later source overrides an earlier one key by key. Unknown keys and bad
// values are named in the problems and change nothing else.
func (s *Settings) Grounding() Grounding {
	s.load()
	g := &groundingReader{s: s, merged: object{}}
	dir := filepath.Dir(s.ConfigFile())
	g.file(filepath.Join(dir, "config_grounding.json"), false)
	if security := filepath.Join(dir, "config_security.json"); !g.file(security, false) {
		g.out.Err = fmt.Errorf("read the security policies: %s", g.out.Problems[len(g.out.Problems)-1])
	}
	if own := s.env[configPath]; strings.TrimSpace(own) != "" {
		g.file(s.abs(own), true)
	}
	if text := s.env[configJSON]; strings.TrimSpace(text) != "" {
		g.take(configJSON, []byte(text))
	}
	g.servers(filepath.Join(dir, "config_mcp.json"))
	g.effects()
	return g.out
}

type groundingReader struct {
	s         *Settings
	out       Grounding
	merged    object
	serversIn string // the file whose list of servers is the one that counts
}

func (g *groundingReader) problem(path, format string, args ...any) {
	g.out.Problems = append(g.out.Problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// file reads one file; one that is not there says nothing. It is false when there is one that cannot be read.
func (g *groundingReader) file(path string, demanded bool) bool {
	data, err := readFile(path)
	switch {
	case err != nil:
		g.problem(path, "passed over: %s", strings.TrimPrefix(err.Error(), path+": "))
		return false
	case data != nil:
		g.out.Files = append(g.out.Files, path)
		return g.take(path, data)
	case demanded:
		g.problem(path, "no such file, though %s names it", configPath)
	}
	return true
}

// take checks a document and adds what is good in it.
func (g *groundingReader) take(path string, data []byte) bool {
	doc, bad := parseDocument(path, data)
	if bad != nil {
		g.out.Problems = append(g.out.Problems, *bad)
		return false
	}
	g.check(path, "", doc)
	if serverList := doc["mcpServers"]; serverList != nil || at(doc, "mcp")["servers"] != nil {
		g.serversIn = path
	}
	overlay(g.merged, doc)
	return true
}

// overlay puts the entries of one object over those of another, objects within them likewise.
func overlay(under, over object) {
	for key, value := range over {
		a, isObject := under[key].(object)
		b, both := value.(object)
		if isObject && both {
			overlay(a, b)
			continue
		}
		under[key] = value
	}
}

// check tells of unknown keys and bad values below a place, and takes them out.
func (g *groundingReader) check(path, prefix string, doc object) {
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		name := prefix + key
		rule, known := oldKeys[name]
		section, isObject := doc[key].(object)
		switch {
		case strings.HasPrefix(key, "_comment"):
			delete(doc, key)
		case known && doc[key] == nil:
			delete(doc, key)
		case known && !rule.fits(doc[key]):
			g.problem(path, "%s: want %s; it counts as not set", name, rule.want())
			delete(doc, key)
		case known:
		case isSection(name) && isObject:
			g.check(path, name+".", section)
		case isSection(name):
			g.problem(path, "%s: want an object; it counts as not set", name)
			delete(doc, key)
		default:
			g.problem(path, "unknown key %.80q%s", name, nearOld(name))
			delete(doc, key)
		}
	}
}

func isSection(name string) bool {
	for known := range oldKeys {
		if strings.HasPrefix(known, name+".") {
			return true
		}
	}
	return false
}

func nearOld(name string) string {
	if near := Nearest(name, slices.Sorted(maps.Keys(oldKeys))); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// servers settles which list of servers counts: that of config_mcp.json, unless another file has one.
func (g *groundingReader) servers(path string) {
	list, _ := g.merged["mcpServers"].(object)
	keys := []string{"mcpServers"}
	if list == nil {
		list, keys = at(g.merged, "mcp", "servers"), []string{"mcp", "servers"}
	}
	g.out.servers, g.out.serversAt = list, place{path: g.serversIn, keys: keys}
	if g.merged["mcpServers"] != nil {
		return
	}
	data, err := readFile(path)
	if err != nil || data == nil {
		if err != nil {
			g.problem(path, "passed over: %s", strings.TrimPrefix(err.Error(), path+": "))
		}
		return
	}
	g.out.Files = append(g.out.Files, path)
	doc, bad := parseDocument(path, data)
	if bad != nil {
		g.out.Problems = append(g.out.Problems, *bad)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		if key != "mcpServers" && !strings.HasPrefix(key, "_comment") {
			g.problem(path, "unknown key %.80q", key)
		}
	}
	if _, ok := doc["mcpServers"].(object); !ok && doc["mcpServers"] != nil {
		g.problem(path, "mcpServers: want an object; it counts as not set")
	}
	g.out.servers, g.out.serversAt = at(doc, "mcpServers"), place{path: path, keys: []string{"mcpServers"}}
}

// effects makes of the merged document what it means here.
func (g *groundingReader) effects() {
	o := &g.out
	o.MaxTools = int(numberAt(g.merged, "tool_search", "max_tools"))
	o.CacheAge = time.Duration(numberAt(g.merged, "tool_cache_ttl")) * time.Second
	o.StartTimeout = time.Duration(numberAt(g.merged, "mcp", "timeout")) * time.Second
	mode, _ := at(g.merged, "tool_search")["search_mode"].(string)
	o.WordsOnly = strings.EqualFold(mode, "keyword")
	quality := at(g.merged, "tool_quality")
	o.NoRanking = quality["enabled"] == false || quality["enable_quality_ranking"] == false
	if list, ok := g.merged["enabled_backends"].([]any); ok && len(list) > 0 {
		o.NoMCP = !slices.ContainsFunc(list, func(v any) bool {
			name, isText := v.(string)
			if entry, _ := v.(object); !isText {
				name, _ = entry["name"].(string)
			}
			return strings.EqualFold(name, "mcp")
		})
	}
	if at(g.merged, "mcp")["enabled"] == false {
		o.NoMCP = true
	}
	if scope := strings.TrimSpace(g.s.env[EnvName("backend_scope")]); scope != "" {
		o.NoMCP = !slices.ContainsFunc(strings.Split(scope, ","), func(b string) bool { return strings.EqualFold(strings.TrimSpace(b), "mcp") })
	}
	g.rules()
}

// rules takes the policy for commands: the global one with that of the shell over it, key by key.
func (g *groundingReader) rules() {
	policies := at(g.merged, "security_policies")
	rules := object{}
	for _, section := range []object{at(policies, "global"), at(policies, "backend", "shell")} {
		for _, key := range []string{"allow_shell_commands", "blocked_commands"} {
			if v, ok := section[key]; ok {
				rules[key] = v
			}
		}
	}
	if len(rules) > 0 {
		g.out.Rules, _ = json.Marshal(rules) // it came from JSON
	}
}

func numberAt(doc object, keys ...string) float64 {
	n, _ := number(at(doc, keys[:len(keys)-1]...)[keys[len(keys)-1]])
	return n
}

// rule is what a key of the older configuration may hold.
type rule struct {
	kind     string // bool, int, number, text, list, object or any
	min, max float64
	among    []string // texts, in any case
}

func (r rule) fits(v any) bool {
	switch r.kind {
	case "bool":
		_, ok := v.(bool)
		return ok
	case "int", "number":
		n, ok := number(v)
		return ok && n >= r.min && n <= r.max && (r.kind == "number" || n == math.Trunc(n))
	case "text":
		text, ok := v.(string)
		return ok && (r.among == nil || slices.Contains(r.among, strings.ToLower(text)))
	case "list":
		_, ok := v.([]any)
		return ok
	case "object":
		_, ok := v.(object)
		return ok
	}
	return true
}

func (r rule) want() string {
	switch r.kind {
	case "bool":
		return "true or false"
	case "int":
		return fmt.Sprintf("a whole number from %v to %v", r.min, r.max)
	case "number":
		return fmt.Sprintf("a number from %v to %v", r.min, r.max)
	case "list":
		return "a list"
	case "object":
		return "an object"
	}
	if r.among != nil {
		return "one of " + strings.Join(r.among, ", ")
	}
	return "a text"
}

// oldKeys are all keys of the older configuration, those that mean nothing here among them.
var oldKeys = func() map[string]rule {
	yes, text, list, obj := rule{kind: "bool"}, rule{kind: "text"}, rule{kind: "list"}, rule{kind: "object"}
	whole := func(min, max float64) rule { return rule{kind: "int", min: min, max: max} }
	between := func(min, max float64) rule { return rule{kind: "number", min: min, max: max} }
	one := func(of ...string) rule { return rule{kind: "text", among: of} }
	keys := map[string]rule{
		"enabled_backends": list, "session_defaults": {}, "tool_cache_ttl": whole(1, 3600), "tool_cache_maxsize": whole(1, 10000), "debug": yes,
		"log_level": one("debug", "info", "warning", "error", "critical"), "mcpServers": obj, "max_concurrent_sessions": whole(1, 10000),

		"shell.mode": one("local", "server"), "shell.retry_interval": between(0.1, 60), "shell.default_shell": text, "shell.working_dir": text, "shell.env": obj,
		"shell.conda_env": text, "shell.default_port": whole(1, 65535), "shell.use_clawwork_productivity": yes, "shell.productivity_date": text,
		"mcp.sandbox": yes, "mcp.auto_initialize": yes, "mcp.eager_sessions": yes, "mcp.retry_interval": between(0.1, 60), "mcp.servers": obj,
		"mcp.sse_read_timeout": between(1, 3600), "mcp.check_dependencies": yes, "mcp.auto_install": yes,
		"gui.mode": one("local", "server"), "gui.retry_interval": between(0.1, 60), "gui.driver_type": text, "gui.failsafe": yes, "gui.screenshot_on_error": yes,
		"gui.pkgs_prefix": text, "tool_search.embedding_model": text, "tool_search.max_tools": whole(1, 1000), "tool_search.search_mode": one("semantic", "keyword", "hybrid"),
		"tool_search.enable_llm_filter": yes, "tool_search.llm_filter_threshold": whole(1, 1000), "tool_search.enable_cache_persistence": yes, "tool_search.cache_dir": text,
		"tool_quality.enabled": yes, "tool_quality.enable_persistence": yes, "tool_quality.cache_dir": text, "tool_quality.auto_evaluate_descriptions": yes,
		"tool_quality.enable_quality_ranking": yes, "tool_quality.evolve_interval": whole(1, 100),
		"skills.enabled": yes, "skills.skill_dirs": list, "skills.max_select": whole(1, 20),
	}
	for _, backend := range []string{"shell", "web", "mcp", "gui", "system"} {
		keys[backend+".enabled"], keys[backend+".timeout"], keys[backend+".max_retries"] = yes, whole(1, 300), whole(0, 10)
	}
	for _, section := range []string{"global", "backend.shell", "backend.web", "backend.mcp", "backend.gui", "backend.system"} {
		for _, key := range []string{"allow_network_access", "allow_file_access", "sandbox_enabled"} {
			keys["security_policies."+section+"."+key] = yes
		}
		keys["security_policies."+section+".allow_shell_commands"] = rule{} // package policy takes what it cannot read as false
		keys["security_policies."+section+".allowed_domains"] = list
		keys["security_policies."+section+".blocked_commands"] = rule{} // a list, or lists by system; package policy reads it
	}
	return keys
}()
