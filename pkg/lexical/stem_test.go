package lexical_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kljensen/snowball/english"

	"github.com/openspace-dev/openspace/pkg/lexical"
)

// What is skipped for speed gives what the stemmer would have given.
func TestStemShortcut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const letters, last = "abcdefghijklmnopqrstuvwxyz", "abfhjkopquvwxz"
	for range 20_000 {
		w := make([]byte, 3+r.IntN(15))
		for i := range w {
			w[i] = letters[r.IntN(len(letters))]
		}
		w[len(w)-1] = last[r.IntN(len(last))]
		if got, want := lexical.Stem(string(w)), english.Stem(string(w), true); got != want {
			t.Fatalf("stem of %q: got %q, want %q", w, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"running": "run", "analyses": "analysi", "analysis": "analysi", "k8s": "k8s", "node": "node", "js": "js", "навыки": "навык",
		"internationalization": "internation", "parsehttpresponsebodies": "parsehttpresponsebodies", "文件": "文件", "c++": "c++", "cafe": "cafe", "utf8": "utf8",
	} {
		if got := lexical.Stem(word); got != want {
			t.Errorf("stem of %q: got %q, want %q", word, got, want)
		}
	}
}
