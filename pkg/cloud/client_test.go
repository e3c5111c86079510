package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
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

func patient(o *cloud.Options) { o.Patience = 5 * time.Second }

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

// B31: nulls, wrong types and missing fields cost at most the row that has them.
func TestSearchToleratesOddRows(t *testing.T) {
	body := `[{"record_id":"a","name":null,"description":null,"tags":null,"search_rank":null,"visibility":"group_only","embedding":null},
		{"record_id":null,"name":"x"}, null, 7, {"record_id":"b","tags":"oops"}, {"record_id":"c","search_rank":0.5,"new_field":{}}]`
	base, _ := server(t, says(200, body))
	found, err := client(t, base).Search(t.Context(), api.Search{Query: "q"})
	if err != nil || len(found.Rows) != 2 || found.Skipped != 4 {
		t.Fatalf("got %+v, %v", found, err)
	}
	if r := found.Rows[0]; r.RecordID != "a" || r.Visibility != api.Private {
		t.Errorf("got %+v", r)
	}
	for body, good := range map[string]bool{"null": true, "[]": true, `{"items":[]}`: false, "[{}": false, "": false} {
		base, _ := server(t, says(200, body))
		if _, err := client(t, base).Search(t.Context(), api.Search{Query: "q"}); (err == nil) != good {
			t.Errorf("%s: got %v", body, err)
		}
	}
}

func TestPages(t *testing.T) {
	base, asked := server(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("limit") != "200" {
			t.Errorf("got %s", r.RequestURI)
		}
		switch q.Get("cursor") {
		case "":
			io.WriteString(w, `{"items":[{"record_id":"a"},{"record_id":"b","visibility":"group_only"}],"has_more":true,"next_cursor":"2"}`)
		case "2":
			io.WriteString(w, `{"items":null,"has_more":true,"next_cursor":"3"}`)
		case "3":
			io.WriteString(w, `{"items":[{"record_id":"c"}],"has_more":false,"next_cursor":null}`)
		}
	})
	var ids []string
	for r, err := range client(t, base).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.RecordID)
	}
	if strings.Join(ids, "") != "abc" || asked.Load() != 3 {
		t.Errorf("got %q in %d pages", ids, asked.Load())
	}
	stuck, _ := server(t, says(200, `{"items":[],"has_more":true,"next_cursor":"x"}`))
	var last error
	for _, err := range client(t, stuck).Mine(t.Context()) {
		last = err
	}
	if wire.CodeOf(last) != wire.Network {
		t.Errorf("a listing that does not move on: got %v", last)
	}
}

// B5: the id of the second try has the skill's name, and the caller's request stays as it was.
func TestCreateConflicts(t *testing.T) {
	taken, elsewhere := `{"error":"record_id_fingerprint_conflict","message":"m"}`, `{"error":"fingerprint_record_id_conflict","existing_record_id":"old"}`
	tests := []struct {
		name    string
		answers []string // status and body
		outcome cloud.Outcome
		id      string
		code    wire.Code
		asked   int32
	}{
		{"created", []string{"201", `{"record_id":"w__clo_1"}`}, cloud.Created, "w__clo_1", "", 1},
		{"no id in the answer", []string{"201", `{"record_id":null}`}, cloud.Created, "w__clo_1", "", 1},
		{"there", []string{"200", `{"record_id":"w__clo_1"}`}, cloud.Exists, "w__clo_1", "", 1},
		{"duplicate", []string{"409", elsewhere}, cloud.Duplicate, "old", "", 1},
		{"duplicate without its id", []string{"409", `{"error":"fingerprint_record_id_conflict"}`}, "", "", wire.Exists, 1},
		{"wrapped", []string{"409", `{"detail":` + elsewhere + `}`}, "", "", wire.Exists, 1},
		{"not json", []string{"409", `conflict`}, "", "", wire.Exists, 1},
		{"id taken", []string{"409", taken, "201", `{}`}, cloud.Created, "w__clo_", "", 2},
		{"id taken twice", []string{"409", taken, "409", taken}, "", "", wire.Exists, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answers := tt.answers
			base, asked := server(t, func(w http.ResponseWriter, r *http.Request) {
				status, _ := json.Number(answers[0]).Int64()
				body := answers[1]
				answers = answers[2:]
				says(int(status), body)(w, r)
			})
			req := api.Create{RecordID: "w__clo_1"}
			rec, outcome, err := client(t, base).Create(t.Context(), req, "w")
			if outcome != tt.outcome || !strings.HasPrefix(rec.RecordID, tt.id) || wire.CodeOf(err) != tt.code || asked.Load() != tt.asked {
				t.Errorf("got %+v, %q, %v after %d requests", rec, outcome, err, asked.Load())
			}
			if req.RecordID != "w__clo_1" {
				t.Errorf("the request was changed: %+v", req)
			}
		})
	}
}

// B21: what is sent can be read back, names and all, also on a second try.
func TestStage(t *testing.T) {
	files := []api.File{{Path: "SKILL.md", Data: []byte("a\r\n")}, {Path: "sub dir/名.sh", Exec: true, Data: bytes.Repeat([]byte("x"), 1<<20)}, {Path: "empty"}}
	var got []api.File
	var n atomic.Int32
	base, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		mr, err := r.MultipartReader()
		if err != nil || r.ContentLength <= 1<<20 {
			t.Errorf("got length %d, %v", r.ContentLength, err)
			return
		}
		got = readForm(t, mr)
		if n.Add(1) == 1 {
			w.WriteHeader(503)
			return
		}
		io.WriteString(w, `{"artifact_id":"art","stats":null}`)
	})
	staged, err := client(t, base, patient).Stage(t.Context(), files)
	if err != nil || staged.ArtifactID != "art" || staged.Stats.FileCount != 0 {
		t.Fatalf("got %+v, %v", staged, err)
	}
	if api.Fingerprint(got) != api.Fingerprint(files) || len(got) != 3 || !got[1].Exec || got[0].Exec {
		t.Errorf("got %d files back: %.100v", len(got), got)
	}
	for _, body := range []string{`{}`, `{"artifact_id":null}`, `[]`, ``} {
		base, _ := server(t, says(200, body))
		if _, err := client(t, base).Stage(t.Context(), files); wire.CodeOf(err) != wire.Network {
			t.Errorf("%q: got %v", body, err)
		}
	}
	_, err = client(t, base).Stage(t.Context(), []api.File{{Path: "a\"\r\nX-Evil: 1"}})
	if e := asError(t, err); e.Code != wire.Invalid || e.Path == "" {
		t.Errorf("a name that would break the header: got %+v", e)
	}
}

func readForm(t *testing.T, mr *multipart.Reader) []api.File {
	var files []api.File
	for {
		part, err := mr.NextRawPart()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Error(err)
			return files
		}
		name, exec, err := api.ParsePart(part.Header)
		data, rerr := io.ReadAll(part)
		if err != nil || rerr != nil {
			t.Error(err, rerr)
		}
		files = append(files, api.File{Path: name, Exec: exec, Data: data})
	}
}

func TestDownload(t *testing.T) {
	const good = "sha-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" // of "abc"
	tests := []struct {
		name   string
		answer http.HandlerFunc
		code   wire.Code
	}{
		{"with its digest", says(200, "abc", "Digest", "md5=x, SHA-256="+good[len("sha-256="):]), ""},
		{"without one", says(200, "abc"), ""},
		{"wrong digest", says(200, "abd", "Digest", good), wire.Network},
		{"says that it is too large", says(200, "", "Content-Length", "9999"), wire.TooLong},
		{"is too large", func(w http.ResponseWriter, _ *http.Request) {
			for range 200 {
				w.Write(make([]byte, 10))
				w.(http.Flusher).Flush()
			}
		}, wire.TooLong},
		{"signature that is none", says(200, "abc", "X-Skill-Signature", "ed25519 x"), wire.Unsafe},
		{"not there", says(404, ""), wire.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := server(t, tt.answer)
			var buf bytes.Buffer
			a, err := client(t, base).Download(t.Context(), "x", 1000, func() (io.Writer, error) { return &buf, nil })
			if wire.CodeOf(err) != tt.code {
				t.Errorf("got %v, want code %q", err, tt.code)
			}
			if err == nil && (buf.String() != "abc" || a.Size != 3) {
				t.Errorf("got %q, %+v", buf.String(), a)
			}
		})
	}
	t.Run("starts again", func(t *testing.T) {
		var n atomic.Int32
		base, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				says(200, "ab", "Content-Length", "3")(w, r)
				return
			}
			says(200, "abc", "Digest", good)(w, r)
		})
		var buf bytes.Buffer
		_, err := client(t, base, patient).Download(t.Context(), "x", 1000, func() (io.Writer, error) { buf.Reset(); return &buf, nil })
		if err != nil || buf.String() != "abc" {
			t.Errorf("got %q, %v", buf.String(), err)
		}
	})
	t.Run("nowhere to put it", func(t *testing.T) {
		base, asked := server(t, says(200, "abc"))
		full := errors.New("disk full")
		_, err := client(t, base, patient).Download(t.Context(), "x", 1000, func() (io.Writer, error) { return nil, full })
		if !errors.Is(err, full) || asked.Load() != 1 {
			t.Errorf("got %v after %d tries", err, asked.Load())
		}
	})
}
