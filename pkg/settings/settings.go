// Package settings finds the value of each setting and remembers where it came from.
//
// The order is: flag, environment variable, .env in the working directory, the user's config file, host agents,
// default. Package cli puts flags and defaults in; everything else is found here. The package owns the names
// (limit is --limit, OPENSPACE_LIMIT and "limit" in the config file), the files, also those of host agents, the
// masking of secrets, which key goes to which registry, and where the suite keeps its data. It never changes the
// environment and writes nothing. docs/settings.md has all of it.
//
// Files are read once, when the first setting is looked up; those of host agents only when a setting that they may
// have is found nowhere else. A Settings is safe for concurrent use.
package settings

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Source says where a value came from.
type Source string

// The sources, strongest first.
const (
	Flag    Source = "flag"
	Env     Source = "env"
	DotEnv  Source = ".env"
	Config  Source = "config"
	Default Source = "default"

	FromHost Source = "host" // after the config file
)

// Value is the value of a setting and where it came from.
type Value struct {
	Name     string   // snake_case, such as min_score
	Value    string   // as text; the elements of a list are joined with commas
	List     []string // the elements when the config file has a list; else nil
	Source   Source
	Where    string  // the variable's name, file:line, or host, file and place in it; empty for flags and defaults
	Project  bool    // it stands in a file of the working directory, which somebody else may have written
	path     string  // of the file
	object   object  // of the config file's list of MCP servers
	odd      bool    // that list is no object
	Shadowed []Value // weaker sources that also have one, strongest first
}

// Options is what a process gives.
type Options struct {
	Environ []string // as os.Environ
	Dir     string   // the working directory, absolute
	Passwd  string   // the file with the users' homes, for when HOME is not set; "": none is asked
}

// Settings looks settings up.
type Settings struct {
	dir  string
	env  map[string]string
	load func()
	user func() string // the user's home as the system knows it

	dotenv   map[string]string
	config   map[string]Value
	warnings []string
	err      error

	hosts func() []Host
	asked atomic.Bool // hosts were asked

	mu    sync.Mutex
	noted map[string]Value
}

// New returns the settings of a process. It reads no file yet.
func New(o Options) *Settings {
	s := &Settings{dir: o.Dir, env: make(map[string]string, len(o.Environ)), noted: map[string]Value{}}
	for _, kv := range o.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			s.env[name] = value
		}
	}
	s.user = sync.OnceValue(func() string { return passwdHome(o.Passwd, os.Getuid()) })
	s.load, s.hosts = sync.OnceFunc(s.read), sync.OnceValue(s.readHosts)
	return s
}

// EnvName returns the environment variable of a setting: OPENSPACE_MIN_SCORE for min_score or min-score.
func EnvName(name string) string {
	return "OPENSPACE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Key returns the name of a setting in the config file: min_score for min-score.
func Key(name string) string { return strings.ReplaceAll(name, "-", "_") }

// Lookup finds a setting, named as its flag or as its key in the config file, in the environment, .env and
// the config file. A variable that is empty counts as not set.
func (s *Settings) Lookup(name string) (Value, bool) {
	s.load()
	key, variable := Key(name), EnvName(name)
	var found []Value
	if v := s.env[variable]; v != "" {
		found = append(found, Value{Name: key, Value: v, Source: Env, Where: variable})
	}
	if v := s.dotenv[variable]; v != "" {
		found = append(found, Value{Name: key, Value: v, Source: DotEnv, Where: variable, Project: true})
	}
	if v, ok := s.config[key]; ok {
		found = append(found, v)
	}
	if len(found) == 0 {
		return Value{Name: key}, false
	}
	res := found[0]
	res.Shadowed = found[1:]
	return res, true
}

// Getenv returns an environment variable by its full name, else what .env says, else "".
func (s *Settings) Getenv(variable string) string {
	if v, ok := s.env[variable]; ok && v != "" {
		return v
	}
	s.load()
	return s.dotenv[variable]
}

// Note remembers the effective value of a setting for All.
func (s *Settings) Note(v Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noted[v.Name] = v
}

// Get returns the effective value of a setting that was noted: every flag of the running command.
func (s *Settings) Get(name string) (Value, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.noted[Key(name)]
	return v, ok
}

// All returns the effective values that were noted and everything else that the config file sets, sorted
// by name.
func (s *Settings) All() []Value {
	s.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Value
	for _, v := range s.noted {
		all = append(all, v)
	}
	for name, v := range s.config {
		if _, ok := s.noted[name]; !ok {
			all = append(all, v)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Warnings returns what is odd in .env and the config file but does not stop a command. A key of the config
// file is odd when it is neither in Known nor in flags, the names of the running command's flags.
func (s *Settings) Warnings(flags ...string) []string {
	s.load()
	return append(slices.Clone(s.warnings), unknownKeys(s.config, flags)...)
}

// Err returns what makes the config file unusable, naming file and line, or nil.
func (s *Settings) Err() error {
	s.load()
	return s.err
}

// Home returns where the suite keeps its data: $OPENSPACE_HOME, else openspace in $XDG_DATA_HOME, else
// ~/.local/share/openspace. It is absolute; nothing is created. ~ is HOME, else what the system's
// list of users says; without either it is a place where nothing can be: what is read there is empty, and what is
// written there fails.
func (s *Settings) Home() string {
	if v, ok := s.Lookup("home"); ok {
		return s.abs(v.Value)
	}
	if dir := s.env["XDG_DATA_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "openspace")
	}
	return filepath.Join(s.userHome(), ".local", "share", "openspace")
}

// ConfigFile returns the path of the user's config file: openspace/config.json in $XDG_CONFIG_HOME, else
// in ~/.config. It may not exist.
func (s *Settings) ConfigFile() string {
	if dir := s.env["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "openspace", "config.json")
	}
	return filepath.Join(s.userHome(), ".config", "openspace", "config.json")
}

// userHome is the home of the user; see Home. Users that only the C library can find have to set HOME.
func (s *Settings) userHome() string {
	if dir := s.env["HOME"]; filepath.IsAbs(dir) {
		return dir
	}
	if dir := s.user(); dir != "" {
		return dir
	}
	return os.DevNull
}

// passwdHome returns the home of a user as passwd(5) has it, "" when it has none.
func passwdHome(path string, uid int) string {
	data, err := readFile(path)
	if path == "" || err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(uid) && filepath.IsAbs(fields[5]) {
			return filepath.Clean(fields[5])
		}
	}
	return ""
}

// Abs makes a path in a setting absolute, as seen from the working directory; ~ is the user's home.
func (s *Settings) Abs(path string) string { return s.abs(path) }

// abs makes a path absolute; ~ is expanded because no shell does it in a file.
func (s *Settings) abs(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = filepath.Join(s.userHome(), path[1:])
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	return filepath.Clean(path)
}
