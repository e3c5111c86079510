package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

type editArgs struct {
	Path  string    `json:"path"`
	Edits []oneEdit `json:"edits"`
	oneEdit
}

// oneEdit is one replacement.
type oneEdit struct {
	Old string `json:"old_text"`
	New string `json:"new_text"`
	All bool   `json:"replace_all"`
}

// editFile replaces pieces of a file.
func editFile(e *Env) Tool {
	const edit = `"old_text":{"type":"string"},"new_text":{"type":"string"},"replace_all":{"type":"boolean"}`
	return &builtin[editArgs]{env: e, spec: Spec{
		Name:        "edit_file",
		Aliases:     []string{"edit", "str_replace", "replace", "multi_edit"},
		Description: "Replace text that a file has exactly once, or more often with replace_all.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string"},` + edit + `,"edits":{"type":"array","items":{"type":"object","properties":{` + edit + `},` +
			`"required":["old_text","new_text"],"additionalProperties":false},"description":"several, made in order, all or none"}},` +
			`"required":["path"],"additionalProperties":false}`),
		Backend: "shell", Quiet: []string{"edits"},
	}, synonyms: map[string]string{"file_path": "path", "file": "path", "filename": "path", "old_string": "old_text", "old_str": "old_text",
		"new_string": "new_text", "new_str": "new_text"}, run: e.editFile}
}

func (e *Env) editFile(ctx context.Context, args editArgs) Result {
	edits := args.Edits
	if args.Old != "" || args.New != "" {
		edits = append([]oneEdit{args.oneEdit}, edits...)
	}
	if len(edits) == 0 {
		return failed(wire.Invalid, "edit_file was not run: give old_text and new_text, or edits")
	}
	e.writes.Lock()
	defer e.writes.Unlock()
	s, problem := e.locate(args.Path, true)
	if problem != nil {
		return *problem
	}
	defer s.Close()
	return e.editSpot(ctx, s, args.Path, edits)
}

// editSpot edits the file at a place, which the model called given.
func (e *Env) editSpot(ctx context.Context, s *spot, given string, edits []oneEdit) Result {
	data, info, err := s.read(e.Limits.Read)
	if err != nil {
		return e.unreadable(given, s, info, err)
	}
	body, c, err := decodeExact(data)
	if err != nil {
		return failed(wire.Invalid, "%s was not changed: %v", s.shown, err)
	}
	done, problem := e.apply(s.shown, body, edits)
	if problem != nil {
		return *problem
	}
	if problem := e.maskedText(s.shown, done.body, body); problem != nil {
		return *problem
	}
	coded, err := encode(done.body, c)
	if err != nil {
		return failed(wire.Invalid, "%s was not changed: its coding, %s, has no sign for a character of new_text", s.shown, c)
	}
	if err := ctx.Err(); err != nil {
		return failed(wire.Canceled, "%s was not changed: %v", s.shown, err)
	}
	if err := s.replace(coded, info); err != nil {
		return e.unwritable(given, s, err)
	}
	return Result{Content: e.editReport(s.shown, done), Files: []string{s.path}}
}

// edited is a text with the places where it was changed.
type edited struct {
	body   string
	places []place
	loose  []string // how places were found that were not there as given
}

// place is a changed piece of the text.
type place struct{ from, to int }

// apply makes edits one after the other. When one cannot be made, none is.
func (e *Env) apply(name, body string, edits []oneEdit) (edited, *Result) {
	done := edited{body: body}
	for i, edit := range edits {
		which := "old_text"
		if len(edits) > 1 {
			which = fmt.Sprintf("old_text of edit %d", i+1)
		}
		m, problem := match(done.body, edit)
		if problem == "" && len(m.found) > 1 && !edit.All {
			problem = ambiguous(done.body, m)
		}
		if problem == notFound {
			problem += e.nearestPlaces(done.body, edit.Old)
		}
		if problem != "" {
			return done, ptr(failed(wire.Invalid, "%s was not changed: %s %s", name, which, problem))
		}
		if m.how != "" {
			done.loose = append(done.loose, fmt.Sprintf("%s was found although %s", which, m.how))
		}
		done.change(m.changes)
	}
	if done.body == body {
		return done, ptr(failed(wire.Invalid, "%s was not changed: the new text is the same as the old", name))
	}
	return done, nil
}

// change replaces pieces of the body, which are in order and do not overlap.
func (d *edited) change(changes []change) {
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		d.body = d.body[:c.from] + c.text + d.body[c.to:]
		grown := len(c.text) - (c.to - c.from)
		for j := range d.places {
			d.places[j].shift(c, grown)
		}
		d.places = append(d.places, place{c.from, c.from + len(c.text)})
	}
}

// shift moves a place by what a later change did before it.
func (p *place) shift(c change, grown int) {
	if p.from >= c.to {
		p.from += grown
	}
	if p.to >= c.to {
		p.to = max(p.from, p.to+grown)
	}
}

// editReport says what was changed and shows it.
func (e *Env) editReport(name string, done edited) string {
	const most = 5 // places that are shown
	var b strings.Builder
	fmt.Fprintf(&b, "changed %s in %s", name, count(len(done.places), "place"))
	for _, how := range done.loose {
		b.WriteString("; " + how)
	}
	all := numbered(done.body, e.Mask)
	for _, p := range done.places[:min(most, len(done.places))] {
		first := 1 + strings.Count(done.body[:p.from], "\n")
		last := first + strings.Count(done.body[p.from:p.to], "\n")
		b.WriteString("\n" + someLines(all, first-1, last+1))
	}
	return b.String()
}

// someLines prints lines with their numbers; of many the first and the last.
func someLines(all []line, first, last int) string {
	const most = 12
	var picked []line
	for _, l := range all {
		if l.number >= first && l.number <= last {
			picked = append(picked, l)
		}
	}
	var b strings.Builder
	for i, l := range picked {
		if len(picked) > most && i == most/2 {
			b.WriteString("…\n")
		}
		if len(picked) > most && i >= most/2 && i < len(picked)-most/2 {
			continue
		}
		text, left := cut(l.text, 200)
		if left > 0 {
			text += "…"
		}
		fmt.Fprintf(&b, "%d\t%s\n", l.number, text)
	}
	return b.String()
}
