package transfer_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// signKey is a key that is the same each time.
func signKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

// signature is one over a skill of this name without files.
func signature(t *testing.T, name string) *api.Signature {
	t.Helper()
	return api.Sign(signKey(t), api.Fingerprint(nil), name)
}

// keyFile writes a key as openssl does.
func keyFile(t *testing.T, kind string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadSignKey(t *testing.T) {
	der, err := x509.MarshalPKCS8PrivateKey(signKey(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := transfer.ReadSignKey(keyFile(t, "PRIVATE KEY", der))
	if err != nil || !got.Equal(signKey(t)) {
		t.Errorf("got %v, %v", got, err)
	}
	for name, path := range map[string]string{
		"not there": filepath.Join(t.TempDir(), "x"), "not pem": os.Args[0], "not a key": keyFile(t, "PRIVATE KEY", []byte("x")),
	} {
		if _, err := transfer.ReadSignKey(path); wire.CodeOf(err) != wire.Usage {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A signed skill is signed for those who import it, and a changed one is refused.
func TestSignatureTravels(t *testing.T) {
	c := newCommunity(t, "")
	ann, bob := c.agent("ann"), c.agent("bob")
	res := ann.publish(ann.skill("weather", weather("v1")...), func(u *transfer.Upload) { u.SignKey = signKey(t) })
	if res.SignedBy == "" {
		t.Fatalf("got %+v", res)
	}
	got := bob.fetch(res.RecordID, func(d *transfer.Download) { d.SignedBy = []string{res.SignedBy} })
	if got.SignedBy != res.SignedBy {
		t.Errorf("got %+v", got)
	}
}
