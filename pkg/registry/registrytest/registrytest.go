// Package registrytest is the conformance suite of registry storages: a test of an implementation is a call of Run.
package registrytest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/registry"
)

// Factory opens the same storage again each time it is called; the first time it is empty.
type Factory func(t *testing.T) registry.Storage

// Run holds storages to what registry.Storage promises. make returns the factory of a new, empty storage.
func Run(t *testing.T, make func(t *testing.T) Factory) {
	for name, test := range map[string]func(t *testing.T, open Factory){
		"put and get":             putAndGet,
		"conflicts":               conflicts,
		"changes":                 changes,
		"changes by another":      changesByAnother,
		"many changes":            manyChanges,
		"concurrent puts":         concurrentPuts,
		"one winner":              oneWinner,
		"blobs":                   blobs,
		"blob that is missing":    missingBlob,
		"collect":                 collect,
		"collect spares the used": collectSpares,
		"open again":              openAgain,
		"put after close":         putAfterClose,
		"odd ids":                 oddIDs,
	} {
		t.Run(name, func(t *testing.T) { test(t, make(t)) })
	}
}

var background = context.Background()

func doc(id string, n int, hashes ...string) registry.Doc {
	return registry.Doc{Kind: registry.KindRecord, ID: id, Blobs: hashes, Data: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// opened opens the storage for the length of the test.
func opened(t *testing.T, open Factory) registry.Storage {
	t.Helper()
	s := open(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s registry.Storage, d registry.Doc, prev uint64) uint64 {
	t.Helper()
	seq, err := s.Put(background, d, prev)
	if err != nil {
		t.Fatalf("put %s after %d: %v", d.ID, prev, err)
	}
	return seq
}

func putBlob(t *testing.T, s registry.Storage, data string) string {
	t.Helper()
	hash, err := s.PutBlob(background, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256([]byte(data)); hash != hex.EncodeToString(sum[:]) {
		t.Fatalf("got hash %s of %q, want its SHA-256", hash, data)
	}
	return hash
}

// wantDoc checks the current state of a record.
func wantDoc(t *testing.T, s registry.Storage, want registry.Doc, seq uint64) {
	t.Helper()
	got, err := s.Get(background, want.Kind, want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != want.Kind || got.ID != want.ID || got.Seq != seq || !bytes.Equal(got.Data, want.Data) || !slices.Equal(got.Blobs, want.Blobs) {
		t.Errorf("got %+v, want %+v with number %d", got, want, seq)
	}
}

func putAndGet(t *testing.T, open Factory) {
	s := opened(t, open)
	if _, err := s.Get(background, registry.KindRecord, "a"); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("get from an empty storage: got %v, want ErrNotFound", err)
	}
	first := put(t, s, doc("a", 1), 0)
	if first == 0 {
		t.Error("got number 0")
	}
	wantDoc(t, s, doc("a", 1), first)
	second := put(t, s, doc("a", 2), first)
	if second <= first {
		t.Errorf("got number %d after %d", second, first)
	}
	wantDoc(t, s, doc("a", 2), second)
	key := registry.Doc{Kind: registry.KindKey, ID: "a", Data: []byte(`{"k":1}`)}
	wantDoc(t, s, doc("a", 2), second)
	wantDoc(t, s, key, put(t, s, key, 0))
}

func conflicts(t *testing.T, open Factory) {
	s := opened(t, open)
	first := put(t, s, doc("a", 1), 0)
	second := put(t, s, doc("a", 2), first)
	for _, prev := range []uint64{0, first, second + 1} {
		if _, err := s.Put(background, doc("a", 3), prev); !errors.Is(err, registry.ErrConflict) {
			t.Errorf("put after %d: got %v, want ErrConflict", prev, err)
		}
	}
	if _, err := s.Put(background, doc("b", 3), first); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("put of a new document after a state: got %v, want ErrConflict", err)
	}
	wantDoc(t, s, doc("a", 2), second)
}

// list returns the changes after a number as text.
func list(t *testing.T, s registry.Storage, after uint64) (out []string, last uint64) {
	t.Helper()
	last = after
	err := s.Changes(background, after, func(d registry.Doc) error {
		if d.Seq <= last {
			t.Errorf("number %d comes after %d", d.Seq, last)
		}
		last = d.Seq
		out = append(out, fmt.Sprintf("%s %s %s", d.Kind, d.ID, d.Data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, last
}

func changes(t *testing.T, open Factory) {
	s := opened(t, open)
	if got, _ := list(t, s, 0); len(got) != 0 {
		t.Errorf("got changes %q of an empty storage", got)
	}
	put(t, s, doc("b", 1), 0)
	_, mid := list(t, s, 0)
	a := put(t, s, doc("a", 1), 0)
	put(t, s, doc("a", 2), a)
	got, last := list(t, s, mid)
	if len(got) == 0 || got[len(got)-1] != `record a {"n":2}` || slices.Contains(got, `record b {"n":1}`) {
		t.Errorf("got changes %q", got)
	}
	if got, _ := list(t, s, last); len(got) != 0 {
		t.Errorf("got changes %q after the last", got)
	}
	stop := errors.New("stop")
	if err := s.Changes(background, 0, func(registry.Doc) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the function", err)
	}
}

// changesByAnother: a second program on the same storage sees what the first writes, and conflicts with it.
func changesByAnother(t *testing.T, open Factory) {
	one, two := opened(t, open), opened(t, open)
	seq := put(t, one, doc("a", 1), 0)
	if got, _ := list(t, two, 0); !slices.Equal(got, []string{`record a {"n":1}`}) {
		t.Errorf("got changes %q", got)
	}
	if _, err := two.Put(background, doc("a", 2), 0); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	next := put(t, two, doc("a", 2), seq)
	if _, err := one.Put(background, doc("a", 3), seq); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	put(t, one, doc("a", 3), next)
}

func manyChanges(t *testing.T, open Factory) {
	s := opened(t, open)
	const n = 3000
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := w; i < n; i += 32 {
				if _, err := s.Put(background, doc(fmt.Sprintf("id %d", i), i), 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, after := range []uint64{0, 1, n / 2, n - 10, n - 1} {
		if got, last := list(t, s, after); uint64(len(got)) != n-after || last != n {
			t.Errorf("after %d: got %d changes up to %d, want %d up to %d", after, len(got), last, n-after, n)
		}
	}
}

func concurrentPuts(t *testing.T, open Factory) {
	s := opened(t, open)
	seqs := make([]uint64, 100)
	var wg sync.WaitGroup
	for i := range seqs {
		wg.Go(func() {
			var err error
			if seqs[i], err = s.Put(background, doc(fmt.Sprint(i), i), 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, seq := range seqs {
		wantDoc(t, s, doc(fmt.Sprint(i), i), seq)
	}
	slices.Sort(seqs)
	if len(slices.Compact(seqs)) != 100 {
		t.Error("two states have one number")
	}
}

// oneWinner: of many that want to be first one is.
func oneWinner(t *testing.T, open Factory) {
	s := opened(t, open)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 50 {
		wg.Go(func() {
			_, err := s.Put(background, doc("a", i), 0)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.Is(err, registry.ErrConflict):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("got %d winners, want 1", won)
	}
}

func readBlob(t *testing.T, s registry.Storage, hash, want string) {
	t.Helper()
	b, err := s.OpenBlob(background, hash)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	data, err := io.ReadAll(b)
	if err != nil || string(data) != want || b.Size() != int64(len(want)) {
		t.Errorf("got blob %q of %d bytes, %v, want %q", data, b.Size(), err, want)
	}
	if _, err := b.Seek(0, io.SeekStart); err != nil {
		t.Error(err)
	}
}

func blobs(t *testing.T, open Factory) {
	s := opened(t, open)
	for _, data := range []string{"", "some", "some", "other\x00"} {
		readBlob(t, s, putBlob(t, s, data), data)
	}
	for _, hash := range []string{"", "x", "../../../etc/passwd", hex.EncodeToString(make([]byte, 32))} {
		if _, err := s.OpenBlob(background, hash); !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("open %q: got %v, want ErrNotFound", hash, err)
		}
	}
}

func missingBlob(t *testing.T, open Factory) {
	s := opened(t, open)
	there, missing := putBlob(t, s, "there"), hex.EncodeToString(make([]byte, 32))
	if _, err := s.Put(background, doc("a", 1, there, missing), 0); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	wantDoc(t, s, doc("a", 2, there), put(t, s, doc("a", 2, there), 0))
}

func collect(t *testing.T, open Factory) {
	s := opened(t, open)
	young := putBlob(t, s, "young")
	if got, err := s.Collect(background, time.Now().Add(-time.Minute)); err != nil || got.Blobs != 0 {
		t.Errorf("got %+v, %v, want nothing collected", got, err)
	}
	readBlob(t, s, young, "young")
	got, err := s.Collect(background, time.Now().Add(time.Minute))
	if err != nil || got != (registry.Collected{Blobs: 1, Bytes: 5}) {
		t.Errorf("got %+v, %v, want one blob of 5 bytes", got, err)
	}
	if _, err := s.OpenBlob(background, young); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("got %v for a collected blob, want ErrNotFound", err)
	}
	readBlob(t, s, putBlob(t, s, "young"), "young")
}

func collectSpares(t *testing.T, open Factory) {
	s := opened(t, open)
	first, second := putBlob(t, s, "first"), putBlob(t, s, "second")
	seq := put(t, s, doc("a", 1, first), 0)
	put(t, s, doc("b", 1, second), 0)
	if got, err := s.Collect(background, time.Now().Add(time.Minute)); err != nil || got.Blobs != 0 {
		t.Errorf("got %+v, %v, want nothing collected", got, err)
	}
	put(t, s, doc("a", 2, second), seq)
	if got, err := s.Collect(background, time.Now().Add(time.Minute)); err != nil || got.Blobs != 1 {
		t.Errorf("got %+v, %v, want the blob of the overwritten state", got, err)
	}
	readBlob(t, s, second, "second")
}

func openAgain(t *testing.T, open Factory) {
	s := open(t)
	hash := putBlob(t, s, "kept")
	seq := put(t, s, doc("a", 2, hash), put(t, s, doc("a", 1), 0))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, open)
	wantDoc(t, s, doc("a", 2, hash), seq)
	readBlob(t, s, hash, "kept")
	if got, last := list(t, s, 0); got[len(got)-1] != `record a {"n":2}` || last != seq {
		t.Errorf("got changes %q up to %d", got, last)
	}
	if next := put(t, s, doc("b", 1), 0); next <= seq {
		t.Errorf("got number %d after %d", next, seq)
	}
}

func putAfterClose(t *testing.T, open Factory) {
	s := open(t)
	put(t, s, doc("a", 1), 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(background, doc("b", 1), 0); err == nil {
		t.Error("a put after Close was taken")
	}
}

func oddIDs(t *testing.T, open Factory) {
	s := opened(t, open)
	for i, id := range []string{"a/b", "..", "ü 文", "\"\\\u2028<&>", " "} {
		wantDoc(t, s, doc(id, i), put(t, s, doc(id, i), 0))
	}
}
