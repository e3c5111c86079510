package cloud_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/wire"
)

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
