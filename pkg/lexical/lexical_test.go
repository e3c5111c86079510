package lexical_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/lexical"
)

func TestForms(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"words", "Fill the PDF form.", "fill form pdf the"},
		{"camel case", "parseHTTPResponse", "http parse parsehttpresponse response"},
		{"hyphen", "polygon-bevel", "bevel polygon polygonbevel"},
		{"underscore", "snake_case_name", "case name snake snakecasename"},
		{"dot", "node.js", "js node nodejs"},
		{"languages", "C++ and C# and F#, c", "and c c# c++ f#"},
		{"plus between words", "a+b", "a b"},
		{"sharp before word", "#define x", "define x"},
		{"markdown heading", "# Title", "title"},
		{"identifier", "k8s utf8Decoder", "decoder k8s utf8 utf8decoder"},
		{"version", "v1.2.3 1.2.3", "1 2 3 v1 v123"},
		{"possessive", "the user's don't", "dont the user"},
		{"acronym", "HTTPServer IDs", "http httpserver ids server"},
		{"Chinese", "合并 PDF 文件", "pdf 件 合 合并 并 文 文件"},
		{"one character", "猫", "猫"},
		{"mixed", "PDF文件", "pdf 件 文 文件"},
		{"Japanese", "データ処理", "タ タ処 データ"},
		{"Cyrillic", "Мой навык", "мой навык"},
		{"accents", "Café naïve", "cafe naive"},
		{"Turkish", "İstanbul ISTANBUL ışık", "isik istanbul"},
		{"full width", "ＡＢＣ", "abc"},
		{"sharp s", "STRASSE straße", "strasse"},
		{"decomposed", "cafe\u0301", "cafe"},
		{"compound with accents", "café-bar", "bar cafe cafebar"},
		{"emoji", "🗣️ speech", "speech"},
		{"nothing", "--- *** ()", ""},
		{"blob", strings.Repeat("a", 200), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := lexical.Forms(tt.text)
			if tt.name == "Japanese" { // a spot check of a longer list
				for _, w := range []string{"処理", "タ処", "デー"} {
					if !slices.Contains(got, w) {
						t.Errorf("forms %q lack %q", got, w)
					}
				}
				return
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

func stems(q lexical.Query) string {
	var s []string
	for _, g := range q.Groups {
		s = append(s, g.Stem)
	}
	return strings.Join(s, " ")
}

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct{ text, stems, key string }{
		{"convert word documents to pdf", "convert word document pdf", "convert-word-documents-to-pdf"},
		{"the who", "the who", "the-who"},
		{"run running runs", "run", "run-running-runs"},
		{"-merge", "merg", "merge"},
		{"+x", "x", "+x"},
		{"a:b", "b", "a-b"},
		{`"open quote`, "open quot", "open-quote"},
		{"(", "", ""},
		{"*", "", ""},
		{"Smith-Jones", "smith jone smithjon", "smith-jones"},
		{"analyses", "analysi", "analyses"},
		{"张益唐", "张益 益唐", "张益唐"},
		{"", "", ""},
	} {
		q := lexical.ParseQuery(tt.text)
		if got := stems(q); got != tt.stems {
			t.Errorf("%q: got stems %q, want %q", tt.text, got, tt.stems)
		}
		if q.Key != tt.key {
			t.Errorf("%q: got key %q, want %q", tt.text, q.Key, tt.key)
		}
	}
}

// A word that is said again weighs more, but not twice as much.
func TestQueryWeight(t *testing.T) {
	g := lexical.ParseQuery("pdf form pdf").Groups
	if g[0].Weight <= g[1].Weight || g[0].Weight >= 2*g[1].Weight {
		t.Errorf("got weights %v and %v", g[0].Weight, g[1].Weight)
	}
	if g[1].Weight != 1 {
		t.Errorf("got weight %v for a word said once, want 1", g[1].Weight)
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"ISTANBUL": "istanbul", "İstanbul": "istanbul", "Straße": "strasse", "Й": "й", "ﬁ": "fi", "Ω": "ω", "é": "e", "한국": "한국", "हिन्दी": "हिन्दी",
	} {
		if got := lexical.Fold(in); got != want {
			t.Errorf("Fold(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestIDF(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for df := 1; df <= n; df++ {
			if v := lexical.IDF(n, df); !(v > 0) {
				t.Errorf("IDF(%d, %d) = %v, want above zero", n, df, v)
			}
		}
	}
}

func TestPosting(t *testing.T) {
	for _, impact := range []float64{0.02, 0.5, 1, 3.7, 100, 20000} {
		p := lexical.NewPosting(impact, lexical.Counts{1, 0, 0, 2})
		if e := math.Abs(float64(p.Impact())/impact - 1); e > 0.002 {
			t.Errorf("impact %v came back as %v", impact, p.Impact())
		}
		if !p.Has(lexical.Name) || p.Has(lexical.Description) || p.Has(lexical.Tags) || !p.Has(lexical.Body) {
			t.Errorf("impact %v: wrong fields in %b", impact, p)
		}
	}
	for _, impact := range []float64{0, 1e-9, 1e12} {
		if v := lexical.NewPosting(impact, lexical.Counts{1}).Impact(); !(v > 0) || math.IsInf(float64(v), 0) {
			t.Errorf("impact %v came back as %v", impact, v)
		}
	}
}

func FuzzForms(f *testing.F) {
	for _, s := range []string{"", "C++ c#", "node.js", "张益唐 PDF", "café\u0301", "a-b_c.d'e", "İ\xff\xfe", "ⅷ a² ％", strings.Repeat("x.", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range lexical.Forms(text) {
			if form == "" || utf8.ValidString(text) && !utf8.ValidString(form) {
				t.Errorf("form %q of %q", form, text)
			}
		}
		for _, g := range lexical.ParseQuery(text).Groups {
			if g.Stem == "" || !(g.Weight > 0) || len(g.Exact) == 0 {
				t.Errorf("group %+v of %q", g, text)
			}
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	text := []byte(strings.Repeat("Convert a PDF document to Markdown, then extract every table with pdfplumber; see `scripts/fill_form.py` for node.js users.\n", 50))
	a := lexical.NewAnalyzer()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		a.Each(text, func([]lexical.Piece) {})
	}
}
