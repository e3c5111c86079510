package settings

import (
	"fmt"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MCPServer is a server whose tools tasks may use. Variables are put in.
type MCPServer struct {
	Name    string
	Kind    string // stdio, http or sse
	Command string
	Args    []string
	Env     map[string]string
	Dir     string // absolute; empty: not said
	URL     string
	Headers map[string]string

	Timeout      time.Duration // of a call; 0: not said
	StartTimeout time.Duration
	Allow, Deny  []string // names of tools, with * and ?
	MaxMessage   int64    // bytes
	Where        string   // file or variable, and the place in it
}

// mcpVariable holds servers as JSON: an object by name, or one with mcpServers.
const mcpVariable = "OPENSPACE_MCP_SERVERS_JSON"

// MCPServers returns the servers that are configured, by name, and what is wrong with their entries. Of entries with the
// same name the first counts: those of OPENSPACE_MCP_SERVERS_JSON, then of the config file, of the older files, and of the
// hosts that are named (all: every host); one that is switched off takes the name all the same. Files of the working
// directory are never asked: whoever wrote a project would choose what is started on this machine.
func (s *Settings) MCPServers(hosts []string, old Grounding) (servers []MCPServer, problems []Problem) {
	s.load()
	c := &collector{s: s, seen: map[string]bool{}}
	if text := s.env[mcpVariable]; strings.TrimSpace(text) != "" {
		if doc, bad := parseDocument(mcpVariable, []byte(text)); bad != nil {
			c.problems = append(c.problems, *bad)
		} else {
			c.variable(doc)
		}
	}
	for _, key := range objectSettings {
		v := s.config[key]
		if in := (place{path: v.path, keys: []string{key}}); v.odd {
			c.problem(in, "want an object of servers by name")
		} else {
			c.list(in, v.object, true)
		}
	}
	c.list(old.serversAt, old.servers, true)
	c.hosts(hosts)
	slices.SortFunc(c.servers, func(a, b MCPServer) int { return strings.Compare(a.Name, b.Name) })
	return c.servers, c.problems
}

// variable takes the servers of a document that may be the list itself.
func (c *collector) variable(doc object) {
	in := place{path: mcpVariable}
	for _, key := range []string{"mcpServers", "servers", "mcp_servers"} {
		list, ok := doc[key].(object)
		if !ok || list["command"] != nil || list["url"] != nil { // a server of that name
			continue
		}
		for _, other := range slices.Sorted(maps.Keys(doc)) {
			if other != key && !strings.HasPrefix(other, "_comment") {
				c.problem(in.below(other), "unknown key beside %s", key)
			}
		}
		c.list(in.below(key), list, true)
		return
	}
	c.list(in, doc, true)
}

// collector takes servers from one source after the other.
type collector struct {
	s        *Settings
	seen     map[string]bool
	servers  []MCPServer
	problems []Problem
}

// list takes what stands in a list of servers. In our own files unknown keys are told; hosts have keys of their own.
func (c *collector) list(p place, list object, strict bool) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at := p.below(name)
		if c.seen[name] {
			continue
		}
		c.seen[name] = true
		entry, ok := list[name].(object)
		switch {
		case list[name] == nil || ok && off(entry) || ours(name, entry):
			continue
		case !ok:
			c.problem(at, "want an object")
			continue
		case strings.TrimSpace(name) == "":
			c.problem(at, "a server needs a name")
			continue
		}
		if server, ok := c.server(at, name, entry, strict); ok {
			c.servers = append(c.servers, server)
		}
	}
}

// ours tells whether an entry is the suite itself, which must not start itself again and again.
func ours(name string, entry object) bool {
	command, _ := entry["command"].(string)
	base := strings.TrimSuffix(path.Base(filepath.ToSlash(command)), ".exe")
	return strings.EqualFold(name, serverName) || base == "openspace-mcp"
}

func (c *collector) problem(p place, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: p.path, Message: strings.Join(p.keys, ".") + ": " + fmt.Sprintf(format, args...)})
}

// hosts asks the hosts that are named.
func (c *collector) hosts(names []string) {
	for _, name := range names {
		if name != "all" && !slices.Contains(HostNames(), name) {
			c.problems = append(c.problems, Problem{Path: "mcp_hosts", Message: fmt.Sprintf("unknown host %.40q: want all, %s", name, strings.Join(HostNames(), ", "))})
		}
	}
	r := &hostReader{s: c.s, documents: map[string]object{}, whole: true}
	for _, known := range hostReaders {
		if !slices.Contains(names, known.name) && !slices.Contains(names, "all") {
			continue
		}
		r.host = Host{Name: known.name, Env: map[string]Value{}}
		r.problems = &r.host.Problems
		known.read(r)
		c.problems = append(c.problems, r.host.Problems...)
		for _, l := range r.host.lists {
			if l.at.project {
				c.passOver(l)
				continue
			}
			c.list(l.at, l.servers, false)
		}
	}
}

// passOver tells which servers of a project are not used.
func (c *collector) passOver(l serverList) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(l.servers)) {
		if entry, ok := l.servers[name].(object); ok && !ours(name, entry) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		c.problems = append(c.problems, Problem{
			Path: l.at.path, Message: fmt.Sprintf("MCP servers of a project are not started: %s", strings.Join(names, ", ")), Hint: "put those that you trust into your own configuration",
		})
	}
}

// entryReader reads one entry.
type entryReader struct {
	c       *collector
	at      place
	entry   object
	used    map[string]bool
	missing bool // a variable
}

// server reads an entry. What is wrong with a detail is told and leaves that out; without a command or address, or with a
// variable that is not set, there is no server.
func (c *collector) server(at place, name string, entry object, strict bool) (m MCPServer, ok bool) {
	e := &entryReader{c: c, at: at, entry: entry, used: map[string]bool{}}
	m = MCPServer{
		Name: name, Where: at.path + " " + strings.Join(at.keys, "."), Command: e.text("command"), Args: e.texts("args"), Env: e.values("env"), Dir: e.text("cwd", "dir"),
		URL: e.text("url", "httpUrl", "serverUrl"), Headers: e.values("headers", "http_headers", "httpHeaders"),
		Timeout: e.duration("timeout", "tool_timeout_sec"), StartTimeout: e.duration("start_timeout", "startup_timeout_sec"),
		Allow: e.texts("allowed_tools", "enabled_tools", "includeTools"), Deny: e.texts("denied_tools", "disabled_tools", "excludeTools"), MaxMessage: e.bytes("max_message_bytes"),
	}
	if m.Dir != "" {
		m.Dir = c.s.abs(m.Dir)
	}
	e.keys(&m)
	m.Kind = e.kind(m)
	if strict {
		e.unknown()
	}
	return m, m.Kind != "" && !e.missing
}

// keys adds what says who asks.
func (e *entryReader) keys(m *MCPServer) {
	token := e.text("auth_token", "bearer_token")
	if name := e.text("bearer_token_env_var"); name != "" && token == "" {
		token = e.expand("bearer_token_env_var", "${"+name+"}")
	}
	add := func(name, value string) {
		if m.Headers == nil {
			m.Headers = map[string]string{}
		}
		m.Headers[name] = strings.TrimSpace(value) // blanks at its ends are none of a header
	}
	for name, value := range m.Headers {
		add(name, value)
	}
	variables := e.values("env_http_headers")
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		add(name, e.expand("env_http_headers."+name, "${"+variables[name]+"}"))
	}
	if token != "" {
		add("Authorization", "Bearer "+token)
	}
}

// kinds are what servers say of how they are reached, in all hosts.
var kinds = []string{"", "stdio", "local", "http", "https", "remote", "streamable-http", "streamable_http", "streamablehttp", "sse"}

// kind says how a server is reached; empty, with a problem, when the entry does not say that.
func (e *entryReader) kind(m MCPServer) string {
	said := strings.ToLower(e.text("type", "transport"))
	if !slices.Contains(kinds, said) {
		e.c.problem(e.at.below("type"), "want stdio, http or sse; it counts as not set")
	}
	switch socket := e.text("ws_url"); {
	case m.Command != "":
		return "stdio"
	case m.URL != "" && (said == "sse" || said == "" && strings.HasSuffix(strings.TrimRight(m.URL, "/"), "/sse")):
		return "sse"
	case m.URL != "":
		return "http"
	case e.missing:
	case socket != "":
		e.c.problem(e.at, "WebSocket is not spoken; give a url of http")
	default:
		e.c.problem(e.at, "it has neither a command nor a url")
	}
	return ""
}

// value returns what stands under the first of several names.
func (e *entryReader) value(names []string) (key string, v any) {
	for _, name := range names {
		e.used[name] = true
		if v == nil && e.entry[name] != nil {
			key, v = name, e.entry[name]
		}
	}
	return key, v
}

func (e *entryReader) text(names ...string) string {
	key, v := e.value(names)
	if v == nil {
		return ""
	}
	text, ok := scalarText(v)
	if _, isText := v.(string); !ok && !isText {
		e.c.problem(e.at.below(key), "want a text")
	}
	return strings.TrimSpace(e.expand(key, text))
}

// expand puts variables in.
func (e *entryReader) expand(key, text string) string {
	r := hostReader{s: e.c.s}
	res, bad := r.expander(e.at).replace(text)
	if bad != "" {
		e.missing = true
		e.c.problem(e.at.below(key), "%s, so the server is left out", bad)
	}
	return res
}

func (e *entryReader) texts(names ...string) (out []string) {
	key, v := e.value(names)
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	for i, one := range list {
		text, isText := wholeText(one)
		if !isText {
			ok = false
			continue
		}
		out = append(out, e.expand(fmt.Sprintf("%s.%d", key, i), text))
	}
	if !ok {
		e.c.problem(e.at.below(key), "want a list of texts")
	}
	return out
}

// wholeText is scalarText for what a program gets: blanks at its ends and no text at all mean something there.
func wholeText(v any) (text string, ok bool) {
	if text, ok = v.(string); ok {
		return text, true
	}
	return scalarText(v)
}

func (e *entryReader) values(names ...string) map[string]string {
	key, v := e.value(names)
	if v == nil {
		return nil
	}
	list, ok := v.(object)
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		text, isText := wholeText(list[name])
		if !isText {
			ok = ok && list[name] == nil
			continue
		}
		out[name] = e.expand(key+"."+name, text)
	}
	if !ok {
		e.c.problem(e.at.below(key), "want an object of texts")
	}
	return out
}

// maxWait bounds what may be said of a server's time.
const maxWait = 24 * time.Hour

// duration reads seconds; numbers from 1000 on are milliseconds, as some hosts write them; a text is like 90s.
func (e *entryReader) duration(names ...string) time.Duration {
	key, v := e.value(names)
	var d time.Duration
	switch v := v.(type) {
	case nil:
		return 0
	case string:
		d, _ = time.ParseDuration(strings.TrimSpace(v))
	default:
		n, ok := number(v)
		unit := float64(time.Second)
		if n >= 1000 {
			unit = float64(time.Millisecond)
		}
		if ok && n > 0 {
			d = time.Duration(min(n*unit, float64(maxWait)+1))
		}
	}
	if d <= 0 || d > maxWait {
		e.c.problem(e.at.below(key), "want seconds, or a time such as 90s, up to a day")
		return 0
	}
	return d
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case int64:
		return float64(v), true
	}
	return 0, false
}

func (e *entryReader) bytes(name string) int64 {
	const most = 1 << 30
	key, v := e.value([]string{name})
	if v == nil {
		return 0
	}
	n, ok := number(v)
	if !ok || n < 1024 || n > most || n != math.Trunc(n) {
		e.c.problem(e.at.below(key), "want a number of bytes from 1024 to %d", most)
		return 0
	}
	return int64(n)
}

// passedKeys are keys that are known and say nothing to us.
var passedKeys = []string{"enabled", "disabled", "name", "description", "alwaysAllow", "autoApprove", "trust", "required", "gallery", "version", "oauth", "scopes"}

// unknown tells of keys that nothing reads.
func (e *entryReader) unknown() {
	var known []string
	for name := range e.used {
		known = append(known, name)
	}
	known = append(known, passedKeys...)
	for _, key := range slices.Sorted(maps.Keys(e.entry)) {
		if slices.Contains(known, key) || strings.HasPrefix(key, "_comment") {
			continue
		}
		hint := ""
		if near := Nearest(key, slices.Sorted(slices.Values(known))); near != "" {
			hint = fmt.Sprintf(", did you mean %q?", near)
		}
		e.c.problem(e.at, "unknown key %.60q%s", key, hint)
	}
}

// objectSettings are the keys of the config file that hold objects.
var objectSettings = []string{"mcp_servers", "mcpServers"}
