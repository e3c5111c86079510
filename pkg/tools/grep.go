package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/openspace-dev/openspace/pkg/ignore"
	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const (
	defaultMatches = 100
	maxMatches     = 1000
	maxPerFile     = 20 // matches of one file that are shown when several are searched
	maxNames       = 500
)

type searchArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	Literal    bool   `json:"literal"`
	IgnoreCase bool   `json:"ignore_case"`
	Context    int    `json:"context"`
	Limit      int    `json:"limit"`
}

// searchFiles finds lines in files, or files by their names.
func searchFiles(e *Env) Tool {
	return &builtin[searchArgs]{env: e, spec: Spec{
		Name:        "search_files",
		Aliases:     []string{"grep", "search", "glob", "find_files", "grep_search"},
		Description: "Find lines by a regular expression (RE2) or, without pattern, files by a glob such as src/**/*.ts, without what .gitignore names.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string"},"path":{"type":"string"},"glob":{"type":"string"},` +
			`"literal":{"type":"boolean","description":"pattern is plain text"},` +
			`"ignore_case":{"type":"boolean"},` +
			`"context":{"type":"integer","minimum":0,"maximum":10},` +
			`"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"matches to show (100)"}},` +
			`"additionalProperties":false}`),
		Backend: "shell", ReadOnly: true, Quiet: []string{"context", "literal", "ignore_case", "limit"},
	}, synonyms: map[string]string{"query": "pattern", "regex": "pattern", "dir": "path", "directory": "path", "include": "glob"},
		run: e.searchFiles}
}

func (e *Env) searchFiles(ctx context.Context, args searchArgs) Result {
	g, problem := e.newSearch(ctx, args)
	if problem != nil {
		return *problem
	}
	s, problem := e.locate(orDot(args.Path), false)
	if problem != nil {
		return *problem
	}
	defer s.Close()
	g.spot = s
	_, g.inside = e.rootOf(s.path)
	info, err := s.root.Stat(s.name)
	switch {
	case err != nil:
		return *e.pathProblem(args.Path, s.path, err)
	case info.IsDir():
		g.several = true
		g.folder(s.name, "", g.ignored())
	default:
		g.file(s.name, s.shown)
	}
	if ctx.Err() != nil {
		return interrupted("the search", ctx.Err())
	}
	return Result{Content: g.text()}
}

func orDot(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// newSearch checks the arguments.
func (e *Env) newSearch(ctx context.Context, args searchArgs) (*grep, *Result) {
	g := &grep{env: e, ctx: ctx, args: args, left: min(maxMatches, args.Limit)}
	if args.Glob != "" && !doublestar.ValidatePattern(args.Glob) {
		return nil, ptr(failed(wire.Invalid, "glob %q cannot be read: it may have *, ?, **, [a-z] and {a,b}", args.Glob))
	}
	if args.Pattern == "" {
		if args.Glob == "" {
			return nil, ptr(failed(wire.Invalid, "give pattern, to search in files, or glob, to find files by their names"))
		}
		if g.left <= 0 {
			g.left = maxNames
		}
		return g, nil
	}
	if g.left <= 0 {
		g.left = defaultMatches
	}
	text := args.Pattern
	if args.Literal {
		text = regexp.QuoteMeta(text)
	}
	if args.IgnoreCase {
		text = "(?i)" + text
	}
	var err error
	if g.re, err = regexp.Compile(text); err != nil {
		return nil, ptr(failed(wire.Invalid, "pattern cannot be read (%v): it is RE2, without look-around and back-references; for plain text set literal",
			strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return g, nil
}

// grep is a search that is going on.
type grep struct {
	env     *Env
	ctx     context.Context
	args    searchArgs
	re      *regexp.Regexp // nil: names only
	spot    *spot
	inside  bool // a folder of ours: everything in it may be read
	several bool // files are searched

	b        strings.Builder
	left     int // matches that may still be shown
	full     bool
	matches  int
	hits     int // files with matches
	searched int
	skipped  int // too large or not readable
}

// ignored returns the ignore rules that hold where the search begins: those of the folders above it, unless they leave
// the place itself out, since then it was named on purpose.
func (g *grep) ignored() ignore.Set {
	set := ignore.Set{}
	at := ""
	for _, part := range strings.Split(g.spot.name, "/") {
		if part == "." {
			break
		}
		set = g.withRules(set, orDot(at))
		at = strings.TrimPrefix(at+"/"+part, "/")
		if set.Ignored(at, true) {
			return ignore.Set{}
		}
	}
	return set
}

// withRules adds what the .gitignore of a folder says.
func (g *grep) withRules(set ignore.Set, folder string) ignore.Set {
	inner := spot{root: g.spot.root, name: strings.TrimPrefix(folder+"/.gitignore", "./")}
	data, _, err := inner.read(1 << 20)
	if err != nil {
		return set
	}
	return set.With(folder, string(data))
}

// stop tells whether the search is at an end.
func (g *grep) stop() bool { return g.full || g.ctx.Err() != nil }

// readable asks the policy about a file that is in no folder of ours.
func (g *grep) readable(name string) bool {
	return g.inside || g.env.Policy.Read(g.spot.absolute(name)).Decision == policy.Allow
}

// text is what the model reads.
func (g *grep) text() string {
	var notes []string
	what, where := "match", fmt.Sprintf(" in %s", count(g.hits, "file"))
	if g.re == nil {
		what, where = "file", ""
	}
	switch {
	case g.matches == 0:
		notes = append(notes, fmt.Sprintf("nothing found; %s looked at", count(g.searched, "file")))
	case g.full:
		notes = append(notes, fmt.Sprintf("stopped after %s%s: narrow the search to see the rest", plural(g.matches, what), where))
	default:
		notes = append(notes, plural(g.matches, what)+where)
	}
	if g.skipped > 0 {
		notes = append(notes, fmt.Sprintf("%s not searched: larger than %s, or not readable", count(g.skipped, "file"), size(g.env.Limits.Read)))
	}
	return g.b.String() + "[" + strings.Join(notes, "; ") + "]"
}

func plural(n int, what string) string {
	if what == "match" && n != 1 {
		return fmt.Sprintf("%d matches", n)
	}
	return count(n, what)
}
