package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/journal"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func open(t *testing.T, dir string, now func() time.Time) (*ledger, []*item) {
	t.Helper()
	l, items, err := openLedger(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() })
	return l, items
}

func put(t *testing.T, l *ledger, entries ...entry) {
	t.Helper()
	if err := l.record(entries...); err != nil {
		t.Fatal(err)
	}
}

func TestLedgerReplay(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, time.Now)
	m := &Message{ID: "m", Text: "text"}
	for _, key := range []string{"a", "b", "c"} {
		if !l.claim(key) {
			t.Fatalf("%s is known", key)
		}
		put(t, l, entry{Kind: received, Key: key, Message: m})
		l.settle(key, nil)
	}
	put(t, l, entry{Kind: begun, Key: "a"}, entry{Kind: begun, Key: "a"})
	put(t, l, entry{Kind: answered, Key: "b", Parts: []part{{Text: "1"}, {Text: "2"}, {Text: "3"}}, Status: "success"})
	put(t, l, entry{Kind: sent, Key: "b", Part: 0, PartID: "p0"}, entry{Kind: sent, Key: "b", Part: 1, Undone: true}, entry{Kind: sent, Key: "b", Part: 1, PartID: "again"})
	put(t, l, entry{Kind: closed, Key: "c"}, entry{Kind: begun, Key: "nobody"})
	l.close()
	f, err := os.OpenFile(filepath.Join(dir, "000001.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"kind":"closed","key":"a"}` + "\n" + `{"kind":"rec`) // no checksum, and torn
	f.Close()

	l, items := open(t, dir, time.Now)
	if len(items) != 2 || items[0].key != "a" || items[0].begun != 2 || items[0].answered || items[1].key != "b" || len(items[1].ids) != 2 || items[1].ids[0] != "p0" || items[1].ids[1] != "" {
		t.Errorf("got %+v", items)
	}
	if l.damaged != 2 {
		t.Errorf("got %d damaged lines, want the one without a checksum and the torn one", l.damaged)
	}
	for _, key := range []string{"a", "b", "c"} {
		if l.claim(key) {
			t.Errorf("%s is not known after a restart", key)
		}
	}
	put(t, l, entry{Kind: closed, Key: "a"})
}

// As long as nothing can be written all is not well, though the channels are up.
func TestLedgerFailing(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, time.Now)
	put(t, l, entry{Kind: closed, Key: "a"})
	g, good := &Gateway{ledger: l, state: "running"}, l.journal
	for _, tt := range []struct {
		journal *journal.Journal
		want    string
	}{{journal.New(filepath.Join(dir, "000001.jsonl")), "degraded"}, {good, "ok"}} {
		l.journal = tt.journal
		err := l.record(entry{Kind: closed, Key: "b"})
		if got := g.health(false).Status; got != tt.want || (err == nil) != (tt.want == "ok") {
			t.Errorf("got %s after %v, want %s", got, err, tt.want)
		}
	}
}

// A duplicate waits for the first one to be on disk; when that fails it takes its place.
func TestLedgerClaim(t *testing.T) {
	l, _ := open(t, t.TempDir(), time.Now)
	if !l.claim("k") {
		t.Fatal("known")
	}
	var wait sync.WaitGroup
	got := make(chan bool, 1)
	wait.Go(func() { got <- l.claim("k") })
	time.Sleep(5 * time.Millisecond)
	l.settle("k", errors.New("disk full"))
	wait.Wait()
	if !<-got {
		t.Error("the duplicate is dropped though nobody has stored it")
	}
	l.settle("k", nil)
	if l.claim("k") {
		t.Error("got a claim of what is stored")
	}
}

// Old segments lose what nobody needs, and a message is forgotten in the end.
func TestLedgerCompact(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	l, _ := open(t, dir, func() time.Time { return now })
	text := strings.Repeat("x", 1<<20)
	for i := range 40 {
		key := fmt.Sprint(i)
		l.claim(key)
		put(t, l, entry{Kind: received, Key: key, Message: &Message{ID: key, Text: text}})
		l.settle(key, nil)
		if i != 3 {
			put(t, l, entry{Kind: closed, Key: key})
		}
	}
	l.close()
	l, items := open(t, dir, func() time.Time { return now })
	if len(items) != 1 || items[0].key != "3" || l.claim("0") {
		t.Errorf("got %d items; 0 is forgotten or not", len(items))
	}
	size := int64(0)
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, f := range files[:len(files)-1] {
		info, _ := os.Stat(f)
		size += info.Size()
	}
	if len(files) < 2 || size > 3<<20 {
		t.Errorf("got %d segments and %d bytes in the old ones", len(files), size)
	}
	l.close()
	now = now.Add(seenFor + time.Hour)
	l, items = open(t, dir, func() time.Time { return now })
	if len(items) != 1 || !l.claim("0") {
		t.Errorf("got %d items; 0 is still known", len(items))
	}
	l.settle("0", nil)
}

// What waits at the same time is written together, and one that is too long takes no other along.
func TestLedgerTogether(t *testing.T) {
	l, _ := open(t, t.TempDir(), time.Now)
	var wait sync.WaitGroup
	errs := make([]error, 50)
	for i := range errs {
		wait.Go(func() {
			text := "x"
			if i == 7 {
				text = strings.Repeat("x", 5<<20)
			}
			errs[i] = l.record(entry{Kind: received, Key: fmt.Sprint(i), Message: &Message{Text: text}})
		})
	}
	wait.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 7) {
			t.Errorf("%d: got %v", i, err)
		}
	}
}

func TestSessionKey(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []Chat{{ID: "a b"}, {ID: "a-b"}, {ID: "群"}, {ID: "组"}, {ID: "a__b"}, {ID: "a", Thread: "b"}, {ID: "../../x"}, {ID: ""}, {ID: strings.Repeat("x", 300)}} {
		key := sessionKey(Account{"feishu", "app"}, c)
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q have the key %q", c, other, key)
		}
		seen[key] = fmt.Sprint(c)
		if strings.ContainsAny(key, "/ \\") || strings.Contains(key, "..") || len(key) > 130 {
			t.Errorf("%q: got key %q", c, key)
		}
	}
}

// A task whose answer cannot be put on disk, because that is full, is not run again: its answer is kept until
// it can be.
func TestAnswerOnFullDisk(t *testing.T) {
	l := &ledger{queue: make(chan commit), ended: make(chan struct{}), now: time.Now}
	tries := 0
	go func() {
		for c := range l.queue {
			tries++
			var err error
			if tries < 4 {
				err = errors.New("no space left on device")
			}
			c.done <- err
		}
	}()
	defer close(l.queue)
	g := &Gateway{ledger: l, ctx: t.Context(), now: time.Now, log: slog.New(slog.DiscardHandler), mask: Masker(nil), options: Options{Pause: time.Millisecond}}
	it := &item{key: "k"}
	if err := g.settleAnswer(it, wire.Result{Status: "success", Response: "done"}, []part{{Text: "done"}}); err != nil || !it.answered || tries != 4 {
		t.Errorf("got %v, answered %v after %d tries, want 4", err, it.answered, tries)
	}
}
