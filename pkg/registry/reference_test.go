package registry_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/registry"
)

// These tests talk to the six operations of the old clients as those do: byte for byte where they are not
// done by a library.

// oldHeaders are those of every call of an old client.
var oldHeaders = []string{"User-Agent", "OpenSpace-Client/1.0", "Accept-Encoding", "identity", "Connection", "close"}

func TestUploadAndImportAsOldClientsDo(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	text := skillText("pdf-fill", "fill a pdf form", "Use `scripts/fill.py`.")

	var staged map[string]any
	body := form("SKILL.md", text, "scripts/fill.py", "print()\n", `win\x.txt`, "x", "bin/tool", "\x00\x01", ".upload_meta.json", "{}")
	u.do("POST", api.BasePath+"/artifacts/stage", body, append(oldHeaders, "Content-Type", "multipart/form-data; boundary="+boundary)...).want(200, &staged)
	if n := staged["stats"].(map[string]any)["file_count"]; n != 4.0 {
		t.Errorf("got file_count %v, want 4: the sidecar does not count", n)
	}
	artifact := staged["artifact_id"].(string)

	payload := map[string]any{"record_id": "pdf-fill__clo_1a2b3c4d", "artifact_id": artifact, "origin": "imported", "visibility": "public",
		"parent_skill_ids": []string{}, "tags": []string{"pdf"}, "level": "workflow", "created_by": "ann", "content_diff": "--- a/SKILL.md\n"}
	var created map[string]any
	u.send("POST", "/records", payload, oldHeaders...).want(201, &created)
	if created["record_id"] != "pdf-fill__clo_1a2b3c4d" || created["status"] == "duplicate" {
		t.Errorf("got %v", created)
	}
	u.send("POST", "/records", payload, oldHeaders...).want(200, &created)
	if created["record_id"] != "pdf-fill__clo_1a2b3c4d" || created["status"] == "duplicate" {
		t.Errorf("again: got %v", created)
	}

	var record map[string]any
	u.get("/records/pdf-fill__clo_1a2b3c4d", oldHeaders...).want(200, &record)
	if record["name"] != "pdf-fill" || record["description"] != "fill a pdf form" || record["visibility"] != "public" {
		t.Errorf("got %v", record)
	}
	files := map[string]string{}
	got := u.get("/records/pdf-fill__clo_1a2b3c4d/download", oldHeaders...).want(200, nil)
	for _, f := range unzip(t, got.body) {
		files[f.Path] = string(f.Data)
	}
	want := map[string]string{"SKILL.md": text, "scripts/fill.py": "print()\n", "win/x.txt": "x", "bin/tool": "\x00\x01"}
	if !maps.Equal(files, want) {
		t.Errorf("got files %q, want %q", files, want)
	}
}

func unzip(t *testing.T, data []byte) (files []api.File) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, api.File{Path: f.Name, Exec: f.Mode()&0o111 != 0, Data: content})
	}
	return files
}

// The bodies of the two conflicts have a string "error" at the top.
func TestConflictsAsOldClientsReadThem(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	one, two := skillText("one", "first", "a"), skillText("two", "second", "b")
	u.publish("one__clo_00000001", api.Public, one)
	u.publish("two__clo_00000002", api.Public, two)
	var body map[string]any
	u.tryPublish("one__clo_00000009", api.Public, one).want(409, &body)
	if body["error"] != "fingerprint_record_id_conflict" || body["existing_record_id"] != "one__clo_00000001" {
		t.Errorf("got %v", body)
	}
	u.tryPublish("one__clo_00000001", api.Public, skillText("one", "other", "c")).want(409, &body)
	if body["error"] != "record_id_fingerprint_conflict" {
		t.Errorf("got %v", body)
	}
	u.tryPublish("one__clo_00000001", api.Public, two).want(409, &body)
	if body["error"] != "record_id_fingerprint_conflict" {
		t.Errorf("an id and a content of two records: got %v", body)
	}
}

func TestSearchAsOldClientsDo(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	u.publish("docker-monitor__clo_00000001", api.Public, skillText("docker-monitor", "watch containers", "docker ps"))
	u.publish("other__clo_00000002", api.Public, skillText("other", "", "nothing of the kind"))
	var rows []map[string]any
	a := u.send("POST", "/records/embeddings/search", map[string]any{"query": "docker", "limit": 20}, oldHeaders...).want(200, &rows)
	if len(rows) != 1 || rows[0]["record_id"] != "docker-monitor__clo_00000001" {
		t.Fatalf("got %s", a.body)
	}
	for _, field := range []string{"record_id", "name", "description", "visibility", "created_by", "origin", "tags", "search_rank"} {
		if v, ok := rows[0][field]; !ok || v == nil {
			t.Errorf("field %s is missing or null in %s", field, a.body)
		}
	}
	if b := u.send("POST", "/records/embeddings/search", map[string]any{"query": "zzzz", "limit": 16}).want(200, nil).body; strings.TrimSpace(string(b)) != "[]" {
		t.Errorf("got %q for no row, want an empty array", b)
	}
}

func TestMetadataPagesAsOldClientsReadThem(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	var want, got []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		u.publish(name, api.Private, skillText(name, "", name))
		want = append(want, name)
	}
	cursor := ""
	for range 10 {
		var page map[string]any
		query := "/records/metadata?limit=2&include_embedding=true"
		if cursor != "" {
			query += "&cursor=" + url.QueryEscape(cursor)
		}
		u.get(query, oldHeaders...).want(200, &page)
		for _, item := range page["items"].([]any) {
			got = append(got, item.(map[string]any)["record_id"].(string))
		}
		if page["has_more"] != true {
			if next, there := page["next_cursor"]; !there || next != nil {
				t.Errorf("got next_cursor %v on the last page, want null", next)
			}
			break
		}
		cursor = page["next_cursor"].(string)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Old clients escape ids but leave slashes; names with blanks and slashes are in their ids.
func TestIDsInPaths(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	for i, id := range []string{"plain__clo_1", "with blank__clo_2", "a/b__clo_3", "监控容器__clo_4", "100%__clo_5", "q?#&+__clo_6", "embeddings__clo_7", "metadata/x"} {
		u.publish(id, api.Private, skillText("n", "", string(rune('a'+i))))
		old := strings.ReplaceAll(url.PathEscape(id), "%2F", "/")
		for _, path := range []string{old, url.PathEscape(id)} {
			var r api.Record
			u.get("/records/"+path).want(200, &r)
			if r.RecordID != id {
				t.Errorf("got record %q of path %q, want %q", r.RecordID, path, id)
			}
			u.get("/records/"+path+"/download").want(200, nil)
			u.get("/records/"+path+"/versions").want(200, nil)
		}
	}
	for _, path := range []string{"../../admin", "..%2F..%2Fadmin", "a%00b", "%FF", "a//b", "no-such", "x/download/download", ".", "%2e%2e"} {
		u.get("/records/" + path).refused(api.ErrNotFound)
	}
	artifact := u.stage("SKILL.md", "x")
	for _, id := range []string{"", "..", "../x", "a/../b", "/a", "a/", "metadata", "a/download", "a/versions", "embeddings/search", "-x", ".x", "a\nb", strings.Repeat("x", 241)} {
		u.send("POST", "/records", creation(id, artifact, api.Private)).refused(api.ErrInvalid)
	}
}

func TestDownloadHeaders(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	r := u.publish("a", api.Private, skillText("a", "", "x"))
	got := u.get("/records/a/download").want(200, nil)
	sum := sha256.Sum256(got.body)
	for name, want := range map[string]string{
		"Digest": "sha-256=" + base64.StdEncoding.EncodeToString(sum[:]), "ETag": `"` + hex.EncodeToString(sum[:]) + `"`,
		"Content-Type": "application/zip", "X-Skill-Fingerprint": r.Fingerprint, "Accept-Ranges": "bytes",
	} {
		if v := got.header.Get(name); v != want {
			t.Errorf("%s: got %q, want %q", name, v, want)
		}
	}
	if r.Digest != "sha256:"+hex.EncodeToString(sum[:]) || r.SizeBytes != int64(len(got.body)) || r.FileCount != 1 {
		t.Errorf("got %+v for an archive of %d bytes", r, len(got.body))
	}
	if fp := api.Fingerprint(unzip(t, got.body)); fp != r.Fingerprint {
		t.Errorf("got fingerprint %s of what was downloaded, want %s", fp, r.Fingerprint)
	}
	u.get("/records/a/download", "If-None-Match", got.header.Get("ETag")).want(304, nil)
	if part := u.get("/records/a/download", "Range", "bytes=5-9").want(206, nil); !bytes.Equal(part.body, got.body[5:10]) {
		t.Errorf("got part %q, want %q", part.body, got.body[5:10])
	}
	var after api.Record
	again := u.get("/records/a").want(200, &after)
	if after.Downloads != 1 {
		t.Errorf("got %d downloads, want 1: a part and an unchanged answer are none", after.Downloads)
	}
	u.get("/records/a", "If-None-Match", again.header.Get("ETag")).want(304, nil)
	head := u.do("HEAD", api.BasePath+"/records/a/download", nil).want(200, nil)
	if len(head.body) != 0 || head.header.Get("Content-Length") != got.header.Get("Content-Length") {
		t.Errorf("HEAD: got %d bytes and length %s", len(head.body), head.header.Get("Content-Length"))
	}
}

// The same files give the same archive, in whatever order they come.
func TestArchiveIsDeterministic(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	a := u.stage("SKILL.md", "# t\nx", "a", "1", "b", "2")
	b := u.stage("b", "2", "a", "1", "SKILL.md", "# t\nx")
	if a != b {
		t.Errorf("got artifacts %s and %s, want the same", a, b)
	}
	if c := u.stage("b", "3", "a", "1", "SKILL.md", "# t\nx"); c == a {
		t.Error("other files gave the same artifact")
	}
}

// Nothing in an answer is null but next_cursor.
func TestNoNulls(t *testing.T) {
	u := newCommunity(t).user("ann", registry.ScopeWrite)
	artifact := u.stage("SKILL.md", "# t\nword")
	var answers [][]byte
	answers = append(answers, u.send("POST", "/records", map[string]any{"record_id": "t__clo_1", "artifact_id": artifact, "origin": "captured", "visibility": "private",
		"parent_skill_ids": nil, "tags": nil, "level": nil, "created_by": nil, "content_diff": nil}).want(201, nil).body)
	for _, path := range []string{"/records/t__clo_1", "/records/metadata", "/records", "/records/t__clo_1/versions", "/me"} {
		answers = append(answers, u.get(path).want(200, nil).body)
	}
	answers = append(answers, u.send("POST", "/records/embeddings/search", map[string]any{"query": "word"}).want(200, nil).body)
	for _, body := range answers {
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatal(err)
		}
		if path := null(v, ""); path != "" && path != ".next_cursor" {
			t.Errorf("%s is null in %s", path, body)
		}
	}
}

// null returns the path of a null in a JSON value.
func null(v any, at string) string {
	switch v := v.(type) {
	case nil:
		return at
	case map[string]any:
		for k, e := range v {
			if p := null(e, at+"."+k); p != "" {
				return p
			}
		}
	case []any:
		for _, e := range v {
			if p := null(e, at+"[]"); p != "" {
				return p
			}
		}
	}
	return ""
}
