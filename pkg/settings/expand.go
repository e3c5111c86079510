package settings

import (
	"fmt"
	"regexp"
	"strings"
)

// reference is ${…}, with one more $ before it when it is meant as it stands.
var reference = regexp.MustCompile(`\$?\$\{[^{}]*\}`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expander puts variables into values of a host's file.
type expander struct {
	lookup func(name string) string // "" when it is not set
	home   string
	dir    string
}

// expand returns text with all references replaced, or what is wrong with the first that cannot be.
func (e expander) expand(text string) (res, problem string) {
	res = reference.ReplaceAllStringFunc(text, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		value, bad := e.resolve(ref[2 : len(ref)-1])
		if problem == "" {
			problem = bad
		}
		return value
	})
	if problem != "" {
		return "", problem
	}
	return strings.TrimSpace(res), ""
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
	if !variableName.MatchString(name) {
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
