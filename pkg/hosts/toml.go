package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A TOML file is changed by tables: the lines from one heading to the next. Codex writes one table for each
// server.

// table finds the lines of the table with that heading, and those of the tables below it: from its heading to
// the next heading that is not below, without the blank lines and comments before that. end is from when
// there is none.
func table(text []byte, heading string) (from, end int) {
	from = -1
	at := 0
	for line := range bytes.Lines(text) {
		name, isHeading := headingOf(line)
		switch {
		case !isHeading:
			if from >= 0 && len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
				end = at + len(line)
			}
		case name == heading || strings.HasPrefix(name, heading+"."):
			if from < 0 {
				from = at
			}
			end = at + len(line)
		case from >= 0:
			return from, end
		}
		at += len(line)
	}
	if from < 0 {
		return len(text), len(text)
	}
	return from, end
}

// headingOf returns the name in a line such as [a.b], without quotes and white space.
func headingOf(line []byte) (string, bool) {
	s := strings.TrimSpace(string(line))
	if !strings.HasPrefix(s, "[") {
		return "", false
	}
	s, _, ok := strings.Cut(strings.Trim(s, "["), "]")
	return strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(s), ok
}

// setTOML puts keys into a table, or gives them other values; the table is made at the end if it is not there.
func setTOML(text []byte, heading string, values ordered) []byte {
	nl := newline(text)
	from, end := table(text, heading)
	if from == end {
		var b strings.Builder
		if len(text) > 0 && text[len(text)-1] != '\n' {
			b.WriteString(nl)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			b.WriteString(nl)
		}
		fmt.Fprintf(&b, "[%s]%s", heading, nl)
		for _, m := range values {
			fmt.Fprintf(&b, "%s = %s%s", m.name, render(m.value, "", "", ""), nl)
		}
		return append(bytes.Clone(text), b.String()...)
	}
	for i := len(values) - 1; i >= 0; i-- {
		text = setKey(text, heading, values[i].name, render(values[i].value, "", "", ""), nl)
	}
	return text
}

// setKey sets one key of a table that is there.
func setKey(text []byte, heading, key, value, nl string) []byte {
	from, end := table(text, heading)
	at, first := from, true
	for line := range bytes.Lines(text[from:end]) {
		if name, isHeading := headingOf(line); isHeading && !first && name != heading {
			break // a table below it
		}
		first = false
		if name, old, ok := strings.Cut(string(line), "="); ok && strings.TrimSpace(name) == key {
			begin := at + len(name) + 1
			return splice(text, begin, begin+len(strings.TrimRight(old, "\r\n")), " "+value)
		}
		at += len(line)
	}
	head := from + bytes.IndexByte(text[from:], '\n') + 1
	if head == from { // the heading ends the file
		return append(bytes.Clone(text), nl+key+" = "+value...)
	}
	return splice(text, head, head, key+" = "+value+nl)
}

// removeTOML takes a table out, with those below it and the blank line before it.
func removeTOML(text []byte, heading string) []byte {
	from, end := table(text, heading)
	if from == end {
		return text
	}
	before := text[:from]
	if trimmed := bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r")); len(trimmed) < len(before) &&
		(bytes.HasSuffix(trimmed, []byte("\n")) || len(trimmed) == 0) {
		before = trimmed
	}
	return append(bytes.Clone(before), text[end:]...)
}

// equalJSON compares values by their JSON.
func equalJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
