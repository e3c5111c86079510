package main

import (
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	real "github.com/openspace-dev/openspace/cmd/internal/corpus"
	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/skill"
)

// corpus is the text of all skills, in words.
type corpus struct {
	texts     []embed.Text
	words     []string
	sequences [][]int32 // one for each part of a skill: numbers of words
	skills    []int     // by word: skills that have it
}

// readCorpus reads skills and cuts them into words as the search does.
func readCorpus(file string) (*corpus, error) {
	all, err := real.Skills(file)
	c := &corpus{}
	a := lexical.NewAnalyzer()
	for _, r := range all {
		if sk, _ := skill.Parse([]byte(r.Text), path.Base(path.Dir(r.ID))); sk != nil {
			c.add(a, embed.Text{Name: sk.Name, Description: sk.Description, Body: string(sk.Body)})
		}
	}
	for i := range a.Len() {
		c.words = append(c.words, string(a.Term(uint32(i))))
	}
	return c, err
}

func (c *corpus) add(a *lexical.Analyzer, t embed.Text) {
	c.texts = append(c.texts, t)
	seen := map[uint32]bool{}
	for _, part := range [3]string{t.Name, t.Description, t.Body} {
		var seq []int32
		a.Each([]byte(part), func(pieces []lexical.Piece) {
			for _, p := range pieces {
				if p.Role != lexical.Word && p.Role != lexical.Part {
					continue
				}
				seq = append(seq, int32(p.Term))
				if !seen[p.Term] {
					seen[p.Term] = true
					for int(p.Term) >= len(c.skills) {
						c.skills = append(c.skills, 0)
					}
					c.skills[p.Term]++
				}
			}
		})
		c.sequences = append(c.sequences, seq)
	}
}

// wordlike reports whether w may be in the model: up to 24 bytes with a letter in it, and digits only in
// short words such as s3, utf8 or k8s. Ids, keys and numbers say nothing about a topic, and some should not
// be passed on.
func wordlike(w string) bool {
	letters, digits := 0, 0
	for _, r := range w {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	return len(w) <= 24 && letters > 0 && (digits == 0 || letters+digits <= 5)
}

// vocabulary maps each word that is to be learned to its number there, in byte order, and all others to −1.
func (c *corpus) vocabulary(minSkills int) (words []string, number []int32) {
	var chosen []int32
	for i, w := range c.words {
		if i < len(c.skills) && c.skills[i] >= minSkills && wordlike(w) {
			chosen = append(chosen, int32(i))
		}
	}
	slices.SortFunc(chosen, func(a, b int32) int { return strings.Compare(c.words[a], c.words[b]) })
	number = slices.Repeat([]int32{-1}, len(c.words))
	for i, w := range chosen {
		number[w] = int32(i)
		words = append(words, c.words[w])
	}
	return words, number
}

// idf is how much a word says about the skill that it stands in: ln(1 + (N − n + ½)/(n + ½)).
func (c *corpus) idf(n int) float64 {
	return math.Log1p((float64(len(c.texts)-n) + 0.5) / (float64(n) + 0.5))
}
