package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/mcpserver"
)

// loadTime is how long TestLB07 lasts: a moment, or what the variable says (scripts/bench-mcp says 60s).
func loadTime() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("OPENSPACE_LOAD_TIME")); err == nil {
		return d
	}
	return 2 * time.Second
}

// LB-07: 64 calls at once with progress, and clients that hang up early: no race, no panic, nothing left behind.
func TestLB07Load(t *testing.T) {
	s := serverFor(t, func(o *mcpserver.Options) { o.Tasks, o.Beat = 200, 5*time.Millisecond })
	w := listen(t, s, mcpserver.HTTPOptions{Loopback: true})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	ses := w.session()
	run := func(until time.Time, n *atomic.Int64) {
		var wait sync.WaitGroup
		for i := range 64 {
			wait.Go(func() {
				for k := 0; time.Now().Before(until); k++ {
					if oneOfLoad(t, client, w.url, ses, i, k) {
						n.Add(1)
					}
				}
			})
		}
		wait.Wait()
	}
	var n atomic.Int64
	run(time.Now().Add(time.Second), &n) // what is made once is there
	before := settled(client)
	run(time.Now().Add(loadTime()), &n)
	after := measure(client)
	for end := time.Now().Add(patience); after.above(before) && time.Now().Before(end); after = measure(client) { // what ends, needs its time
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("%d calls; goroutines %d → %d; heap %d → %d KiB", n.Load(), before.goroutines, after.goroutines, before.heap>>10, after.heap>>10)
	if n.Load() == 0 || after.above(before) {
		t.Errorf("%d calls; got %+v, before it was %+v", n.Load(), after, before)
	}
}

// oneOfLoad does one call; false: it was one that hangs up.
func oneOfLoad(t *testing.T, client *http.Client, url, ses string, i, k int) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	body := toolCall(fmt.Sprint(k), "search_skills", `{"query":"pdf","source":"local"}`, "")
	hangUp := k%8 == 7
	if i%8 == 0 {
		body = toolCall(fmt.Sprint(k), "execute_task", `{"task":"steps 1"}`, fmt.Sprint(i))
	}
	if hangUp {
		go func() { time.Sleep(time.Duration(k%5) * time.Millisecond); cancel() }()
	}
	req, _ := http.NewRequestWithContext(ctx, "POST", url+"/mcp", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	name, value, _ := strings.Cut(ses, ": ")
	req.Header.Set(name, value)
	res, err := client.Do(req)
	if err == nil {
		defer res.Body.Close()
		var text []byte
		text, err = io.ReadAll(res.Body)
		if err == nil && !hangUp && (!strings.Contains(string(text), fmt.Sprintf(`"id":%d,"result"`, k)) || strings.Contains(string(text), `"isError":true`)) {
			t.Errorf("got %d %s", res.StatusCode, text)
		}
	}
	if err != nil && !hangUp {
		t.Error(err)
	}
	return !hangUp
}

type footprint struct {
	goroutines int
	heap       uint64
}

// above tells whether more is left than was there before.
func (f footprint) above(before footprint) bool {
	return f.goroutines > before.goroutines+10 || f.heap > before.heap+8<<20
}

// settled is what is left when nothing is under way.
func settled(client *http.Client) (f footprint) {
	for range 50 {
		client.CloseIdleConnections()
		time.Sleep(20 * time.Millisecond)
	}
	return measure(client)
}

func measure(client *http.Client) footprint {
	client.CloseIdleConnections()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), m.HeapAlloc}
}
