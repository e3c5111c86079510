package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/openspace-dev/openspace/pkg/index"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The sources of hits.
const (
	SourceLocal = "openspace-local"
	SourceCloud = "cloud"
)

// Row is a skill that the search of a registry found. All of it is text from somebody else: it is cleaned and
// judged before it becomes a hit.
type Row struct {
	ID, Name, Description string
	Visibility, CreatedBy string
	Origin, Deprecated    string
	Fingerprint           string // of the content; rows with the same are one skill
	Tags, SafetyFlags     []string
	Rank                  float64 // share of the query, 0 to 1, as the registry sees it; 0 when it does not say
}

// What is kept of the texts of a row, in characters.
const (
	maxName        = 200
	maxDescription = 2000
	maxTag         = 64
	maxTags        = 50
)

// clean returns the row as it may be shown; ok is false when it cannot be the record of a skill.
func (r Row) clean() (Row, bool) {
	if !skill.ValidID(r.ID) {
		return r, false
	}
	r.Name, r.Description = oneLine(r.Name, maxName), oneLine(r.Description, maxDescription)
	r.Visibility, r.CreatedBy = oneLine(r.Visibility, maxTag), oneLine(r.CreatedBy, maxName)
	r.Origin, r.Deprecated = oneLine(r.Origin, maxTag), oneLine(r.Deprecated, maxDescription)
	r.Tags = lines(r.Tags)
	r.SafetyFlags = slices.DeleteFunc(lines(r.SafetyFlags), func(f string) bool { return !isFlag(f) })
	r.Rank = min(max(r.Rank, 0), 1)
	if r.Rank != r.Rank {
		r.Rank = 0
	}
	if r.Name == "" {
		r.Name, _, _ = strings.Cut(r.ID, "__")
	}
	return r, true
}

// isFlag tells whether text looks like a flag of a safety scan: letters, underscores and dots.
func isFlag(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_.") == ""
}

func lines(texts []string) (out []string) {
	for _, t := range texts[:min(len(texts), maxTags)] {
		if t = oneLine(t, maxTag); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// oneLine makes text harmless: white space becomes one blank, what cannot be seen or turns the direction of
// writing is taken out, and it is cut at limit characters.
func oneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == unicode.ReplacementChar, unicode.Is(unexpected, r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return text
}

// unexpected are signs that no name needs: directional controls, invisible operators, byte-order marks, tags.
var unexpected = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x061c, Hi: 0x061c, Stride: 1}, {Lo: 0x200b, Hi: 0x200b, Stride: 1}, {Lo: 0x200e, Hi: 0x200f, Stride: 1},
		{Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2060, Hi: 0x206f, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, {Lo: 0xfff9, Hi: 0xfffb, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}},
}

// join adds the rows of a registry to the candidates of this machine. A row whose skill lies here becomes part of
// its candidate.
func (e *Engine) join(out []candidate, r Request, q question) ([]candidate, int, error) {
	at := make(map[index.Ref]int, len(out))
	for i, c := range out {
		at[c.Ref] = i
	}
	skipped := 0
	seen := map[string]bool{}
	for _, raw := range r.Rows {
		row, ok := raw.clean()
		if !ok || seen[row.ID] {
			skipped++
			continue
		}
		seen[row.ID] = true
		ref, here, err := e.installed(row)
		if err != nil {
			return nil, 0, err
		}
		c := rowCandidate(row, q.Query)
		if here {
			if i, known := at[ref]; known {
				c = out[i]
			} else {
				one, err := e.at([]index.Ref{ref}, q)
				if err != nil {
					return nil, 0, err
				}
				c = one[0]
			}
			c.row, c.server = &row, row.Rank
			c.score = score(c.fit, mix(c.signals))
			if i, known := at[ref]; known {
				out[i] = c
				continue
			}
		}
		if strings.TrimSpace(r.Query) == row.ID {
			c.fit = exactFit
			c.score = score(c.fit, mix(c.signals))
		}
		if r.Exact && c.fit != exactFit || r.Prefix && c.fit == noFit {
			continue
		}
		out = append(out, c)
	}
	return out, skipped, nil
}

// rowCandidate returns the candidate of a skill that is only in the registry.
func rowCandidate(row Row, q lexical.Query) candidate {
	key := lexical.Key(row.Name)
	c := candidate{
		Ref: index.Ref{Index: nowhere}, doc: index.Doc{Key: key, Name: row.Name, Rel: row.ID}, row: &row, fit: fitOf(key, q.Key),
		signals: signals{lexical: absent, server: row.Rank, vector: absent},
	}
	if row.Rank == 0 {
		c.server, c.lexical = absent, covered(q, row)
	}
	c.score = score(c.fit, mix(c.signals))
	return c
}

// nowhere is the index of a candidate that has none; it sorts behind all others.
const nowhere = 1 << 30

// covered returns the share of the query's words that the texts of a row have. It is for registries that do
// not say how well a skill fits.
func covered(q lexical.Query, row Row) float64 {
	has := map[string]bool{}
	for _, g := range lexical.ParseQuery(row.Name + "\n" + row.Description + "\n" + strings.Join(row.Tags, "\n")).Groups {
		has[g.Stem] = true
	}
	sum, found := 0.0, 0.0
	for _, g := range q.Groups {
		sum += g.Weight
		if has[g.Stem] {
			found += g.Weight
		}
	}
	if sum == 0 {
		return 0
	}
	return found / sum
}

// installed returns where the skill of a row lies on this machine: the folder with the same record id.
func (e *Engine) installed(row Row) (ref index.Ref, ok bool, err error) {
	refs, err := e.withID(row.ID)
	if err == nil && len(refs) == 0 {
		refs, err = e.identified(lexical.Key(row.Name), row.ID)
	}
	if err != nil || len(refs) == 0 {
		return ref, false, err
	}
	return refs[0], true, nil
}

// remoteHit returns the hit of a skill that is only in the registry; keep is false for a copy of one that was
// shown and for one whose texts the safety policy blocks.
func (f *filter) remoteHit(c candidate) (h wire.Hit, keep bool) {
	row := c.row
	if row.Fingerprint != "" && f.contents[row.Fingerprint] {
		f.skipped++
		return h, false
	}
	text := row.Name + "\n" + row.Description + "\n" + strings.Join(row.Tags, " ")
	report := safety.Scan([]safety.Text{{Path: "SKILL.md", Data: []byte(text)}}, f.engine.config.Policy)
	if report.Verdict == safety.Block {
		f.skipped++
		f.warnings = append(f.warnings, fmt.Sprintf("left out %q of the registry: blocked by the safety policy (%s)", row.ID, strings.Join(report.Flags, ", ")))
		return h, false
	}
	f.contents[row.Fingerprint] = true
	h = wire.Hit{SkillID: row.ID, Name: row.Name, Description: row.Description, Source: SourceCloud, Score: round4(c.score), Origin: row.Origin,
		Tags: row.Tags, SafetyFlags: union(report.Flags, row.SafetyFlags)}
	row.complete(&h)
	return h, true
}

// complete adds what only the registry knows to a hit.
func (r *Row) complete(h *wire.Hit) {
	if r.Rank > 0 {
		rank := round4(r.Rank)
		h.ServerSearchRank = &rank
	}
	h.Visibility, h.CreatedBy = r.Visibility, r.CreatedBy
	if r.Deprecated != "" {
		h.Warnings = append(h.Warnings, "deprecated: "+r.Deprecated)
	}
}

// union returns the texts of both lists, each once.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
