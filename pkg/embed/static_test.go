package embed_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/embed/embedtest"
)

func builtin(t testing.TB) *embed.Static {
	t.Helper()
	s, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// small returns a model in which each word is a direction of its own.
func small(t testing.TB, words ...string) *embed.Static {
	t.Helper()
	var list []embed.Word
	for i, w := range words {
		v := make([]float32, len(words))
		v[i] = 3
		list = append(list, embed.Word{Text: w, Weight: 2, Vector: v})
	}
	data, err := embed.EncodeStatic(list, make([]float32, len(words)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := embed.OpenStatic(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		ab += float64(x) * float64(b[i])
		aa += float64(x) * float64(x)
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func one(t testing.TB, e embed.Embedder, text embed.Text) []float32 {
	t.Helper()
	v, err := e.Embed(context.Background(), []embed.Text{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func TestBuiltinConforms(t *testing.T) { embedtest.Run(t, builtin(t)) }

func TestBuiltinFile(t *testing.T) {
	s := builtin(t)
	if err := s.VerifyBuiltin(); err != nil {
		t.Fatal(err)
	}
	if s.Len() != 60000 || s.Dim() != 128 || !strings.HasPrefix(s.Model(), "builtin-1-128-") {
		t.Errorf("got %d words, width %d, model %q", s.Len(), s.Dim(), s.Model())
	}
	if size := embed.BuiltinSize(); size > 10<<20 {
		t.Errorf("the model has %d bytes, more than 10 MB", size)
	}
	// Ids, keys, numbers and addresses of the texts that it was trained on have no place in it.
	s.Words(func(w string) {
		if len(w) > 24 || strings.ContainsAny(w, "@/:") || len(w) > 10 && strings.ContainsAny(w, "0123456789") {
			t.Errorf("the model has the word %q", w)
		}
	})
}

// Each query is nearer to the text that answers it than to any other, without a common word.
func TestBuiltinMeaning(t *testing.T) {
	s := builtin(t)
	texts := []embed.Text{
		{Name: "pdf-forms", Description: "Fill out PDF documents"},
		{Name: "recipes", Description: "Cook dinner with what is in the fridge"},
		{Name: "kubernetes-deploy", Description: "Deploy containers to a cluster"},
		{Name: "invoicing", Description: "Create bills for customers and track payments"},
	}
	docs, err := s.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for want, q := range []string{"docx file converting", "restaurant food", "docker swarm", "accounting receipts"} {
		v := one(t, s, embed.Query(q))
		best := 0
		for i := range docs {
			if cosine(v, docs[i]) > cosine(v, docs[best]) {
				best = i
			}
		}
		if best != want {
			t.Errorf("%q: nearest is %q, want %q", q, texts[best].Name, texts[want].Name)
		}
	}
}

func TestUnknownWords(t *testing.T) {
	s := small(t, "browser", "window", "summary", "summarize", "zebra")
	for _, tt := range []struct {
		word string
		like []string
	}{
		{"browser", []string{"browser"}},
		{"browserwindow", []string{"browser", "window"}},
		{"summarizes", []string{"summarize"}},
		{"summaries", []string{"summarize", "summary"}},
		{"zeb", nil},
		{"qqqqqqqqqq", nil},
		{"浏览器", nil},
	} {
		v := one(t, s, embed.Query(tt.word))
		if (v == nil) != (tt.like == nil) {
			t.Errorf("%q: got %v, want words %q", tt.word, v, tt.like)
		}
		for i, w := range []string{"browser", "summarize", "summary", "window", "zebra"} {
			u := one(t, s, embed.Query(w))
			if v != nil && (cosine(u, v) > 0.1) != slices.Contains(tt.like, w) {
				t.Errorf("%q: word %d %q has cosine %v", tt.word, i, w, cosine(u, v))
			}
		}
	}
}

// The parts of a skill are weighed, not their lengths.
func TestParts(t *testing.T) {
	s := small(t, "alpha", "beta", "gamma")
	v := one(t, s, embed.Text{Name: "alpha", Description: "beta", Body: strings.Repeat("gamma ", 1000)})
	for i, w := range []string{"alpha", "beta", "gamma"} {
		want := []float64{0.5, 1, 0.5}[i] / math.Sqrt(1.5)
		if got := cosine(v, one(t, s, embed.Query(w))); math.Abs(got-want) > 0.001 {
			t.Errorf("%s: got %v, want %v", w, got, want)
		}
	}
}

func TestEncodeStaticRefuses(t *testing.T) {
	row := []float32{1, 2}
	for name, words := range map[string][]embed.Word{
		"empty": {{"", 1, row}}, "twice": {{"a", 1, row}, {"a", 1, row}}, "width": {{"a", 1, []float32{1}}},
	} {
		if _, err := embed.EncodeStatic(words, make([]float32, 2)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzStatic(f *testing.F) {
	words := []embed.Word{{"alpha", 1, []float32{1, 0}}, {"beta", 1, []float32{0, 1}}}
	data, err := embed.EncodeStatic(words, []float32{0.1, 0.1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data), "alpha beta")
	f.Add(string(data[:40]), "alphabet")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, data, text string) {
		s, err := embed.OpenStatic(data)
		if err != nil || s.Verify(data) != nil {
			return
		}
		for _, x := range one(t, s, embed.Text{Name: text, Body: text}) {
			if math.IsNaN(float64(x)) {
				t.Fatalf("a NaN for %q", text)
			}
		}
	})
}

func FuzzBuiltin(f *testing.F) {
	s := builtin(f)
	f.Add("a query", "docker-compose.yml parseHTTPResponse 数据库 ﬁne")
	f.Add("", "\xff\x00")
	f.Fuzz(func(t *testing.T, name, body string) {
		v := one(t, s, embed.Text{Name: name, Body: body})
		if v != nil && math.Abs(cosine(v, v)-1) > 1e-6 {
			t.Fatalf("got %v", v)
		}
	})
}

// texts are n made-up skills of about six kilobytes, with as many distinct words as real ones.
func texts(s *embed.Static, n int) (out []embed.Text) {
	var words []string
	s.Words(func(w string) { words = append(words, w) })
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		var b strings.Builder
		for b.Len() < 6000 {
			b.WriteString(words[int(float64(len(words))*math.Pow(r.Float64(), 4))])
			b.WriteByte(' ')
		}
		out = append(out, embed.Text{Name: fmt.Sprint("skill ", i), Description: "does things with files", Body: b.String()})
	}
	return out
}

func BenchmarkBuiltin(b *testing.B) {
	s := builtin(b)
	for _, n := range []int{1, 1000} {
		list := texts(s, n)
		b.Run(fmt.Sprintf("texts=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Embed(context.Background(), list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

func BenchmarkOpenBuiltin(b *testing.B) {
	for b.Loop() {
		s := builtin(b)
		one(b, s, embed.Query("convert a pdf file to text"))
	}
}
