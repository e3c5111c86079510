package settings

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Secrets are the values of a server that must not be shown: those of variables, headers, parameters of the address and
// arguments of the command whose names say that they are secret, wherever an entry has them.
func (m MCPServer) Secrets() []string {
	var s secrets
	for _, values := range []map[string]string{m.Env, m.Headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			s.take(name, values[name])
		}
	}
	s.arguments(m.Args)
	if u, err := url.Parse(m.URL); err == nil {
		for name, values := range u.Query() {
			for _, v := range values {
				s.take(name, v)
				s.take(name, url.QueryEscape(v)) // as it stands in messages
			}
		}
		password, _ := u.User.Password()
		s.take("password", password)
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// fileName is in names of values that say where a secret is.
var fileName = regexp.MustCompile(`(?i)[_.-](?:file|path|dir)$`)

// secrets collects values.
type secrets []string

// take takes a value if its name says that it is secret. A value may be an object with secrets in it, such as headers as JSON.
func (s *secrets) take(name, value string) {
	var inner map[string]any
	if strings.HasPrefix(strings.TrimSpace(value), "{") && json.Unmarshal([]byte(value), &inner) == nil {
		for name, v := range inner {
			text, _ := scalarText(v)
			s.take(name, text)
		}
	}
	value = strings.TrimSpace(value)
	if value == "" || !Secret(name) || fileName.MatchString(name) {
		return
	}
	if scheme, own, ok := strings.Cut(value, " "); ok && slices.Contains(schemes, strings.ToLower(scheme)) {
		value = strings.TrimSpace(own)
	}
	*s = append(*s, value)
}

// schemes stand before what is secret in a header.
var schemes = []string{"bearer", "basic", "token", "apikey", "api-key", "key"}

// arguments looks for --token VALUE, --token=VALUE, TOKEN=VALUE and headers such as "Authorization: Bearer VALUE".
func (s *secrets) arguments(args []string) {
	for i, arg := range args {
		name, value, ok := arg, "", false
		if at := strings.IndexAny(arg, "=:"); at >= 0 {
			name, value, ok = arg[:at], arg[at+1:], true
		}
		if strings.Contains(value, "=") { // --env=TOKEN=VALUE
			s.arguments([]string{value})
		}
		name = strings.TrimLeft(name, "-")
		if !ok && strings.HasPrefix(arg, "-") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		s.take(name, value)
	}
}
