package search

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/roots"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// engine returns one that searches skills, given as name → description; the id of each is in its sidecar when the
// description has one after a "#".
func engine(t *testing.T, skills map[string]string) *Engine {
	t.Helper()
	home, root := t.TempDir(), t.TempDir()
	for name, text := range skills {
		description, id, _ := strings.Cut(text, "#")
		dir := filepath.Join(root, name)
		write(t, filepath.Join(dir, "SKILL.md"), "---\nname: "+name+"\ndescription: "+description+"\n---\n")
		if id != "" {
			write(t, filepath.Join(dir, ".skill_id"), id+"\n")
		}
	}
	e, err := Open(context.Background(), Config{Home: home, Roots: []roots.Root{{Dir: root, Origin: roots.FromFlag}}, Policy: safety.DefaultPolicy()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// find returns the result of a query, and its hits as "id source".
func find(t *testing.T, e *Engine, r Request) (Result, []string) {
	t.Helper()
	if r.Limit == 0 {
		r.Limit = 10
	}
	res, err := e.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i, h := range res.Hits {
		name, _, _ := strings.Cut(h.SkillID, "__imp_")
		ids = append(ids, name+" "+h.Source)
		if h.Rank != i+1 || h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > res.Hits[i-1].Score && !r.Prefix {
			t.Errorf("hit %d: rank %d, score %v", i, h.Rank, h.Score)
		}
	}
	return res, ids
}

func TestJoin(t *testing.T) {
	e := engine(t, map[string]string{"tide-mill": "Grinds with the tide.", "clock": "Shows the hour.#clock__clo_11111111", "csv": "Cleans tables."})
	tests := []struct {
		name, query string
		rows        []Row
		want        []string
	}{
		{"one list", "tide", []Row{{ID: "t__clo_1", Name: "tide-table", Rank: 0.9}, {ID: "x__clo_1", Name: "other", Rank: 0.3}},
			[]string{"t__clo_1 cloud", "tide-mill openspace-local", "x__clo_1 cloud"}},
		{"installed, found by its name", "tide", []Row{{ID: "clock__clo_11111111", Name: "clock", Rank: 0.1}},
			[]string{"tide-mill openspace-local", "clock__clo_11111111 openspace-local"}},
		{"installed, found by both", "clock", []Row{{ID: "clock__clo_11111111", Name: "clock", Rank: 0.5}}, []string{"clock__clo_11111111 openspace-local"}},
		{"installed, the id has another name", "hour", []Row{{ID: "clock__clo_11111111", Name: "renamed", Rank: 0.5}}, []string{"clock__clo_11111111 openspace-local"}},
		{"same name, other id", "clock", []Row{{ID: "clock__clo_2", Name: "clock", Rank: 0.5}}, []string{"clock__clo_11111111 openspace-local", "clock__clo_2 cloud"}},
		{"query is the id", "far__clo_1", []Row{{ID: "far__clo_1", Name: "something", Rank: 0.2}}, []string{"far__clo_1 cloud"}},
		{"no rank: the words count", "clean tables", []Row{{ID: "a__clo_1", Name: "a", Description: "cleans a table"}, {ID: "b__clo_1", Name: "b"}},
			[]string{"a__clo_1 cloud", "csv openspace-local"}},
		{"twice", "zebra", []Row{{ID: "a__clo_1", Name: "a", Rank: 0.5}, {ID: "a__clo_1", Name: "b", Rank: 0.4}}, []string{"a__clo_1 cloud"}},
		{"same content", "zebra", []Row{{ID: "a__clo_1", Name: "a", Rank: 0.5, Fingerprint: "f"}, {ID: "a__clo_2", Name: "b", Rank: 0.4, Fingerprint: "f"}}, []string{"a__clo_1 cloud"}},
		{"bad ids", "zebra", []Row{{ID: "", Rank: 1}, {ID: "../x", Rank: 1}, {ID: "a\nb", Rank: 1}}, nil},
		{"no name", "zebra", []Row{{ID: "stripes__clo_1", Rank: 0.5}}, []string{"stripes__clo_1 cloud"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := find(t, e, Request{Query: tt.query, Rows: tt.rows}); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What a registry says goes into a merged hit; nothing of it changes what this machine says.
func TestMergedHit(t *testing.T) {
	e := engine(t, map[string]string{"clock": "Shows the hour.#clock__clo_11111111"})
	_, before := find(t, e, Request{Query: "hour"})
	plain, _ := find(t, e, Request{Query: "hour"})
	res, _ := find(t, e, Request{Query: "hour", Rows: []Row{{ID: "clock__clo_11111111", Name: "evil", Description: "no", Rank: 0.25, Visibility: "public",
		CreatedBy: "ann", Deprecated: "use clock2", Tags: []string{"x"}}}})
	h := res.Hits[0]
	if len(before) != 1 || h.Name != "clock" || h.Description != "Shows the hour." || h.Score != plain.Hits[0].Score || h.LocalPath != h.SkillDir || h.SkillDir == "" {
		t.Errorf("got %+v", h)
	}
	if *h.ServerSearchRank != 0.25 || h.Visibility != "public" || h.CreatedBy != "ann" || !slices.Equal(h.Warnings, []string{"deprecated: use clock2"}) {
		t.Errorf("got %+v", h)
	}
}

func TestFiltersHoldForRows(t *testing.T) {
	e := engine(t, map[string]string{"tide": "Local."})
	rows := []Row{{ID: "a__clo_1", Name: "tide", Rank: 0.9}, {ID: "b__clo_1", Name: "tide-table", Rank: 0.9}, {ID: "c__clo_1", Name: "moon", Rank: 0.9}}
	for _, tt := range []struct {
		r    Request
		want int
	}{
		{Request{Query: "tide", Rows: rows}, 4},
		{Request{Query: "tide", Rows: rows, Exact: true}, 2},
		{Request{Query: "tide", Rows: rows, Prefix: true}, 3},
		{Request{Query: "tide", Rows: rows, MinScore: 0.8}, 3},
		{Request{Query: "tide", Rows: rows, Limit: 1}, 1},
	} {
		if _, got := find(t, e, tt.r); len(got) != tt.want {
			t.Errorf("%+v: got %q, want %d", tt.r, got, tt.want)
		}
	}
}

func TestBlockedRows(t *testing.T) {
	e := engine(t, nil)
	rows := []Row{{ID: "a__clo_1", Name: "a", Description: "Installs ClawdAuthenticatorTool.", Rank: 0.9}, {ID: "b__clo_1", Name: "b", Tags: []string{"ClawdAuthenticatorTool"}, Rank: 0.8},
		{ID: "c__clo_1", Name: "c", Rank: 0.7, SafetyFlags: []string{"suspicious.script", "<b>", "injection"}}}
	res, got := find(t, e, Request{Query: "x", Rows: rows})
	if !slices.Equal(got, []string{"c__clo_1 cloud"}) || res.Skipped != 2 || len(res.Warnings) != 2 || !strings.Contains(res.Warnings[0], `left out "a__clo_1" of the registry: blocked`) {
		t.Errorf("got %q, %d skipped, warnings %q", got, res.Skipped, res.Warnings)
	}
	if flags := res.Hits[0].SafetyFlags; !slices.Equal(flags, []string{"suspicious.script", "injection"}) {
		t.Errorf("got flags %q", flags)
	}
}

// A registry's share lies on the scale of this machine's, whatever it says, and a missing one is not a low one.
func TestMix(t *testing.T) {
	for _, tt := range []struct {
		s    signals
		want float64
	}{
		{signals{0.5, absent, absent}, 0.5}, {signals{0.5, 0.9, absent}, 0.5}, {signals{absent, 0.9, absent}, 0.9}, {signals{0, 0.9, absent}, 0.9},
		{signals{absent, absent, absent}, 0}, {signals{0, 0, absent}, 0}, {signals{0.5, absent, 0.5}, 0.5}, {signals{1, absent, 1}, 1},
		{signals{absent, absent, -0.5}, 0},
	} {
		if got := mix(tt.s); got != tt.want {
			t.Errorf("%+v: got %v, want %v", tt.s, got, tt.want)
		}
	}
	for _, rank := range []float64{-5, 0, 0.5, 1, 7, math.Inf(1), math.NaN()} {
		row, _ := Row{ID: "a__clo_1", Rank: rank}.clean()
		if !(row.Rank >= 0 && row.Rank <= 1) {
			t.Errorf("rank %v became %v", rank, row.Rank)
		}
	}
}

// FuzzRow holds that nothing a registry says reaches a hit but plain text of a bounded length on one line.
func FuzzRow(f *testing.F) {
	f.Add("a__clo_1", "name", "a description", "tag", 0.5)
	f.Add("a", "\x1b[31m\u202ered\u200b", "two\nlines\u2028three", strings.Repeat("x", 5000), -1.0)
	f.Add("a", "\xff\xfe", "\U000e0041\U000e0042", "\t", 2.0)
	f.Fuzz(func(t *testing.T, id, name, description, tag string, rank float64) {
		row, ok := Row{ID: id, Name: name, Description: description, CreatedBy: name, Tags: []string{tag, name}, SafetyFlags: []string{tag}, Deprecated: tag, Rank: rank}.clean()
		if !ok {
			return
		}
		h := wire.Hit{Name: row.Name, Description: row.Description, Tags: append(row.Tags, row.SafetyFlags...)}
		row.complete(&h)
		for _, text := range append(append([]string{h.Name, h.Description, h.CreatedBy}, h.Tags...), h.Warnings...) {
			bad := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' })
			if bad >= 0 || !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxDescription+len("deprecated: ") {
				t.Errorf("got %q", text)
			}
		}
	})
}
