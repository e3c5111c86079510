package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/openspace-dev/openspace/pkg/wire"
)

const (
	maxLine      = 2000 // bytes of a line that are shown
	defaultLines = 2000
)

type readArgs struct {
	Path    string `json:"path"`
	Start   int    `json:"start"`
	Lines   int    `json:"lines"`
	Numbers bool   `json:"numbers"`
}

// readFile shows a text file, or a part of it, and tells what a file is that is not text.
func readFile(e *Env) Tool {
	return &builtin[readArgs]{env: e, spec: Spec{
		Name:        "read_file",
		Aliases:     []string{"read", "view_file", "cat"},
		Description: "Read a file, or list a folder. What is long comes in parts; its last line says how to go on.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string"},` +
			`"start":{"type":"integer"},` +
			`"lines":{"type":"integer","minimum":1},` +
			`"numbers":{"type":"boolean","description":"put the line number before each line"}},` +
			`"required":["path"],"additionalProperties":false}`),
		Backend: "shell", ReadOnly: true, Quiet: []string{"numbers"},
	}, synonyms: map[string]string{"file_path": "path", "file": "path", "filename": "path", "offset": "start", "limit": "lines"},
		run: e.readFile}
}

func (e *Env) readFile(ctx context.Context, args readArgs) Result {
	s, problem := e.locate(args.Path, false)
	if problem != nil {
		return *problem
	}
	defer s.Close()
	data, info, err := s.read(e.Limits.Read)
	if errors.Is(err, errFolder) {
		return e.listDir(ctx, listArgs{Path: args.Path})
	}
	if err != nil {
		return e.unreadable(args.Path, s, info, err)
	}
	text, c := decode(data)
	if c == noText {
		return e.media(s, data)
	}
	return e.excerpt(s, numbered(text, e.Mask), c, args)
}

// unreadable says why a file was not read, and what to do instead.
func (e *Env) unreadable(given string, s *spot, info fs.FileInfo, err error) Result {
	switch {
	case errors.Is(err, errFolder):
		return failed(wire.Invalid, "%q is a folder, not a file", given)
	case errors.Is(err, errTooLarge) && info != nil:
		return failed(wire.TooLong, "%q has %s, more than the %s that are read at once: use search_files, or head, tail or sed in run_shell",
			given, size(info.Size()), size(e.Limits.Read))
	}
	return *e.pathProblem(given, s.path, err)
}

// excerpt shows the lines that were asked for, as far as there is room.
func (e *Env) excerpt(s *spot, all []line, c coding, args readArgs) Result {
	total := 0
	if len(all) > 0 {
		total = all[len(all)-1].number
	}
	first := firstLine(args.Start, total)
	if total > 0 && first > total {
		return failed(wire.Invalid, "%s has %s; start %d is behind its end", s.shown, count(total, "line"), args.Start)
	}
	most := args.Lines
	if most <= 0 {
		most = defaultLines
	}
	var b strings.Builder
	next := 0 // the first line that is not shown; 0: all are
	for _, l := range all {
		if l.number < first {
			continue
		}
		text := e.lineText(l, args.Numbers)
		if l.number >= first+most || b.Len() > 0 && b.Len()+len(text) > e.Limits.Output {
			next = l.number
			break
		}
		b.WriteString(text)
	}
	r := Result{Content: b.String() + notes(s, c, first, next, total)}
	if next > 0 {
		r.FullPath = s.path
	}
	return r
}

// firstLine returns the number of the line to begin with.
func firstLine(start, total int) int {
	if start < 0 {
		start += total + 1
	}
	return max(1, start)
}

// lineText is one line of the result, shortened, with its end.
func (e *Env) lineText(l line, number bool) string {
	text, left := cut(l.text, min(maxLine, e.Limits.Output))
	if left > 0 {
		text += fmt.Sprintf("[… %d more characters]", left)
	}
	if number {
		return fmt.Sprintf("%d\t%s\n", l.number, text)
	}
	return text + "\n"
}

// notes says what a reader of an excerpt must know.
func notes(s *spot, c coding, first, next, total int) string {
	var parts []string
	switch {
	case total == 0:
		parts = append(parts, s.shown+" is empty")
	case next > 0:
		parts = append(parts, fmt.Sprintf("lines %d to %d of %d; go on with start %d", first, next-1, total, next))
	case first > 1:
		parts = append(parts, fmt.Sprintf("lines %d to %d, the end", first, total))
	}
	if c != plainUTF8 && total > 0 {
		parts = append(parts, "the file is "+string(c))
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

// media tells what a file is that is not text, and shows a picture to a model that sees.
func (e *Env) media(s *spot, data []byte) Result {
	kind := mediaType(data)
	about := fmt.Sprintf("%s is %s, %s", s.shown, kind, size(int64(len(data))))
	switch {
	case strings.HasPrefix(kind, "image/"):
		return e.picture(about, kind, data)
	case kind == "application/pdf":
		return Result{Content: about + ", not text. In run_shell, pdftotext or a library of Python gives its text."}
	case kind == "application/zip":
		return Result{Content: about + ", not text (also office documents are). In run_shell, unzip -l lists what is in it."}
	}
	return Result{Content: fmt.Sprintf("%s, not text. It begins with the bytes % x. Use a program for it in run_shell.", about, data[:min(16, len(data))])}
}
