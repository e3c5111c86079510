package openai_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/embed"
	"github.com/openspace-dev/openspace/pkg/embed/embedtest"
	"github.com/openspace-dev/openspace/pkg/embed/openai"
)

// fake is an embedding endpoint on loopback that can be made to behave in every way that was seen in the field.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	requests []asked
	answer   func(w http.ResponseWriter, a asked) // nil: answer properly
}

type asked struct {
	path   string
	header http.Header
	raw    map[string]any
	model  string
	input  []string
}

func newFake(t *testing.T, answer func(w http.ResponseWriter, a asked)) *fake {
	t.Helper()
	f := &fake{answer: answer}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := asked{path: r.URL.Path, header: r.Header}
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &a.raw) == nil {
		a.model, _ = a.raw["model"].(string)
		list, _ := a.raw["input"].([]any)
		for _, x := range list {
			s, _ := x.(string)
			a.input = append(a.input, s)
		}
	}
	f.mu.Lock()
	f.requests = append(f.requests, a)
	f.mu.Unlock()
	if f.answer != nil {
		f.answer(w, a)
		return
	}
	reply(w, a.input, 8)
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// vectorOf is what the fake's model says about a text: numbers that depend on it alone.
func vectorOf(text string, dim int) []float32 {
	h := fnv.New64a()
	h.Write([]byte(text))
	v := make([]float32, dim)
	for i := range v {
		h.Write([]byte{byte(i)})
		v[i] = float32(h.Sum64()%2001)/1000 - 1
	}
	return v
}

func item(index any, v any) map[string]any {
	m := map[string]any{"object": "embedding", "embedding": v}
	if index != nil {
		m["index"] = index
	}
	return m
}

func reply(w http.ResponseWriter, input []string, dim int) {
	var data []any
	for i, s := range input {
		data = append(data, item(i, vectorOf(s, dim)))
	}
	send(w, data)
}

func send(w http.ResponseWriter, data []any) {
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message}})
}

func client(t *testing.T, c openai.Config) *openai.Client {
	t.Helper()
	if c.Model == "" {
		c.Model = "fake-a"
	}
	c.Pause = time.Millisecond
	r, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// skills are n short texts, all different.
func skills(n int) (out []embed.Text) {
	for i := range n {
		out = append(out, embed.Text{Name: fmt.Sprintf("skill-%d", i), Description: "does something"})
	}
	return out
}

// check compares vectors with what the fake gives for the texts.
func check(t *testing.T, e embed.Embedder, texts []embed.Text, dim int) {
	t.Helper()
	got, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if want := vectorOf(text.Join(), dim); !slices.Equal(got[i], want) {
			t.Errorf("text %d: got %v, want %v", i, got[i], want)
		}
	}
}

func TestClientConforms(t *testing.T) {
	embedtest.Run(t, client(t, openai.Config{BaseURL: newFake(t, nil).URL}))
}

// EM-03: a server that takes ten texts at a time. All are embedded, and a refused request is not sent again
// as it was.
func TestEM03SmallBatches(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, a asked) {
		if len(a.input) > 10 {
			refuse(w, 400, "batch size 25 is not larger than 10")
			return
		}
		reply(w, a.input, 8)
	})
	r := client(t, openai.Config{BaseURL: f.URL})
	check(t, r, skills(25), 8)
	seen := map[string]bool{}
	for _, a := range f.requests {
		k := strings.Join(a.input, "\x00")
		if seen[k] {
			t.Errorf("the same %d texts were sent twice", len(a.input))
		}
		seen[k] = true
	}
	before := f.count()
	check(t, r, skills(20), 8)
	for _, a := range f.requests[before:] {
		if len(a.input) > 10 {
			t.Errorf("the limit was forgotten: %d texts", len(a.input))
		}
	}
}

// EM-04: one text of 400 KB among nine short ones, at a server with a limit of tokens.
func TestEM04LongText(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int // tokens of four characters
		body  string
	}{
		{"known limit", 8192, strings.Repeat("word ", 80_000)},
		{"unknown smaller limit", 512, strings.Repeat("word ", 80_000)},
		{"Chinese", 8192, strings.Repeat("中文", 70_000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, func(w http.ResponseWriter, a asked) {
				for _, s := range a.input {
					if len([]rune(s))/4 > tt.limit {
						refuse(w, 413, "maximum context length is exceeded")
						return
					}
				}
				reply(w, a.input, 8)
			})
			r := client(t, openai.Config{BaseURL: f.URL})
			texts := skills(10)
			texts[4] = embed.Text{Name: "the-long-one", Body: tt.body}
			got, err := r.Embed(context.Background(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if i != 4 && !slices.Equal(v, vectorOf(texts[i].Join(), 8)) || v == nil {
					t.Errorf("text %d: got %v", i, v)
				}
			}
			if w := strings.Join(r.Warnings(), "\n"); !strings.Contains(w, "the-long-one") || strings.Contains(w, "skill-") {
				t.Errorf("warnings: %q", w)
			}
		})
	}
}

// EM-05: a server that ignores the width that was asked for.
func TestEM05OtherWidth(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, a asked) { reply(w, a.input, 768) })
	r := client(t, openai.Config{BaseURL: f.URL, Dim: 256})
	check(t, r, skills(3), 768)
	if f.requests[0].raw["dimensions"] != 256.0 || r.Dim() != 768 {
		t.Errorf("asked for %v, width %d", f.requests[0].raw["dimensions"], r.Dim())
	}
	if w := r.Warnings(); len(w) != 1 || !strings.Contains(w[0], "768") || !strings.Contains(w[0], "256") {
		t.Errorf("warnings: %q", w)
	}
	f.answer = func(w http.ResponseWriter, a asked) { reply(w, a.input, 256) }
	if _, err := r.Embed(context.Background(), skills(1)); !errors.Is(err, embed.ErrAnswer) {
		t.Errorf("another width than before: got %v", err)
	}
}

// EM-06: numbers, base64, a server that refuses optional fields, and a vector of no length.
func TestEM06Encodings(t *testing.T) {
	base64Of := func(v []float32) string {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	for name, encode := range map[string]func([]float32) any{
		"numbers":         func(v []float32) any { return v },
		"base64":          func(v []float32) any { return base64Of(v) },
		"base64 unpadded": func(v []float32) any { return strings.TrimRight(base64Of(v), "=") },
	} {
		f := newFake(t, func(w http.ResponseWriter, a asked) {
			if len(a.raw) != 2 || len(a.input) == 0 {
				refuse(w, 400, "unknown field")
				return
			}
			var data []any
			for i, s := range a.input {
				data = append(data, item(i, encode(vectorOf(s, 7))))
			}
			send(w, data)
		})
		t.Run(name, func(t *testing.T) { check(t, client(t, openai.Config{BaseURL: f.URL}), skills(3), 7) })
	}
	for name, v := range map[string]any{
		"empty list": []float32{}, "empty string": "", "zero": make([]float32, 8), "null": nil, "not base64": "!!", "odd bytes": "AAAAAAA=", "NaN": base64Of([]float32{float32(math.NaN())}),
		"words": []string{"a"}, "too large": []float64{1e39},
	} {
		f := newFake(t, func(w http.ResponseWriter, a asked) { send(w, []any{item(0, v)}) })
		if got, err := client(t, openai.Config{BaseURL: f.URL}).Embed(context.Background(), skills(1)); !errors.Is(err, embed.ErrAnswer) {
			t.Errorf("%s: got %v %v, want %v", name, got, err, embed.ErrAnswer)
		}
	}
}

// EM-07: answers out of order, without index, too few, and with impossible indexes.
func TestEM07Order(t *testing.T) {
	for _, tt := range []struct {
		name  string
		index []any // of the vectors of texts 1, 0
		ok    bool
	}{
		{"out of order", []any{1, 0}, true},
		{"without index", nil, true},
		{"too few", []any{1}, false},
		{"twice", []any{0, 0}, false},
		{"out of range", []any{1, 2}, false},
		{"negative", []any{1, -1}, false},
		{"one without", []any{1, nil}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, func(w http.ResponseWriter, a asked) {
				var data []any
				for i, index := range tt.index {
					data = append(data, item(index, vectorOf(a.input[1-i], 8)))
				}
				if tt.index == nil {
					data = []any{item(nil, vectorOf(a.input[0], 8)), item(nil, vectorOf(a.input[1], 8))}
				}
				send(w, data)
			})
			r := client(t, openai.Config{BaseURL: f.URL})
			if tt.ok {
				check(t, r, skills(2), 8)
				return
			}
			if got, err := r.Embed(context.Background(), skills(2)); !errors.Is(err, embed.ErrAnswer) || got != nil {
				t.Errorf("got %v %v, want %v", got, err, embed.ErrAnswer)
			}
		})
	}
}

// EM-08: no key is needed, and every way to write the address leads to the same place.
func TestEM08NoKey(t *testing.T) {
	f := newFake(t, nil)
	for _, end := range []string{"", "/", "/v1", "/v1/", "/v1/embeddings"} {
		check(t, client(t, openai.Config{BaseURL: f.URL + end}), skills(1), 8)
	}
	check(t, client(t, openai.Config{BaseURL: f.URL + "/api/v2/"}), skills(1), 8)
	for i, a := range f.requests {
		want := "/v1/embeddings"
		if i == 5 {
			want = "/api/v2/embeddings"
		}
		if a.path != want || a.header.Get("Authorization") != "" {
			t.Errorf("request %d went to %s with %q", i, a.path, a.header.Get("Authorization"))
		}
	}
}

// LB-04: what the environment holds for another service goes nowhere.
func TestLB04NoForeignHeaders(t *testing.T) {
	t.Setenv("OPENAI_ORG_ID", "o1")
	t.Setenv("OPENAI_PROJECT_ID", "p1")
	t.Setenv("OPENAI_API_KEY", "k1")
	f := newFake(t, nil)
	check(t, client(t, openai.Config{BaseURL: f.URL, Key: "mine"}), skills(1), 8)
	h := f.requests[0].header
	if h.Get("Authorization") != "Bearer mine" || h.Get("OpenAI-Organization") != "" || h.Get("OpenAI-Project") != "" || strings.Contains(fmt.Sprint(h), "k1") {
		t.Errorf("headers: %v", h)
	}
}

func TestClientErrors(t *testing.T) {
	for _, tt := range []struct {
		status, requests int
		want             error
	}{
		{401, 1, embed.ErrAuth}, {403, 1, embed.ErrAuth}, {404, 1, embed.ErrAnswer}, {302, 1, embed.ErrAnswer}, {400, 2, embed.ErrAnswer}, // 400: is it the text?
		{429, 4, embed.ErrLimited}, {500, 4, embed.ErrUnreachable}, {503, 4, embed.ErrUnreachable},
	} {
		f := newFake(t, func(w http.ResponseWriter, a asked) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			refuse(w, tt.status, "no\x1b[31m way, sk-secret")
		})
		r := client(t, openai.Config{BaseURL: f.URL, Key: "sk-secret"})
		got, err := r.Embed(context.Background(), skills(1))
		if !errors.Is(err, tt.want) || got != nil || f.count() != tt.requests {
			t.Errorf("status %d: got %v after %d requests, want %v after %d", tt.status, err, f.count(), tt.want, tt.requests)
		}
		if s := fmt.Sprint(err); strings.Contains(s, "secret") || strings.Contains(s, "\x1b") || !strings.Contains(s, "127.0.0.1") {
			t.Errorf("status %d: message %q", tt.status, s)
		}
	}
}

func TestClientRetries(t *testing.T) {
	n := 0
	f := newFake(t, func(w http.ResponseWriter, a asked) {
		if n++; n < 3 {
			w.Header().Set("Retry-After", "0")
			refuse(w, 429, "slow down")
			return
		}
		reply(w, a.input, 8)
	})
	check(t, client(t, openai.Config{BaseURL: f.URL}), skills(2), 8)
}

// A server that accepts and never answers, and one that wants to be left alone for an hour: the limit of time holds.
func TestClientTimeout(t *testing.T) {
	stop := make(chan struct{})
	silent := newFake(t, func(http.ResponseWriter, asked) { <-stop })
	t.Cleanup(func() { close(stop) })
	busy := newFake(t, func(w http.ResponseWriter, a asked) {
		w.Header().Set("Retry-After", "3600")
		refuse(w, 429, "later")
	})
	for name, f := range map[string]*fake{"silent": silent, "busy": busy} {
		start := time.Now()
		_, err := client(t, openai.Config{BaseURL: f.URL, Timeout: 300 * time.Millisecond}).Embed(context.Background(), skills(1))
		if err == nil || time.Since(start) > 20*time.Second {
			t.Errorf("%s: got %v after %v", name, err, time.Since(start))
		}
	}
	_, err := client(t, openai.Config{BaseURL: "http://127.0.0.1:1", Timeout: 300 * time.Millisecond}).Embed(context.Background(), skills(1))
	if !errors.Is(err, embed.ErrUnreachable) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody there: got %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []openai.Config{
		{BaseURL: "", Model: "m"}, {BaseURL: "ftp://host", Model: "m"}, {BaseURL: "host:80", Model: "m"}, {BaseURL: "http://u:p@host", Model: "m"},
		{BaseURL: "http://host?x=1", Model: "m"}, {BaseURL: "http://host"}, {BaseURL: "http://host", Model: strings.Repeat("m", 300)},
	} {
		if _, err := openai.New(c); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`), 1)
	f.Add([]byte(`{"data":[{"index":1,"embedding":"AACAPw=="},{"index":0,"embedding":"AACAPw"}]}`), 2)
	f.Add([]byte(`{"error":{"message":"x"}}`), 1)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		got, err := openai.Decode(data, min(max(n, 1), 8))
		if err != nil {
			return
		}
		for _, v := range got {
			if len(v) == 0 || slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) }) {
				t.Fatalf("got %v", v)
			}
		}
	})
}
