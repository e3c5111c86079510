package registry_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
)

const base = api.BasePath

func body(v any) io.Reader {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return bytes.NewReader(data)
}

var (
	isJSON = []string{"Content-Type", "application/json"}
	isForm = []string{"Content-Type", "multipart/form-data; boundary=" + boundary}
)

// scenario asks everything once.
func (d *described) scenario(c *community) {
	ann, bob, reader, nobody := c.user("ann", "write", "red"), c.user("bob", "write"), c.user("eve", "read"), user{c, ""}
	d.publishing(ann, reader, nobody)
	d.reading(ann, bob, nobody)
	d.changing(ann, bob, nobody)
	d.aside(ann, nobody)
}

func (d *described) stage(u user, status int, files io.Reader, headers ...string) string {
	d.t.Helper()
	a := d.do(u, status, "POST", base+"/artifacts/stage", files, headers...)
	var s api.Staged
	json.Unmarshal(a.body, &s)
	return s.ArtifactID
}

// publishing leaves the records full, of every field, fix, its fix, and plain.
func (d *described) publishing(ann, reader, nobody user) {
	text := "---\nname: full\ndescription: word\nlicense: MIT\nversion: 1.2.3\n---\nSet the password first.\n"
	d.stage(nobody, 401, form("SKILL.md", text), isForm...)
	d.stage(reader, 403, form("SKILL.md", text), isForm...)
	d.stage(ann, 415, form("SKILL.md", text))
	d.stage(ann, 400, strings.NewReader("x"), isForm...)
	d.stage(ann, 413, form("SKILL.md", strings.Repeat("x", 2<<20)), isForm...)
	d.stage(ann, 422, form("SKILL.md", text, "../x", "y"), isForm...)
	artifact := d.stage(ann, 200, form("SKILL.md", text, ".env", "x"), isForm...)

	create := func(u user, status int, id, artifact string, change ...func(*api.Create)) {
		d.t.Helper()
		req := creation(id, artifact, api.Public)
		for _, f := range change {
			f(&req)
		}
		d.do(u, status, "POST", base+"/records", body(req), isJSON...)
	}
	grouped := func(r *api.Create) {
		key := ed25519.NewKeyFromSeed(make([]byte, 32))
		r.Visibility, r.Groups = api.Group, []string{"red"}
		r.Signature = api.Sign(key, api.Fingerprint([]api.File{{Path: "SKILL.md", Data: []byte(text)}}), "full")
	}
	create(nobody, 401, "full", artifact)
	create(reader, 403, "full", artifact)
	create(ann, 404, "full", "art_none")
	create(ann, 422, "full", artifact, func(r *api.Create) { r.Visibility = "x" })
	create(ann, 413, "full", artifact, func(r *api.Create) { r.ChangeSummary = strings.Repeat("x", 100<<10) })
	d.do(ann, 400, "POST", base+"/records", strings.NewReader("{"), isJSON...)
	create(ann, 201, "full", artifact, grouped)
	create(ann, 200, "full", artifact, grouped)
	create(ann, 409, "other", artifact)
	create(ann, 422, "evil", ann.stage("SKILL.md", evil))
	diff := "--- a/SKILL.md\n+++ b/SKILL.md\n"
	create(ann, 201, "fix", ann.stage("SKILL.md", text+"more\n"), func(r *api.Create) {
		r.Origin, r.ParentSkillIDs, r.ContentDiff = api.Fixed, []string{"full"}, &diff
	})
	create(ann, 201, "plain", ann.stage("SKILL.md", "# Plain\n\nNothing.\n"))
}

func (d *described) reading(ann, bob, nobody user) {
	for _, path := range []string{base + "/records/full", base + "/records/full/download", base + "/records/full/versions"} {
		a := d.do(ann, 200, "GET", path, nil)
		d.do(nobody, 401, "GET", path, nil)
		d.do(bob, 404, "GET", path, nil)
		if tag := a.header.Get("ETag"); tag != "" {
			d.do(ann, 304, "GET", path, nil, "If-None-Match", tag)
		}
	}
	d.do(ann, 206, "GET", base+"/records/full/download", nil, "Range", "bytes=0-3")
	d.do(ann, 200, "GET", base+"/records/fix", nil)
	for _, path := range []string{base + "/records", base + "/records/metadata"} {
		d.do(ann, 200, "GET", path+"?limit=1", nil)
		d.do(ann, 400, "GET", path+"?limit=x", nil)
		d.do(nobody, 401, "GET", path, nil)
	}
	search := base + "/records/embeddings/search"
	d.do(ann, 200, "POST", search, body(api.Search{Query: "word"}), isJSON...)
	d.do(ann, 400, "POST", search, strings.NewReader("x"), isJSON...)
	d.do(nobody, 401, "POST", search, body(api.Search{Query: "word"}), isJSON...)
	d.do(ann, 413, "POST", search, body(api.Search{Query: strings.Repeat("x", 100<<10)}), isJSON...)
	d.do(ann, 422, "POST", search, body(api.Search{Query: "x", Limit: -1}), isJSON...)
}

func (d *described) changing(ann, bob, nobody user) {
	why, secret := "use fix", "x"
	change := func(u user, status int, id string, v any, headers ...string) {
		d.t.Helper()
		d.do(u, status, "PATCH", base+"/records/"+id, body(v), append(headers, isJSON...)...)
	}
	change(nobody, 401, "plain", api.Change{})
	change(bob, 403, "plain", api.Change{Deprecated: &why})
	change(bob, 404, "full", api.Change{Deprecated: &why})
	change(ann, 412, "plain", api.Change{Deprecated: &why}, "If-Match", `"r0"`)
	change(ann, 422, "plain", api.Change{Visibility: &secret})
	change(ann, 200, "full", api.Change{Deprecated: &why})
	d.do(ann, 400, "PATCH", base+"/records/plain", strings.NewReader("x"), isJSON...)
	d.do(ann, 415, "PATCH", base+"/records/plain", strings.NewReader("{}"), "Content-Type", "text/plain")
	remove := func(u user, status int, id string, headers ...string) {
		d.t.Helper()
		d.do(u, status, "DELETE", base+"/records/"+id, nil, headers...)
	}
	remove(nobody, 401, "plain")
	remove(bob, 403, "plain")
	remove(bob, 404, "none")
	remove(ann, 412, "plain", "If-Match", `"r0"`)
	remove(ann, 204, "plain")
}

func (d *described) aside(ann, nobody user) {
	d.do(ann, 200, "GET", base+"/me", nil)
	d.do(nobody, 401, "GET", base+"/me", nil)
	d.do(nobody, 200, "GET", "/healthz", nil)
	d.do(nobody, 200, "GET", "/metrics", nil)
	list := "/.well-known/agent-skills/index.json"
	d.do(nobody, 304, "GET", list, nil, "If-None-Match", d.do(nobody, 200, "GET", list, nil).header.Get("ETag"))
	signed := ann.publish("signed", api.Public, "# Signed\n\nx\n", func(r *api.Create) {
		r.Signature = api.Sign(ed25519.NewKeyFromSeed(make([]byte, 32)), api.Fingerprint([]api.File{{Path: "SKILL.md", Data: []byte("# Signed\n\nx\n")}}), "signed")
	})
	archive := "/.well-known/agent-skills/" + signed.RecordID + ".zip"
	d.do(nobody, 304, "GET", archive, nil, "If-None-Match", d.do(nobody, 200, "GET", archive, nil).header.Get("ETag"))
	d.do(nobody, 206, "GET", archive, nil, "Range", "bytes=0-3")
	d.do(nobody, 404, "GET", "/.well-known/agent-skills/full.zip", nil)
}
