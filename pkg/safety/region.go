package safety

import (
	"bytes"
	"path"
	"strings"
)

// kind tells how a file is read.
type kind uint8

const (
	prose kind = iota // Markdown and other text for people and models
	code              // programs
	data              // settings and the like: rules for prose and for code apply
)

// part tells what a stretch of a prose file is.
type part uint8

const (
	plain part = iota
	front
	fence
	indented // lines that are code, or belong to an item of a list
	comment  // an HTML comment: a model reads it, a person does not see it
)

// region is a stretch of a text. lang is the word behind a fence.
type region struct {
	kind       part
	start, end int
	lang       string
}

// block reports whether a region is set apart as code is.
func (r region) block() bool { return r.kind == fence || r.kind == indented }

// speaks reports whether a region may be ordinary prose.
func (r region) speaks() bool { return r.kind == plain || r.kind == indented }

// kindOfExt knows the extensions of programs and settings; the rest is prose.
func kindOfExt(ext string) kind {
	switch ext {
	case ".py", ".pyw", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".sh", ".bash", ".zsh", ".fish",
		".ps1", ".psm1", ".bat", ".cmd", ".vbs", ".rb", ".pl", ".php", ".lua", ".go", ".rs", ".java", ".kt",
		".swift", ".c", ".h", ".cc", ".cpp", ".cs", ".r", ".scpt", ".applescript", ".command", ".awk", ".ipynb", ".mk", ".sql":
		return code
	case ".json", ".jsonc", ".json5", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".xml", ".plist",
		".service", ".env", ".csv", ".svg", ".html", ".htm", ".properties", ".lock":
		return data
	}
	return prose
}

// kindOf tells a file's kind from its name, else from its first line.
func kindOf(t Text) kind {
	base := strings.ToLower(path.Base(t.Path))
	if k := kindOfExt(path.Ext(base)); k != prose {
		return k
	}
	switch base {
	case "makefile", "dockerfile", "containerfile", "rakefile", "justfile", "jenkinsfile":
		return code
	}
	if bytes.HasPrefix(t.Data, []byte("#!")) {
		return code
	}
	if strings.HasPrefix(base, ".") && path.Ext(base) == base {
		return data
	}
	return prose
}

// regionsOf cuts a text into its parts, in order and without gaps.
func regionsOf(text []byte, k kind) []region {
	if k != prose {
		return []region{{kind: plain, end: len(text)}}
	}
	c := cutter{text: text}
	for pos := 0; pos < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		c.line(pos, end)
		pos = end
	}
	c.push(len(text))
	return c.regions
}

// cutter is the state of regionsOf.
type cutter struct {
	text    []byte
	regions []region
	open    region // the region being read; its end is not yet known
	marker  []byte // what closes the open fence
	blank   bool   // the line before was empty
}

// push closes the open region at end.
func (c *cutter) push(end int) {
	if end > c.open.start {
		c.open.end = end
		c.regions = append(c.regions, c.open)
	}
	c.open = region{kind: plain, start: end}
}

// line takes one line, text[pos:end].
func (c *cutter) line(pos, end int) {
	trimmed := bytes.TrimSpace(c.text[pos:end])
	switch c.open.kind {
	case front:
		if string(trimmed) == "---" {
			c.push(end)
		}
	case fence:
		if bytes.HasPrefix(trimmed, c.marker) && len(bytes.Trim(trimmed, string(c.marker[:1]))) == 0 {
			c.push(end)
		}
	case comment:
		c.comments(pos, end)
	default:
		if pos == 0 && string(bytes.TrimPrefix(trimmed, []byte("\ufeff"))) == "---" {
			c.open.kind = front
			return
		}
		if c.marker = fenceMarker(trimmed); c.marker != nil {
			c.push(pos)
			c.open.kind, c.open.lang = fence, strings.ToLower(strings.Trim(string(trimmed), "`~ {}"))
			return
		}
		c.indent(pos, end, len(trimmed) == 0)
		c.comments(pos, end)
	}
}

// indent opens a block at an indented line behind an empty one and closes it
// at the next line that is not indented.
func (c *cutter) indent(pos, end int, blank bool) {
	line := c.text[pos:end]
	deep := bytes.HasPrefix(line, []byte("    ")) || bytes.HasPrefix(line, []byte("\t"))
	switch {
	case blank:
	case deep && c.blank && c.open.kind == plain:
		c.push(pos)
		c.open.kind = indented
	case !deep && c.open.kind == indented:
		c.push(pos)
	}
	c.blank = blank
}

// comments opens and closes HTML comments within a line.
func (c *cutter) comments(pos, end int) {
	for pos < end {
		mark, step := "<!--", 0
		if c.open.kind == comment {
			mark, step = "-->", 3
		}
		i := bytes.Index(c.text[pos:end], []byte(mark))
		if i < 0 {
			return
		}
		pos += i + step
		closing := c.open.kind == comment
		c.push(pos)
		if !closing {
			c.open.kind = comment
			pos += len(mark)
		}
	}
}

// fenceMarker is the run of backticks or tildes that opens a code block.
func fenceMarker(line []byte) []byte {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return nil
	}
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	if n < 3 || line[0] == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
		return nil
	}
	return line[:n]
}

// inSpan reports whether an offset lies in `code` on its line.
func inSpan(text []byte, off int) bool {
	start := bytes.LastIndexByte(text[:off], '\n') + 1
	return bytes.Count(text[start:off], []byte("`"))%2 == 1
}
