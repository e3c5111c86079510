package safety

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

func lower(s string) string { return strings.ToLower(s) }

// forbidden reports whether the sentence that a match ends says "do not".
func forbidden(m *match) bool {
	from := max(0, m.start-100)
	before := m.data[from:m.start]
	for i := len(before) - 1; i >= 0; i-- {
		if b := before[i]; b == '\n' || b == '.' && i+1 < len(before) && before[i+1] == ' ' || b == '!' || b == ';' {
			before = before[i:]
			break
		}
	}
	return forbids().in(before) || forbids().in(m.data[m.start:m.end])
}

// notForbidden drops instructions that forbid the thing.
func notForbidden(m *match) (Severity, bool) { return m.rule.severity, !forbidden(m) }

// notDenied drops a sentence that forbids the thing, in any language that denied
// knows.
func notDenied(m *match) (Severity, bool) {
	return m.rule.severity, !denied(m.data[sentenceStart(m.data, m.start, 0):m.end])
}

// secretsSent raises what asks for everything, or speaks from where people do
// not look.
func secretsSent(m *match) (Severity, bool) {
	if forbidden(m) {
		return "", false
	}
	if m.in.kind == comment || containsAny(lower(m.text()), "seed phrase", "recovery phrase", "mnemonic", "private key") || everything().in(m.data[m.start:m.end]) {
		return Critical, true
	}
	return m.rule.severity, true
}

// secretsRead raises an order that stands where people do not look.
func secretsRead(m *match) (Severity, bool) {
	if forbidden(m) || m.in.kind == fence {
		return "", false
	}
	if m.in.kind == comment {
		return Critical, true
	}
	return m.rule.severity, true
}

// sentInCode raises an address that a program or a command talks to, and drops
// the ones that stand for somebody's own.
func sentInCode(m *match) (Severity, bool) {
	text := lower(m.text())
	for _, sample := range []string{"your", "abc123", "xxxx", "example", "my-", "<", "random", "abcd", "1234"} {
		if strings.Contains(text, sample) {
			return Low, true
		}
	}
	if m.in.kind == fence || kindOf(Text{Path: m.path, Data: m.data}) == code {
		return m.rule.severity.shift(1), true
	}
	return m.rule.severity, true
}

// sentOnLine is sentInCode for places that have many honest uses as well: only
// what a command sends there counts.
func sentOnLine(m *match) (Severity, bool) {
	if !containsAny(lower(m.line(300)), "curl", "wget", "nc ", "requests.", "fetch(", "axios", "@", "upload-file", "urlopen", "httpx", "invoke-") {
		return Low, true
	}
	return sentInCode(m)
}

// samples are signs of a value that is there to be replaced.
var samples = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(x{4,}|\*{3,}|\.\.\.|example|sample|dummy|fake|placeholder|redacted|your|changeme|replace|insert|1234567890|123456789|abcdefgh|test[_-]?(key|token)|<|0{8,}|todo|here)`)
})

func notSample(m *match) (Severity, bool) { return m.rule.severity, !samples().MatchString(m.text()) }

// ownProvider drops a key that goes to the service which gave it.
func ownProvider(m *match) (Severity, bool) {
	text := lower(string(m.data[m.start:min(len(m.data), m.end+200)]))
	for _, provider := range []string{"openai", "anthropic", "amazonaws", "github", "npmjs", "openrouter", "google"} {
		if strings.Contains(text, provider+".com") || strings.Contains(text, provider+".ai") || strings.Contains(text, provider+"apis.com") {
			return "", false
		}
	}
	return m.rule.severity, true
}

// notOAuth drops the exchange of a client's secret for a token.
func notOAuth(m *match) (Severity, bool) {
	around := lower(string(m.data[max(0, m.start-200):min(len(m.data), m.end+200)]))
	return m.rule.severity, !containsAny(around, "client_secret", "grant_type", "refresh_token", "oauth", "client_id")
}

// dnsSeverity tells the output of a command in a name from a mere variable.
func dnsSeverity(m *match) (Severity, bool) {
	text := m.text()
	if strings.Contains(text, "$(") || strings.Contains(text, "`") && !strings.Contains(text, "${") {
		return Critical, true
	}
	if strings.HasPrefix(lower(text), "gethost") || strings.HasPrefix(lower(text), "dns.") || strings.HasPrefix(lower(text), "getaddr") {
		return High, true
	}
	return Low, true
}

// notForbiddenBefore looks at the words before the match only.
func notForbiddenBefore(m *match) (Severity, bool) {
	before := *m
	before.end = m.start
	return m.rule.severity, !forbidden(&before)
}

// notInCode makes what stands in a program or an example mere information.
func notInCode(m *match) (Severity, bool) {
	if m.in.kind == fence || kindOf(Text{Path: m.path, Data: m.data}) != prose || inSpan(m.data, m.start) {
		return Low, true
	}
	return m.rule.severity, true
}

// concealment keeps what is said to a model and drops what a program does.
func concealment(m *match) (Severity, bool) {
	if m.in.kind == comment {
		return Critical, true
	}
	if strings.HasPrefix(lower(m.text()), "without") && denied(m.data[sentenceStart(m.data, m.start, 0):m.start]) {
		return "", false
	}
	if m.in.kind == fence && kindOf(Text{Path: m.path, Data: m.data}) == prose && m.in.lang != "" && m.in.lang != "markdown" && m.in.lang != "text" {
		return "", false
	}
	return m.rule.severity, true
}

// remoteOrders raises instructions that are fetched again and again.
func remoteOrders(m *match) (Severity, bool) {
	if forbidden(m) {
		return "", false
	}
	around := m.data[max(0, m.start-300):min(len(m.data), m.end+200)]
	if repeated().in(around) {
		return High, true
	}
	return m.rule.severity, true
}

// hiddenOrder keeps hidden text that speaks to a model and wants something.
func hiddenOrder(m *match) (Severity, bool) {
	text := m.data[m.start:m.end]
	if string(text) == "<!--" {
		text, _, _ = bytes.Cut(m.data[m.start:min(len(m.data), m.start+1500)], []byte("-->"))
	}
	if m.in.kind == fence || !addressed().in(text) || !wants().in(text) {
		return "", false
	}
	if forced().in(text) {
		return Critical, true
	}
	return m.rule.severity, true
}
