package skill

import (
	"unicode/utf8"
)

// Names of the files that have a meaning of their own in a skill folder.
const (
	FileName   = "SKILL.md"          // the skill itself
	IDFile     = ".skill_id"         // identity sidecar: one line, the id
	MetaFile   = ".upload_meta.json" // notes for an upload
	IgnoreFile = ".skillignore"      // what does not belong to the skill, in the syntax of .gitignore
)

const (
	altFileName = "skill.md"
	// maxFile bounds what Load reads; the largest real file known has 0.3 MB.
	maxFile = 16 << 20
)

// Skill is a SKILL.md as it was understood, after all fallbacks.
type Skill struct {
	// Name is the name as typed, or the folder's name when there is none.
	Name string
	// Description is the description with its outer blanks removed, or the first
	// prose line of the body (else its first heading) when there is none.
	Description string

	License       string
	Compatibility string

	// AllowedTools is nil when the skill sets no restriction. An empty list that
	// is not nil allows no tool; that is also what a restriction becomes which
	// was there but could not be read exactly.
	AllowedTools []string
	// Tags holds tags and keywords, from the top level and from metadata, each once.
	Tags []string

	Version  string
	Author   string
	Homepage string

	// Fields holds every top-level key in the order of the file.
	Fields []Field

	// Body is what follows the closing fence's line, byte for byte. It shares
	// memory with the data that was parsed.
	Body []byte
	// BodyLine is the 1-based line of the file on which Body starts.
	BodyLine int
	// HasFrontmatter tells whether there is a frontmatter block, however damaged.
	HasFrontmatter bool
}

// Field is one top-level key of the frontmatter.
type Field struct {
	Key string
	// Value is nil (null or nothing), string, []any or map[string]any, built of
	// the same. Scalars are the text as typed: 007 is "007", no is "no".
	Value any
	// Line is the 1-based line of the file on which the key stands.
	Line int
	// Start and End delimit the field's lines in the data, line breaks included.
	Start, End int

	recovered bool // the YAML was broken here and Value was read from the bare text
}

// Field returns the value of a top-level key and whether the key is there. Of
// a key that is given twice it is the last.
func (s *Skill) Field(key string) (any, bool) {
	f := findField(s.Fields, key)
	if f == nil {
		return nil, false
	}
	return f.Value, true
}

func findField(fields []Field, key string) *Field {
	for i := len(fields) - 1; i >= 0; i-- {
		if fields[i].Key == key {
			return &fields[i]
		}
	}
	return nil
}

// Parse reads the text of a SKILL.md tolerantly. The folder's base name stands
// in for a missing name; with an empty folder the name is not compared to it.
//
// It returns nil only when the text cannot be used at all (not UTF-8, or nothing
// but blanks); then one diagnostic has Severity Error. Diagnostics carry no Path.
func Parse(data []byte, folder string) (*Skill, []Diagnostic) {
	if d := unusable(data); d != nil {
		return nil, []Diagnostic{*d}
	}
	doc := read(data)
	return interpret(doc, folder)
}

// unusable says why a text cannot be read as a skill at all, or nil.
func unusable(data []byte) *Diagnostic {
	if !utf8.Valid(data) {
		d := notUTF8(data)
		return &d
	}
	text := data
	if hasBOM(text) {
		text = text[len(bom):]
	}
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return nil
		}
	}
	return &Diagnostic{
		Code: "empty-file", Severity: Error, Line: 1,
		Message: "the file holds no text",
		Hint:    "write a frontmatter with name and description, then the instructions",
	}
}
