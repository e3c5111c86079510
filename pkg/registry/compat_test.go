package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/journal"
	"github.com/openspace-dev/openspace/pkg/registry"
)

// compatKeys are the keys of the directories in testdata/compat, one of each version of the format.
// Directories are never changed.
var compatKeys = map[string]string{"1": "osk_2fca058c__yPHSEQpCW0wE5QvxCYyuVWBPi55hLDCVanoAH9uwwQ"}

// A directory that an older version wrote is served and verified.
func TestCompat(t *testing.T) {
	dirs, err := filepath.Glob("testdata/compat/*")
	if err != nil || len(dirs) != len(compatKeys) {
		t.Fatalf("got %q, %v, want %d directories", dirs, err, len(compatKeys))
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c := newCommunity(t)
			c.stop()
			c.dir = t.TempDir()
			if err := os.CopyFS(c.dir, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			c.start()
			u := user{c, compatKeys[filepath.Base(dir)]}
			var r api.Record
			u.get("/records/hello__clo_e216c192").want(200, &r)
			if r.Name != "hello" || r.License != "MIT" || r.Owner != "ann" || !slices.Equal(r.Tags, []string{"greeting"}) {
				t.Errorf("got %+v", r)
			}
			if got := u.search("greeting", 5); len(got) != 1 {
				t.Errorf("got %q", got)
			}
			files := unzip(t, u.get("/records/hello__clo_e216c192/download").want(200, nil).body)
			if len(files) != 2 || files[0].Exec || !files[1].Exec || api.Fingerprint(files) != r.Fingerprint {
				t.Errorf("got files %+v", files)
			}
			checked, err := c.storage.Verify(context.Background(), func(p registry.Problem) error {
				t.Errorf("got problem %+v", p)
				return nil
			})
			if err != nil || checked != 2 {
				t.Errorf("got %d records and blobs checked, %v, want 2", checked, err)
			}
		})
	}
}

// FuzzDocuments: whatever a good line says, a server starts on it and answers.
func FuzzDocuments(f *testing.F) {
	f.Add("record", "a", `{"name":"a","owner":"ann","visibility":"public","fingerprint":"`+fmt.Sprintf("%064d", 1)+`","archive":"x","created_at":"2026-01-02T03:04:05Z"}`)
	f.Add("record", "a", `{"owner":"ann","deleted_at":"2026-01-02T03:04:05Z"}`)
	f.Add("record", "a", `{"origin":"fixed","parent_skill_ids":["a"],"groups":["",""],"visibility":"group_only"}`)
	f.Add("record", "../x", `{"name":7}`)
	f.Add("key", "k_1", `{"owner":"ann","hash":"","scope":"admin"}`)
	f.Add("key", "k_1", `{"groups":"x"}`)
	f.Add("count", "a", `{"downloads":-1}`)
	f.Add("secret", "stage", `{"secret":"zz"}`)
	f.Add("future", "x", `{"a":[1,2,{}]}`)
	f.Fuzz(func(t *testing.T, kind, id, data string) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "journal"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := ""
		for seq := range 2 {
			text += string(journal.Seal(fmt.Appendf(nil, `{"v":1,"t":"2026-01-02T03:04:05Z","seq":%d,"kind":%q,"id":%q,"data":%s}`, seq+1, kind, id, data))) + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, "journal", "000001.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files, err := registry.OpenFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer files.Close()
		server, err := registry.New(context.Background(), files, registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Verify(context.Background(), func(registry.Problem) error { return nil }); err != nil {
			t.Logf("verify: %v", err)
		}
	})
}
