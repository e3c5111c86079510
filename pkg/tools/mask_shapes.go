package tools

import (
	"regexp"
	"strings"
	"sync"
)

// shape is how a kind of secret looks. The hints are plain texts of which each secret of this kind has one. Looking for
// them, and then at what follows, is much faster than the pattern, which takes 20 to 800 ns for a byte.
type shape struct {
	hints   []string
	pattern *regexp.Regexp
	by      string
	end     func(t *maskText, i int) int // where a secret with a hint before i ends at the latest; -1: there is none
}

// before is how many bytes in front of a hint the pattern is shown: more than a secret has there, and its context.
const before = 32

// mask replaces the secrets of this kind.
func (k shape) mask(s string) string {
	t := &maskText{s: s, hints: k.hints, next: make([]int, len(k.hints))}
	var b strings.Builder
	done, none := 0, 0 // what is before done is written; no secret that ends before none is left
	for at, i := t.hint(0); at >= 0; {
		to := k.end(t, i)
		if to <= none {
			at, i = t.hint(at + 1)
			continue
		}
		from, m := k.find(s, max(done, at-before), to)
		if m == nil {
			none = to
			at, i = t.hint(at + 1)
			continue
		}
		b.WriteString(s[done : from+m[0]])
		b.Write(k.pattern.ExpandString(nil, k.by, s[from:to], m))
		done = from + m[1]
		at, i = t.hint(max(done, at))
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// find looks for the pattern between two places. It returns where it has looked from and what the pattern found, counted
// from there. A cut within a word is no beginning of a word.
func (k shape) find(s string, from, to int) (int, []int) {
	for ; ; from++ {
		m := k.pattern.FindStringSubmatchIndex(s[from:to])
		if m == nil || m[0] > 0 || from == 0 || strings.IndexByte(wordSigns, s[from-1]) < 0 {
			return from, m
		}
	}
}

// maskText is a text in which a shape is looked for. It remembers what it has found, so that each byte is looked at a few
// times at most.
type maskText struct {
	s     string
	hints []string
	next  []int // where each hint stands next; len(s): nowhere

	from, to int // the run of token characters that was found last
}

// hint finds the first hint that begins at i or later, and where it ends. at is -1 when there is none.
func (t *maskText) hint(i int) (at, end int) {
	at = len(t.s)
	for n, hint := range t.hints {
		if t.next[n] < i || i == 0 {
			t.next[n] = len(t.s)
			if k := strings.Index(t.s[i:], hint); k >= 0 {
				t.next[n] = i + k
			}
		}
		if t.next[n] < at {
			at, end = t.next[n], t.next[n]+len(hint)
		}
	}
	if at == len(t.s) {
		return -1, -1
	}
	return at, end
}

// run finds the end of the characters from i that keys are made of. It is -1 when they are fewer than least.
func (t *maskText) run(i, least int) int {
	if i < t.from || i > t.to {
		t.from, t.to = i, i
		for t.to < len(t.s) && keyByte[t.s[t.to]] {
			t.to++
		}
	}
	if t.to-i < least {
		return -1
	}
	return t.to
}

// skip passes over the bytes from i that are among some, at most so many.
func (t *maskText) skip(i int, some string, most int) int {
	for end := min(i+most, len(t.s)); i < end && strings.IndexByte(some, t.s[i]) >= 0; i++ {
	}
	return i
}

const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	wordSigns = letters + "0123456789_"
	keySigns  = wordSigns + "+/~.=-"
	spaces    = " \t"
	quotes    = `"'`
)

var keyByte = func() (table [256]bool) {
	for i := range len(keySigns) {
		table[keySigns[i]] = true
	}
	return table
}()

// prefixed is the end of a key that begins with its hint.
func prefixed(t *maskText, i int) int { return t.run(i, 10) }

// announced is the end of a key after the word that announces it in a header.
func announced(t *maskText, i int) int {
	key := t.skip(i, spaces, len(t.s))
	if key == i {
		return -1
	}
	return t.run(key, 16)
}

// assigned is the end of a value that is assigned to the name in which the hint stands.
func assigned(t *maskText, i int) int {
	i = t.skip(i, letters+"_-", before)
	i = t.skip(i, quotes, 1)
	sign := t.skip(i, spaces, len(t.s))
	i = t.skip(sign, ":=", 1)
	if i == sign {
		return -1
	}
	return t.run(t.skip(t.skip(i, spaces, len(t.s)), quotes, 1), 12)
}

// credentials is the end of a name and a password in an address.
func credentials(t *maskText, i int) int {
	const most = 1 << 10
	n := strings.IndexAny(t.s[i:min(i+most, len(t.s))], "@/ \t\n\r\f\v\"'")
	if n < 0 || t.s[i+n] != '@' || strings.IndexByte(t.s[i:i+n], ':') < 0 {
		return -1
	}
	return i + n + 1
}

// block is the end of a key of several lines.
func block(t *maskText, _ int) int { return len(t.s) }

// shapes are what issuers of keys document about them; the last are assignments to a name that tells it is secret.
var shapes = sync.OnceValue(func() []shape {
	compile := func(end func(*maskText, int) int, pattern, by string, hints ...string) shape {
		return shape{hints, regexp.MustCompile(pattern), by, end}
	}
	return []shape{
		compile(block, `-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`, stars, "PRIVATE KEY"),
		compile(prefixed, `\bgh[pousr]_[A-Za-z0-9]{20,}`, stars, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		compile(prefixed, `\bgithub_pat_[A-Za-z0-9_]{20,}`, stars, "github_pat_"),
		compile(prefixed, `\bglpat-[A-Za-z0-9_-]{16,}`, stars, "glpat-"),
		compile(prefixed, `\bsk-[A-Za-z0-9_-]{16,}`, stars, "sk-"),
		compile(prefixed, `\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`, stars, "k_live_", "k_test_"),
		compile(prefixed, `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, stars, "AKIA", "ASIA"),
		compile(prefixed, `\bAIza[A-Za-z0-9_-]{30,}`, stars, "AIza"),
		compile(prefixed, `\bya29\.[A-Za-z0-9_-]{20,}`, stars, "ya29."),
		compile(prefixed, `\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, stars, "xox"),
		compile(prefixed, `\bxapp-[A-Za-z0-9-]{10,}`, stars, "xapp-"),
		compile(prefixed, `\bnpm_[A-Za-z0-9]{30,}`, stars, "npm_"),
		compile(prefixed, `\bpypi-[A-Za-z0-9_-]{30,}`, stars, "pypi-"),
		compile(prefixed, `\bhf_[A-Za-z0-9]{30,}`, stars, "hf_"),
		compile(prefixed, `\bgsk_[A-Za-z0-9]{20,}`, stars, "gsk_"),
		compile(prefixed, `\bxai-[A-Za-z0-9]{20,}`, stars, "xai-"),
		compile(prefixed, `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, stars, "SG."),
		compile(prefixed, `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, stars, "eyJ"),
		compile(announced, `(?i)\b(bearer|basic)([ \t]+)[A-Za-z0-9._~+/-]{16,}=*`, "${1}${2}"+stars, "earer", "EARER", "asic", "ASIC"),
		compile(credentials, `\b([a-z][a-z0-9+.-]{1,20}://[^/\s:@'"]{0,64}):[^/\s:@'"]{3,}@`, "${1}:"+stars+"@", "://"),
		compile(assigned, `(?i)((?:api[_-]?key|secret[_-]?key|secret|access[_-]?key|auth[_-]?token|access[_-]?token|[_-]token|password|passwd)["']?[ \t]*[:=][ \t]*["']?)[A-Za-z0-9+/_~.-]{12,}=*`, "${1}"+stars,
			"ey", "EY", "ecret", "ECRET", "oken", "OKEN", "assw", "ASSW"),
	}
})
