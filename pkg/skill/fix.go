package skill

import (
	"bytes"
	"reflect"
)

// Fix mends what can be mended without changing what the skill means: a
// byte-order mark, blank lines before the frontmatter, fences that are missing
// or of another form, values that need quotes, and a name or description that
// Parse had to take from elsewhere. Every other byte stays. It returns the text
// (data itself when nothing was done) and the problems that are gone. The folder
// is as in Parse. A second Fix does nothing.
func Fix(data []byte, folder string) (out []byte, fixed []Diagnostic) {
	before, problems := Parse(data, folder)
	if before == nil {
		return data, nil
	}
	out = data
	for range 4 { // one repair can make way for another
		was := out
		for _, step := range []func([]byte, *Skill) []byte{fixFences, fixValues, fixName, fixDescription} {
			if next := step(out, before); sameMeaning(before, next, folder) {
				out = next
			}
		}
		if bytes.Equal(was, out) {
			break
		}
	}
	if bytes.Equal(out, data) {
		return data, nil
	}
	_, left := Parse(out, folder)
	return out, gone(problems, left)
}

// gone are the problems that can be mended and are not among those left.
func gone(problems, left []Diagnostic) []Diagnostic {
	count := make(map[string]int)
	for _, d := range left {
		count[d.Code]++
	}
	var fixed []Diagnostic
	for _, d := range problems {
		switch {
		case !d.Fixable:
		case count[d.Code] > 0:
			count[d.Code]--
		default:
			fixed = append(fixed, d)
		}
	}
	return fixed
}

// sameMeaning tells whether a mended text reads as before did.
func sameMeaning(before *Skill, text []byte, folder string) bool {
	after, _ := Parse(text, folder)
	if after == nil || !bytes.Equal(before.Body, after.Body) || !reflect.DeepEqual(before.AllowedTools, after.AllowedTools) ||
		!reflect.DeepEqual(before.Tags, after.Tags) || before.Name != after.Name || before.Description != after.Description {
		return false
	}
	for i := range before.Fields {
		f := &before.Fields[i]
		if f.Key == keyName || f.Key == keyDescription {
			continue
		}
		if i >= len(after.Fields) || after.Fields[i].Key != f.Key || !reflect.DeepEqual(after.Fields[i].Value, f.Value) {
			return false
		}
	}
	return true
}

// fixFences removes what stands in front of the frontmatter and writes both
// fences as they should be.
func fixFences(data []byte, _ *Skill) []byte {
	doc := read(data)
	b := doc.block
	var edits []edit
	if b.bom {
		edits = append(edits, edit{0, b.start, ""})
	}
	if !b.found {
		return apply(data, edits)
	}
	if lead := data[b.start:b.open.start]; len(bytes.TrimSpace(lead)) == 0 {
		edits = append(edits, edit{b.start, b.open.start, ""})
	}
	for _, fence := range []line{b.open, b.close} {
		if text := fence.text(data); fence.start < fence.next && string(text) != "---" {
			edits = append(edits, edit{fence.start, fence.end, "---"})
		}
	}
	return apply(data, append(edits, doc.fenceEdits(false)...))
}

// fixValues quotes the values that were read from bare text. Restrictions are
// left to a person.
func fixValues(data []byte, _ *Skill) []byte {
	doc := read(data)
	var edits []edit
	for i := range doc.fields {
		f := &doc.fields[i]
		text, ok := f.Value.(string)
		if !ok || !f.recovered || restricts(f.Key) {
			continue
		}
		if start, end, _, err := doc.valueSpan(f); err == nil {
			edits = append(edits, edit{start, end, " " + quote(text)})
		}
	}
	return apply(data, edits)
}

// fixName writes the name that Parse took from the folder.
func fixName(data []byte, s *Skill) []byte {
	return fillIn(data, keyName, s.Name)
}

// fixDescription writes the description that Parse took from the body.
func fixDescription(data []byte, s *Skill) []byte {
	return fillIn(data, keyDescription, s.Description)
}

// fillIn sets a key that is missing or empty.
func fillIn(data []byte, key, value string) []byte {
	r := reader{doc: read(data)}
	if f := r.field(key); value == "" || f != nil && (isCollection(f.Value) || oneLine(scalar(f.Value)) != "") {
		return data
	}
	out, err := SetField(data, key, value)
	if err != nil {
		return data
	}
	return out
}
