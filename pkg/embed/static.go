package embed

import (
	"context"
	"math"
	"runtime"
	"sync"

	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/vec"
)

// algorithm is part of the name of a static model: it grows when the same file and text give another vector.
const algorithm = 1

// How a text becomes a vector, after Arora, Liang, Ma, "A simple but tough-to-beat baseline for sentence
// embeddings" (ICLR 2017), with the parts of a skill kept apart so that a long body does not drown its
// description: each part is the sum of √count·weight·row over its words, at length 1; the parts are added
// with the weights below; from the sum, at length 1, the common component of real skills is taken.
const (
	nameShare        = 0.5
	descriptionShare = 1
	bodyShare        = 0.5

	maxPart = 4 << 10 // bytes of a part that are read: more of a body costs time and finds nothing more
)

// Model implements [Embedder]. The name holds the checksum of the model file.
func (s *Static) Model() string { return s.name }

// Dim implements [Embedder].
func (s *Static) Dim() int { return s.dim }

// Embed implements [Embedder]. It uses all cores when there are many texts.
func (s *Static) Embed(ctx context.Context, texts []Text) ([][]float32, error) {
	out := make([][]float32, len(texts))
	parts := max(1, min(runtime.GOMAXPROCS(0), len(texts)/16))
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() {
			r := s.reader()
			for i := len(texts) * p / parts; i < len(texts)*(p+1)/parts && ctx.Err() == nil; i++ {
				out[i] = r.embed(texts[i])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// reader embeds one text after the other. It looks every distinct word up once.
type reader struct {
	*Static
	analyzer *lexical.Analyzer
	adder    vec.Adder
	known    []meaning // by term number; the zero meaning is not looked up yet
	counts   []uint16  // by term number; zero between parts
	touched  []uint32
	part     []float32
	sum      []float32
}

// meaning is what a word stands for in the model: itself, or words like it.
type meaning struct {
	looked bool
	n      uint8
	row    [maxLike]uint32
	factor [maxLike]float32
}

func (s *Static) reader() *reader {
	return &reader{Static: s, analyzer: lexical.NewAnalyzer(), adder: vec.NewAdder(), part: make([]float32, s.dim), sum: make([]float32, s.dim)}
}

// embed returns the vector of t, nil when no word is known.
func (r *reader) embed(t Text) []float32 {
	clear(r.sum)
	r.add(t.Name, nameShare)
	r.add(t.Description, descriptionShare)
	r.add(t.Body, bodyShare)
	if !normalize(r.sum) {
		return nil
	}
	out := make([]float32, r.dim)
	for i, x := range r.sum {
		out[i] = x - float32At(r.common, i)
	}
	if !normalize(out) {
		return nil
	}
	return out
}

// add adds one part of a text to the sum.
func (r *reader) add(text string, share float32) {
	if text == "" {
		return
	}
	r.count(text[:min(len(text), maxPart)])
	clear(r.part)
	for _, t := range r.touched {
		m := &r.known[t]
		tf := float32(math.Sqrt(float64(r.counts[t])))
		r.counts[t] = 0
		for i := range m.n {
			r.adder.Add(r.part, r.rows[int(m.row[i])*r.dim:], tf*m.factor[i])
		}
	}
	if !normalize(r.part) {
		return
	}
	for i, x := range r.part {
		r.sum[i] += float32(share * x)
	}
}

// count counts the words of text: those that stand by themselves and the parts of compounds.
func (r *reader) count(text string) {
	r.touched = r.touched[:0]
	r.analyzer.Each([]byte(text), func(pieces []lexical.Piece) {
		for _, p := range pieces {
			if p.Role != lexical.Word && p.Role != lexical.Part {
				continue
			}
			for int(p.Term) >= len(r.known) {
				r.known, r.counts = append(r.known, meaning{}), append(r.counts, 0)
			}
			if m := &r.known[p.Term]; !m.looked {
				*m = r.meaning(string(r.analyzer.Term(p.Term)))
			}
			c := &r.counts[p.Term]
			if *c == 0 {
				r.touched = append(r.touched, p.Term)
			}
			*c = min(*c, math.MaxUint16-1) + 1
		}
	})
}

// normalize brings v to length 1. It reports false for a zero.
func normalize(v []float32) bool { return vec.Unit(v, v) == nil }
