package similar_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/similar"
	"github.com/openspace-dev/openspace/pkg/skill"
)

func text(description, body string) similar.Text {
	return similar.Of(&skill.Skill{Description: description, Body: []byte(body)})
}

// count returns different words from one number to another.
func count(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

func TestShare(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b similar.Text
		want float64
	}{
		"equal":                {text("x", count(0, 50)), text("x", count(0, 50)), 1},
		"case and punctuation": {text("", count(0, 50)), text("", strings.ToUpper(strings.ReplaceAll(count(0, 50), " ", ", "))), 1},
		"a part":               {text("", count(0, 20)), text("", count(0, 500)), 1},
		"half":                 {text("", count(0, 22)), text("", count(10, 32)), 0.5},
		"nothing":              {text("", count(0, 50)), text("", count(50, 99)), 0},
		"other order":          {text("", "a b c d e f g h i j k l"), text("", "l k j i h g f e d c b a"), 0},
		"too short":            {text("", count(0, 9)), text("", count(0, 9)), 0},
		"long enough":          {text("", count(0, 10)), text("", count(0, 10)), 1},
		"empty":                {nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := similar.Share(tc.a, tc.b); got != tc.want || similar.Share(tc.b, tc.a) != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// Pairs finds what comparing all with all finds.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts []similar.Text
	for range 60 {
		from := r.IntN(400)
		texts = append(texts, text("", count(from, from+5+r.IntN(60))))
	}
	var want []similar.Pair
	for a := range texts {
		for b := a + 1; b < len(texts); b++ {
			if share := similar.Share(texts[a], texts[b]); share >= 0.6 {
				want = append(want, similar.Pair{A: a, B: b, Share: share})
			}
		}
	}
	got := similar.Pairs(texts, 0.6)
	if len(want) < 10 || len(got) != len(want) {
		t.Fatalf("got %d pairs, want %d", len(got), len(want))
	}
	found := map[similar.Pair]bool{}
	for i, p := range got {
		found[p] = true
		if i > 0 && p.Share > got[i-1].Share {
			t.Errorf("pair %d is more alike than the one before", i)
		}
	}
	for _, p := range want {
		if !found[p] {
			t.Errorf("pair %v is missing", p)
		}
	}
	if got := similar.Pairs([]similar.Text{text("", count(0, 5)), text("", count(0, 5)), nil}, 0.6); !reflect.DeepEqual(got, []similar.Pair(nil)) {
		t.Errorf("got %v for short texts", got)
	}
}

func BenchmarkPairs(b *testing.B) {
	var texts []similar.Text
	for i := range 3000 {
		texts = append(texts, text("", count(i/2*1000, i/2*1000+800)+count(0, 30)))
	}
	for b.Loop() {
		if got := similar.Pairs(texts, 0.6); len(got) != 1500 {
			b.Fatalf("got %d pairs", len(got))
		}
	}
}
