package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Host is the configuration of an agent that may start the suite.
type Host struct {
	Name     string           // nanobot, openclaw, claude-code, codex, cursor or vscode
	Files    []string         // that were read, absolute
	Named    bool             // a file names an openspace server
	Env      map[string]Value // variables that it gives to the suite, by their full names
	Problems []Problem

	ModelProblems []Problem // about its keys for models

	skillDirs []Value      // where it looks for skills, best first
	lists     []serverList // of MCP servers
	providers providers
}

// HostNames lists the hosts that are known, in the order in which they are asked.
func HostNames() []string {
	names := make([]string, len(hostReaders))
	for i, r := range hostReaders {
		names[i] = r.name
	}
	return names
}

var hostReaders = []struct {
	name string
	read func(*hostReader)
}{
	{"nanobot", readNanobot}, {"openclaw", readOpenclaw}, {"claude-code", readClaudeCode}, {"codex", readCodex}, {"cursor", readCursor}, {"vscode", readVSCode},
}

// Hosts returns what the files of all hosts say. They are read once.
func (s *Settings) Hosts() []Host { return s.hosts() }

func (s *Settings) readHosts() []Host {
	s.load()
	r := &hostReader{s: s, documents: map[string]object{}}
	var hosts []Host
	for _, known := range hostReaders {
		r.host = Host{Name: known.name, Env: map[string]Value{}}
		r.problems = &r.host.Problems
		known.read(r)
		hosts = append(hosts, r.host)
	}
	return hosts
}

// HostProblems returns what is wrong with the files of hosts. It is empty as long as no setting had to be looked for there.
func (s *Settings) HostProblems() (out []Problem) {
	if !s.asked.Load() {
		return nil
	}
	for _, h := range s.Hosts() {
		out = append(out, h.Problems...)
	}
	return out
}

// hosted are the settings that hosts are asked for.
var hosted = []string{"api_base", "api_key", "host_skill_dirs"}

// Find is Lookup, and then what the host agents say.
func (s *Settings) Find(name string) (Value, bool) {
	if v, ok := s.Lookup(name); ok {
		return v, true
	}
	return first(Key(name), s.fromHosts(name))
}

// Trace is Find that also tells which hosts say something else, and reads their files for that.
func (s *Settings) Trace(name string) (Value, bool) {
	found := s.fromHosts(name)
	if v, ok := s.Lookup(name); ok {
		v.Shadowed = append(slices.Clone(v.Shadowed), found...)
		return v, true
	}
	return first(Key(name), found)
}

// first returns the first value with the others as its shadow.
func first(name string, found []Value) (Value, bool) {
	if len(found) == 0 {
		return Value{Name: name}, false
	}
	res := found[0]
	res.Shadowed = found[1:]
	return res, true
}

// fromHosts returns what hosts say about a setting, strongest first.
func (s *Settings) fromHosts(name string) (found []Value) {
	name = Key(name)
	if !slices.Contains(hosted, name) {
		return nil
	}
	s.asked.Store(true)
	for _, h := range s.Hosts() {
		if v, ok := h.Env[EnvName(name)]; ok {
			v.Name = name
			found = append(found, v)
		}
	}
	if name == "host_skill_dirs" {
		if v, ok := s.knownSkillDirs(); ok {
			found = append(found, v)
		}
	}
	return found
}

// knownSkillDirs returns the folders that exist among those where hosts look for skills.
func (s *Settings) knownSkillDirs() (Value, bool) {
	res := Value{Name: "host_skill_dirs", Source: FromHost}
	var where []string
	for _, v := range s.skillDirs() {
		if info, err := os.Stat(v.Value); err == nil && info.IsDir() && !slices.Contains(res.List, v.Value) {
			res.List = append(res.List, v.Value)
			where = append(where, v.Where)
		}
	}
	res.Value, res.Where = strings.Join(res.List, ","), strings.Join(slices.Compact(where), ", ")
	return res, len(res.List) > 0
}

// skillDirs returns all folders where hosts look for skills, whether they exist or not.
func (s *Settings) skillDirs() (dirs []Value) {
	for _, variable := range []string{"NANOBOT_WORKSPACE", "OPENCLAW_STATE_DIR"} {
		if v := strings.TrimSpace(s.env[variable]); v != "" {
			dirs = append(dirs, Value{Value: filepath.Join(s.abs(v), "skills"), Where: variable})
		}
	}
	for _, h := range s.Hosts() {
		dirs = append(dirs, h.skillDirs...)
	}
	return dirs
}

// HostSkillDir returns the folder for skills that are imported for the host agent: the first of host_skill_dirs, else the first of those that hosts
// are known to have, which may not exist yet.
func (s *Settings) HostSkillDir() (Value, bool) {
	v, ok := s.Lookup("host_skill_dirs")
	for _, h := range s.Hosts() {
		if ok {
			break
		}
		v, ok = h.Env[EnvName("host_skill_dirs")]
	}
	s.asked.Store(true)
	if ok {
		dir := v.Value
		if len(v.List) > 0 {
			dir = v.List[0]
		} else if info, err := os.Stat(s.abs(dir)); err != nil || !info.IsDir() {
			dir, _, _ = strings.Cut(dir, ",")
		}
		if dir = strings.TrimSpace(dir); dir != "" {
			return Value{Name: "host_skill_dirs", Value: s.abs(dir), Source: v.Source, Where: v.Where}, true
		}
	}
	for _, dir := range s.skillDirs() {
		dir.Name, dir.Source = "host_skill_dirs", FromHost
		return dir, true
	}
	return Value{Name: "host_skill_dirs"}, false
}

// hostReader reads the files of one host after the other.
type hostReader struct {
	s         *Settings
	host      Host
	problems  *[]Problem        // where new ones go
	documents map[string]object // by path: some hosts look at a file twice
	whole     bool              // files are read even if our name is not in them
}

// serverList is a list of MCP servers in a host's file.
type serverList struct {
	at      place
	servers object
}

// problem adds one to the host's.
func (r *hostReader) problem(p Problem) {
	p.Message = r.host.Name + " configuration passed over: " + p.Message
	if !slices.Contains(*r.problems, p) {
		*r.problems = append(*r.problems, p)
	}
}

// open returns the document in a file; ok is false when there is none or it cannot be used, which is then a problem. A file that need tells not to
// hold what is looked for is not parsed.
func (r *hostReader) open(path string, need ...string) (doc object, ok bool) {
	if doc, ok = r.documents[path]; ok {
		return doc, doc != nil
	}
	r.documents[path] = nil
	data, err := readBounded(path, maxHostFile)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		r.problem(Problem{Path: path, Message: strings.TrimPrefix(err.Error(), path+": ")})
		return nil, false
	}
	if data == nil {
		return nil, false
	}
	r.host.Files = append(r.host.Files, path)
	for _, word := range need {
		if !r.whole && !bytes.Contains(bytes.ToLower(data), []byte(word)) {
			return nil, false
		}
	}
	doc, bad := parseDocument(path, data)
	if bad != nil {
		r.problem(*bad)
		return nil, false
	}
	r.documents[path] = doc
	return doc, true
}

// isFile tells whether there is something at path that open would read.
func (r *hostReader) isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// getenv is a variable of the process, without white space. Not of .env: a project must not choose which files are the
// user's own.
func (r *hostReader) getenv(name string) string { return strings.TrimSpace(r.s.env[name]) }

// here is a path below the working directory, home one below the user's home folder.
func (r *hostReader) here(path ...string) string {
	return filepath.Join(append([]string{r.s.dir}, path...)...)
}
func (r *hostReader) home(path ...string) string {
	return filepath.Join(append([]string{r.s.userHome()}, path...)...)
}

// expander puts variables in: those of the process; for a project's file those of .env beside it; and those that the
// host itself gives.
func (r *hostReader) expander(p place) expander {
	return expander{home: r.s.userHome(), dir: r.s.dir, lookup: func(name string) string {
		if v := r.s.env[name]; v != "" {
			return v
		}
		if v := r.s.dotenv[name]; v != "" && p.project {
			return v
		}
		own, _ := scalarText(p.more[name])
		if strings.Contains(own, "${") { // one variable of the host may not need another one
			return ""
		}
		return own
	}}
}

// place is where values stand.
type place struct {
	path    string
	keys    []string
	project bool   // the file belongs to the working directory
	more    object // variables of the host
}

// below is a place further inside.
func (p place) below(keys ...string) place {
	p.keys = append(slices.Clone(p.keys), keys...)
	return p
}

func (p place) where(key string) string {
	return p.path + " " + strings.Join(p.below(key).keys, ".")
}

// value returns what a document says at a key; nothing, with a problem, when a variable is missing.
func (r *hostReader) value(p place, key string, v any) (Value, bool) {
	text, ok := scalarText(v)
	bad := ""
	if ref, isObject := v.(object); isObject {
		if name, _ := scalarText(ref["id"]); ref["source"] == "env" && name != "" {
			text, ok = "${"+name+"}", true
		} else {
			bad = "a secret that only the host can read"
		}
	}
	if ok {
		text, bad = r.expander(p).expand(text)
	}
	if bad != "" {
		r.problem(Problem{Path: p.path, Message: fmt.Sprintf("%s: %s", strings.Join(p.below(key).keys, "."), bad), Hint: "it counts as not set"})
	}
	return Value{Value: text, Source: FromHost, Where: r.host.Name + " " + p.where(key), Project: p.project, path: p.path}, text != ""
}

// takeEnv takes the suite's variables of a block that are not known yet.
func (r *hostReader) takeEnv(p place, block object) {
	for _, name := range slices.Sorted(maps.Keys(block)) {
		if _, known := r.host.Env[name]; known || !strings.HasPrefix(name, "OPENSPACE_") {
			continue
		}
		if v, ok := r.value(p, name, block[name]); ok {
			v.Name = name
			r.host.Env[name] = v
		}
	}
}

// serverName is what a host calls the suite.
const serverName = "openspace"

// takeServer takes the environment of the openspace server in a list of servers.
func (r *hostReader) takeServer(p place, servers object) {
	r.host.lists = append(r.host.lists, serverList{p, servers})
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		server, ok := servers[name].(object)
		if !ok || !strings.EqualFold(name, serverName) || off(server) {
			continue
		}
		r.host.Named = true
		r.takeEnv(p.below(name, "env"), at(server, "env"))
	}
}

// off tells whether an entry is switched off.
func off(entry object) bool { return entry["enabled"] == false || entry["disabled"] == true }
