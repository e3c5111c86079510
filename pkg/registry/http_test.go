package registry_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/registry"
)

func TestNamesOfFiles(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	for _, tt := range []struct {
		name  string
		files []string
		code  api.ErrorCode // "" for taken
	}{
		{"folders", []string{"SKILL.md", "x", "a/b/c.txt", "y"}, ""},
		{"backslashes", []string{"SKILL.md", "x", `a\b.txt`, "y"}, ""},
		{"dots", []string{"./SKILL.md", "x", "..weird/x", "y"}, ""},
		{"one folder around it", []string{"w/SKILL.md", "x", "w/scripts/x.sh", "y", "__MACOSX/w/._SKILL.md", "z", "w/.DS_Store", "z"}, ""}, // ZP-04, ZP-05
		{"any kind of file", []string{"SKILL.md", "x", "main.tf", "y", "parts.tar.gz", "\x1f\x8b", "LICENSE", "z", "empty", ""}, ""},       // ZP-08
		{"traversal", []string{"SKILL.md", "x", "ok/../../../evil.txt", "y"}, api.ErrInvalid},                                              // ZP-01
		{"absolute", []string{"SKILL.md", "x", "/etc/passwd", "y"}, api.ErrInvalid},
		{"drive", []string{"SKILL.md", "x", `C:\x`, "y"}, api.ErrInvalid},
		{"control character", []string{"SKILL.md", "x", "a\tb", "y"}, api.ErrInvalid},
		{"twice", []string{"SKILL.md", "x", "a", "y", "a", "z"}, api.ErrInvalid},
		{"letter case", []string{"SKILL.md", "x", "README.md", "y", "readme.md", "z"}, api.ErrInvalid},
		{"two skill files by case", []string{"SKILL.md", "x", "skill.md", "y"}, api.ErrInvalid},
		{"file and folder", []string{"SKILL.md", "x", "a", "y", "a/b", "z"}, api.ErrInvalid},
		{"device", []string{"SKILL.md", "x", "nul.txt", "y"}, api.ErrInvalid},
		{"not utf-8", []string{"SKILL.md", "x", "\xff", "y"}, api.ErrInvalid},
		{"quote", []string{"SKILL.md", "x", `a"b`, "y"}, api.ErrInvalid}, // B21
		{"only one folder down in one of two", []string{"w/SKILL.md", "x", "v/y", "y"}, api.ErrInvalid},
	} {
		a := ann.tryStage(tt.files...)
		if tt.code == "" {
			a.want(200, nil)
			continue
		}
		if e := a.refused(tt.code); e.Message == "" {
			t.Errorf("%s: got %s", tt.name, a.body)
		}
	}
}

// What does not belong to a skill is left out and told (B3, ZP-07).
func TestLeftOut(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	var s api.Staged
	ann.tryStage("SKILL.md", "x", ".env", "K=1", ".env.example", "K=", ".git/config", "g", "keys/id_rsa", "r", "node_modules/a/b.js", "n", "sub/.skill_id", "i").want(200, &s)
	var left []string
	for _, l := range s.Stats.LeftOut {
		left = append(left, l.Path+" "+l.Reason)
	}
	want := ".env env-file, .git/config version-control, keys/id_rsa secret, node_modules/a/b.js cache, sub/.skill_id sidecar"
	if got := strings.Join(left, ", "); got != want || s.Stats.FileCount != 2 {
		t.Errorf("got %q left out of %d, want %q of 2", got, s.Stats.FileCount, want)
	}
}

// Execute bits travel in a header of the part (ZP-06).
func TestExecuteBits(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	body := strings.NewReplacer("filename=\"run\"\r\n", "filename=\"run\"\r\nX-File-Mode: 0755\r\n")
	data, err := io.ReadAll(form("SKILL.md", "# t\nx", "run", "#!/bin/sh\n", "data.txt", "d"))
	if err != nil {
		t.Fatal(err)
	}
	var s api.Staged
	ann.do("POST", api.BasePath+"/artifacts/stage", strings.NewReader(body.Replace(string(data))), "Content-Type", "multipart/form-data; boundary="+boundary).want(200, &s)
	ann.send("POST", "/records", creation("t", s.ArtifactID, api.Private)).want(201, nil)
	for _, f := range unzip(t, ann.get("/records/t/download").body) {
		if f.Exec != (f.Path == "run") {
			t.Errorf("%s: got execute bit %v", f.Path, f.Exec)
		}
	}
}

// noise returns n bytes that cannot be compressed.
func noise(n int, seed uint32) string {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed >> 24)
	}
	return string(b)
}

func TestLimits(t *testing.T) {
	limits := registry.DefaultLimits()
	limits.File, limits.Total, limits.Files, limits.JSON, limits.Ratio = 3<<20, 4<<20, 5, 1<<10, 20
	c := newCommunity(t, func(o *registry.Options) { o.Limits = limits })
	ann := c.user("ann", "write")
	big := noise(3<<20, 1)
	ann.tryStage("SKILL.md", "x", "big", big[:2<<20]).want(200, nil)
	if e := ann.tryStage("SKILL.md", "x", "big", big+"y").refused(api.ErrTooLarge); e.Path != "big" {
		t.Errorf("got path %q, want the file named", e.Path)
	}
	ann.tryStage("SKILL.md", "x", "a", big[:2<<20], "b", big[:2<<20]).refused(api.ErrTooLarge)
	ann.tryStage("SKILL.md", "x", "a", "1", "b", "2", "c", "3", "d", "4").want(200, nil)
	ann.tryStage("SKILL.md", "x", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5").refused(api.ErrTooLarge)
	ann.tryStage("SKILL.md", "x", "zeros", strings.Repeat("0", 2<<20)).refused(api.ErrTooLarge) // ratio, ZP-09
	body := io.MultiReader(strings.NewReader("--"+boundary+"\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\n"), strings.NewReader(big), strings.NewReader(big))
	ann.do("POST", api.BasePath+"/artifacts/stage", body, "Content-Type", "multipart/form-data; boundary="+boundary).refused(api.ErrTooLarge)
	ann.do("POST", api.BasePath+"/records", strings.NewReader(`{"record_id":"`+strings.Repeat("x", 2000)+`"}`)).refused(api.ErrTooLarge)

	artifact := ann.stage("SKILL.md", "x")
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint(i))
		}
		return out
	}
	req := creation("x", artifact, api.Private)
	req.Tags = many(65)
	ann.send("POST", "/records", req).refused(api.ErrInvalid)
	req.Tags = []string{"a\nb"}
	ann.send("POST", "/records", req).refused(api.ErrInvalid)
}

func TestMalformedBodies(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	good := "multipart/form-data; boundary=" + boundary
	for _, tt := range []struct {
		name, kind, body string
		code             api.ErrorCode
	}{
		{"no type", "", "x", api.ErrMediaType},
		{"json", "application/json", "{}", api.ErrMediaType},
		{"no boundary", "multipart/form-data", "x", api.ErrBadRequest},
		{"nothing", good, "", api.ErrBadRequest},
		{"cut off", good, "--" + boundary + "\r\nContent-Disposition: form-data; name=\"files\"; filename=\"SKILL.md\"\r\n\r\nhalf", api.ErrBadRequest},
		{"no disposition", good, "--" + boundary + "\r\n\r\nx\r\n--" + boundary + "--\r\n", api.ErrBadRequest},
		{"header without end", good, "--" + boundary + "\r\nContent-Disposition: form-data; name=\"files\"; filename=\"x", api.ErrInvalid},
		{"only other fields", good, "--" + boundary + "\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--" + boundary + "--\r\n", api.ErrInvalid},
	} {
		a := ann.do("POST", api.BasePath+"/artifacts/stage", strings.NewReader(tt.body), "Content-Type", tt.kind)
		if a.status != tt.code.Status() {
			t.Errorf("%s: got %d: %s, want %s", tt.name, a.status, a.body, tt.code)
		}
	}
	ann.do("POST", api.BasePath+"/artifacts/stage", form("SKILL.md", "x"), "Content-Type", good, "Content-Encoding", "gzip").refused(api.ErrMediaType)
	for _, body := range []string{"", "[]", "null", `"x"`, "{", `{"record_id":7}`, "\xff"} {
		if a := ann.do("POST", api.BasePath+"/records", strings.NewReader(body)); a.status != 400 && a.status != 422 {
			t.Errorf("%q: got %d: %s", body, a.status, a.body)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	c := newCommunity(t)
	nobody := user{c, ""}
	for id, kept := range map[string]bool{"my-id_1.2": true, "": false, "a b": false, "<x>": false, strings.Repeat("x", 65): false} {
		got := nobody.get("/me", api.HeaderRequestID, id).refused(api.ErrUnauthorized).RequestID
		if kept != (got == id) || got == "" {
			t.Errorf("%q: got request id %q", id, got)
		}
	}
}

// Requests beyond the rate are refused with the time to wait, and only those of that key.
func TestRates(t *testing.T) {
	limits := registry.DefaultLimits()
	limits.Rate, limits.Burst, limits.Foreign = 1, 3, 1
	c := newCommunity(t, func(o *registry.Options) { o.Limits = limits })
	c.server.StopClock()
	ann, bob, nobody := c.user("ann", "read"), c.user("bob", "read"), user{c, ""}
	for range 3 {
		ann.get("/me").want(200, nil)
	}
	a := ann.get("/me")
	a.refused(api.ErrRateLimited)
	if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 {
		t.Errorf("got Retry-After %q", a.header.Get("Retry-After"))
	}
	bob.get("/me").want(200, nil)
	limited := false
	for range 6 { // an address that guesses keys
		limited = limited || nobody.get("/me").status == 429
	}
	if !limited {
		t.Error("requests without a key are not limited")
	}
}

// slowly sends bytes one at a time until the server has had enough.
func slowly(t *testing.T, addr, text string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	start := time.Now()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, conn)
	}()
	for i := 0; ; i++ {
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
		if i < len(text) {
			io.WriteString(conn, text[i:i+1])
		}
		if time.Since(start) > time.Minute {
			t.Fatal("the server listens for ever")
		}
	}
}

// A client that trickles is cut off.
func TestSlowClients(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newCommunity(t, func(o *registry.Options) {
		o.Timeouts = registry.Timeouts{Header: 2 * time.Second, Read: 4 * time.Second, Write: time.Minute, Idle: 20 * time.Second}
	})
	ann := c.user("ann", "write")
	addr := c.http.Listener.Addr().String()
	slowly(t, addr, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: "+strings.Repeat("a", 20_000))
	head := "POST /api/v1/records HTTP/1.1\r\nHost: x\r\nX-API-Key: " + ann.key + "\r\nContent-Length: 5000\r\n\r\n"
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, head+"{")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != 408 {
		t.Errorf("slow body: got %+v, %v, want 408", res, err)
	}
}

// trouble is a storage that fails or panics when told to.
type trouble struct {
	registry.Storage
	mu  sync.Mutex
	get func() error
	put error
}

func (s *trouble) Get(ctx context.Context, k registry.Kind, id string) (registry.Doc, error) {
	s.mu.Lock()
	f := s.get
	s.mu.Unlock()
	if f != nil {
		if err := f(); err != nil {
			return registry.Doc{}, err
		}
	}
	return s.Storage.Get(ctx, k, id)
}

func (s *trouble) Put(ctx context.Context, d registry.Doc, prev uint64) (uint64, error) {
	if s.put != nil {
		return 0, s.put
	}
	return s.Storage.Put(ctx, d, prev)
}

// A fault in one request is an answer of that request, and the server goes on. Nothing of it is told but the
// request id.
func TestFaults(t *testing.T) {
	files := openFiles(t, t.TempDir())
	defer files.Close()
	s := &trouble{Storage: files}
	var log lockedBuffer
	server, err := registry.New(context.Background(), s, registry.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	c := &community{t: t, storage: files, http: web}
	ann := c.user("ann", "write")
	ann.publish("a", api.Public, skillText("a", "", "1"))
	for _, tt := range []struct {
		name string
		get  func() error
		code api.ErrorCode
	}{
		{"panic", func() error { panic("secret path /x") }, api.ErrInternal},
		{"error", func() error { return errors.New("secret path /x") }, api.ErrInternal},
		{"damage", func() error { return fmt.Errorf("secret path /x: %w: %w", registry.ErrDamaged, io.ErrUnexpectedEOF) }, api.ErrInternal},
	} {
		s.mu.Lock()
		s.get = tt.get
		s.mu.Unlock()
		a := ann.get("/records/a")
		if e := a.refused(tt.code); strings.Contains(string(a.body), "secret") || e.RequestID == "" {
			t.Errorf("%s: got %s", tt.name, a.body)
		}
	}
	s.mu.Lock()
	s.get = nil
	s.mu.Unlock()
	ann.get("/records/a").want(200, nil)
	artifact := ann.stage("SKILL.md", "x")
	s.put = fmt.Errorf("write: %w", syscall.ENOSPC)
	a := ann.send("POST", "/records", creation("b", artifact, api.Private))
	a.refused(api.ErrUnavailable)
	if a.header.Get("Retry-After") == "" {
		t.Error("a full disk: no Retry-After")
	}
	s.put = nil
	ann.send("POST", "/records", creation("b", artifact, api.Private)).want(201, nil)
	web.Close()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`"msg":"panic"`, `"trace":`, "secret path /x", `"status":500`, `"owner":"ann"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	if strings.Contains(log.String(), ann.key) {
		t.Error("a key is in the log")
	}
}

func FuzzStage(f *testing.F) {
	for _, files := range [][]string{{"SKILL.md", "x"}, {"SKILL.md", "x", "a/b", "y"}, {"w/SKILL.md", "x"}, {`a"b`, "x"}, {"../x", "y"}} {
		data, err := io.ReadAll(form(files...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("--" + boundary + "\r\nContent-Disposition: form-data; name=\"files\"; filename*=UTF-8''SKILL.md\r\n\r\nx\r\n--" + boundary + "--"))
	files, err := registry.OpenFiles(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { files.Close() })
	limits := registry.DefaultLimits()
	limits.Rate, limits.Burst = 1<<30, 1<<30
	server, err := registry.New(context.Background(), files, registry.Options{Limits: limits})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { server.Close() })
	_, key, err := registry.AddKey(context.Background(), files, "ann", "write", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", api.BasePath+"/artifacts/stage", bytes.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
		r.Header.Set("X-API-Key", key)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code == 401 {
			t.Fatalf("got %d: %s", w.Code, w.Body)
		}
	})
}

func FuzzRecordID(f *testing.F) {
	for _, id := range []string{"a", "a/b", "..", "a/../b", "metadata", "x/download", "é 文__clo_1", "a%2fb", "\x00"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if !registry.ValidRecordID(id) {
			return
		}
		if strings.HasPrefix(id, "/") || strings.Contains("/"+id+"/", "/../") || strings.ContainsAny(id, "\\\x00\n") || len(id) > 240 {
			t.Errorf("%q counts as valid", id)
		}
	})
}

// Many large uploads at once all come through.
func TestLargeUploadsAtOnce(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			ann.tryStage("SKILL.md", "x", "big.bin", noise(2<<20, uint32(i))).want(200, nil)
		})
	}
	wg.Wait()
}
