package tools

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// stars is what stands in the place of a secret.
const stars = "[secret]"

// shortestSecret is how long a known value must be to be looked for: a shorter one would be found everywhere.
const shortestSecret = 6

// Mask takes secrets out of texts: values that are known, and what has the shape of a key. It may be used by several
// goroutines at once. A nil Mask knows the shapes only.
type Mask struct{ known *strings.Replacer }

// NewMask returns a mask that knows these values, in whatever text they stand. Values shorter than six bytes and
// ordinary words such as "localhost" or "ollama" are not looked for.
func NewMask(secrets ...string) *Mask {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool {
		return len(s) < shortestSecret || slices.Contains(noSecrets, strings.ToLower(s))
	})
	// The replacer takes the first that fits: the longest, so that no end of it stays.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	secrets = slices.Compact(secrets)
	if len(secrets) == 0 {
		return nil
	}
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s, stars)
	}
	return &Mask{strings.NewReplacer(pairs...)}
}

// noSecrets are values that people write where a key is asked for and none is needed.
var noSecrets = []string{"localhost", "ollama", "lm-studio", "no-key", "dummy", "placeholder", "changeme", "not-needed", "sk-no-key-required"}

// Text returns the text with stars for secrets. Applied twice it changes nothing more.
func (m *Mask) Text(s string) string {
	if m != nil {
		s = m.known.Replace(s)
	}
	for _, shape := range shapes() {
		for _, hint := range shape.hints {
			s = shape.mask(s, hint)
		}
	}
	return s
}

// shape is how a kind of secret looks. The hints are plain texts of which a secret of this kind has one: looking for
// them is much faster than the pattern.
type shape struct {
	hints   []string
	pattern *regexp.Regexp
	by      string
	long    bool // it has several lines
}

// mask replaces secrets of this kind in a text, where the hint stands: in its line, since the pattern takes 20 to 800 ns
// for a byte, which would be seconds for a large file.
func (k shape) mask(s, hint string) string {
	at := strings.Index(s, hint)
	if at < 0 {
		return s
	}
	if k.long {
		return k.pattern.ReplaceAllString(s, k.by)
	}
	var b strings.Builder
	for at >= 0 {
		from := strings.LastIndexByte(s[:at], '\n') + 1
		to := len(s)
		if end := strings.IndexByte(s[at:], '\n'); end >= 0 {
			to = at + end
		}
		b.WriteString(s[:from])
		b.WriteString(k.pattern.ReplaceAllString(s[from:to], k.by))
		s = s[to:]
		at = strings.Index(s, hint)
	}
	b.WriteString(s)
	return b.String()
}

// shapes are what issuers of keys document about them; the last are assignments to a name that tells it is secret.
var shapes = sync.OnceValue(func() []shape {
	compile := func(pattern, by string, hints ...string) shape {
		return shape{hints: hints, pattern: regexp.MustCompile(pattern), by: by}
	}
	kinds := []shape{
		compile(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`, stars, "PRIVATE KEY"),
		compile(`\bgh[pousr]_[A-Za-z0-9]{20,}`, stars, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		compile(`\bgithub_pat_[A-Za-z0-9_]{20,}`, stars, "github_pat_"),
		compile(`\bglpat-[A-Za-z0-9_-]{16,}`, stars, "glpat-"),
		compile(`\bsk-[A-Za-z0-9_-]{16,}`, stars, "sk-"),
		compile(`\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`, stars, "k_live_", "k_test_"),
		compile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, stars, "AKIA", "ASIA"),
		compile(`\bAIza[A-Za-z0-9_-]{30,}`, stars, "AIza"),
		compile(`\bya29\.[A-Za-z0-9_-]{20,}`, stars, "ya29."),
		compile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, stars, "xox"),
		compile(`\bxapp-[A-Za-z0-9-]{10,}`, stars, "xapp-"),
		compile(`\bnpm_[A-Za-z0-9]{30,}`, stars, "npm_"),
		compile(`\bpypi-[A-Za-z0-9_-]{30,}`, stars, "pypi-"),
		compile(`\bhf_[A-Za-z0-9]{30,}`, stars, "hf_"),
		compile(`\bgsk_[A-Za-z0-9]{20,}`, stars, "gsk_"),
		compile(`\bxai-[A-Za-z0-9]{20,}`, stars, "xai-"),
		compile(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, stars, "SG."),
		compile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, stars, "eyJ"),
		compile(`(?i)\b(bearer|basic)([ \t]+)[A-Za-z0-9._~+/-]{16,}=*`, "${1}${2}"+stars, "earer", "EARER", "asic", "ASIC"),
		compile(`\b([a-z][a-z0-9+.-]{1,20}://[^/\s:@'"]{0,64}):[^/\s:@'"]{3,}@`, "${1}:"+stars+"@", "://"),
		compile(`(?i)((?:api[_-]?key|secret[_-]?key|secret|access[_-]?key|auth[_-]?token|access[_-]?token|[_-]token|password|passwd)["']?[ \t]*[:=][ \t]*["']?)[A-Za-z0-9+/_~.-]{12,}=*`, "${1}"+stars,
			"ey", "EY", "ecret", "ECRET", "oken", "OKEN", "assw", "ASSW"),
	}
	kinds[0].long = true
	return kinds
})
