package settings

import (
	"net/url"
	"strings"
)

// Secret reports whether a setting or variable of this name holds a secret: a part of it is key, token,
// secret, password, credential or another word for these, as in openai_api_key, and so do headers and the configuration of models and of servers, which often have one in them.
// max_tokens and keyword are not secrets.
func Secret(name string) bool {
	name = strings.ToLower(name)
	for _, whole := range []string{"extra_headers", "llm_config", "mcp_servers_json", "config_json"} {
		if strings.HasSuffix(name, whole) {
			return true
		}
	}
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		switch part {
		case "key", "keys", "credential", "credentials", "auth", "authorization", "passwd", "pass", "passphrase", "pat", "cookie", "bearer":
			return true
		case "pwd":
			return part != name // PWD is a folder
		}
		if strings.Contains(part, "secret") || strings.Contains(part, "password") || strings.HasSuffix(part, "apikey") || strings.HasSuffix(part, "token") {
			return true
		}
	}
	return false
}

// Masked returns the value as it may be shown: stars for a secret, and for an address without the
// password in it.
func Masked(name, value string) string {
	if value == "" {
		return ""
	}
	if Secret(name) {
		return "********"
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		u.User = url.User("hidden")
		return u.String()
	}
	return value
}
