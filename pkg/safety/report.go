package safety

import (
	"cmp"
	"slices"
)

// Severity says how bad a finding is by itself.
type Severity string

// The severities, worst first. Low findings are information and never change
// a verdict under the default policy.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
)

// rank orders severities: critical is 4, low is 1, anything else is 0.
func (s Severity) rank() int {
	switch s {
	case Critical:
		return 4
	case High:
		return 3
	case Medium:
		return 2
	case Low:
		return 1
	}
	return 0
}

// shift moves a severity n steps up (n > 0) or down, within the scale.
func (s Severity) shift(n int) Severity {
	scale := [...]Severity{Low, Medium, High, Critical}
	return scale[min(max(s.rank()-1+n, 0), len(scale)-1)]
}

// Verdict says what the policy makes of a report.
type Verdict string

// The verdicts, mildest first.
const (
	Allow Verdict = "allow"
	Warn  Verdict = "warn"
	Block Verdict = "block"
)

func (v Verdict) rank() int {
	switch v {
	case Block:
		return 2
	case Warn:
		return 1
	}
	return 0
}

// The names of the flags. The first seven are kept from the Python system.
const (
	FlagMalware      = "blocked.malware"
	FlagKeyword      = "suspicious.keyword"
	FlagSecrets      = "suspicious.secrets"
	FlagCrypto       = "suspicious.crypto"
	FlagWebhook      = "suspicious.webhook"
	FlagScript       = "suspicious.script"
	FlagShortener    = "suspicious.url_shortener"
	FlagExfiltration = "exfiltration"
	FlagInjection    = "injection"
	FlagHidden       = "hidden_text"
	FlagPersistence  = "persistence"
	FlagCredentials  = "credentials"
	FlagObfuscation  = "obfuscation"
	FlagDestructive  = "destructive"
	FlagExecution    = "execution"
	FlagNotScanned   = "not_scanned"
)

// flagOrder is the order of Report.Flags.
var flagOrder = []string{
	FlagMalware, FlagKeyword, FlagSecrets, FlagCrypto, FlagWebhook, FlagScript, FlagShortener,
	FlagExfiltration, FlagInjection, FlagHidden, FlagPersistence, FlagCredentials,
	FlagObfuscation, FlagDestructive, FlagExecution, FlagNotScanned,
}

// Finding is one place in one file where a rule applies. Line and Column are
// 1-based, in the file as it is on disk; Column counts code points. Line 0 means
// the file as a whole. Excerpt is the line around the place, shortened, with
// invisible characters escaped and secrets masked. Softened says that the
// severity is below the rule's because the text speaks about attacks.
type Finding struct {
	Rule     string   `json:"rule"`
	Flag     string   `json:"flag"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Message  string   `json:"message"`
	Excerpt  string   `json:"excerpt,omitempty"`
	Softened bool     `json:"softened,omitempty"`
}

// Report is the outcome of one scan. Findings are sorted by path, line, column
// and rule. Flags are the distinct flags of the findings in a fixed order.
// Truncated says that something was left unread, see the rule not-scanned.
type Report struct {
	Verdict   Verdict   `json:"verdict"`
	Flags     []string  `json:"flags,omitempty"`
	Findings  []Finding `json:"findings,omitempty"`
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Truncated bool      `json:"truncated,omitempty"`
}

// Text is one file to scan. Path is relative to the skill's folder, with
// slashes; its extension tells prose from code, and an empty one means prose.
type Text struct {
	Path string
	Data []byte
}

// finish sorts the findings and derives flags and verdict.
func (r *Report) finish(p Policy) {
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
	})
	for _, flag := range flagOrder {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Flag == flag }) {
			r.Flags = append(r.Flags, flag)
		}
	}
	r.Verdict = p.judge(r.Findings)
}
