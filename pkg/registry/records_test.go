package registry_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/registry"
)

func TestVersionsAndDiff(t *testing.T) {
	c := newCommunity(t)
	ann, bob := c.user("ann", "write"), c.user("bob", "write")
	diff := "--- a/SKILL.md\n+++ b/SKILL.md\n"
	fix := func(parent string) func(*api.Create) {
		return func(r *api.Create) {
			r.Origin, r.ParentSkillIDs, r.ContentDiff, r.ChangeSummary = api.Fixed, []string{parent}, &diff, "mended"
		}
	}
	ann.publish("v1", api.Public, skillText("s", "", "1"), func(r *api.Create) { r.ContentDiff = &diff })
	ann.publish("v2", api.Public, skillText("s", "", "2"), fix("v1"))
	bob.publish("v3", api.Public, skillText("s", "", "3"), fix("v2"))
	ann.publish("v4", api.Private, skillText("s", "", "4"), fix("v2"))
	ann.publish("stray", api.Public, skillText("s", "", "5"), fix("local__imp_12345678"))
	for _, tt := range []struct {
		u                     user
		id, items, latest, un string
	}{
		{ann, "v1", "v1 v2 v3 v4", "v4", ""},
		{ann, "v3", "v1 v2 v3 v4", "v3", ""},
		{bob, "v1", "v1 v2 v3", "v2", ""},
		{bob, "v3", "v1 v2 v3", "v3", ""},
		{bob, "stray", "stray", "stray", "local__imp_12345678"},
	} {
		var v api.Versions
		tt.u.get("/records/"+tt.id+"/versions").want(200, &v)
		var items []string
		for _, r := range v.Items {
			items = append(items, r.RecordID)
		}
		if got := strings.Join(items, " "); got != tt.items || v.Latest != tt.latest || strings.Join(v.Unresolved, " ") != tt.un {
			t.Errorf("%s: got %q, latest %q, unresolved %q, want %q, %q, %q", tt.id, got, v.Latest, v.Unresolved, tt.items, tt.latest, tt.un)
		}
	}
	for id, want := range map[string]string{"v1": "", "v2": diff} {
		var r api.Record
		ann.get("/records/"+id).want(200, &r)
		if r.ContentDiff != want {
			t.Errorf("%s: got diff %q, want %q", id, r.ContentDiff, want)
		}
	}
}

func TestChange(t *testing.T) {
	c := newCommunity(t)
	ann, bob := c.user("ann", "write", "red"), c.user("bob", "write", "red")
	ann.publish("a", api.Private, skillText("a", "", "word"))
	change := func(body string, headers ...string) answer {
		return ann.do("PATCH", api.BasePath+"/records/a", strings.NewReader(body), append(headers, "Content-Type", "application/json")...)
	}
	var r api.Record
	tag := change(`{"visibility":"public","tags":["kraken"," kraken",""]}`).want(200, &r).header.Get("ETag")
	if r.Visibility != "public" || !slices.Equal(r.Tags, []string{"kraken"}) || r.UpdatedAt == r.CreatedAt {
		t.Errorf("got %+v", r)
	}
	if got := bob.search("kraken", 5); !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q for the new tag", got)
	}
	change(`{"deprecated":"use b"}`, "If-Match", `"r1"`).refused(api.ErrChanged)
	change(`{"deprecated":"use b"}`, "If-Match", tag).want(200, &r)
	if r.Deprecated != "use b" {
		t.Errorf("got %+v", r)
	}
	if got := bob.search("word", 5); len(got) != 0 {
		t.Errorf("got %q for a deprecated record", got)
	}
	bob.get("/records/a/download").want(200, nil)
	change(`{"deprecated":""}`).want(200, nil)
	if got := bob.search("word", 5); len(got) != 1 {
		t.Errorf("got %q, want the record that is no longer deprecated", got)
	}
	change(`{"visibility":"group_only","groups":["red"]}`).want(200, &r)
	if r.Visibility != api.Group || !slices.Equal(r.Groups, []string{"red"}) {
		t.Errorf("got %+v", r)
	}
	bob.get("/records/a").want(200, nil)
	change(`{"visibility":"private"}`).want(200, nil)
	bob.get("/records/a").refused(api.ErrNotFound)
	change(`{}`).refused(api.ErrInvalid)
	change(`{"visibility":"group_only","groups":["blue"]}`).refused(api.ErrForbidden)
	change(`{"visibility":"secret"}`).refused(api.ErrInvalid)
	change(`nonsense`).refused(api.ErrBadRequest)
	ann.do("PATCH", api.BasePath+"/records/a", strings.NewReader("{}"), "Content-Type", "text/plain").refused(api.ErrMediaType)
	ann.send("PATCH", "/records/none", api.Change{}).refused(api.ErrNotFound)
}

// A deleted record is gone, and its id stays its owner's.
func TestDelete(t *testing.T) {
	c := newCommunity(t)
	ann, bob := c.user("ann", "write"), c.user("bob", "write")
	text := skillText("a", "", "word")
	ann.publish("a", api.Public, text)
	ann.do("DELETE", api.BasePath+"/records/a", nil, "If-Match", `"r99"`).refused(api.ErrChanged)
	ann.do("DELETE", api.BasePath+"/records/a", nil).want(204, nil)
	for _, path := range []string{"/records/a", "/records/a/download", "/records/a/versions"} {
		ann.get(path).refused(api.ErrNotFound)
	}
	ann.do("DELETE", api.BasePath+"/records/a", nil).refused(api.ErrNotFound)
	if got := ann.search("word", 5); len(got) != 0 {
		t.Errorf("got %q for a deleted record", got)
	}
	bob.tryPublish("a", api.Public, text).refused(api.ErrIDTaken)
	bob.publish("b", api.Private, text)
	c.stop()
	c.start()
	ann.get("/records/a").refused(api.ErrNotFound)
	bob.tryPublish("a", api.Public, skillText("a", "", "other")).refused(api.ErrIDTaken)
	ann.publish("a", api.Public, text)
	if got := bob.search("word", 5); len(got) != 2 {
		t.Errorf("got %q, want both records", got)
	}
}

func TestOwnRecords(t *testing.T) {
	c := newCommunity(t)
	ann, bob := c.user("ann", "write"), c.user("bob", "write")
	for i, id := range []string{"a1", "a2", "a3"} {
		ann.publish(id, []string{api.Public, api.Private}[i%2], skillText(id, "", id))
	}
	bob.publish("b1", api.Public, skillText("b1", "", "b1"))
	why := "old"
	ann.send("PATCH", "/records/a3", api.Change{Deprecated: &why}).want(200, nil)
	for query, want := range map[string]string{
		"owner=me": "a1 a2 a3", "owner=bob": "b1", "owner=nobody": "", "": "a1 a2 a3 b1", "visibility=private": "a2",
		"owner=me&deprecated=true": "a3", "owner=me&deprecated=false": "a1 a2", "visibility=public&owner=me": "a1 a3",
	} {
		var page api.Page
		ann.get("/records?"+query).want(200, &page)
		var ids []string
		for _, r := range page.Items {
			ids = append(ids, r.RecordID)
		}
		if got := strings.Join(ids, " "); got != want || page.HasMore || page.NextCursor != nil {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"visibility=x", "deprecated=maybe", "limit=0", "limit=x", "cursor=%21", "cursor=AAAA"} {
		ann.get("/records?" + query).refused(api.ErrBadRequest)
	}
}

func TestSearchLimits(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	for i := range 30 {
		tag := []string{"even", "odd"}[i%2]
		ann.publish(fmt.Sprintf("s%02d", i), api.Public, skillText(fmt.Sprintf("s%02d", i), "word", tag), func(r *api.Create) {
			r.Tags = []string{tag}
			if i == 7 {
				r.Level = "reference"
			}
		})
	}
	for limit, want := range map[int]int{0: 20, 1: 1, 5: 5, 300: 30, 100000: 30} {
		if got := ann.search("word", limit); len(got) != want {
			t.Errorf("limit %d: got %d rows, want %d", limit, len(got), want)
		}
	}
	var rows []api.Row
	ann.send("POST", "/records/embeddings/search", api.Search{Query: "word", Limit: 100, Tags: []string{"odd", "x"}}).want(200, &rows)
	if len(rows) != 15 {
		t.Errorf("by tag: got %d rows, want 15", len(rows))
	}
	ann.send("POST", "/records/embeddings/search", api.Search{Query: "word", Level: "reference"}).want(200, &rows)
	if len(rows) != 1 || rows[0].RecordID != "s07" {
		t.Errorf("by level: got %v", rows)
	}
	ann.send("POST", "/records/embeddings/search", api.Search{Query: "word", Limit: -1}).refused(api.ErrInvalid)
	ann.send("POST", "/records/embeddings/search", api.Search{Query: strings.Repeat("x", 20000)}).refused(api.ErrInvalid)
	if got := ann.search("", 5); len(got) != 0 {
		t.Errorf("no words: got %q", got)
	}
}

// Staged uploads that nobody publishes are collected.
func TestAbandonedUploads(t *testing.T) {
	c := newCommunity(t)
	ann := c.user("ann", "write")
	kept := ann.publish("kept", api.Private, skillText("kept", "", "1"))
	lost := ann.stage("SKILL.md", "lost")
	if got, err := c.storage.Collect(context.Background(), time.Now().Add(-time.Hour)); err != nil || got.Blobs != 0 {
		t.Errorf("got %+v, %v, want young uploads spared", got, err)
	}
	if got, err := c.storage.Collect(context.Background(), time.Now().Add(time.Hour)); err != nil || got.Blobs != 1 {
		t.Errorf("got %+v, %v, want one upload collected", got, err)
	}
	ann.send("POST", "/records", creation("lost", lost, api.Private)).refused(api.ErrNotFound)
	ann.get("/records/"+kept.RecordID+"/download").want(200, nil)
}

func TestSkillText(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	for _, tt := range []struct{ name, id, text, wantName, wantDescription string }{
		{"all there", "x__clo_1", skillText("real", "what it does", "body"), "real", "what it does"},
		{"no name", "folder-name__clo_2", "---\ndescription: d\n---\nb", "folder-name", "d"},
		{"no header", "plain__clo_3", "# Title\n\nFirst line.\n", "plain", "First line."},
		{"quoted", "q__clo_4", "---\nname: q\ndescription: \"a: <b> & \\\"c\\\"\"\n---\n", "q", `a: <b> & "c"`},
		{"folded", "f__clo_5", "---\nname: f\ndescription: >\n  two\n  lines\n---\n", "f", "two lines"},
	} {
		r := ann.publish(tt.id, api.Private, tt.text)
		if r.Name != tt.wantName || r.Description != tt.wantDescription {
			t.Errorf("%s: got %q, %q, want %q, %q", tt.name, r.Name, r.Description, tt.wantName, tt.wantDescription)
		}
	}
	for name, files := range map[string][]string{
		"not text":     {"SKILL.md", "\xff\xfe"},
		"empty":        {"SKILL.md", " \n"},
		"no skill":     {"README.md", "x"},
		"skill below":  {"a/SKILL.md", "x", "b/y", "z"},
		"only sidecar": {".skill_id", "x"},
		"nothing":      {},
	} {
		if a := ann.tryStage(files...); a.status != 422 {
			t.Errorf("%s: got status %d: %s", name, a.status, a.body)
		}
	}
}

// Everything survives a stop, and what a stop did not have time to write is made again.
func TestRestart(t *testing.T) {
	c := newCommunity(t)
	ann := c.user("ann", "write")
	for i := range 20 {
		ann.publish(fmt.Sprintf("s%02d", i), api.Public, skillText(fmt.Sprintf("s%02d", i), "word", fmt.Sprint(i)))
	}
	ann.get("/records/s03/download").want(200, nil)
	var before api.Page
	ann.get("/records").want(200, &before)
	check := func() {
		t.Helper()
		var after api.Page
		ann.get("/records").want(200, &after)
		if fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("got %v, want %v", after, before)
		}
		if got := ann.search("word", 300); len(got) != 20 {
			t.Errorf("got %d rows, want 20", len(got))
		}
	}
	c.stop()
	c.start()
	check()
	c.stop()
	if err := os.RemoveAll(filepath.Join(c.dir, "index")); err != nil {
		t.Fatal(err)
	}
	c.start()
	check()
}

// Damage of the index that only a search can find mends itself.
func TestDamagedIndex(t *testing.T) {
	var log lockedBuffer
	c := newCommunity(t, func(o *registry.Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	ann := c.user("ann", "write")
	var words strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&words, "term%dx%d ", i, i*i)
	}
	for i := range 5 {
		ann.publish(fmt.Sprintf("s%d", i), api.Public, skillText("s", "word", fmt.Sprint(i, " ", words.String())))
	}
	c.stop()
	files, err := filepath.Glob(filepath.Join(c.dir, "index", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %q, %v, want one", files, err)
	}
	data := []byte(readFile(t, files[0]))
	if len(data) < 128<<10 {
		t.Fatalf("the index has only %d bytes: it is checked whole when it is opened", len(data))
	}
	for i := 64 << 10; i < len(data)-1024; i += 20 { // the beginning and the end are checked when it is opened
		data[i] ^= 0xff
	}
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	for i := range 3 {
		if got := ann.search(fmt.Sprintf("word term%dx%d", i, i*i), 10); len(got) != 5 {
			t.Errorf("got %q, want five records", got)
		}
	}
	if n := strings.Count(log.String(), "search index is damaged"); n != 1 {
		t.Errorf("the index was made anew %d times, want once", n)
	}
}

// Two servers on one storage follow each other.
func TestTwoServers(t *testing.T) {
	one := newCommunity(t)
	two := newCommunity(t)
	two.stop()
	two.dir, two.o.IndexDir = one.dir, ""
	two.start()
	ann := one.user("ann", "write")
	there := user{two, ann.key}
	ann.publish("a", api.Public, skillText("a", "word", "1"))
	time.Sleep(250 * time.Millisecond)
	there.get("/records/a").want(200, nil)
	if got := there.search("word", 5); !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q from the other server", got)
	}
	there.tryPublish("a", api.Public, skillText("a", "", "2")).refused(api.ErrIDTaken)
}

func TestDiscovery(t *testing.T) {
	c := newCommunity(t)
	ann, bob, nobody := c.user("ann", "write"), c.user("bob", "write"), user{c, ""}
	old := ann.publish("old", api.Public, skillText("tool", "first", "1"))
	ann.publish("new", api.Public, skillText("tool", "second", "2"), func(r *api.Create) { r.Origin, r.ParentSkillIDs = api.Fixed, []string{old.RecordID} })
	bob.publish("squat", api.Public, skillText("Tool", "not hers", "3"))
	ann.publish("priv", api.Private, skillText("priv", "", "4"))
	gone := "gone"
	ann.publish("dep", api.Public, skillText("dep", "", "5"))
	ann.send("PATCH", "/records/dep", api.Change{Deprecated: &gone}).want(200, nil)
	var list struct {
		Schema string `json:"$schema"`
		Skills []struct{ Name, Type, Description, URL, Digest string }
	}
	a := nobody.do("GET", "/.well-known/agent-skills/index.json", nil).want(200, &list)
	if list.Schema != "https://schemas.agentskills.io/discovery/0.2.0/schema.json" || len(list.Skills) != 1 {
		t.Fatalf("got %s", a.body)
	}
	s := list.Skills[0]
	if s.Name != "tool" || s.Type != "archive" || s.Description != "second" {
		t.Errorf("got %+v, want the latest of the oldest line", s)
	}
	archive := nobody.do("GET", s.URL, nil).want(200, nil)
	if "sha256:"+strings.Trim(archive.header.Get("ETag"), `"`) != s.Digest {
		t.Errorf("got digest %s and etag %s", s.Digest, archive.header.Get("ETag"))
	}
	nobody.do("GET", "/.well-known/agent-skills/index.json", nil, "If-None-Match", a.header.Get("ETag")).want(304, nil)
	nobody.do("GET", "/.well-known/agent-skills/priv.zip", nil).refused(api.ErrNotFound)
	nobody.do("GET", "/.well-known/agent-skills/..%2F..%2Fx.zip", nil).refused(api.ErrNotFound)

	closed := newCommunity(t, func(o *registry.Options) { o.Closed = true })
	user{closed, ""}.do("GET", "/.well-known/agent-skills/index.json", nil).refused(api.ErrUnauthorized)
	closed.user("ann", "read").do("GET", "/.well-known/agent-skills/index.json", nil).want(200, nil)
}

func TestHealthAndMetrics(t *testing.T) {
	c := newCommunity(t)
	ann, nobody := c.user("ann", "write"), user{c, ""}
	ann.publish("a", api.Public, skillText("a", "", "1"))
	ann.get("/records/none").refused(api.ErrNotFound)
	nobody.do("GET", "/healthz", nil).want(200, nil)
	text := string(nobody.do("GET", "/metrics", nil).want(200, nil).body)
	for _, want := range []string{
		`openspace_registry_records{visibility="public"} 1`, "openspace_registry_keys 1", "openspace_registry_indexed 1",
		`openspace_registry_request_seconds_count{method="POST",path="/api/v1/records",status="201"} 1`,
		`openspace_registry_request_seconds_count{method="GET",path="/api/v1/records/{record_id}",status="404"} 1`,
		"# TYPE openspace_registry_request_seconds histogram",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("metrics lack %q:\n%s", want, text)
		}
	}
}

func TestMethods(t *testing.T) {
	ann := newCommunity(t).user("ann", "write")
	for path, allow := range map[string]string{
		"/records": "GET, POST", "/records/x": "DELETE, GET, PATCH", "/records/x/download": "GET", "/records/metadata": "GET",
		"/records/embeddings/search": "POST", "/artifacts/stage": "POST",
	} {
		a := ann.do("PUT", api.BasePath+path, io.NopCloser(strings.NewReader("")))
		a.refused(api.ErrMethod)
		if got := a.header.Get("Allow"); got != allow {
			t.Errorf("%s: got Allow %q, want %q", path, got, allow)
		}
	}
	ann.get("/records/embeddings/search").refused(api.ErrMethod)
	ann.get("/nothing").refused(api.ErrNotFound)
	ann.do("GET", "/", nil).refused(api.ErrNotFound)
}
