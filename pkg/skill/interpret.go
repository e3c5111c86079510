package skill

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// interpret makes a Skill of a document and adds what is wrong with its fields.
func interpret(doc *document, folder string) (*Skill, []Diagnostic) {
	b := doc.block
	s := &Skill{
		Fields: doc.fields, Body: doc.data[b.body:], BodyLine: b.bodyLine, HasFrontmatter: b.found,
	}
	r := &reader{doc: doc, skill: s, folder: folder, out: doc.problems}
	r.duplicates()
	r.name()
	r.description()
	s.License = r.text(keyLicense)
	s.Compatibility = r.text(keyCompatibility)
	s.Version, s.Author, s.Homepage = r.about("version"), r.about("author"), r.about("homepage")
	r.tags()
	r.tools()
	r.nearMisses()
	return s, r.out
}

type reader struct {
	doc    *document
	skill  *Skill
	folder string
	out    []Diagnostic
}

func (r *reader) report(d Diagnostic) { r.out = append(r.out, d) }

func (r *reader) warn(code string, num int, msg, hint string, fixable bool) {
	r.report(Diagnostic{Code: code, Severity: Warning, Line: num, Message: msg, Hint: hint, Fixable: fixable})
}

// field finds a key; where it is missing, the same key in other letter case.
func (r *reader) field(key string) *Field {
	if f := findField(r.doc.fields, key); f != nil {
		return f
	}
	for i := range r.doc.fields {
		if strings.EqualFold(r.doc.fields[i].Key, key) {
			return &r.doc.fields[i]
		}
	}
	return nil
}

func (r *reader) duplicates() {
	if len(r.doc.fields) < 2 {
		return
	}
	seen := make(map[string]bool, len(r.doc.fields))
	for _, f := range r.doc.fields {
		if seen[f.Key] {
			r.warn("duplicate-key", f.Line, fmt.Sprintf("key %q is given again; the last one counts", f.Key), "remove one of the two", false)
		}
		seen[f.Key] = true
	}
}

func (r *reader) name() {
	f := r.field(keyName)
	r.skill.Name = r.folder
	line := r.doc.block.firstLine
	if f != nil {
		line = f.Line
	}
	switch {
	case f == nil && r.doc.block.found:
		r.warn("name-missing", line, "there is no name; the folder's name is used", "add name: "+r.folder, r.folder != "" && !r.doc.flow)
		return
	case f == nil:
		return // frontmatter-missing has said it
	case isCollection(f.Value):
		r.warn("name-type", line, "the name is not text; the folder's name is used", "write name: "+r.folder, false)
		return
	}
	typed := oneLine(scalar(f.Value))
	if typed == "" {
		r.warn("name-empty", line, "the name is empty or null; the folder's name is used", "write name: "+r.folder, r.folder != "" && !r.doc.flow)
		return
	}
	r.skill.Name = typed
	r.nameRules(typed, line)
}

// nameRules are the warnings of lenient reading about a name that is there.
func (r *reader) nameRules(name string, line int) {
	if n := utf8.RuneCountInString(name); n > maxName {
		r.warn("name-length", line, fmt.Sprintf("the name has %d characters, more than %d", n, maxName), "shorten it", false)
	}
	if why := nameFormat(name); why != "" {
		r.warn("name-format", line, fmt.Sprintf("the name %q %s", clip(name, 64), why), "use lower-case letters, digits and single hyphens", false)
	}
	if r.folder != "" && !sameName(name, r.folder) {
		r.warn("name-dir-mismatch", line, fmt.Sprintf("the name %q is not the folder's name %q", clip(name, 64), clip(r.folder, 64)), "rename one of the two", false)
	}
}

func (r *reader) description() {
	f := r.field(keyDescription)
	line := r.doc.block.firstLine
	var typed string
	if f != nil {
		line = f.Line
		typed = strings.TrimSpace(joined(f.Value))
	}
	if typed != "" {
		r.skill.Description = typed
		if n := utf8.RuneCountInString(typed); n > maxDescription {
			r.warn("description-length", line, fmt.Sprintf("the description has %d characters, more than %d", n, maxDescription), "shorten it", false)
		}
		if _, text := f.Value.(string); !text {
			r.warn("description-type", line, "the description is a list; its items were joined", "write it as one text", false)
		}
		return
	}
	r.skill.Description = r.prose()
	mend := r.skill.Description != "" && !r.doc.flow
	switch {
	case f != nil && isCollection(f.Value):
		r.warn("description-type", line, "the description is not text", "write description: and a sentence", false)
	case f != nil:
		r.warn("description-empty", line, "the description is empty", "say what the skill does and when to use it", mend)
	case r.doc.block.found:
		r.warn("description-missing", line, "there is no description", "say what the skill does and when to use it", mend)
	}
}

// prose looks for a description in the body, and in an unreadable frontmatter.
func (r *reader) prose() string {
	if s := firstProse(r.skill.Body); s != "" {
		return s
	}
	if r.doc.valid {
		return ""
	}
	return firstProse(r.doc.front())
}

// text is a top-level scalar, or "".
func (r *reader) text(key string) string {
	f := findField(r.doc.fields, key)
	if f == nil {
		return ""
	}
	return strings.TrimSpace(scalar(f.Value))
}

// about is a scalar from the top level, else from metadata or one level below.
func (r *reader) about(key string) string {
	if s := r.text(key); s != "" {
		return s
	}
	for _, m := range r.metadata() {
		if s := strings.TrimSpace(scalar(m[key])); s != "" {
			return s
		}
	}
	return ""
}

// metadata is the metadata map and after it the maps directly in it, by name.
func (r *reader) metadata() []map[string]any {
	f := findField(r.doc.fields, keyMetadata)
	if f == nil {
		return nil
	}
	m, ok := f.Value.(map[string]any)
	if !ok {
		return nil
	}
	all := []map[string]any{m}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if sub, ok := m[k].(map[string]any); ok {
			all = append(all, sub)
		}
	}
	return all
}

func (r *reader) tags() {
	for _, key := range []string{"tags", "keywords"} {
		if f := findField(r.doc.fields, key); f != nil {
			r.addTags(f.Value)
		}
		for _, m := range r.metadata() {
			r.addTags(m[key])
		}
	}
}

func (r *reader) addTags(v any) {
	for _, tag := range splitTags(v) {
		if !slices.Contains(r.skill.Tags, tag) {
			r.skill.Tags = append(r.skill.Tags, tag)
		}
	}
}

// splitTags reads a list, or a text separated by commas or, without any, blanks.
func splitTags(v any) []string {
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			parts = append(parts, scalar(item))
		}
	case string:
		v = strings.Trim(v, "[]")
		if !strings.ContainsAny(v, ",，、;") {
			return strings.Fields(v)
		}
		parts = strings.FieldsFunc(v, func(c rune) bool { return strings.ContainsRune(",，、;", c) })
	}
	var tags []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			tags = append(tags, p)
		}
	}
	return tags
}

func (r *reader) nearMisses() {
	if f := findField(r.doc.fields, "<<"); f != nil {
		r.warn("merge-key", f.Line, "a merge key is not followed: what it would bring in is not read", "write the fields out", false)
	}
	for _, f := range r.doc.fields {
		if want := nearMiss(f.Key); want != "" && findField(r.doc.fields, want) == nil {
			r.warn("key-near-miss", f.Line, fmt.Sprintf("key %q is not known", f.Key), fmt.Sprintf("did you mean %q?", want), false)
		}
	}
}

func isCollection(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// scalar is the text of a scalar, "" for anything else.
func scalar(v any) string {
	s, _ := v.(string)
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	}
	return s
}

// joined is the text of a scalar, or of a list of scalars joined by blanks.
func joined(v any) string {
	list, ok := v.([]any)
	if !ok {
		return scalar(v)
	}
	var parts []string
	for _, item := range list {
		if s := strings.TrimSpace(scalar(item)); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// oneLine trims s and puts a text of several lines on one.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\n\r\t") {
		return strings.Join(strings.Fields(s), " ")
	}
	return strings.TrimSpace(s)
}
