package policy

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Rules are what a user adds to the built-in ones. A rule is a command and the beginning of its arguments, such as
// "git push" or "kubectl delete"; each word may be a pattern with * and ?. It is compared with commands as they were
// parsed, so "rm" does not mean `git rm`. A rule of Allow takes back a built-in Ask, never a Deny.
type Rules struct {
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
	// Off forbids every command.
	Off bool `json:"-"`
}

// shape is what is read: the rules, and those of the configuration that came before.
type shape struct {
	Allow, Ask, Deny json.RawMessage
	Blocked          json.RawMessage `json:"blocked_commands"`
	Shell            json.RawMessage `json:"allow_shell_commands"`
}

// ParseRules reads rules from JSON: an object with allow, ask and deny, or one with blocked_commands (a list, or an object
// with the lists common, linux, darwin and windows) and allow_shell_commands, as the older config_security.json has them
// in its sections. goos chooses among the systems. What cannot be understood is named in the notes and left out; the
// rest counts all the same, so that one mistake never opens everything.
func ParseRules(data []byte, goos string) (Rules, []string, error) {
	var in shape
	if err := json.Unmarshal(data, &in); err != nil {
		return Rules{}, nil, fmt.Errorf("read the rules for commands: %w", err)
	}
	var out Rules
	var notes []string
	list := func(key string, raw json.RawMessage) []string {
		words, err := stringList(raw)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s is left out: %v", key, err))
		}
		return words
	}
	out.Allow, out.Ask, out.Deny = list("allow", in.Allow), list("ask", in.Ask), list("deny", in.Deny)
	blocked, more := oldList(in.Blocked, goos)
	out.Deny = append(out.Deny, blocked...)
	notes = append(notes, more...)
	if len(in.Shell) > 0 {
		allowed := true
		if err := json.Unmarshal(in.Shell, &allowed); err != nil {
			notes = append(notes, fmt.Sprintf("allow_shell_commands is taken as false: %v", err))
			allowed = false
		}
		out.Off = !allowed
	}
	return out, notes, nil
}

func stringList(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil {
		return nil, fmt.Errorf("it is not a list of texts (%v)", err)
	}
	return words, nil
}

// oldList reads blocked_commands.
func oldList(raw json.RawMessage, goos string) (rules, notes []string) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	words, err := stringList(raw)
	if err != nil {
		var bySystem map[string]json.RawMessage
		if json.Unmarshal(raw, &bySystem) != nil {
			return nil, []string{"blocked_commands is left out: it is neither a list nor lists by system"}
		}
		words = nil
		for _, system := range []string{"common", goos} {
			some, err := stringList(bySystem[system])
			if err != nil {
				notes = append(notes, fmt.Sprintf("blocked_commands.%s is left out: %v", system, err))
			}
			words = append(words, some...)
		}
	}
	for _, w := range words {
		// The old rule compared single words of a text. An option alone says nothing of a command.
		if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") && len(w) == 2 {
			notes = append(notes, fmt.Sprintf("blocked_commands: %q is left out: it is an option and not a command", w))
			continue
		}
		rules = append(rules, w)
	}
	return rules, notes
}

// compiled are rules as lists of words.
type compiled struct {
	allow, ask, deny [][]string
	off              bool
}

func (r Rules) compile() compiled {
	split := func(rules []string) (out [][]string) {
		for _, rule := range rules {
			if words := strings.Fields(rule); len(words) > 0 {
				out = append(out, words)
			}
		}
		return out
	}
	return compiled{split(r.Allow), split(r.Ask), split(r.Deny), r.Off}
}

// match returns the rule that fits a command, or nothing. The words of a rule after the first have to be there in this order;
// options between them are passed over.
func match(rules [][]string, words []string) string {
	for _, rule := range rules {
		if fits(rule, words) {
			return strings.Join(rule, " ")
		}
	}
	return ""
}

func fits(rule, words []string) bool {
	if len(words) == 0 || !like(rule[0], words[0]) {
		return false
	}
	rule, words = rule[1:], words[1:]
	for _, want := range rule {
		at := slices.IndexFunc(words, func(w string) bool { return like(want, w) })
		if at < 0 || slices.ContainsFunc(words[:at], func(w string) bool { return !strings.HasPrefix(w, "-") }) {
			return false
		}
		words = words[at+1:]
	}
	return true
}

// like compares a word with a pattern. A star also stands for slashes.
func like(pattern, word string) bool {
	if pattern == word || pattern == "*" {
		return true
	}
	slash := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(slash.Replace(pattern), slash.Replace(word))
	return err == nil && ok
}
