package transfer_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// community is a registry under test. With lax it takes what its clients are to refuse.
type community struct {
	t       *testing.T
	storage *registry.Files
	base    string
}

func newCommunity(t *testing.T, policy string) *community {
	t.Helper()
	p, err := safety.ParsePolicy(policy)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	storage, err := registry.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := registry.New(context.Background(), storage, registry.Options{Policy: p, IndexDir: filepath.Join(dir, "index")})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewUnstartedServer(nil)
	h.Config = server.HTTP()
	h.Start()
	t.Cleanup(func() {
		h.Close()
		for _, close := range []func() error{server.Close, storage.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
	return &community{t, storage, h.URL + api.BasePath}
}

// agent is somebody with a key, a home and a skill root of their own.
type agent struct {
	t      *testing.T
	client *cloud.Client
	store  *store.Store
	home   string
	root   string
}

func (c *community) agent(name string) *agent {
	c.t.Helper()
	_, key, err := registry.AddKey(context.Background(), c.storage, name, "write", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{Base: c.base, Key: key, Patience: -1})
	if err != nil {
		c.t.Fatal(err)
	}
	a := newAgent(c.t)
	a.client = client
	return a
}

// newAgent is an agent without a registry.
func newAgent(t *testing.T) *agent {
	t.Helper()
	home := t.TempDir()
	s, err := store.Open(home, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	root, err := store.Canonical(filepath.Join(home, "skills"))
	if err != nil {
		t.Fatal(err)
	}
	return &agent{t, client(nil), s, home, root}
}

func client(c *cloud.Client) *cloud.Client { return c }

func (a *agent) downloader(change ...func(*transfer.Download)) *transfer.Downloader {
	d := transfer.Download{Client: a.client, Store: a.store, Root: a.root, Jobs: 4, Policy: safety.DefaultPolicy(), Limits: transfer.DefaultLimits()}
	for _, f := range change {
		f(&d)
	}
	return transfer.NewDownloader(d)
}

func (a *agent) uploader(change ...func(*transfer.Upload)) *transfer.Uploader {
	u := transfer.Upload{Client: a.client, Store: a.store, Jobs: 4, Limits: transfer.DefaultLimits()}
	for _, f := range change {
		f(&u)
	}
	return transfer.NewUploader(u)
}

// skill writes a skill folder: names and contents of files.
func (a *agent) skill(dir string, files ...string) string {
	a.t.Helper()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.root, dir)
	}
	for i := 0; i < len(files); i += 2 {
		a.write(filepath.Join(dir, files[i]), files[i+1])
	}
	dir, err := store.Canonical(dir)
	if err != nil {
		a.t.Fatal(err)
	}
	return dir
}

func (a *agent) write(path, content string) {
	a.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) read(path string) string {
	a.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(data)
}

// publish uploads a folder and demands success.
func (a *agent) publish(dir string, change ...func(*transfer.Upload)) wire.Upload {
	a.t.Helper()
	res, err := a.uploader(change...).Publish(a.t.Context(), dir, api.Public)
	if err != nil || res.Status != transfer.StatusSuccess {
		a.t.Fatalf("got %+v, %v", res, err)
	}
	return res
}

// fetch imports a record and demands success.
func (a *agent) fetch(id string, change ...func(*transfer.Download)) wire.Imported {
	a.t.Helper()
	res, err := a.downloader(change...).Import(a.t.Context(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	return res
}

func (a *agent) wantID(dir, want string) {
	a.t.Helper()
	if got, _ := skill.ReadID(dir); got != want {
		a.t.Errorf("got .skill_id %q, want %q", got, want)
	}
}

func (a *agent) wantStatus(dir string, want store.Status) {
	a.t.Helper()
	if got, err := a.store.Status(dir); err != nil || got != want {
		a.t.Errorf("got status %q, %v of %s, want %q", got, err, dir, want)
	}
}

// wantNoStages demands that nothing is left of what was under way.
func (a *agent) wantNoStages() {
	a.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(a.root, ".os-*")); len(left) > 0 {
		a.t.Errorf("left %q", left)
	}
}

func force(d *transfer.Download) { d.Force = true }

// weather is a skill whose content depends on text.
func weather(text string) []string {
	return []string{"SKILL.md", strings.Replace(skillText, "# Weather", "# Weather "+text, 1), "scripts/run.sh", "#!/bin/sh\necho " + text + "\n"}
}

func wantCode(t *testing.T, err error, code wire.Code, words ...string) *wire.Error {
	t.Helper()
	e := wire.AsError(err)
	if e == nil || e.Code != code || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(e.Message, w) }) {
		t.Fatalf("got %v (%s), want %s with %q", err, wire.CodeOf(err), code, words)
	}
	return e
}
