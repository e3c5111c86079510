package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// lineage is the graph of all versions that are connected with one.
type lineage struct {
	Type       string `json:"type"`
	ID         string `json:"id,omitempty"`
	SkillID    string `json:"skill_id"`
	Nodes      []node `json:"nodes"` // oldest generation first
	Edges      []edge `json:"edges"`
	TotalNodes int    `json:"total_nodes"`
}

// node is a version in the graph.
type node struct {
	SkillID         string   `json:"skill_id"`
	SkillDir        string   `json:"skill_dir,omitempty"`
	Name            string   `json:"name"`
	Description     string   `json:"description"`
	Origin          string   `json:"origin"`
	Generation      int      `json:"generation"`
	CreatedAt       string   `json:"created_at"`
	Visibility      string   `json:"visibility"`
	IsActive        bool     `json:"is_active"`
	Tags            []string `json:"tags"`
	Score           float64  `json:"score"` // effective_rate in per cent
	EffectiveRate   float64  `json:"effective_rate"`
	TotalSelections int      `json:"total_selections"`
	ChangeSummary   string   `json:"change_summary,omitempty"`
	Restores        string   `json:"restores,omitempty"`

	parents []string // those that are in the graph
}

// edge leads from a parent to a child.
type edge struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// lineage collects the graph of a target.
func (l *lookup) lineage(t target) (lineage, error) {
	g := lineage{SkillID: t.id, Edges: []edge{}}
	if !t.known {
		return g, unrecorded(t)
	}
	family, err := l.st.Family(t.id)
	if err == nil && len(family) == 0 {
		err = unrecorded(t)
	}
	here := map[string]bool{}
	for _, rec := range family {
		here[rec.SkillID] = true
	}
	for _, rec := range family {
		counters, failed := l.st.Counters(rec.SkillID)
		if failed != nil {
			return g, failed
		}
		n := nodeOf(rec, counters)
		for _, p := range rec.Lineage.ParentSkillIDs {
			if here[p] {
				n.parents = append(n.parents, p)
				g.Edges = append(g.Edges, edge{p, rec.SkillID})
			}
		}
		g.Nodes = append(g.Nodes, n)
	}
	g.TotalNodes = len(g.Nodes)
	return g, err
}

func nodeOf(rec store.Record, c store.Counters) node {
	return node{
		SkillID: rec.SkillID, SkillDir: rec.Dir(), Name: rec.Name, Description: rec.Description, Origin: rec.Lineage.Origin,
		Generation: rec.Lineage.Generation, CreatedAt: stamp(rec.Lineage.CreatedAt), Visibility: rec.Visibility, IsActive: rec.IsActive,
		Tags: append([]string{}, rec.Tags...), Score: rounded(c.EffectiveRate()*100, 1), EffectiveRate: rounded(c.EffectiveRate(), 4),
		TotalSelections: c.Selections, ChangeSummary: rec.Lineage.ChangeSummary, Restores: rec.Lineage.Restores,
	}
}

// Typed returns a copy with its type set.
func (g lineage) Typed() wire.Record { g.Type = "lineage"; return g }

// Columns is nil: the record is text for people, never a row.
func (lineage) Columns() []string { return nil }

// Cells is nil too.
func (lineage) Cells() []string { return nil }

// drawing is a graph that is written as a tree: each version below its first parent, a version of the same folder straight
// below, others to the right.
type drawing struct {
	lineage
	children map[string][]node
	out      strings.Builder
}

// Text is the graph for people.
func (g lineage) Text() string {
	d := drawing{lineage: g, children: map[string][]node{}}
	var roots []node
	for _, n := range g.Nodes {
		if len(n.parents) == 0 {
			roots = append(roots, n)
		} else {
			d.children[n.parents[0]] = append(d.children[n.parents[0]], n)
		}
	}
	for _, n := range roots {
		d.draw(n, "", "")
	}
	return d.out.String()
}

// draw writes a version and all below it; the first line has another prefix than the others.
func (d *drawing) draw(n node, first, prefix string) {
	for {
		d.line(first, n)
		next, others := successor(d.children[n.SkillID])
		for i, child := range others {
			tip, below := "|-", "| "
			if next == nil && i == len(others)-1 {
				tip, below = "`-", "  "
			}
			d.draw(child, prefix+tip, prefix+below)
		}
		if next == nil {
			return
		}
		n, first = *next, prefix
	}
}

// successor takes the version that follows in the same folder out of the children of a version: the active one if there are
// several, else the last.
func successor(children []node) (next *node, rest []node) {
	at := -1
	for i, n := range children {
		if n.Origin == store.OriginFixed && (at < 0 || !children[at].IsActive) {
			at = i
		}
	}
	if at < 0 {
		return nil, children
	}
	return &children[at], slices.Concat(children[:at], children[at+1:])
}

// line writes one version.
func (d *drawing) line(prefix string, n node) {
	sign := "o"
	if n.IsActive {
		sign = "*"
	}
	parts := []string{prefix + sign, n.SkillID, n.Origin}
	if date, _, ok := strings.Cut(n.CreatedAt, "T"); ok {
		parts = append(parts, date)
	}
	if n.TotalSelections > 0 {
		parts = append(parts, fmt.Sprintf("%.1f%% of %d", n.Score, n.TotalSelections))
	}
	if len(n.parents) > 1 {
		parts = append(parts, "(also from "+strings.Join(n.parents[1:], ", ")+")")
	}
	if n.SkillID == d.SkillID {
		parts = append(parts, "<-")
	}
	parts = append(parts, strings.Fields(n.ChangeSummary)...)
	d.out.WriteString(strings.Join(parts, " ") + "\n")
}

// dot is the graph for Graphviz.
func (g lineage) dot() string {
	var b strings.Builder
	b.WriteString("digraph lineage {\n  node [shape=box];\n")
	for _, n := range g.Nodes {
		label := []string{n.Name, n.SkillID, fmt.Sprintf("%s, generation %d", n.Origin, n.Generation)}
		if n.TotalSelections > 0 {
			label = append(label, fmt.Sprintf("%.1f%% of %d", n.Score, n.TotalSelections))
		}
		style := ""
		if n.IsActive {
			style = ", style=bold"
		}
		for i := range label {
			label[i] = escapeDot(label[i])
		}
		fmt.Fprintf(&b, "  \"%s\" [label=\"%s\"%s];\n", escapeDot(n.SkillID), strings.Join(label, `\n`), style)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  \"%s\" -> \"%s\";\n", escapeDot(e.Source), escapeDot(e.Target))
	}
	b.WriteString("}\n")
	return b.String()
}

// escapeDot makes a text safe between double quotes.
func escapeDot(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}
