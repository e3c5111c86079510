package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// generate writes n skills below root: the real ones over and over, from the second time on with a tenth of
// their words exchanged for words of other skills, so that no two are the same and words are as rare as in
// real stores. It returns the number of bytes written.
func generate(texts []string, n int, root string) (bytes int, err error) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		text := texts[i%len(texts)]
		if i >= len(texts) {
			text = vary(r, text, texts[r.IntN(len(texts))])
		}
		dir := filepath.Join(root, fmt.Sprintf("skill-%06d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
			return 0, err
		}
		bytes += len(text)
	}
	time.Sleep(100 * time.Millisecond) // let the stamps be trusted
	return bytes, nil
}

// vary exchanges a tenth of the words of text for words of other.
func vary(r *rand.Rand, text, other string) string {
	words := strings.SplitAfter(text, " ")
	from := strings.SplitAfter(other, " ")
	for i := range words {
		if i > 20 && r.IntN(10) == 0 { // the beginning holds the frontmatter
			words[i] = from[r.IntN(len(from))]
		}
	}
	return strings.Join(words, "")
}
