package settings

import (
	"fmt"
	"strings"
)

// expander puts variables into values of a host's file.
type expander struct {
	lookup func(name string) string // "" when it is not set
	home   string
	dir    string
}

// expand returns text, without blanks at its ends, with each ${…} replaced, or what is wrong with the first that cannot be. With one more $ before
// it, it is meant as it stands.
func (e expander) expand(text string) (res, problem string) {
	res, problem = e.replace(text)
	return strings.TrimSpace(res), problem
}

// replace is expand for text whose blanks at its ends stay.
func (e expander) replace(text string) (res, problem string) {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		inside, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			out.WriteString(text)
			return out.String(), ""
		}
		value := "${" + inside + "}"
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			before = literal
		} else if value, problem = e.resolve(inside); problem != "" {
			return "", problem
		}
		out.WriteString(before + value)
		text = after
	}
}

// resolve returns what the inside of ${…} stands for.
func (e expander) resolve(inside string) (value, problem string) {
	switch inside {
	case "userHome":
		return e.home, ""
	case "workspaceFolder":
		return e.dir, ""
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(inside, "env:"), ":-")
	if !isVariable(name) {
		return "", fmt.Sprintf("${%s} is known to the host alone", inside)
	}
	if value = e.lookup(name); value == "" {
		value = fallback
	}
	if value == "" && !hasFallback {
		return "", fmt.Sprintf("the variable %s is not set", name)
	}
	return value, ""
}

// isVariable tells whether text can be the name of a variable.
func isVariable(text string) bool {
	for i, c := range []byte(text) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}
