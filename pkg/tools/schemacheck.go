package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// problem is one thing that is wrong with arguments.
type problem struct {
	path string // such as edits[0].old_text; empty for the arguments themselves
	text string
}

// explain lists problems in one line.
func explain(problems []problem) string {
	const most = 5
	var parts []string
	for _, p := range problems[:min(most, len(problems))] {
		if p.path != "" {
			p.text = p.path + ": " + p.text
		}
		parts = append(parts, p.text)
	}
	if more := len(problems) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// effort counts the steps of a check, which a schema of somebody else's could make endless.
type effort int

// spent counts a step and tells whether it is one too many; what was not looked at fits.
func (e *effort) spent() bool {
	*e++
	return *e > 100_000
}

// check compares a value with a schema.
func (s *schema) check(path string, value any, left *effort) []problem {
	switch {
	case s == nil || left.spent():
		return nil
	case s.never:
		return []problem{{path, "is not allowed here"}}
	case !s.takes(value):
		return []problem{{path, fmt.Sprintf("expected %s, got %s", s.expected(), show(value))}}
	}
	problems := s.checkValue(path, value)
	switch v := value.(type) {
	case map[string]any:
		problems = append(problems, s.checkObject(path, v, left)...)
	case []any:
		problems = append(problems, s.checkList(path, v, left)...)
	}
	for _, sub := range s.AllOf {
		problems = append(problems, sub.check(path, value, left)...)
	}
	for _, choice := range [][]*schema{s.AnyOf, s.OneOf} {
		problems = append(problems, checkChoice(path, choice, value, left)...)
	}
	return problems
}

// checkChoice wants one of several schemas to fit, and otherwise tells what is wrong with the nearest.
func checkChoice(path string, choice []*schema, value any, left *effort) (least []problem) {
	var kinds []string
	for _, sub := range choice {
		problems := sub.check(path, value, left)
		if len(problems) == 0 {
			return nil
		}
		if sub.takes(value) && (least == nil || len(problems) < len(least)) {
			least = problems
		}
		if is := sub.expected(); !slices.Contains(kinds, is) {
			kinds = append(kinds, is)
		}
	}
	if len(choice) > 0 && least == nil {
		least = []problem{{path, fmt.Sprintf("expected %s, got %s", strings.Join(kinds, " or "), show(value))}}
	}
	return least
}

// checkValue looks at what a schema says about the value itself.
func (s *schema) checkValue(path string, value any) (problems []problem) {
	add := func(format string, args ...any) {
		problems = append(problems, problem{path, fmt.Sprintf(format, args...)})
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return equal(e, value) }) {
		add("expected one of %s, got %s", listed(s.Enum), show(value))
	}
	if s.Const != nil && !equal(*s.Const, value) {
		add("expected %s, got %s", show(*s.Const), show(value))
	}
	switch v := value.(type) {
	case json.Number:
		f, _ := v.Float64()
		if s.Minimum != nil && f < *s.Minimum {
			add("expected at least %v, got %s", *s.Minimum, v)
		}
		if s.Maximum != nil && f > *s.Maximum {
			add("expected at most %v, got %s", *s.Maximum, v)
		}
	case string:
		n := utf8.RuneCountInString(v)
		if s.MinLength != nil && n < *s.MinLength {
			add("expected %s or more, got %d", count(*s.MinLength, "character"), n)
		}
		if s.MaxLength != nil && n > *s.MaxLength {
			add("expected at most %s, got %d", count(*s.MaxLength, "character"), n)
		}
		if s.Pattern.re != nil && !s.Pattern.re.MatchString(v) {
			add("expected text that matches %s, got %s", s.Pattern.re, show(v))
		}
	}
	return problems
}

// checkObject looks at the members of an object.
func (s *schema) checkObject(path string, value map[string]any, left *effort) (problems []problem) {
	for _, name := range s.Required {
		if _, ok := value[name]; !ok {
			problems = append(problems, problem{path, fmt.Sprintf("%q is missing%s", name, s.needs(name))})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		sub, known := s.Properties[name]
		if !known && s.Patterns == nil {
			sub = s.Additional
		}
		if !known && sub != nil && sub.never {
			problems = append(problems, problem{path, s.stranger(name)})
			continue
		}
		problems = append(problems, sub.check(memberPath(path, name), value[name], left)...)
	}
	return problems
}

// needs says what kind of value a missing member is to have.
func (s *schema) needs(name string) string {
	if kinds := s.Properties[name].expected(); kinds != "a value" {
		return " (" + kinds + ")"
	}
	return ""
}

// stranger says that there is no such member, and which ones there are.
func (s *schema) stranger(name string) string {
	known := slices.Sorted(maps.Keys(s.Properties))
	text := fmt.Sprintf("there is no %q", name)
	if like := near(name, known); len(like) > 0 {
		return text + ": did you mean " + strings.Join(like, " or ") + "?"
	}
	if len(known) == 0 {
		return text + ": it takes nothing"
	}
	return text + ": it takes " + strings.Join(known, ", ")
}

// checkList looks at the members of a list.
func (s *schema) checkList(path string, value []any, left *effort) (problems []problem) {
	if s.MinItems != nil && len(value) < *s.MinItems {
		problems = append(problems, problem{path, fmt.Sprintf("expected %s or more, got %d", count(*s.MinItems, "item"), len(value))})
	}
	if s.MaxItems != nil && len(value) > *s.MaxItems {
		problems = append(problems, problem{path, fmt.Sprintf("expected at most %s, got %d", count(*s.MaxItems, "item"), len(value))})
	}
	for i, item := range value {
		sub := s.Items
		if i < len(s.Prefix) {
			sub = s.Prefix[i]
		}
		problems = append(problems, sub.check(fmt.Sprintf("%s[%d]", path, i), item, left)...)
	}
	return problems
}

func memberPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// takes tells whether a value is of a type that the schema names.
func (s *schema) takes(value any) bool {
	if s == nil || len(s.Type) == 0 {
		return true
	}
	is := kindOf(value)
	return slices.ContainsFunc(s.Type, func(t string) bool {
		return t == is || t == "number" && is == "integer" || t == "any"
	})
}

// kindOf names the type of a value as JSON Schema does.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// kind names the type of a value in a sentence.
func kind(value any) string {
	switch k := kindOf(value); k {
	case "null":
		return k
	case "integer", "array", "object":
		return "an " + k
	default:
		return "a " + k
	}
}

// expected names the types that a schema takes, in a sentence.
func (s *schema) expected() string {
	switch {
	case s == nil || len(s.Type) == 0 && len(s.Enum) == 0:
		return "a value"
	case len(s.Enum) > 0:
		return "one of " + listed(s.Enum)
	case len(s.Type) == 1 && s.Type[0] == "array" && s.Items != nil && len(s.Items.Type) == 1:
		return "array of " + s.Items.Type[0] + "s"
	}
	return strings.Join(s.Type, " or ")
}

// show prints a value of the model's in a sentence, shortened.
func show(value any) string {
	const most = 60
	switch value.(type) {
	case nil, bool:
		return fmt.Sprint(orNull(value))
	}
	data, err := json.Marshal(value)
	if err != nil {
		return kind(value)
	}
	text, left := cut(string(data), most)
	if left > 0 {
		text += "…"
	}
	return kindOf(value) + " " + text
}

func orNull(value any) any {
	if value == nil {
		return "null"
	}
	return value
}

func listed(values []any) string {
	const most = 20
	var parts []string
	for _, v := range values[:min(most, len(values))] {
		data, err := json.Marshal(v)
		if err != nil {
			continue
		}
		parts = append(parts, string(data))
	}
	return strings.Join(parts, ", ")
}

// equal compares two values of JSON; numbers by their value.
func equal(a, b any) bool {
	x, isNumber := a.(json.Number)
	y, alsoNumber := b.(json.Number)
	if isNumber && alsoNumber {
		f, errF := x.Float64()
		g, errG := y.Float64()
		return errF == nil && errG == nil && f == g
	}
	return reflect.DeepEqual(a, b)
}

// pattern is a regular expression. One that Go cannot read, such as with a look-ahead, fits everything.
type pattern struct{ re *regexp.Regexp }

// UnmarshalJSON reads the expression.
func (p *pattern) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if re, err := regexp.Compile(text); err == nil {
		p.re = re
	}
	return nil
}
