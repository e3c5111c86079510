package safety

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// flowReach is how far behind an assignment its variable is followed.
const flowReach = 1500

// flowRules follow one variable from where it gets its value to where that is
// used. They see one step, not a chain.
var flowRules = []rule{
	{
		id: "runs-fetched-text", flag: FlagExecution, severity: Critical, docs: true, place: inCode, check: runsVariable,
		lits: []string{"requests.get", "requests.post", "urlopen", "httpx.get", "fetch(", "axios.get", "$(curl", "$(wget"},
		back: 60, ahead: 8,
		expr:    `\b[a-z_]\w*\s*=\s*(?:await\s+)?(?:\(?(?:requests\.(?:get|post)|urllib\.request\.urlopen|urlopen|httpx\.get|fetch|axios\.get)\s*\(|["']?\$\((?:curl|wget)\b)`,
		message: "runs what it fetches from the network",
	},
	{
		id: "password-sent", flag: FlagCredentials, severity: Critical, docs: true, place: inCode, check: sendsVariable,
		lits: []string{"read -s", "read -rs", "read -sp", "read -rsp", "gh auth token", "print-access-token", "security find-"},
		back: 40, ahead: 120,
		expr:    `\bread\s+-r?s\w*\s[^\n]*(?:sudo|admin|macos|system|login)[^\n]*\b[a-z_]\w*[ \t]*(?:\n|$|;)|\b[a-z_]\w*=["']?\$\((?:gh auth token|gcloud auth print-access-token|security find-\w+-password)[^\n]*`,
		message: "asks for a system password or takes a token, and sends it away",
	},
}

var (
	firstName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+`) })
	lastName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+)[ \t]*[\n;]?$`) })
	// runners and senders are what a line says before the variable.
	runners = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:(?:^|[^.\w])(?:exec|eval|execSync|spawn|new Function)|os\.(?:system|popen)|subprocess\.\w+|vm\.run\w+)\s*\(\s*$|\b(?:eval|(?:ba|z)?sh\s+-c|source)\s+["']?\$\{?$`)
	})
	senders = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:curl|wget|nc|requests\.\w+|urlopen|httpx\.\w+|fetch)\b`)
	})
	headers = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)authorization|bearer|-u\s|--user|auth=|headers`)
	})
)

// runsVariable keeps a fetched text that is run.
func runsVariable(m *match) (Severity, bool) {
	name := firstName().FindString(m.text())
	return m.rule.severity, usedOn(m, name, func(before []byte) bool { return runners().Match(before) })
}

// sendsVariable keeps a password that is sent anywhere but in the header that is
// made for it.
func sendsVariable(m *match) (Severity, bool) {
	text := strings.TrimRight(m.text(), " \t")
	name := firstName().FindString(text)
	if strings.HasPrefix(lower(text), "read") {
		name = ""
		if found := lastName().FindStringSubmatch(text); found != nil {
			name = found[1]
		}
	}
	return m.rule.severity, usedOn(m, name, func(before []byte) bool { return senders().Match(before) && !headers().Match(before) })
}

// usedOn reports whether the variable occurs behind the match on a line whose
// beginning fits.
func usedOn(m *match, name string, fits func(before []byte) bool) bool {
	if len(name) < 1 {
		return false
	}
	rest := m.data[m.end:min(len(m.data), m.end+flowReach)]
	for at := 0; ; {
		i := bytes.Index(rest[at:], []byte(name))
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		line := bytes.LastIndexByte(rest[:start], '\n') + 1
		if (start == 0 || !isWord(rest[start-1]) && rest[start-1] != '_') && (end == len(rest) || !isWord(rest[end]) && rest[end] != '_') && fits(rest[line:start]) {
			return true
		}
		at = end
	}
}
