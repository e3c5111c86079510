package lexical

import (
	"fmt"
	"testing"
)

// A vocab numbers like a map, through growth and with strings around the size that is kept in a slot.
func TestVocab(t *testing.T) {
	v, want := newVocab(), map[string]uint32{}
	for i := range 20_000 {
		s := fmt.Sprintf("%.*s%d", i%12, "abcdefghijkl", i*7919%5000)
		n, known := want[s]
		got, isNew := v.number([]byte(s))
		if isNew == known || known && got != n {
			t.Fatalf("%q: got number %d, new %v; want %d, known %v", s, got, isNew, n, known)
		}
		want[s] = got
	}
	if v.len() != len(want) {
		t.Errorf("got %d strings, want %d", v.len(), len(want))
	}
	for s, n := range want {
		if string(v.at(n)) != s {
			t.Fatalf("number %d is %q, want %q", n, v.at(n), s)
		}
	}
	if i, isNew := v.number(nil); !isNew || len(v.at(i)) != 0 {
		t.Errorf("the empty string got number %d, new %v, text %q", i, isNew, v.at(i))
	}
}
