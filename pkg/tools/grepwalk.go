package tools

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/openspace-dev/openspace/pkg/ignore"
)

const (
	maxSearched = 100_000 // files
	shownLine   = 240     // bytes of a line that are shown
)

// folder searches a folder and those in it. at is its path below where the search began.
func (g *grep) folder(name, at string, rules ignore.Set) {
	entries, _, err := readFolder(g.spot, name)
	if err != nil {
		g.skipped++
		return
	}
	rules = g.withRules(rules, name)
	for _, entry := range entries {
		if g.stop() {
			return
		}
		inner := path.Join(name, entry.Name())
		below := path.Join(at, entry.Name())
		switch {
		case rules.Ignored(inner, entry.IsDir()), entry.Type()&fs.ModeSymlink != 0:
		case entry.IsDir():
			if !slices.Contains(closedFolders, entry.Name()) {
				g.folder(inner, below, rules)
			}
		case entry.Type().IsRegular() && g.wanted(below) && g.readable(inner):
			g.file(inner, path.Join(g.spot.shown, below))
		}
	}
}

// wanted tells whether the glob takes a file: by its path, or by its name when the glob has no slash.
func (g *grep) wanted(below string) bool {
	glob := g.args.Glob
	if glob == "" {
		return true
	}
	if !strings.Contains(glob, "/") {
		below = path.Base(below)
	}
	ok, _ := doublestar.Match(strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/"), below)
	return ok
}

// file searches one file.
func (g *grep) file(name, shown string) {
	g.searched++
	if g.searched > maxSearched {
		g.full = true
		return
	}
	if g.re == nil {
		g.add(oneLine(shown)+"\n", 1)
		return
	}
	inner := spot{root: g.spot.root, name: name}
	data, _, err := inner.read(g.env.Limits.Read)
	if err != nil {
		g.skipped++
		return
	}
	text, c := decode(data)
	if c == noText {
		return
	}
	if found := g.find(text); len(found) > 0 {
		g.hits++
		g.show(shown, text, found)
	}
}

// find returns the numbers of the lines that match, from 1.
func (g *grep) find(text string) (found []int) {
	n := 0
	for text != "" {
		row, rest, _ := strings.Cut(text, "\n")
		text = rest
		n++
		if g.re.MatchString(strings.TrimSuffix(row, "\r")) {
			found = append(found, n)
		}
	}
	return found
}

// show prints the matches of a file with their numbers: a colon behind that of a match, a hyphen behind that of a line
// around one.
func (g *grep) show(shown, text string, found []int) {
	most := min(len(found), g.left)
	if g.several {
		most = min(most, max(maxPerFile, g.args.Limit/5))
	}
	byNumber := map[int]string{}
	for _, l := range numbered(text, g.env.Mask) {
		byNumber[l.number] = l.text
	}
	g.add(oneLine(shown)+"\n", 0)
	last, total := 0, len(lines(text))
	for i, n := range found[:most] {
		next := min(n+g.args.Context, total)
		if i+1 < most {
			next = min(next, found[i+1]-1)
		}
		from := max(n-g.args.Context, last+1)
		if last > 0 && from > last+1 && g.args.Context > 0 {
			g.add("--\n", 0)
		}
		last = g.lines(byNumber, from, n, next)
		if g.stop() {
			return
		}
	}
	if more := len(found) - most; more > 0 {
		g.add(fmt.Sprintf("[… %d more in this file]\n", more), 0)
		g.full = g.full || g.left == 0
	}
}

// lines prints some lines, of which one is the match, and returns the last.
func (g *grep) lines(byNumber map[int]string, from, match, to int) int {
	for n := from; n <= to; n++ {
		text, ok := byNumber[n]
		if !ok { // in the middle of a secret
			text = stars
		}
		if n == match {
			g.add(fmt.Sprintf("%d: %s\n", n, g.clip(text)), 1)
			continue
		}
		text, _ = cut(text, shownLine)
		g.add(fmt.Sprintf("%d- %s\n", n, text), 0)
	}
	return to
}

// clip returns the part of a long line around its match.
func (g *grep) clip(text string) string {
	if len(text) <= shownLine {
		return text
	}
	from := 0
	if at := g.re.FindStringIndex(text); at != nil {
		from = max(0, min(at[0]-shownLine/3, len(text)-shownLine))
	}
	head, _ := cut(text, from)
	piece, left := cut(text[len(head):], shownLine)
	if from > 0 {
		piece = "…" + piece
	}
	if left > 0 {
		piece += "…"
	}
	return piece
}

// add puts a piece into the result, with so many matches in it. What has no room ends the search.
func (g *grep) add(piece string, matches int) {
	if g.full || matches > g.left || g.b.Len()+len(piece) > g.env.Limits.Output {
		g.full = true
		return
	}
	g.b.WriteString(piece)
	g.matches += matches
	g.left -= matches
}
