package patch

import (
	"path"
	"strings"
)

// parseFull reads whole files. Without a header the text is the skill file.
func parseFull(in source) ([]step, error) {
	if f, ok := begins(in.lines[0]); !ok || f != Full {
		return []step{{kind: Add, path: skillFile, line: in.first, whole: true, raw: true, content: strings.Join(in.lines, "\n")}}, nil
	}
	for i := len(in.lines) - 1; i >= 0; i-- {
		if marker(in.lines[i]) == endFiles {
			in = in.cut(0, i)
			break
		}
	}
	var steps []step
	for i := 0; i < len(in.lines); {
		m := fileHeader().FindStringSubmatch(marker(in.lines[i]))
		if m == nil { // only above the first header
			i++
			continue
		}
		s := step{kind: Add, path: headerPath(m[1]), line: in.number(i), whole: true}
		end, err := fileEnd(in, i+1, isMarkdown(s.path))
		if err != nil {
			err.File = s.path
			return nil, err
		}
		s.content = fileContent(in.lines[i+1:end], isMarkdown(s.path))
		if steps, i = append(steps, s), end; len(steps) > mostFiles {
			return nil, tooMany()
		}
	}
	if len(steps) == 0 {
		return nil, &Error{Kind: Syntax, Line: in.first, Message: "no file stands in the edit", Hint: "Begin each file with a line such as: *** File: SKILL.md"}
	}
	return lastOfEach(steps), nil
}

// fileEnd returns the line behind the content of a file that starts at a
// line: the next header that stands in no fence, or the end.
func fileEnd(in source, start int, markdown bool) (int, *Error) {
	closed := fenceEnds(in.lines, start, markdown)
	for i := start; i < len(in.lines); i++ {
		if end, ok := closed[i]; ok {
			i = end
			continue
		}
		if !strings.HasPrefix(in.lines[i], "***") {
			continue
		}
		line := marker(in.lines[i])
		if fileHeader().MatchString(line) {
			return i, nil
		}
		if patchHeader().MatchString(line) || line == beginPatch {
			return 0, &Error{Kind: Syntax, Line: in.number(i), Message: "a header of the patch format stands among whole files", Hint: "Use one format: *** File: headers only, or all of it between *** Begin Patch and *** End Patch."}
		}
	}
	return len(in.lines), nil
}

// mostFence is how many lines a fence has at most.
const mostFence = 20_000

// fenceEnds maps the opening lines of closed fences, from start on up to the
// first header outside of them, to their closing lines.
func fenceEnds(lines []string, start int, markdown bool) map[int]int {
	if !markdown {
		return nil
	}
	ends := map[int]int{}
	for i := start; i < len(lines); i++ {
		if fileHeader().MatchString(marker(lines[i])) {
			break
		}
		m := fenceOpen().FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		end, most := i+1, min(len(lines), i+mostFence)
		for end < most && !closesFence(lines[end], m[1]) {
			end++
		}
		if end == most {
			break // not closed: no fence, and none behind it either
		}
		ends[i], i = end, end
	}
	return ends
}

// fileContent returns the content of a file: without LFs at both ends, with
// one at the end unless it is empty, and without a fence around all of it.
func fileContent(lines []string, markdown bool) string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) > 1 && fenced(lines, markdown) {
		return fileContent(lines[1:len(lines)-1], true)
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

var markdownTag = lazy(`^(?i:markdown|md)[ \t]*$`)

// fenced tells whether a fence around a whole file is not part of it.
func fenced(lines []string, markdown bool) bool {
	m := fenceOpen().FindStringSubmatch(lines[0])
	if m == nil {
		return false
	}
	if !markdown {
		return encloses(lines)
	}
	return (markdownTag().MatchString(m[2]) || frontmatter(lines[1:])) && lastClosing(lines, 0, lines[0]) == len(lines)-1
}

func isMarkdown(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".md", ".markdown", ".mdx":
		return true
	}
	return false
}

// lastOfEach keeps the last of several contents for one path.
func lastOfEach(steps []step) []step {
	last := map[string]int{}
	for i, s := range steps {
		last[strings.TrimPrefix(s.path, "./")] = i
	}
	kept := steps[:0]
	for i, s := range steps {
		if last[strings.TrimPrefix(s.path, "./")] == i {
			kept = append(kept, s)
		}
	}
	return kept
}
