package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/safety"
)

// community is a registry under test.
type community struct {
	t       *testing.T
	dir     string
	o       registry.Options
	storage *registry.Files
	server  *registry.Server
	http    *httptest.Server
}

func newCommunity(t *testing.T, change ...func(*registry.Options)) *community {
	t.Helper()
	c := &community{t: t, dir: t.TempDir(), o: registry.Options{Policy: safety.DefaultPolicy()}}
	c.o.IndexDir = filepath.Join(c.dir, "index")
	for _, f := range change {
		f(&c.o)
	}
	c.start()
	t.Cleanup(c.stop)
	return c
}

func (c *community) start() {
	c.t.Helper()
	c.storage = openFiles(c.t, c.dir)
	var err error
	if c.server, err = registry.New(context.Background(), c.storage, c.o); err != nil {
		c.t.Fatal(err)
	}
	c.http = httptest.NewUnstartedServer(nil)
	c.http.Config = c.server.HTTP()
	c.http.Start()
}

func (c *community) stop() {
	c.t.Helper()
	if c.http == nil {
		return
	}
	c.http.Close()
	c.http = nil
	if err := c.server.Close(); err != nil {
		c.t.Error(err)
	}
	if err := c.storage.Close(); err != nil {
		c.t.Error(err)
	}
}

// user is somebody with a key.
type user struct {
	*community
	key string
}

func (c *community) user(name, scope string, groups ...string) user {
	c.t.Helper()
	_, key, err := registry.AddKey(context.Background(), c.storage, name, scope, groups)
	if err != nil {
		c.t.Fatal(err)
	}
	return user{c, key}
}

// answer is what came back.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// do sends a request; headers are pairs of name and value.
func (u user) do(method, path string, body io.Reader, headers ...string) answer {
	u.t.Helper()
	r, err := http.NewRequest(method, u.http.URL+path, body)
	if err != nil {
		u.t.Fatal(err)
	}
	if u.key != "" {
		r.Header.Set("X-API-Key", u.key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		u.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		u.t.Fatal(err)
	}
	return answer{u.t, res.StatusCode, res.Header, data}
}

func (u user) get(path string, headers ...string) answer {
	u.t.Helper()
	return u.do("GET", api.BasePath+path, nil, headers...)
}

func (u user) send(method, path string, v any, headers ...string) answer {
	u.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		u.t.Fatal(err)
	}
	return u.do(method, api.BasePath+path, bytes.NewReader(data), append(headers, "Content-Type", "application/json")...)
}

// want checks the status and decodes the body into v unless that is nil.
func (a answer) want(status int, v any) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("got status %d: %s, want %d", a.status, a.body, status)
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			a.t.Fatalf("decode %q: %v", a.body, err)
		}
	}
	return a
}

// refused checks that an answer is an error with its status.
func (a answer) refused(code api.ErrorCode) api.Error {
	a.t.Helper()
	var e api.Error
	a.want(code.Status(), &e)
	if e.Code != code || e.Message == "" || e.RequestID == "" || e.RequestID != a.header.Get(api.HeaderRequestID) {
		a.t.Fatalf("got %s, want error %s with a message and the request id", a.body, code)
	}
	return e
}

const boundary = "----OpenSpaceUpload0123456789abcdef"

// form makes the body of an upload the way the old clients do: names go in as they are. files is pairs of
// name and content.
func form(files ...string) io.Reader {
	var b bytes.Buffer
	for i := 0; i < len(files); i += 2 {
		kind := "application/octet-stream"
		for _, ext := range []string{".md", ".txt", ".yaml", ".yml", ".json", ".py", ".sh", ".toml"} {
			if strings.HasSuffix(files[i], ext) {
				kind = "text/plain"
			}
		}
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"files\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n%s\r\n", boundary, files[i], kind, files[i+1])
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return &b
}

func (u user) tryStage(files ...string) answer {
	u.t.Helper()
	return u.do("POST", api.BasePath+"/artifacts/stage", form(files...), "Content-Type", "multipart/form-data; boundary="+boundary)
}

func (u user) stage(files ...string) string {
	u.t.Helper()
	var s api.Staged
	u.tryStage(files...).want(200, &s)
	if s.ArtifactID == "" || s.Stats.FileCount == 0 {
		u.t.Fatalf("got %+v, want an artifact id and a count", s)
	}
	return s.ArtifactID
}

func skillText(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s\n", name, description, body)
}

// creation is the body that the old clients send.
func creation(id, artifact, visibility string) api.Create {
	return api.Create{RecordID: id, ArtifactID: artifact, Origin: api.Imported, Visibility: visibility, ParentSkillIDs: []string{}, Tags: []string{}, Level: api.Level}
}

// publish stages one file and makes a record of it.
func (u user) publish(id, visibility, text string, change ...func(*api.Create)) api.Record {
	u.t.Helper()
	var r api.Record
	u.tryPublish(id, visibility, text, change...).want(201, &r)
	return r
}

func (u user) tryPublish(id, visibility, text string, change ...func(*api.Create)) answer {
	u.t.Helper()
	req := creation(id, u.stage("SKILL.md", text), visibility)
	for _, f := range change {
		f(&req)
	}
	return u.send("POST", "/records", req)
}

func (u user) search(query string, limit int) (ids []string) {
	u.t.Helper()
	var rows []api.Row
	u.send("POST", "/records/embeddings/search", map[string]any{"query": query, "limit": limit}).want(200, &rows)
	for _, r := range rows {
		if r.SearchRank <= 0 || r.SearchRank >= 1 {
			u.t.Errorf("got search rank %v, want one between 0 and 1", r.SearchRank)
		}
		ids = append(ids, r.RecordID)
	}
	return ids
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// lockedBuffer is a buffer that a server may write to while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
