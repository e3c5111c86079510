package cmd_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
)

// community is a registry that runs as a process of its own.
type community struct {
	t         *testing.T
	dir, key  string
	addr      string
	process   *exec.Cmd
	published map[string]string // record id → digest of the archive, as it was acknowledged
}

func (c *community) start() {
	c.t.Helper()
	file := filepath.Join(c.dir, "addr")
	os.Remove(file)
	c.process = exec.Command(filepath.Join(bin, "openspace-registry"), "serve", "--data", filepath.Join(c.dir, "data"), "--listen", "127.0.0.1:0", "--addr-file", file)
	if err := c.process.Start(); err != nil {
		c.t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if addr, err := os.ReadFile(file); err == nil && len(addr) > 0 {
			c.addr = "http://" + strings.TrimSpace(string(addr)) + api.BasePath
			return
		}
		if time.Since(start) > awaitLimit {
			c.t.Fatal("the server does not start")
		}
	}
}

// call sends a request and decodes a good answer.
func (c *community) call(method, path, kind string, body io.Reader, v any) error {
	r, err := http.NewRequest(method, c.addr+path, body)
	if err != nil {
		return err
	}
	r.Header.Set(api.HeaderKey, c.key)
	r.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s", res.Status, data)
	}
	if raw, ok := v.(*[]byte); ok {
		*raw = data
		return nil
	}
	return json.Unmarshal(data, v)
}

// publish uploads one skill and returns the record that was acknowledged.
func (c *community) publish(id, text string) (r api.Record, err error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	header, err := api.PartHeader("SKILL.md", false)
	if err != nil {
		return r, err
	}
	part, err := w.CreatePart(header)
	if err != nil {
		return r, err
	}
	io.WriteString(part, text)
	w.Close()
	var staged api.Staged
	if err := c.call("POST", "/artifacts/stage", w.FormDataContentType(), &form, &staged); err != nil {
		return r, err
	}
	body, err := json.Marshal(api.Create{RecordID: id, ArtifactID: staged.ArtifactID, Origin: api.Imported, Visibility: api.Private})
	if err != nil {
		return r, err
	}
	return r, c.call("POST", "/records", "application/json", bytes.NewReader(body), &r)
}

// upload publishes skills eight at a time until the server is killed, which happens after so many.
func (c *community) upload(round, skills, killAfter int) {
	c.t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	acknowledged := 0
	for j := range 8 {
		wg.Go(func() {
			for i := j; i < skills; i += 8 {
				id := fmt.Sprintf("skill-%d-%d", round, i)
				r, err := c.publish(id, skillFile(round, i))
				if err != nil {
					return
				}
				mu.Lock()
				c.published[id] = r.Digest
				if acknowledged++; acknowledged == killAfter {
					c.process.Process.Kill()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	c.process.Wait()
	if acknowledged < killAfter || acknowledged == skills {
		c.t.Fatalf("got %d of %d uploads before the server died, want at least %d and not all", acknowledged, skills, killAfter)
	}
}

func skillFile(round, i int) string {
	return fmt.Sprintf("---\nname: skill-%d-%d\ndescription: number %d of round %d\n---\n%s\n", round, i, i, round, strings.Repeat(fmt.Sprintf("word%d ", i), 200))
}

// check demands every acknowledged record, whole.
func (c *community) check() {
	c.t.Helper()
	for id, digest := range c.published {
		var archive []byte
		if err := c.call("GET", "/records/"+id+"/download", "", nil, &archive); err != nil {
			c.t.Errorf("record %s was acknowledged and is gone: %v", id, err)
			continue
		}
		if sum := sha256.Sum256(archive); "sha256:"+hex.EncodeToString(sum[:]) != digest {
			c.t.Errorf("record %s: the archive is not what was acknowledged", id)
		}
	}
}

// A server that is killed in the middle of uploads has lost nothing that it acknowledged, and a second run of the client completes it.
func TestRegistryKilledWhileUploading(t *testing.T) {
	const rounds, skills = 3, 200
	c := &community{t: t, dir: t.TempDir(), published: map[string]string{}}
	out, err := exec.Command(filepath.Join(bin, "openspace-registry"), "keys", "add", "ann", "--data", filepath.Join(c.dir, "data"), "--plain").Output()
	if err != nil {
		t.Fatal(err)
	}
	c.key, _, _ = strings.Cut(string(out), "\t")
	var dirs []string
	for round := range rounds {
		c.start()
		c.check()
		c.upload(round, skills, 20+40*round)
		for i := range skills {
			dir := filepath.Join(c.dir, "skills", fmt.Sprintf("skill-%d-%d", round, i))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(skillFile(round, i)), 0o644); err != nil {
				t.Fatal(err)
			}
			dirs = append(dirs, dir)
		}
	}
	c.start()
	c.check()

	again := exec.Command(filepath.Join(bin, "openspace-upload-skill"), "--jobs", "8", "--visibility", "private", "--jsonl")
	again.Env = []string{"HOME=" + c.dir, "OPENSPACE_API_KEY=" + c.key, "OPENSPACE_API_BASE=" + c.addr}
	again.Stdin = strings.NewReader(strings.Join(dirs, "\n"))
	if out, err := again.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var page api.Page
	if err := c.call("GET", "/records?limit=1000", "", nil, &page); err != nil || len(page.Items) != rounds*skills {
		t.Errorf("got %d records, %v, want %d", len(page.Items), err, rounds*skills)
	}
	c.check()

	// TERM ends it when everything is answered.
	if err := c.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.process.Wait(); c.process.ProcessState.ExitCode() != 143 {
		t.Errorf("got %v after TERM, want exit status 143", err)
	}
}
