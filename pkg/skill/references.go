package skill

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// references reports files that the body names and that are not in the folder:
// targets of Markdown links, and code spans below scripts/, references/ or
// assets/. Code blocks are passed over. Each file is reported once.
func references(dir string, body []byte, first int) []Diagnostic {
	r := refs{dir: dir, seen: make(map[string]bool)}
	fence := ""
	num := first
	for off := 0; off < len(body); num++ {
		l := nextLine(body, off)
		text := string(bytes.TrimSpace(l.text(body)))
		off = l.next
		if mark := codeFence(text); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence == "" {
			r.line(text, num)
		}
	}
	return r.out
}

// codeFence is the run of backticks or tildes that opens or closes a code block.
func codeFence(text string) string {
	for _, c := range []string{"`", "~"} {
		if run := text[:len(text)-len(strings.TrimLeft(text, c))]; len(run) >= 3 && !strings.Contains(text[len(run):], "`") {
			return run
		}
	}
	return ""
}

type refs struct {
	dir  string
	seen map[string]bool
	out  []Diagnostic
}

func (r *refs) line(text string, num int) {
	spans := strings.Split(text, "`")
	for i, span := range spans {
		if i%2 == 1 && i < len(spans)-1 {
			if hasAnyPrefix(span, "scripts/", "references/", "assets/") && !strings.ContainsAny(span, " *<>{}$|?[]…") {
				r.target(span, num)
			}
			continue
		}
		for {
			_, rest, ok := strings.Cut(span, "](")
			if !ok {
				break
			}
			target, after, ok := strings.Cut(rest, ")")
			if !ok {
				break
			}
			r.target(linkTarget(target), num)
			span = after
		}
	}
}

// linkTarget is the path of a link's target; "" when it is no relative path.
func linkTarget(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "<"); ok {
		s, _, _ = strings.Cut(rest, ">")
	} else {
		s, _, _ = strings.Cut(s, " ")
	}
	u, err := url.Parse(s)
	if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "~") || strings.ContainsAny(u.Path, "{}<>*$`") {
		return ""
	}
	return u.Path
}

func (r *refs) target(rel string, num int) {
	if rel == "" || r.seen[rel] {
		return
	}
	r.seen[rel] = true
	clean := path.Clean(rel)
	switch {
	case clean == ".." || strings.HasPrefix(clean, "../"):
		r.out = append(r.out, Diagnostic{Code: "reference-outside", Severity: Warning, Line: num,
			Message: fmt.Sprintf("%q lies outside the skill folder", rel), Hint: "copy the file into the folder"})
	case !exists(r.dir, clean):
		r.out = append(r.out, Diagnostic{Code: "reference-missing", Severity: Info, Line: num,
			Message: fmt.Sprintf("there is no file %q in the skill folder", rel), Hint: "add it or correct the path"})
	}
}
