package safety_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/safety"
)

// naive is the plain way to find literals, for texts without double blanks.
func naive(literals []string, text string) map[int][]string {
	found := map[int][]string{}
	folded := strings.ToLower(strings.NewReplacer("\n", " ", "\t", " ").Replace(text))
	for i := range folded {
		for _, l := range literals {
			if strings.HasPrefix(folded[i:], l) {
				found[i] = append(found[i], l)
			}
		}
	}
	return found
}

// TestFindLikeNaive compares the finder with a plain search on random texts of
// few letters, where literals overlap and stand at both ends.
func TestFindLikeNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "b", "A", ".", "b c", "\na", "|", "é"}
	for range 2000 {
		var text strings.Builder
		for range random.IntN(20) {
			text.WriteString(letters[random.IntN(len(letters))])
		}
		var literals []string
		for range 1 + random.IntN(8) {
			var l strings.Builder
			for l.Len() < 2+random.IntN(5) {
				l.WriteString(strings.ToLower(letters[random.IntN(5)]))
			}
			if !slices.Contains(literals, l.String()) {
				literals = append(literals, l.String())
			}
		}
		got, want := safety.Find(literals, []byte(text.String())), naive(literals, text.String())
		for _, m := range []map[int][]string{got, want} {
			for _, l := range m {
				slices.Sort(l)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in %q: got %v, want %v", literals, text.String(), got, want)
		}
	}
}

func TestFindBlanks(t *testing.T) {
	for _, text := range []string{"not tell", "NOT\tTELL", "not \r\n tell", "xnot    tell"} {
		if got := safety.Find([]string{"not tell"}, []byte(text)); len(got) != 1 {
			t.Errorf("%q: got %v, want it found once", text, got)
		}
	}
	if got := safety.Find([]string{"not tell"}, []byte("nottell not-tell not tel")); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}
