package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// server answers with fn and counts what it is asked.
func server(t *testing.T, fn http.HandlerFunc) (base string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		fn(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + api.BasePath, asked
}

// client is one without patience, so that failures are quick; change may give it some.
func client(t *testing.T, base string, change ...func(*cloud.Options)) *cloud.Client {
	t.Helper()
	o := cloud.Options{Base: base, Key: "k", Patience: -1, Pause: time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	c, err := cloud.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func patient(o *cloud.Options) { o.Patience = 30 * time.Second }

// says answers every request with a status and a body.
func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func asError(t *testing.T, err error) *wire.Error {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *wire.Error", err)
	}
	return e
}

func TestNewChecksItsOptions(t *testing.T) {
	tests := []struct {
		name, base, key string
		code            wire.Code
	}{
		{"no key", "http://localhost/api/v1", "", wire.Auth},
		{"key with a line break", "http://localhost/api/v1", "a\nb", wire.Usage},
		{"no scheme", "localhost:8080", "k", wire.Usage},
		{"file", "file:///x", "k", wire.Usage},
		{"query", "http://localhost/?a=b", "k", wire.Usage},
		{"broken", "http://[::1", "k", wire.Usage},
		{"default", "", "k", ""},
		{"slash at the end", "http://localhost/api/v1/", "k", ""},
	}
	for _, tt := range tests {
		if _, err := cloud.New(cloud.Options{Base: tt.base, Key: tt.key}); wire.CodeOf(err) != tt.code {
			t.Errorf("%s: got %v, want code %q", tt.name, err, tt.code)
		}
	}
}

// Ids are one path segment whatever is in them.
func TestIDsAreEscaped(t *testing.T) {
	var got string
	base, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.RequestURI
		io.WriteString(w, "{}")
	})
	tests := []struct{ id, want string }{
		{"weather__clo_1", "weather__clo_1"},
		{"../../admin", "..%2F..%2Fadmin"},
		{"a/b", "a%2Fb"},
		{"..", "%2E%2E"},
		{".", "%2E"},
		{"a b?c#d%", "a%20b%3Fc%23d%25"},
		{"名", "%E5%90%8D"},
	}
	c := client(t, base)
	for _, tt := range tests {
		if _, err := c.Record(t.Context(), tt.id); err != nil {
			t.Errorf("%q: %v", tt.id, err)
		}
		if want := "/api/v1/records/" + tt.want; got != want {
			t.Errorf("%q: got %s, want %s", tt.id, got, want)
		}
	}
	if _, err := c.Record(t.Context(), ""); wire.CodeOf(err) != wire.Usage {
		t.Errorf("empty id: got %v", err)
	}
}

// FuzzIDs holds that no id leaves its path segment.
func FuzzIDs(f *testing.F) {
	for _, id := range []string{"a", "..", "../x", "a/../b", "%2e%2e", "?", "#", "a\x00b", "\xff", "...", ";", "//"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		var got string
		c := client(t, "http://registry.test/api/v1", func(o *cloud.Options) {
			o.Proxy = func(r *http.Request) (*url.URL, error) {
				got = r.URL.EscapedPath()
				return nil, errors.New("not asked")
			}
		})
		c.Record(t.Context(), id)
		segment, ok := strings.CutPrefix(got, "/api/v1/records/")
		if id == "" || !ok {
			return
		}
		back, err := url.PathUnescape(segment)
		if err != nil || back != id || strings.Contains(segment, "/") || strings.Trim(segment, ".") == "" {
			t.Errorf("id %q became %q", id, got)
		}
	})
}

// Each answer becomes a code, and no answer whatever makes the client fail in another way.
func TestAnswersBecomeCodes(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		code   wire.Code
		want   string
	}{
		{"401", says(401, `{"error":"unauthorized","message":"no such key"}`), wire.Auth, "no such key"},
		{"403", says(403, ``), wire.Auth, "403"},
		{"404", says(404, `{"error":"not_found","message":"no record"}`), wire.NotFound, "no record"},
		{"409", says(409, `{"error":"version_exists"}`), wire.Exists, "version_exists"},
		{"409 with a list", says(409, `[1]`), wire.Exists, "[1]"},
		{"413", says(413, ``), wire.TooLong, "Too Large"},
		{"422", says(422, `{"error":"invalid","message":"m"}`), wire.Invalid, "m"},
		{"422 unsafe", says(422, `{"error":"unsafe","message":"m"}`), wire.Unsafe, "m"},
		{"422 signature", says(422, `{"error":"bad_signature","message":"m"}`), wire.Unsafe, "m"},
		{"429", says(429, ``, "Retry-After", "7"), wire.RateLimited, "429"},
		{"500", says(500, `<html>oops</html>`), wire.Network, "Internal Server Error"},
		{"503", says(503, `try later`), wire.Network, "try later"},
		{"304", says(304, ``), wire.Network, "304"},
		{"html", says(200, `<html>`), wire.Network, "read answer"},
		{"list", says(200, `[]`), wire.Network, "read answer"},
		{"cut", says(200, `{"record_id":`, "Content-Length", "100"), wire.Network, "unexpected EOF"},
		{"nothing", says(200, ``), wire.Network, "read answer"},
		{"hangs up", func(w http.ResponseWriter, _ *http.Request) { hangUp(w) }, wire.Network, "reach registry"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := server(t, tt.answer)
			_, err := client(t, base).Record(t.Context(), "x")
			e := asError(t, err)
			if e.Code != tt.code || !strings.Contains(e.Message, tt.want) {
				t.Errorf("got %s: %s, want %s: …%s…", e.Code, e.Message, tt.code, tt.want)
			}
			if want := "GET " + base + "/records/x"; e.Endpoint != want {
				t.Errorf("got endpoint %q, want %q", e.Endpoint, want)
			}
		})
	}
}

func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

func TestErrorsNameTheRequest(t *testing.T) {
	base, _ := server(t, says(429, `{"error":"rate_limited","message":"slow down"}`, "Retry-After", "7", "X-Request-Id", "r-1"))
	_, err := client(t, base).Record(t.Context(), "x")
	e := asError(t, err)
	if e.RetryAfter != 7 || e.RequestID != "r-1" || e.Hint == "" {
		t.Errorf("got %+v", e)
	}
	var r *cloud.Refusal
	if !errors.As(err, &r) || r.Status != 429 || r.Body.Code != api.ErrRateLimited {
		t.Errorf("got %+v", r)
	}
}

// ZP-10: two refusals with a pause, then an answer; and one that never ends.
func TestRetryAfterIsObeyed(t *testing.T) {
	var tries atomic.Int32
	base, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) <= 2 {
			says(429, "", "Retry-After", "1")(w, r)
			return
		}
		says(200, `{"record_id":"x"}`)(w, r)
	})
	start := time.Now()
	if _, err := client(t, base, patient).Record(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 2*time.Second {
		t.Errorf("took %v, want the two seconds that the server asked for", took)
	}
	forever, asked := server(t, says(429, "", "Retry-After", "3600"))
	_, err := client(t, forever, patient).Record(t.Context(), "x")
	if e := asError(t, err); e.Code != wire.RateLimited || e.RetryAfter != 3600 || asked.Load() != 1 {
		t.Errorf("got %+v after %d tries, want one", e, asked.Load())
	}
}

func TestRetries(t *testing.T) {
	tests := []struct {
		name   string
		first  http.HandlerFunc // twice, then a good answer
		tries  int32
		failed bool
	}{
		{"503", says(503, ""), 3, false},
		{"hangs up", func(w http.ResponseWriter, _ *http.Request) { hangUp(w) }, 3, false},
		{"cut", says(200, `{"record_id":`, "Content-Length", "100"), 3, false},
		{"500", says(500, ""), 1, true},
		{"404", says(404, ""), 1, true},
		{"html", says(200, "<html>"), 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n atomic.Int32
			base, asked := server(t, func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) <= 2 {
					tt.first(w, r)
					return
				}
				says(200, `{"record_id":"x"}`)(w, r)
			})
			_, err := client(t, base, patient).Record(t.Context(), "x")
			if (err != nil) != tt.failed {
				t.Errorf("got %v", err)
			}
			// The transport itself repeats a question whose connection was closed under it.
			if got := asked.Load(); got < tt.tries || tt.failed && got != tt.tries {
				t.Errorf("got %d tries, want %d", got, tt.tries)
			}
		})
	}
	t.Run("gives up", func(t *testing.T) {
		base, asked := server(t, says(502, ""))
		if _, err := client(t, base, patient).Record(t.Context(), "x"); wire.CodeOf(err) != wire.Network || asked.Load() != 5 {
			t.Errorf("got %v after %d tries, want five", err, asked.Load())
		}
	})
}

func TestDeadlines(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	silent := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}
	quiet := func(o *cloud.Options) { o.Answer = 100 * time.Millisecond }
	long := func(o *cloud.Options) { o.Transfer = 300 * time.Millisecond }
	tests := []struct {
		name   string
		limit  func(*cloud.Options)
		answer http.HandlerFunc
		want   string
	}{
		{"no answer", quiet, silent, "nothing came for"},
		{"a byte now and then, for ever", long, drip, "longer than"},
		{"stops in the middle", quiet, func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			silent(w, r)
		}, "nothing came for"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := server(t, tt.answer)
			_, err := client(t, base, tt.limit).Download(t.Context(), "x", 1<<20, toNowhere)
			if e := asError(t, err); e.Code != wire.Network || !strings.Contains(e.Message, tt.want) {
				t.Errorf("got %+v, want …%s…", e, tt.want)
			}
		})
	}
	t.Run("canceled", func(t *testing.T) {
		base, _ := server(t, silent)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := client(t, base, patient).Record(ctx, "x"); wire.CodeOf(err) != wire.Canceled {
			t.Errorf("got %v", err)
		}
	})
}

func toNowhere() (io.Writer, error) { return io.Discard, nil }

// B9: another origin gets no key, and what changes something is not sent there at all.
func TestRedirects(t *testing.T) {
	type seen struct{ method, key, referer string }
	var other []seen
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		other = append(other, seen{r.Method, r.Header.Get("X-API-Key"), r.Header.Get("Referer")})
		io.WriteString(w, `{"record_id":"elsewhere"}`)
	}))
	defer target.Close()
	var kept string
	base, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/here"):
			kept = r.Header.Get("X-API-Key")
			io.WriteString(w, `{}`)
		case strings.HasSuffix(r.URL.Path, "/inside"):
			http.Redirect(w, r, "/api/v1/records/here", http.StatusFound)
		default:
			http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
		}
	})
	c := client(t, base)
	if _, err := c.Record(t.Context(), "inside"); err != nil || kept != "k" {
		t.Errorf("same origin: got %v, key %q", err, kept)
	}
	var buf bytes.Buffer
	if _, err := c.Download(t.Context(), "x", 1<<20, func() (io.Writer, error) { return &buf, nil }); err != nil || buf.Len() == 0 {
		t.Errorf("download from elsewhere: got %v, %q", err, buf.String())
	}
	if len(other) != 1 || other[0] != (seen{"GET", "", ""}) {
		t.Errorf("got %+v, want one question without key", other)
	}
	_, _, err := c.Create(t.Context(), api.Create{RecordID: "x"}, "x")
	if e := asError(t, err); e.Code != wire.Network || !strings.Contains(e.Message, target.URL) || len(other) != 1 {
		t.Errorf("got %+v and %+v, want a refusal to follow", e, other)
	}
	found, _ := server(t, says(302, "", "Location", "/api/v1/records/here"))
	if _, _, err := client(t, found).Create(t.Context(), api.Create{RecordID: "x"}, "x"); wire.CodeOf(err) != wire.Network {
		t.Errorf("a POST must not become a GET: got %v", err)
	}
}

// A key that has left home does not come back on the way.
func TestRedirectThereAndBack(t *testing.T) {
	var last string
	var home string
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, home+"/records/back", http.StatusFound)
	}))
	defer away.Close()
	home, _ = server(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/back") {
			last = r.Header.Get("X-API-Key")
			io.WriteString(w, "{}")
			return
		}
		http.Redirect(w, r, away.URL, http.StatusFound)
	})
	last = "none"
	if _, err := client(t, home).Record(t.Context(), "x"); err != nil || last != "" {
		t.Errorf("got %v, key %q", err, last)
	}
}

func TestProxy(t *testing.T) {
	var got *http.Request
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		io.WriteString(w, `{"record_id":"x"}`)
	}))
	defer proxy.Close()
	address, _ := url.Parse(proxy.URL)
	c := client(t, "http://registry.test/api/v1", func(o *cloud.Options) { o.Proxy = http.ProxyURL(address) })
	if _, err := c.Record(t.Context(), "x"); err != nil || got.URL.Host != "registry.test" {
		t.Errorf("got %v, %v", err, got)
	}
}
