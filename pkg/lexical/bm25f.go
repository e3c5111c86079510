package lexical

import "math"

// Field is a part of a skill that is weighed by itself.
type Field uint8

// The fields of a skill, in the order of their bits in a [Posting].
const (
	Name Field = iota
	Description
	Tags
	Body
	NumFields
)

// Fields names the fields in their order.
var Fields = [NumFields]string{"name", "description", "tags", "body"}

// Weights are the constants of BM25F (Robertson, Zaragoza, Taylor, "Simple BM25 extension to multiple
// weighted fields", CIKM 2004).
//
// The reference lengths stand where the formula has the average length of a field in the collection. They are
// constants on purpose: the weight of a term in a skill then depends on that skill alone, so that a posting
// can be computed once, an increment never changes an old posting, and a skill scores the same in a store of
// one and of a hundred thousand but for how rare its words are. They are near the averages of real skills.
type Weights struct {
	Weight [NumFields]float64 // what one occurrence counts
	B      [NumFields]float64 // how far a longer field discounts it, 0 to 1
	Length [NumFields]float64 // reference length in words
	K1     float64            // occurrences at which a term has half of its effect
	Stem   float64            // what another form of the same stem counts, against the exact form's 1
}

// Default are the weights that the index is built with; docs/search-quality.md tells how they were found.
var Default = Weights{
	Weight: [NumFields]float64{5, 3, 2, 1},
	B:      [NumFields]float64{0.3, 0.4, 0.3, 0.8},
	Length: [NumFields]float64{3, 35, 6, 400},
	K1:     4,
	Stem:   0.8,
}

// Counts are the occurrences of one term in the fields of one skill.
type Counts [NumFields]uint16

// Impact returns the weighted, length-normalized frequency of a term: Σ over fields of weight·tf / (1 − b +
// b·length/reference).
func (w *Weights) Impact(tf Counts, norms *[NumFields]float64) float64 {
	s := 0.0
	for f, n := range tf {
		if n > 0 {
			s += float64(n) * norms[f]
		}
	}
	return s
}

// Norms returns what one occurrence in each field counts in a skill whose fields have the given lengths in words.
func (w *Weights) Norms(lengths [NumFields]int) (norms [NumFields]float64) {
	for f := range norms {
		norms[f] = w.Weight[f] / (1 - w.B[f] + w.B[f]*float64(lengths[f])/w.Length[f])
	}
	return norms
}

// IDF returns the inverse document frequency ln(1 + (n − df + ½)/(df + ½)), which is above zero also for a
// term that every document has.
func IDF(n, df int) float64 {
	return math.Log1p((float64(n-df) + 0.5) / (float64(df) + 0.5))
}

// Posting is the effect of a term on a skill in 16 bits: the impact in 12 bits on a logarithmic scale, and
// the fields that hold the term in 4.
type Posting uint16

const (
	impactBits = 12
	impactMin  = 1.0 / 64
	impactStep = 0.0035 // of the natural logarithm: 0.35 %, and 64⁻¹·e^(0.0035·4095) is above 26,000
)

// NewPosting packs an impact and the fields of tf.
func NewPosting(impact float64, tf Counts) Posting {
	q := math.Round(math.Log(impact/impactMin) / impactStep)
	p := Posting(min(max(q, 0), 1<<impactBits-1))
	for f, n := range tf {
		if n > 0 {
			p |= 1 << (impactBits + f)
		}
	}
	return p
}

// Impact returns the impact that p holds, within 0.2 % of what was packed.
func (p Posting) Impact() float32 { return impacts[p&(1<<impactBits-1)] }

// Has reports whether the term stands in field f.
func (p Posting) Has(f Field) bool { return p>>(impactBits+f)&1 == 1 }

var impacts = func() (t [1 << impactBits]float32) {
	for q := range t {
		t[q] = float32(impactMin * math.Exp(impactStep*float64(q)))
	}
	return t
}()
