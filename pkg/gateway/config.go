package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// Config is everything that is not about one platform. The tags say the key in the file, the variables that
// come before it, and what is allowed.
type Config struct {
	DataDir  string   `json:"data_dir" env:"OPENSPACE_COMMUNICATION_DATA_DIR"`
	Server   Server   `json:"server"`
	Agent    Agent    `json:"agent"`
	Sessions Sessions `json:"sessions"`
}

// Server is the HTTP listener for webhooks and health.
type Server struct {
	Host       string `json:"host" env:"OPENSPACE_COMMUNICATION_HOST"`
	Port       int    `json:"port" env:"OPENSPACE_COMMUNICATION_PORT" min:"0" max:"65535"`
	HealthPath string `json:"health_path" kind:"path"`
}

// Agent is how a turn is run.
type Agent struct {
	MaxIterations   int      `json:"max_iterations" env:"OPENSPACE_COMMUNICATION_MAX_ITERATIONS,OPENSPACE_MAX_ITERATIONS" min:"1" max:"200"`
	EnableRecording bool     `json:"enable_recording" env:"OPENSPACE_COMMUNICATION_ENABLE_RECORDING,OPENSPACE_ENABLE_RECORDING"`
	WorkspaceRoot   string   `json:"workspace_root" env:"OPENSPACE_COMMUNICATION_WORKSPACE_ROOT"`
	TimeoutSeconds  float64  `json:"timeout_seconds" env:"OPENSPACE_COMMUNICATION_TIMEOUT" min:"1" max:"86400"`
	ExecuteArgs     []string `json:"execute_args"`

	RecordingBackends []string `json:"recording_backends" env:"OPENSPACE_COMMUNICATION_RECORDING_BACKENDS" kind:"retired"`
	BackendScope      []string `json:"backend_scope" env:"OPENSPACE_COMMUNICATION_BACKEND_SCOPE" kind:"retired"`
	GroundingConfig   string   `json:"grounding_config_path" env:"OPENSPACE_COMMUNICATION_GROUNDING_CONFIG_PATH" kind:"retired"`
	LLMTimeout        float64  `json:"llm_timeout" env:"OPENSPACE_COMMUNICATION_LLM_TIMEOUT" kind:"retired"`
}

// Sessions bounds what chats may take.
type Sessions struct {
	HistoryMaxTurns           int     `json:"history_max_turns" env:"OPENSPACE_COMMUNICATION_HISTORY_TURNS" min:"1" max:"100"`
	MaxParallelSessions       int     `json:"max_parallel_sessions" env:"OPENSPACE_COMMUNICATION_MAX_PARALLEL" min:"1" max:"64"`
	PerSessionQueueSize       int     `json:"per_session_queue_size" env:"OPENSPACE_COMMUNICATION_QUEUE_SIZE" min:"1" max:"512"`
	MaxAttachmentBytes        int64   `json:"max_attachment_bytes" env:"OPENSPACE_COMMUNICATION_MAX_ATTACHMENT_BYTES" min:"1" max:"536870912"`
	MaxSessionAttachmentBytes int64   `json:"max_session_attachment_bytes" env:"OPENSPACE_COMMUNICATION_MAX_SESSION_ATTACHMENT_BYTES" min:"1" max:"10737418240"`
	MaxAgeSeconds             float64 `json:"max_age_seconds" env:"OPENSPACE_COMMUNICATION_MAX_AGE" min:"60" max:"2592000"`

	IdleTTLSeconds       float64 `json:"idle_ttl_seconds" env:"OPENSPACE_COMMUNICATION_IDLE_TTL" kind:"retired"`
	WhatsAppPollInterval float64 `json:"whatsapp_poll_interval_seconds" env:"OPENSPACE_COMMUNICATION_WHATSAPP_POLL_INTERVAL" kind:"retired"`
}

// Access is who may write to a channel. Each channel's section of the config has it, next to the keys of its
// own.
type Access struct {
	Enabled       bool              `json:"enabled" env:"*_ENABLED"`
	AllowAllUsers bool              `json:"allow_all_users" env:"*_ALLOW_ALL_USERS"`
	AllowedUsers  []string          `json:"allowed_users" env:"*_ALLOWED_USERS" kind:"people"`
	AllowDM       bool              `json:"allow_dm" env:"*_ALLOW_DM"`
	AllowGroups   bool              `json:"allow_groups" env:"*_ALLOW_GROUPS"`
	GroupPolicy   string            `json:"group_policy" env:"*_GROUP_POLICY" oneof:"disabled,mention_only,reply_or_mention,all"`
	Groups        map[string]string `json:"groups" oneof:"disabled,mention_only,reply_or_mention,all"`
}

// DefaultAccess lets nobody in.
func DefaultAccess() Access {
	return Access{AllowDM: true, AllowGroups: true, GroupPolicy: "reply_or_mention"}
}

// DefaultConfig is the Config of an empty file.
func DefaultConfig() Config {
	return Config{
		Server: Server{Host: "127.0.0.1", Port: 8765, HealthPath: "/health"},
		Agent:  Agent{MaxIterations: 20, EnableRecording: true, TimeoutSeconds: 1800},
		Sessions: Sessions{
			HistoryMaxTurns: 12, MaxParallelSessions: 2, PerSessionQueueSize: 32,
			MaxAttachmentBytes: 25 << 20, MaxSessionAttachmentBytes: 100 << 20, MaxAgeSeconds: 86400,
		},
	}
}

// Secrets returns the values of the fields of a section, or of the Config, that are secret, and the names of
// all variables it is read from.
func Secrets(section string, v any) (values, variables []string) {
	walk(section, reflect.ValueOf(v).Elem(), func(f field) error {
		variables = append(variables, f.variables()...)
		if f.tag("kind") == "secret" && f.value.String() != "" {
			values = append(values, f.value.String())
		}
		return nil
	})
	return values, variables
}

// Reader reads a config file.
type Reader struct {
	Sections map[string]any      // the sections of the channels: pointers to structs that hold their defaults
	Getenv   func(string) string // the environment; a variable that is empty is not set
	Abs      func(string) string // makes paths absolute
}

// Read returns the Config in data, the content of a file, after the environment was put over it, and fills
// the sections. Every key must be known and every value allowed. The warnings name keys that are known and do
// nothing any more.
func (r Reader) Read(data []byte) (c Config, warnings []string, err error) {
	c = DefaultConfig()
	raw, err := object(data)
	if err != nil {
		return c, nil, err
	}
	rename(raw, "openspace", "agent")
	rename(raw, "runtime", "sessions")
	d := decoder{warn: func(w string) { warnings = append(warnings, w) }}
	own := map[string]any{}
	for name, value := range raw {
		if section, ok := r.Sections[name]; ok {
			d.value(name, value, reflect.ValueOf(section).Elem(), "")
		} else {
			own[name] = value
		}
	}
	d.also = slices.Collect(mapsKeys(r.Sections))
	d.value("", own, reflect.ValueOf(&c).Elem(), "")
	d.environment("", &c, r.Getenv)
	for name, section := range r.Sections {
		d.environment(name, section, r.Getenv)
	}
	if c.DataDir != "" {
		c.DataDir = r.Abs(c.DataDir)
	}
	if c.Agent.WorkspaceRoot != "" {
		c.Agent.WorkspaceRoot = r.Abs(c.Agent.WorkspaceRoot)
	}
	slices.SortFunc(d.errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	slices.Sort(warnings)
	return c, warnings, errors.Join(d.errs...)
}

// object reads the whole file, which may be empty or null.
func object(data []byte) (map[string]any, error) {
	raw := map[string]any{}
	if len(bytes.TrimSpace(data)) == 0 {
		return raw, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		at := int64(len(data))
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = min(at, syntax.Offset)
		}
		line := 1 + bytes.Count(data[:at], []byte{'\n'})
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value in the file")
	}
	switch v := v.(type) {
	case nil:
		return raw, nil
	case map[string]any:
		return v, nil
	}
	return nil, errors.New("not an object")
}

// rename takes a section under the name that it had once.
func rename(raw map[string]any, old, name string) {
	if _, ok := raw[name]; ok {
		return
	}
	if v, ok := raw[old]; ok {
		raw[name] = v
		delete(raw, old)
	}
}

func mapsKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// field is one key of a section.
type field struct {
	section string
	path    string
	def     reflect.StructField
	value   reflect.Value
}

func (f field) tag(name string) string { return f.def.Tag.Get(name) }

// variables are the names in the environment, the strongest first.
func (f field) variables() []string {
	if f.tag("env") == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(f.tag("env"), "*", strings.ToUpper(f.section)), ",")
}

// walk visits the keys of a section and of the structs in it.
func walk(section string, v reflect.Value, visit func(field) error) error {
	return walkAt(section, section, v, visit)
}

func walkAt(section, path string, v reflect.Value, visit func(field) error) error {
	for i := range v.NumField() {
		def, value := v.Type().Field(i), v.Field(i)
		at := join(path, def.Tag.Get("json"))
		if def.Anonymous {
			at = path
		}
		var err error
		if value.Kind() == reflect.Struct {
			err = walkAt(section, at, value, visit)
		} else {
			err = visit(field{section, at, def, value})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fields returns the keys of a struct, those of embedded ones among them.
func fields(v reflect.Value) map[string]field {
	out := map[string]field{}
	for i := range v.NumField() {
		def := v.Type().Field(i)
		if def.Anonymous {
			for name, f := range fields(v.Field(i)) {
				out[name] = f
			}
			continue
		}
		out[def.Tag.Get("json")] = field{def: def, value: v.Field(i)}
	}
	return out
}

// nearest says which key was probably meant.
func nearest(name string, known []string) string {
	if near := settings.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	slices.Sort(known)
	return "; known are " + strings.Join(known, ", ")
}

// cleanPath makes a URL path of a setting.
func cleanPath(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "/") {
		s = "/" + s
	}
	return filepath.ToSlash(filepath.Clean(s))
}
