package transfer_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// record asks the registry about one.
func (a *agent) record(id string) api.Record {
	a.t.Helper()
	r, err := a.client.Record(a.t.Context(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

func TestPublish(t *testing.T) {
	c := newCommunity(t, "")
	ann := c.agent("ann")
	dir := ann.skill("weather", weather("v1")...)
	res := ann.publish(dir)
	if res.Action != transfer.ActionCreated || !strings.HasPrefix(res.RecordID, "weather__clo_") || res.SkillID != res.RecordID || res.SkillDir != dir ||
		res.Name != "weather" || res.Origin != "imported" || res.FileCount != 2 || res.Visibility != "public" || res.ArtifactID == "" {
		t.Errorf("got %+v", res)
	}
	ann.wantID(dir, res.RecordID)
	ann.wantStatus(dir, store.Clean)
	if rec := ann.record(res.RecordID); rec.Owner != "ann" || rec.FileCount != 2 {
		t.Errorf("got %+v", rec)
	}
	// ZP-11 and resuming: a second run sends nothing.
	if again := ann.publish(dir); again.Action != transfer.ActionExists || again.RecordID != res.RecordID {
		t.Errorf("a second time: got %+v", again)
	}
}

// B15: a public skill without parents is told as additions to nothing; others are not shown.
func TestContentDiffOfANewSkill(t *testing.T) {
	var sent api.Create
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = api.Create{}
		if strings.HasSuffix(r.URL.Path, "/stage") {
			io.Copy(io.Discard, r.Body)
		} else if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		io.WriteString(w, `{"artifact_id":"a","record_id":"x__clo_00000001"}`)
	}))
	defer s.Close()
	c, err := cloud.New(cloud.Options{Base: s.URL + api.BasePath, Key: "k", Patience: -1})
	if err != nil {
		t.Fatal(err)
	}
	a := newAgent(t)
	a.client = c
	files := append(weather("v1"), "logo.png", "\x89PNG\x00", "no-end.txt", "x\r\ny")
	dir := a.skill("weather", files...)
	a.publish(dir, func(u *transfer.Upload) { u.NoWriteBack = true })
	want := map[string]string{"SKILL.md": files[1], "scripts/run.sh": files[3], "no-end.txt": "x\r\ny"}
	if sent.ContentDiff == nil {
		t.Fatal("no content_diff was sent")
	}
	wantApplies(t, nil, *sent.ContentDiff, want)
	if sent.Level != api.Level || sent.ParentSkillIDs == nil || sent.Tags == nil {
		t.Errorf("got %+v", sent)
	}
	if _, err := a.uploader().Publish(t.Context(), dir, api.Private); err != nil || sent.ContentDiff != nil {
		t.Errorf("private: got %v, %v", sent.ContentDiff, err)
	}
}

// wantApplies demands that a content diff is a patch that leads from one set of files to another (B15).
func wantApplies(t *testing.T, before map[string]string, patch string, after map[string]string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		return
	}
	dir := t.TempDir()
	for name, text := range before {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(git, "apply", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
	}
	got := tree(t, dir)
	if len(got) != len(after) {
		t.Errorf("got files %q, want %q", names(got), names(after))
	}
	for name, want := range after {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}

// B23: parents are named as the registry knows them, and the id that came back is the parent of the next version.
func TestPublishedIDsAreParents(t *testing.T) {
	c := newCommunity(t, "")
	ann := c.agent("ann")
	dir := ann.skill("weather", weather("v1")...)
	first := ann.publish(dir)
	ann.write(filepath.Join(dir, "SKILL.md"), strings.Replace(skillText, "# Weather", "# Weather v2\r\nno end", 1))
	if err := os.Remove(filepath.Join(dir, "scripts/run.sh")); err != nil {
		t.Fatal(err)
	}
	second := ann.publish(dir)
	if second.Origin != "fixed" || !slices.Equal(second.ParentSkillIDs, []string{first.RecordID}) || second.RecordID == first.RecordID {
		t.Fatalf("got %+v", second)
	}
	rec := ann.record(second.RecordID)
	wantApplies(t, map[string]string{"SKILL.md": weather("v1")[1], "scripts/run.sh": weather("v1")[3]}, rec.ContentDiff,
		map[string]string{"SKILL.md": ann.read(filepath.Join(dir, "SKILL.md"))})
	v, err := ann.client.Versions(t.Context(), first.RecordID)
	if err != nil || v.Latest != second.RecordID || len(v.Items) != 2 {
		t.Errorf("got %+v, %v", v, err)
	}
	// Two edits, one upload: the version between is known here only.
	for _, text := range []string{"v3", "v4"} {
		ann.write(filepath.Join(dir, "SKILL.md"), weather(text)[1])
		if _, err := ann.store.Register(t.Context(), dir, true); err != nil {
			t.Fatal(err)
		}
	}
	if third := ann.publish(dir); !slices.Equal(third.ParentSkillIDs, []string{second.RecordID}) {
		t.Errorf("got parents %q, want %q", third.ParentSkillIDs, second.RecordID)
	}
}

// A folder that no store knows is a fix of the record that its .skill_id names.
func TestPublishWithoutStore(t *testing.T) {
	c := newCommunity(t, "")
	ann, again := c.agent("ann"), c.agent("ann")
	dir := ann.skill("weather", weather("v1")...)
	first := ann.publish(dir)
	again.client = ann.client
	if res := again.publish(dir); res.Action != transfer.ActionExists || res.RecordID != first.RecordID {
		t.Errorf("unchanged: got %+v", res)
	}
	other := c.agent("ann")
	ann.write(filepath.Join(dir, "SKILL.md"), weather("v2")[1])
	if res := other.publish(dir); res.Origin != "fixed" || !slices.Equal(res.ParentSkillIDs, []string{first.RecordID}) {
		t.Errorf("changed: got %+v", res)
	}
}

// The same skill has the same id in every registry.
func TestPublishInTwoRegistries(t *testing.T) {
	one, two := newCommunity(t, ""), newCommunity(t, "")
	ann := one.agent("ann")
	dir := ann.skill("weather", weather("v1")...)
	first := ann.publish(dir)
	ann.client = two.agent("ann").client
	if second := ann.publish(dir); second.RecordID != first.RecordID || second.Action != transfer.ActionCreated {
		t.Errorf("got %+v, want id %s", second, first.RecordID)
	}
}

func TestPublishDuplicate(t *testing.T) {
	c := newCommunity(t, "")
	ann, bob := c.agent("ann"), c.agent("bob")
	first := ann.publish(ann.skill("weather", weather("v1")...))
	dir := bob.skill("weather", weather("v1")...)
	res, err := bob.uploader().Publish(t.Context(), dir, api.Public)
	if err != nil || res.Status != transfer.StatusDuplicate || res.ExistingRecordID != first.RecordID || res.Message == "" {
		t.Errorf("got %+v, %v", res, err)
	}
	bob.wantID(dir, first.RecordID)
}

// B22: which source describes an upload.
func TestPublishDescription(t *testing.T) {
	const side = `{"origin":"derived","parent_skill_ids":["p__clo_00000001"],"change_summary":"s","created_by":"cara","tags":["x"]}`
	str := func(s string) *string { return &s }
	list := func(s ...string) *[]string { return &s }
	past := time.Now().Add(-time.Hour)
	tests := []struct {
		name    string
		sidecar string
		old     bool // the sidecar is older than the store's record
		stored  bool // the store has a record of the folder
		said    transfer.Said
		want    string // origin, parents, creator, summary, tags
		warned  bool
	}{
		{"nothing known", "", false, false, transfer.Said{}, "imported [] - - [md]", false},
		{"sidecar", side, false, false, transfer.Said{}, "derived [p__clo_00000001] cara s [x]", false},
		{"sidecar with defaults", `{"origin":"captured","created_by":"openspace","tags":[]}`, false, false, transfer.Said{}, "captured [] - - [md]", false},
		{"nulls", `{"origin":null,"parent_skill_ids":null,"tags":null}`, false, false, transfer.Said{}, "imported [] - - [md]", false},
		{"flags win", side, false, false, transfer.Said{Origin: str("fixed"), Parents: list("q__clo_00000001"), Tags: list("t"), CreatedBy: str("dan"), ChangeSummary: str("c")}, "fixed [q__clo_00000001] dan c [t]", false},
		{"another origin has other parents", side, false, false, transfer.Said{Origin: str("captured")}, "captured [] cara s [x]", false},
		{"newer than the store", side, false, true, transfer.Said{}, "derived [p__clo_00000001] cara s [x]", false},
		{"B22 older than the store", side, true, true, transfer.Said{}, "imported [] - - [md]", true},
		{"B22 of another version", `{"origin":"derived","parent_skill_ids":["p"],"skill_id":"other__v1_00000001"}`, false, true, transfer.Said{}, "imported [] - - [md]", true},
		{"B22 a list", `[1]`, false, false, transfer.Said{}, "imported [] - - [md]", true},
		{"B22 not utf-8", "{\"origin\":\"\xff\"}", false, false, transfer.Said{}, "imported [] - - [md]", true},
		{"broken", `{"origin":`, false, false, transfer.Said{}, "imported [] - - [md]", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t)
			dir := a.skill("weather", "SKILL.md", strings.Replace(skillText, "description:", "tags: [md]\ndescription:", 1))
			if tt.stored && !tt.old {
				register(t, a, dir)
			}
			if tt.sidecar != "" {
				path := filepath.Join(dir, skill.MetaFile)
				a.write(path, tt.sidecar)
				if tt.old {
					if err := os.Chtimes(path, past, past); err != nil {
						t.Fatal(err)
					}
				}
			}
			if tt.stored && tt.old {
				register(t, a, dir)
			}
			p, err := a.uploader(func(u *transfer.Upload) { u.Said = tt.said }).Plan(t.Context(), dir, api.Private)
			if err != nil {
				t.Fatal(err)
			}
			r := p.Result
			dash := func(s string) string {
				if s == "" {
					return "-"
				}
				return s
			}
			got := fmt.Sprintf("%s %v %s %s %v", r.Origin, r.ParentSkillIDs, dash(r.CreatedBy), dash(r.ChangeSummary), r.Tags)
			if got != tt.want || len(r.Warnings) > 0 != tt.warned {
				t.Errorf("got %s, %q, want %s", got, r.Warnings, tt.want)
			}
		})
	}
}

func register(t *testing.T, a *agent, dir string) {
	t.Helper()
	if _, err := a.store.Register(t.Context(), dir, false); err != nil {
		t.Fatal(err)
	}
}

// B24: a neighbour whose name begins with ours says nothing about us.
func TestPublishTakesItsOwnRecord(t *testing.T) {
	a := newAgent(t)
	dir := a.skill("weather", weather("v1")...)
	pro := a.skill("weather-pro", weather("pro")...)
	register(t, a, pro)
	a.write(filepath.Join(pro, "SKILL.md"), weather("better")[1])
	register(t, a, pro)
	p, err := a.uploader().Plan(t.Context(), dir, api.Private)
	if err != nil || p.Result.Origin != "imported" || len(p.Result.ParentSkillIDs) > 0 {
		t.Errorf("got %+v, %v", p, err)
	}
}

// What is wrong is found before anything is sent.
func TestPublishRefusals(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer s.Close()
	c, err := cloud.New(cloud.Options{Base: s.URL + api.BasePath, Key: "k", Patience: -1})
	if err != nil {
		t.Fatal(err)
	}
	str := func(s string) *string { return &s }
	tests := []struct {
		name  string
		files []string
		said  transfer.Said
		code  wire.Code
		want  string
		path  string
	}{
		{"no skill", []string{"a.txt", "x"}, transfer.Said{}, wire.NotFound, "SKILL.md", ""},
		{"a skill that is no text", []string{"SKILL.md", "\xff\xfe"}, transfer.Said{}, wire.Invalid, "SKILL.md", ""},
		{"ZP-07 a live key", []string{"SKILL.md", skillText, "run.sh", "a\nKEY=" + liveKey}, transfer.Said{}, wire.Unsafe, "run.sh:2", "run.sh"},
		{"B39 unknown origin", weather("x"), transfer.Said{Origin: str("weird")}, wire.Invalid, "weird", ""},
		{"fixed without a parent", weather("x"), transfer.Said{Origin: str("fixed")}, wire.Invalid, "exactly one", ""},
		{"imported with a parent", weather("x"), transfer.Said{Parents: &[]string{"p"}}, wire.Invalid, "no parent", ""},
		{"a name that cannot travel", []string{"SKILL.md", skillText, "a:b", "x"}, transfer.Said{}, wire.Invalid, "a:b", "a:b"},
		{"a backslash", []string{"SKILL.md", skillText, `a\b`, "x"}, transfer.Said{}, wire.Invalid, `would become`, `a\b`},
		{"letter case", []string{"SKILL.md", skillText, "a", "x", "A", "y"}, transfer.Said{}, wire.Invalid, "letter case", "a"},
		{"ZP-08 too large", []string{"SKILL.md", skillText, "big.bin", strings.Repeat("x", 3000)}, transfer.Said{}, wire.TooLong, "big.bin", "big.bin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t)
			a.client = c
			dir := a.skill("weather", tt.files...)
			_, err := a.uploader(func(u *transfer.Upload) { u.Said, u.Limits.File = tt.said, 2000 }).Publish(t.Context(), dir, api.Public)
			if e := wantCode(t, err, tt.code, tt.want); e.Path != tt.path {
				t.Errorf("got path %q, want %q", e.Path, tt.path)
			}
		})
	}
	a := newAgent(t)
	_, err = a.uploader().Publish(t.Context(), filepath.Join(a.root, "none"), api.Public)
	wantCode(t, err, wire.NotFound)
	if asked > 0 {
		t.Errorf("the registry was asked %d times", asked)
	}
}

// liveKey looks like one of a service. It is put together here so that nobody takes this file for a leak.
var liveKey = "gh" + "p_" + strings.Repeat("aB3dE6gH9j", 4)

func TestPublishSecretByWill(t *testing.T) {
	c := newCommunity(t, "")
	ann := c.agent("ann")
	dir := ann.skill("weather", "SKILL.md", skillText, "run.sh", "KEY="+liveKey)
	res, err := ann.uploader(func(u *transfer.Upload) { u.AllowSecret = true }).Publish(t.Context(), dir, api.Private)
	if err != nil || res.FileCount != 2 {
		t.Errorf("got %+v, %v", res, err)
	}
}

// ZP-02 and ZP-07: only what belongs to the skill goes up.
func TestPlanListsFiles(t *testing.T) {
	a := newAgent(t)
	secret := filepath.Join(t.TempDir(), "id_ed25519")
	a.write(secret, "private")
	dir := a.skill("weather", "SKILL.md", skillText, ".git/config", "x", ".env", "A=1", ".env.local", "x", "keys/id_rsa", "x", "server.pem", "x",
		"credentials.json", "{}", ".npmrc", "x", ".env.example", "A=", "node_modules/a.js", "x", "a.swp", "x", ".skill_id", "x\n", "LICENSE", "MIT")
	if err := os.Symlink(secret, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p, err := a.uploader().Plan(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	var sent, left []string
	for _, f := range p.FileRecords() {
		if f.LeftOut == "" {
			sent = append(sent, f.Path)
			continue
		}
		left = append(left, f.Path+" "+f.LeftOut)
	}
	if want := []string{".env.example", "LICENSE", "SKILL.md"}; !slices.Equal(sent, want) {
		t.Errorf("sent: got %q, want %q", sent, want)
	}
	for _, want := range []string{".git/ version-control", ".env env-file", "link link-outside", "server.pem secret", "node_modules/ cache", ".skill_id sidecar"} {
		if !slices.Contains(left, want) {
			t.Errorf("left out: got %q, want %q among them", left, want)
		}
	}
	if p.Result.Status != transfer.StatusDryRun {
		t.Errorf("got %+v", p.Result)
	}
}

// ZP-03: however a folder is named, it is the same archive.
func TestPackSpellings(t *testing.T) {
	a := newAgent(t)
	dir := a.skill("weather", weather("v1")...)
	t.Chdir(dir)
	want, err := transfer.Pack(dir, transfer.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, spelling := range []string{".", "../weather", dir + "/", "./"} {
		p, err := transfer.Pack(spelling, transfer.DefaultLimits())
		if err != nil || p.Fingerprint != want.Fingerprint || len(p.Files) != len(want.Files) {
			t.Errorf("%s: got %+v, %v", spelling, p, err)
		}
	}
}

func TestPublishManyAtOnce(t *testing.T) {
	c := newCommunity(t, "")
	ann := c.agent("ann")
	u := ann.uploader()
	var wg sync.WaitGroup
	for i := range 12 {
		text := fmt.Sprintf("---\nname: s%d\ndescription: d\n---\nbody %d\n", i, i)
		dir := ann.skill(fmt.Sprintf("s%d", i), "SKILL.md", text)
		for range 2 { // the second one finds it there
			wg.Go(func() {
				if _, err := u.Publish(t.Context(), dir, api.Public); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	n := 0
	for _, err := range ann.client.Mine(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 12 {
		t.Errorf("got %d records, want 12", n)
	}
}
