package cmd_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/plainclient"
	"github.com/openspace-dev/openspace/pkg/api"
)

// community is a registry that runs as a process of its own.
type community struct {
	t         *testing.T
	dir       string
	client    *plainclient.Client
	process   *exec.Cmd
	published map[string]string // record id → digest of the archive, as it was acknowledged
}

func newCommunity(t *testing.T) *community {
	t.Helper()
	c := &community{t: t, dir: t.TempDir(), published: map[string]string{}}
	out, err := exec.Command(filepath.Join(bin, "openspace-registry"), "keys", "add", "ann", "--data", filepath.Join(c.dir, "data"), "--plain").Output()
	if err != nil {
		t.Fatal(err)
	}
	key, _, _ := strings.Cut(string(out), "\t")
	c.client = plainclient.New(key)
	t.Cleanup(func() {
		if c.process != nil && c.process.ProcessState == nil {
			c.process.Process.Kill()
			c.process.Wait()
		}
	})
	return c
}

func (c *community) start(flags ...string) {
	c.t.Helper()
	file := filepath.Join(c.dir, "addr")
	os.Remove(file)
	args := append([]string{"serve", "--data", filepath.Join(c.dir, "data"), "--listen", "127.0.0.1:0", "--addr-file", file}, flags...)
	c.process = exec.Command(filepath.Join(bin, "openspace-registry"), args...)
	if err := c.process.Start(); err != nil {
		c.t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if addr, err := os.ReadFile(file); err == nil && len(addr) > 0 {
			c.client.Base = "http://" + strings.TrimSpace(string(addr)) + api.BasePath
			return
		}
		if time.Since(start) > awaitLimit {
			c.t.Fatal("the server does not start")
		}
	}
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
				r, err := c.client.Publish(id, skillFile(round, i))
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
		archive, err := c.client.Call("GET", "/records/"+id+"/download", "", nil)
		if err != nil {
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
	c := newCommunity(t)
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
	again.Env = []string{"HOME=" + c.dir, "OPENSPACE_API_KEY=" + c.client.Key, "OPENSPACE_API_BASE=" + c.client.Base}
	again.Stdin = strings.NewReader(strings.Join(dirs, "\n"))
	if out, err := again.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if all, err := c.client.List(); err != nil || len(all) != rounds*skills {
		t.Errorf("got %d records, %v, want %d", len(all), err, rounds*skills)
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

// selfSigned writes a certificate for this machine and returns what trusts it.
func selfSigned(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

func TestRegistryTLS(t *testing.T) {
	c := newCommunity(t)
	pool := selfSigned(t, c.dir)
	c.start("--tls-cert", filepath.Join(c.dir, "cert.pem"), "--tls-key", filepath.Join(c.dir, "key.pem"))
	c.client.HTTP.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	if _, err := c.client.Publish("a", skillFile(0, 0)); err == nil {
		t.Error("the server answers without TLS")
	}
	c.client.Base = strings.Replace(c.client.Base, "http://", "https://", 1)
	if _, err := c.client.Publish("a", skillFile(0, 0)); err != nil {
		t.Error(err)
	}
}
