package safety

import (
	"regexp"
	"strings"
	"sync"
)

const (
	keyShapes = `\b(?:AKIA[0-9A-Z]{16}|gh[opsu]_\w{36,}|github_pat_\w{50,}|sk-ant-[\w-]{20,}|sk-proj-[\w-]{20,}|[sr]k_live_\w{16,}|xox[abps]-[\w-]{20,}|xapp-[\w-]{20,}|AIza[\w-]{35}|glpat-[\w-]{20,}|npm_\w{36}|hf_\w{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|osk_[0-9a-f]{8}_[\w-]{20,}|sk-[a-zA-Z0-9]{40,})`
	keyBlock  = `-----BEGIN (?:RSA |EC |DSA |OPENSSH |PGP )?PRIVATE KEY(?: BLOCK)?-----`
)

// leakRules find secrets that somebody left in a skill.
var leakRules = []rule{
	{
		id: "leaked-key", flag: FlagCredentials, severity: Medium, check: liveKey,
		lits:    []string{"akia", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "sk-ant-", "sk-proj-", " sk-", "\"sk-", "'sk-", "=sk-", "`sk-", ":sk-", "sk_live_", "rk_live_", "xoxb-", "xoxp-", "xoxa-", "xoxs-", "xapp-", "aiza", "glpat-", "npm_", "hf_", "osk_", "\"sg.", "'sg.", "=sg.", " sg."},
		ahead:   140,
		exact:   true,
		expr:    keyShapes,
		message: "contains what looks like a live key of a service",
	},
	{
		id: "password-in-address", flag: FlagCredentials, severity: Medium, place: inScript, check: realAddress,
		lits:    []string{"postgres", "mysql://", "mongodb", "redis://", "amqp://"},
		ahead:   160,
		expr:    `\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqp)://[^\s:@/"'$\{<]+:[^\s:@/"'$\{<]{6,}@[\w.-]+`,
		message: "has a password in an address",
	},
	{
		id: "leaked-private-key", flag: FlagCredentials, severity: High, docs: true,
		lits:    []string{"-----begin "},
		ahead:   400,
		expr:    keyBlock + `\s*(?:\\n|[\w+/=:,.\s-]){120,}`,
		message: "contains a private key",
	},
	{
		id: "hard-coded-password", flag: FlagCredentials, severity: Medium, place: inScript, check: realPassword,
		lits: []string{"password", "passwd", "pwd", "secret", "api_key", "apikey", "token", "access_key"},
		back: 20, ahead: 120,
		expr:    `\b\w*(?:password|passwd|pwd|secret|api_?key|token|access_key)\w*["']?\s*[:=]\s*["'][^"'\s$\{\}<>()]{8,100}["']`,
		message: "has a password or key written into the program",
	},
}

// liveKey drops keys that are there to be replaced. In a program even the sample
// keys of a provider's manual count: a reader cannot know.
func liveKey(m *match) (Severity, bool) {
	text := m.text()
	if strings.HasSuffix(text, "EXAMPLE") && kindOf(Text{Path: m.path, Data: m.data}) == code {
		return m.rule.severity, true
	}
	return notSample(m)
}

// realAddress drops samples and databases of this machine.
func realAddress(m *match) (Severity, bool) {
	text := lower(m.text())
	return m.rule.severity, !containsAny(text, "localhost", "127.0.0.1", "user:password", "user:pass", ":password@", "example", "@db", "@postgres", "@redis", "@mysql")
}

// realPassword drops values that are names, addresses or there to be replaced.
func realPassword(m *match) (Severity, bool) {
	text := m.text()
	value := strings.Trim(text[strings.IndexAny(text, ":="):], `:= "'`)
	if samples().MatchString(value) || strings.Contains(value, "://") || strings.ContainsAny(value, "/ ") {
		return "", false
	}
	digits, letters, upper := 0, 0, 0
	for i := range len(value) {
		switch b := value[i]; {
		case '0' <= b && b <= '9':
			digits++
		case 'A' <= b && b <= 'Z':
			upper++
		case 'a' <= b && b <= 'z':
			letters++
		}
	}
	return m.rule.severity, digits > 1 && letters > 1 && (upper > 0 || len(value) >= 16)
}

var keyShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(keyShapes) })

// maskSecrets hides the middle of keys, so that a report does not spread them.
func maskSecrets(s string) string {
	if !leakSigns().in([]byte(s)) {
		return s
	}
	return keyShape().ReplaceAllStringFunc(s, func(key string) string { return key[:min(8, len(key))] + "…" })
}
