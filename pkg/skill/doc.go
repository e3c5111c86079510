// Package skill owns what a skill is on disk: a folder with a SKILL.md, the
// text of that file (YAML frontmatter and a Markdown body), its identity
// sidecar, and the list of files that belong to it.
//
// Reading is tolerant: Parse and Load give a usable Skill for nearly any text
// and say in diagnostics what was wrong and how to mend it. Strictness is a
// separate question, asked of Validate with a Profile. Edits (SetField, Fix)
// are made in the text itself: every byte that an edit does not concern stays.
//
// The package does not walk skill roots, judge safety, keep versions or talk to
// anybody. It reads the file system only in the functions that take a folder,
// and writes nothing at all. Everything is safe for concurrent use: there is no
// shared state. The format is written down in docs/skill-format.md.
package skill
