package tools

import (
	"cmp"
	"slices"
	"strings"
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
	for _, k := range shapes() {
		s = k.mask(s)
	}
	return s
}
