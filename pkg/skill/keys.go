package skill

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xrash/smetrics"
)

// The keys of the format.
const (
	keyName          = "name"
	keyDescription   = "description"
	keyLicense       = "license"
	keyCompatibility = "compatibility"
	keyMetadata      = "metadata"
	keyAllowedTools  = "allowed-tools"

	flatTools = "allowedtools" // flatKey(keyAllowedTools)
)

// formatKeys are the keys of the format, in the order of its description.
func formatKeys() [6]string {
	return [...]string{keyName, keyDescription, keyLicense, keyCompatibility, keyMetadata, keyAllowedTools}
}

// wellKnown tells the keys of the format and the most frequent ones of hosts.
func wellKnown(key string) bool {
	switch key {
	case keyName, keyDescription, keyLicense, keyCompatibility, keyMetadata, keyAllowedTools,
		"version", "author", "homepage", "tags", "keywords", "triggers", "tools", "repository",
		"argument-hint", "disable-model-invocation", "user-invocable", "model":
		return true
	}
	return false
}

// splitKey splits a line (without indentation and trailing blanks) into a key
// and the offset of what follows its colon. It is the cautious reading used
// where the YAML is broken: a plain key has no blanks, and a colon without a
// blank behind it counts only after a well-known key.
func splitKey(text []byte) (key string, value int, ok bool) {
	if len(text) == 0 {
		return "", 0, false
	}
	if q := text[0]; q == '"' || q == '\'' {
		end := bytes.IndexByte(text[1:], q)
		if end <= 0 {
			return "", 0, false
		}
		rest := end + 2 + indentOf(text[end+2:])
		if rest >= len(text) || text[rest] != ':' {
			return "", 0, false
		}
		return string(text[1 : end+1]), rest + 1, true
	}
	i := bytes.IndexByte(text, ':')
	if i <= 0 {
		return "", 0, false
	}
	name := trimRight(text[:i])
	if !plainKey(name) {
		return "", 0, false
	}
	spaced := i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t'
	if !spaced && !wellKnown(string(name)) {
		return "", 0, false
	}
	return string(name), i + 1, true
}

func plainKey(name []byte) bool {
	if len(name) == 0 || name[0] == '-' && (len(name) == 1 || name[1] == '-') {
		return false
	}
	for _, r := range string(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("_-./", r) {
			return false
		}
	}
	return true
}

// nearMiss returns the key of the format that an unknown key was probably meant
// to be, or "".
func nearMiss(key string) string {
	if wellKnown(key) {
		return ""
	}
	flat := flatKey(key)
	for _, want := range formatKeys() {
		w := want
		if want == keyAllowedTools {
			w = flatTools
		}
		limit := 2
		if len(w) <= 5 {
			limit = 0
		}
		if d := len(flat) - len(w); d <= limit && -d <= limit && smetrics.WagnerFischer(flat, w, 1, 1, 1) <= limit {
			return want
		}
	}
	return ""
}

// restricts tells a key that is, or was meant to be, allowed-tools.
func restricts(key string) bool { return key == keyAllowedTools || nearMiss(key) == keyAllowedTools }

// flatKey drops what differs between spellings: case, hyphens, underscores, blanks and what cannot be seen.
func flatKey(key string) string {
	flat := make([]byte, 0, len(key))
	for _, c := range key {
		switch {
		case c >= 'A' && c <= 'Z':
			flat = append(flat, byte(c)+'a'-'A')
		case c < utf8.RuneSelf && c != '-' && c != '_' && c != ' ':
			flat = append(flat, byte(c))
		case c >= utf8.RuneSelf && !unseen(c):
			flat = utf8.AppendRune(flat, c)
		}
	}
	return string(flat)
}

// unseen tells characters without a picture of their own: blanks, controls, joiners and combining marks.
func unseen(c rune) bool { return unicode.In(c, unicode.Z, unicode.C, unicode.Mn, unicode.Me) }
