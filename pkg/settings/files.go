package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
)

// maxFile bounds what is read of .env and the config file.
const maxFile = 1 << 20

// read reads both files once.
func (s *Settings) read() {
	s.readDotEnv(filepath.Join(s.dir, ".env"))
	path := s.ConfigFile()
	data, err := readFile(path)
	if errors.Is(err, fs.ErrPermission) { // HOME may be that of another user
		s.warnings = append(s.warnings, fmt.Sprintf("ignored config file: %v; check its permissions, or set HOME or XDG_CONFIG_HOME", err))
		return
	}
	if err != nil {
		s.err = fmt.Errorf("read config file: %w", err)
		return
	}
	if data == nil {
		return
	}
	s.config, s.err = parseConfig(path, data)
}

// readDotEnv takes what is wrong with .env as a warning: it may belong to another program.
func (s *Settings) readDotEnv(path string) {
	data, err := readFile(path)
	if err == nil {
		var bad []int
		s.dotenv, bad, err = parseDotEnv(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
		s.warnings = append(s.warnings, badLines(path, bad)...)
		if err != nil {
			err = fmt.Errorf("%s: not lines of the form NAME=value", path)
		}
	}
	if err != nil {
		s.dotenv = nil
		s.warnings = append(s.warnings, fmt.Sprintf("ignored settings file: %v", err))
	}
	for _, variable := range notFromDotEnv {
		if _, ok := s.dotenv[variable]; ok {
			delete(s.dotenv, variable)
			s.warnings = append(s.warnings, fmt.Sprintf("ignored %s in %s: a folder that one happens to work in must not loosen it; set it in the environment or the config file", variable, path))
		}
	}
}

// notFromDotEnv are the variables that a .env cannot set: it may have come with somebody else's project.
var notFromDotEnv = []string{EnvName("embedding"), EnvName("import"), EnvName("policy"), EnvName("require_signature"), EnvName("signed_by"), EnvName("source"),
	EnvName("visibility"), EnvName("allow_private_addresses"), EnvName("allow_read"), EnvName("allow_write"), EnvName("command_rules"), EnvName("pass_env"), EnvName("sandbox"),
	EnvName("search_scope"), EnvName("browser"), EnvName("vision_model"), EnvName("web_search"), EnvName("web_search_model"), EnvName("web_search_url"), EnvName("workspace"), EnvName("workspace_dir"), EnvName("mcp_hosts"),
	EnvName("no_mcp"), EnvName("max_tools"), EnvName("backend_scope"), mcpVariable, configPath, configJSON,
	EnvName("allow_host"), EnvName("allow_origin"), EnvName("auth_token_file"), EnvName("insecure"), EnvName("tools")}

func readFile(path string) ([]byte, error) { return readBounded(path, maxFile) }

// readBounded returns a regular file, nil when there is none. It does not block on a pipe of that name.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: larger than %d bytes", path, limit)
	}
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// parseConfig reads a JSON object whose values are strings, numbers, booleans or lists of them. Errors
// name the file and the line.
func parseConfig(path string, data []byte) (map[string]Value, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	p := configParser{path: path, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	res, err := p.object()
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, p.line(err), err)
	}
	return res, nil
}

type configParser struct {
	path string
	data []byte
	dec  *json.Decoder
}

// line returns the line of a syntax error, else the one that the decoder has come to.
func (p *configParser) line(err error) int {
	end := p.dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		end = syntax.Offset
	}
	end = min(max(end, 0), int64(len(p.data)))
	return 1 + bytes.Count(p.data[:end], []byte("\n"))
}

func (p *configParser) object() (map[string]Value, error) {
	if t, err := p.token(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, errors.New("want a json object of settings")
	}
	res := map[string]Value{}
	for p.dec.More() {
		v, err := p.member()
		if err != nil {
			return nil, err
		}
		if _, twice := res[v.Name]; twice {
			return nil, fmt.Errorf("setting %q stands twice", v.Name)
		}
		res[v.Name] = v
	}
	if _, err := p.token(); err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, errors.New("text after the json object")
	}
	return res, nil
}

// token reads the next token; the end of the file inside the object is an error with a name.
func (p *configParser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if err == io.EOF {
		return nil, errors.New("unexpected end of file")
	}
	return t, err
}

func (p *configParser) member() (Value, error) {
	t, err := p.token()
	if err != nil {
		return Value{}, err
	}
	v := Value{Name: t.(string), Source: Config, Where: fmt.Sprintf("%s:%d", p.path, p.line(nil)), path: p.path}
	if slices.Contains(objectSettings, v.Name) {
		return p.servers(v)
	}
	if t, err = p.token(); err != nil {
		return Value{}, err
	}
	if t != json.Delim('[') {
		v.Value, err = scalar(v.Name, t)
		return v, err
	}
	v.List = []string{}
	for p.dec.More() {
		if t, err = p.token(); err != nil {
			return Value{}, err
		}
		item, err := scalar(v.Name, t)
		if err != nil {
			return Value{}, err
		}
		v.List = append(v.List, item)
	}
	v.Value = strings.Join(v.List, ",")
	_, err = p.token()
	return v, err
}

// servers reads the list of MCP servers; its value as text is their names.
func (p *configParser) servers(v Value) (Value, error) {
	var raw json.RawMessage
	if err := p.dec.Decode(&raw); err != nil {
		return v, err
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return v, err
	}
	v.object, _ = doc.(object)
	v.odd = v.object == nil && doc != nil // told to those who use servers; others need none
	v.List = slices.Sorted(maps.Keys(v.object))
	v.Value = strings.Join(v.List, ",")
	return v, nil
}

func scalar(name string, t json.Token) (string, error) {
	switch t := t.(type) {
	case string:
		return t, nil
	case json.Number:
		return t.String(), nil
	case bool:
		return fmt.Sprint(t), nil
	}
	return "", fmt.Errorf("setting %q: want a string, a number, true, false or a list of them", name)
}

// unknownKeys returns a warning for each key that no command has.
func unknownKeys(config map[string]Value, flags []string) []string {
	known := append(Known(), objectSettings...)
	for _, name := range flags {
		known = append(known, Key(name))
	}
	var res []string
	for name, v := range config {
		if slices.Contains(known, name) {
			continue
		}
		line := fmt.Sprintf("%s: unknown setting %q", v.Where, name)
		if near := Nearest(name, known); near != "" {
			line += fmt.Sprintf(", did you mean %q?", near)
		}
		res = append(res, line)
	}
	sort.Strings(res)
	return res
}
