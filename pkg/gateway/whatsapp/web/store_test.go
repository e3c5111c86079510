package web_test

import (
	"bytes"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/web"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func openKeys(t *testing.T, dir string) web.Keys {
	t.Helper()
	k, err := web.OpenKeys(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// keep makes a device and keeps it, as linking a phone does.
func keep(t *testing.T, k web.Keys) *store.Device {
	t.Helper()
	d := k.New()
	id := types.JID{User: "4915550100", Device: 7, Server: types.DefaultUserServer}
	d.ID, d.LID, d.PushName = &id, types.JID{User: "77001", Device: 7, Server: types.HiddenUserServer}, "Me"
	d.Account = &waAdv.ADVSignedDeviceIdentity{Details: []byte{1}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64)}
	if err := d.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// device makes a folder with the keys of a device.
func device(t *testing.T) (dir string, d *store.Device) {
	dir = filepath.Join(t.TempDir(), "a folder%20?")
	k := openKeys(t, dir)
	d = keep(t, k)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, d
}

func TestKeysStay(t *testing.T) {
	dir, d := device(t)
	k := openKeys(t, dir)
	defer k.Close()
	got, err := k.Device(t.Context())
	if err != nil || got == nil || got.ID.String() != d.ID.String() || got.LID != d.LID || !bytes.Equal(got.NoiseKey.Priv[:], d.NoiseKey.Priv[:]) || got.PushName != "Me" {
		t.Errorf("got %+v, %v, want what was kept", got, err)
	}
	for name, want := range map[string]os.FileMode{".": 0o700, "device.db": 0o600, "device.db-wal": 0o600, "device.db-shm": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want the mode %v", name, info, err, want)
		}
	}
	if err := k.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Device(t.Context()); err != nil || got != nil {
		t.Errorf("got %+v, %v after it was forgotten", got, err)
	}
}

// One process uses the keys at a time.
func TestKeysAreLocked(t *testing.T) {
	dir, _ := device(t)
	k := openKeys(t, dir)
	if _, err := web.OpenKeys(t.Context(), dir); wire.CodeOf(err) != wire.Locked {
		t.Errorf("got %v, want the code %s", err, wire.Locked)
	}
	if _, err := web.New(dir).Pair(t.Context(), "", nil); wire.CodeOf(err) != wire.Locked {
		t.Errorf("pair: got %v, want the code %s", err, wire.Locked)
	}
	k.Close()
	openKeys(t, dir).Close()
}

func TestDamagedKeys(t *testing.T) {
	whole := func(t *testing.T, dir string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, "device.db"))
		if err != nil || len(data) < 8192 {
			t.Fatalf("got %d bytes, %v", len(data), err)
		}
		return data
	}
	for name, change := range map[string]func([]byte) []byte{
		"no database": func([]byte) []byte { return bytes.Repeat([]byte("nonsense"), 2000) },
		"cut off":     func(b []byte) []byte { return b[:len(b)/2] },
		"overwritten": func(b []byte) []byte { copy(b[4096:], bytes.Repeat([]byte{0xff}, len(b)-4096)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := device(t)
			if err := os.WriteFile(filepath.Join(dir, "device.db"), change(whole(t, dir)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := web.OpenKeys(t.Context(), dir)
			if wire.CodeOf(err) != wire.Corrupt || !strings.Contains(wire.AsError(err).Hint, linked.HowToLink) {
				t.Errorf("got %v, want the code %s and what to do", err, wire.Corrupt)
			}
			err = web.New(dir).Run(t.Context(), linked.Handler{Log: slog.New(slog.DiscardHandler)})
			if !errors.Is(err, gateway.ErrFatal) {
				t.Errorf("run: got %v, want ErrFatal", err)
			}
			openKeys(t, t.TempDir()).Close() // another folder is fine
		})
	}
}

func TestForeignDatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "device.db")
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec("CREATE TABLE other (x)")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := web.OpenKeys(t.Context(), dir); wire.CodeOf(err) != wire.Invalid {
		t.Errorf("got %v, want the code %s", err, wire.Invalid)
	}
}

// A disk that is full costs nothing of what is there.
func TestFullDisk(t *testing.T) {
	dir, _ := device(t)
	k := openKeys(t, dir)
	k.DB().SetMaxOpenConns(1)
	if _, err := k.DB().Exec("PRAGMA max_page_count = 1"); err != nil {
		t.Fatal(err)
	}
	d, err := k.Device(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil && i < 1000; i++ {
		err = d.Identities.PutIdentity(t.Context(), strings.Repeat("x", 4000)+string(rune('a'+i%26))+strings.Repeat("y", i), [32]byte{})
	}
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("got %v, want that it is full", err)
	}
	k.Close()
	again := openKeys(t, dir)
	defer again.Close()
	if d, err := again.Device(t.Context()); err != nil || d == nil {
		t.Errorf("got %v, %v after that", d, err)
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := web.OpenKeys(t.Context(), filepath.Join(file, "keys")); err == nil {
		t.Error("got no error below a file")
	}
	if os.Geteuid() == 0 {
		t.Skip("modes mean nothing to root")
	}
	dir, _ := device(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if _, err := web.OpenKeys(t.Context(), dir); err == nil {
		t.Error("got no error")
	}
}

// Whose phone it is can be told while another process uses the keys.
func TestSelf(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := web.New(dir).Self(); ok || err != nil {
		t.Errorf("got %v, %v of an empty folder", ok, err)
	}
	path := filepath.Join(dir, "account.json")
	if err := os.WriteFile(path, []byte(`{"id":"4915550100@s.whatsapp.net"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := web.New(dir).Self(); ok || err != nil {
		t.Errorf("got %v, %v without keys", ok, err)
	}
	openKeys(t, dir).Close()
	for text, want := range map[string]wire.Code{"{": wire.Corrupt, "{}": wire.Corrupt, `{"id":"4915550100@s.whatsapp.net"}`: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		self, ok, err := web.New(dir).Self()
		if want != "" && wire.CodeOf(err) != want || want == "" && (err != nil || !ok || self.Number() != "4915550100") {
			t.Errorf("%s: got %+v, %v, %v", text, self, ok, err)
		}
	}
}

func TestNotLinked(t *testing.T) {
	p := web.New(t.TempDir())
	if err := p.Run(t.Context(), linked.Handler{Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, gateway.ErrFatal) || !strings.Contains(err.Error(), linked.HowToLink) {
		t.Errorf("run: got %v, want ErrFatal that says how to link", err)
	}
	if _, err := p.Unlink(t.Context()); wire.CodeOf(err) != wire.NotFound {
		t.Errorf("unlink: got %v, want the code %s", err, wire.NotFound)
	}
	if err := p.Send(t.Context(), linked.Outgoing{Chat: "1@s.whatsapp.net"}); err == nil || errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("send: got %v, want an error after which it is tried again", err)
	}
	if err := p.Send(t.Context(), linked.Outgoing{Chat: "nobody"}); !errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("send: got %v, want ErrPermanent", err)
	}
	if err := p.Fetch(t.Context(), "damaged", 1, nil); !errors.Is(err, gateway.ErrPermanent) {
		t.Errorf("fetch: got %v, want ErrPermanent", err)
	}
}
