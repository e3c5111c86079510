package llm_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

var ok = llmtest.Step{Reply: llmtest.Reply{Text: "ok"}}

func refusal(status int, body string) llmtest.Step {
	return llmtest.Step{Fault: llmtest.Fault{Status: status, Body: body}}
}

// The status decides, and where it does not the provider's own words; a number in a text is no status.
func TestRetryByStatus(t *testing.T) {
	for _, tt := range []struct {
		name  string
		step  llmtest.Step
		again bool
		kind  llm.Kind
		code  string
	}{
		{"limited", refusal(429, `{"error":{"message":"slow down"}}`), true, llm.Limited, "rate_limited"},
		{"quota", refusal(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), false, llm.NoQuota, "auth"},
		{"payment", refusal(402, `{"error":{"message":"no credits"}}`), false, llm.NoQuota, "auth"},
		{"server", refusal(500, `oops`), true, llm.Server, "network"},
		{"bad gateway", refusal(502, "<html><style>x{}</style><h1>Bad  gateway</h1></html>"), true, llm.Server, "network"},
		{"overloaded", refusal(529, `{"error":{"message":"Overloaded"}}`), true, llm.Server, "network"},
		{"key", refusal(401, `{"error":{"message":"no key"}}`), false, llm.BadAuth, "auth"},
		{"forbidden", refusal(403, `{"detail":"not for you"}`), false, llm.BadAuth, "auth"},
		{"model", refusal(404, `{"error":{"message":"model not found"}}`), false, llm.NotFound, "not_found"},
		{"B23: 500 in a text", refusal(400, `{"error":{"message":"context 150012 tokens is odd"}}`), false, llm.BadRequest, "invalid"},
		{"too long", refusal(400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`), false, llm.TooLarge, "too_long"},
		{"too long, 413", refusal(413, `big`), false, llm.TooLarge, "too_long"},
		{"refused", refusal(422, `{"detail":[{"loc":["body","x"],"msg":"bad"}]}`), false, llm.BadRequest, "invalid"},
		{"told not to", llmtest.Step{Fault: llmtest.Fault{Status: 500, Headers: map[string]string{"X-Should-Retry": "false"}}}, false, llm.Server, "network"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps := []llmtest.Step{tt.step}
			if tt.again {
				steps = []llmtest.Step{tt.step, tt.step, ok}
			}
			s := play(t, steps...)
			reply, err := open(t, s.URL).Chat(context.Background(), ask("x"))
			if tt.again && (err != nil || reply.Attempts != 3) {
				t.Errorf("got %+v, %v, want an answer at the third attempt", reply, err)
			}
			if !tt.again && (kindOf(err) != tt.kind || llm.Code(err) != tt.code) {
				t.Errorf("got %s %s: %v, want %s %s", kindOf(err), llm.Code(err), err, tt.kind, tt.code)
			}
		})
	}
}

func TestAttemptsEnd(t *testing.T) {
	s := play(t, refusal(503, ""), refusal(503, ""))
	var told []string
	_, err := open(t, s.URL, func(o *llm.Options) { o.Attempts = 2; o.Log = func(s string) { told = append(told, s) } }).Chat(context.Background(), ask("x"))
	if kindOf(err) != llm.Server || !strings.Contains(err.Error(), "(2 attempts)") || !strings.Contains(err.Error(), "Service Unavailable") {
		t.Errorf("got %v", err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "again in") {
		t.Errorf("told %q", told)
	}
}

// A server says how long to wait. A wait that is longer than the time that is left ends the call at once.
func TestRetryAfter(t *testing.T) {
	for name, value := range map[string]string{"seconds": "3600", "date": time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)} {
		t.Run(name, func(t *testing.T) {
			s := play(t, llmtest.Step{Fault: llmtest.Fault{Status: 429, RetryAfter: value}})
			start := time.Now()
			_, err := open(t, s.URL).Chat(context.Background(), ask("x"))
			if kindOf(err) != llm.Limited || time.Since(start) > time.Minute {
				t.Errorf("got %v after %s", err, time.Since(start))
			}
			var e *llm.Error
			if e, _ = err.(*llm.Error); e == nil || e.RetryAfter < 50*time.Minute || e.RetryAfter > time.Hour {
				t.Errorf("got %+v", e)
			}
		})
	}
	t.Run("longer than the caller has", func(t *testing.T) {
		s := play(t, llmtest.Step{Fault: llmtest.Fault{Status: 429, RetryAfter: "300"}})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := open(t, s.URL).Chat(ctx, ask("x")); kindOf(err) != llm.Limited || ctx.Err() != nil {
			t.Errorf("got %v, context %v", err, ctx.Err())
		}
	})
	t.Run("short", func(t *testing.T) {
		s := play(t, llmtest.Step{Fault: llmtest.Fault{Status: 429, Headers: map[string]string{"Retry-After-Ms": "50"}}}, ok)
		start := time.Now()
		chat(t, open(t, s.URL), ask("x"))
		if d := time.Since(start); d < 50*time.Millisecond {
			t.Errorf("waited %s, want 50ms at least", d)
		}
	})
}

func TestCancelEndsAtOnce(t *testing.T) {
	for name, fault := range map[string]llmtest.Fault{"before the headers": {DelayMS: 60_000}, "in the stream": {Hang: true, NoDone: true, NoFinish: true},
		"in a pause": {Status: 429, RetryAfter: "60"}} {
		t.Run(name, func(t *testing.T) {
			s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "x"}, Fault: fault})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, cancel)
			start := time.Now()
			_, err := open(t, s.URL).Chat(ctx, ask("x"))
			if llm.Code(err) != "canceled" || time.Since(start) > 20*time.Second {
				t.Errorf("got %v after %s", err, time.Since(start))
			}
		})
	}
}

// TO-05: who does not answer, or only drop by drop, is left in time, and the error names it.
func TestTO05Silence(t *testing.T) {
	limits := func(o *llm.Options) { o.Timeout, o.Attempts = 150*time.Millisecond, 2 }
	t.Run("accepts and says nothing", func(t *testing.T) {
		base := listener(t, func(net.Conn) {})
		_, err := open(t, base, limits).Chat(context.Background(), ask("x"))
		if kindOf(err) != llm.Late || llm.Code(err) != "network" || !strings.Contains(err.Error(), "127.0.0.1") || !strings.Contains(err.Error(), "(2 attempts)") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a byte of the headers now and then", func(t *testing.T) {
		base := listener(t, func(c net.Conn) {
			if _, err := c.Read(make([]byte, 1<<16)); err != nil {
				return
			}
			for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + strings.Repeat("X-A: b\r\n", 100)) {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
		if _, err := open(t, base, limits).Chat(context.Background(), ask("x")); kindOf(err) != llm.Late {
			t.Errorf("got %v", err)
		}
	})
	t.Run("stops in the stream", func(t *testing.T) {
		hang := llmtest.Step{Reply: llmtest.Reply{Text: "x"}, Fault: llmtest.Fault{Hang: true, NoDone: true, NoFinish: true}}
		s := play(t, hang, hang)
		if _, err := open(t, s.URL, limits).Chat(context.Background(), ask("x")); kindOf(err) != llm.Late {
			t.Errorf("got %v", err)
		}
	})
	t.Run("time for all", func(t *testing.T) {
		s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "many pieces", Pieces: 11}, Fault: llmtest.Fault{PauseMS: 100}})
		_, err := open(t, s.URL, func(o *llm.Options) { o.MaxTime = 300 * time.Millisecond }).Chat(context.Background(), ask("x"))
		if kindOf(err) != llm.Late || llm.Code(err) != "network" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("slow and alive", func(t *testing.T) {
		s := play(t, llmtest.Step{Reply: llmtest.Reply{Text: "abcdef", Pieces: 6}, Fault: llmtest.Fault{PauseMS: 60, Between: ": ping\n\n"}})
		if got := chat(t, open(t, s.URL, func(o *llm.Options) { o.Timeout = 5 * time.Second }), ask("x")); got.Message.Content != "abcdef" {
			t.Errorf("got %+v", got)
		}
	})
}

// listener accepts connections and gives them to serve, which need not answer.
func listener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			wg.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, err = open(t, "http://"+addr, func(o *llm.Options) { o.Attempts = 2 }).Chat(context.Background(), ask("x"))
	if kindOf(err) != llm.Unreachable || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "Post") {
		t.Errorf("got %v", err)
	}
}

// Many conversations at once do not mix.
func TestManyAtOnce(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{Answer: func(r llmtest.Request) (llmtest.Step, bool) {
		return llmtest.Step{Reply: llmtest.Reply{Text: "for " + r.Last(), Pieces: 3}}, true
	}})
	m := open(t, s.URL)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			text := strings.Repeat("x", i+1)
			if reply, err := m.Chat(context.Background(), ask(text)); err != nil || reply.Message.Content != "for "+text {
				t.Errorf("got %q, %v", reply.Message.Content, err)
			}
		})
	}
	wg.Wait()
}

// A certificate that nobody vouches for is not tried again.
func TestBadCertificateIsFinal(t *testing.T) {
	web := httptest.NewTLSServer(llmtest.New(llmtest.Script{}))
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer web.Close()
	_, err := open(t, web.URL).Chat(context.Background(), ask("x"))
	if e, _ := err.(*llm.Error); e == nil || e.Kind != llm.Unreachable || e.Attempts != 1 || !strings.Contains(e.Message, "certificate") {
		t.Errorf("got %v", err)
	}
}

// An answer without end is not read to the end.
func TestHugeAnswer(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	base := listener(t, func(c net.Conn) {
		defer c.Close()
		if _, err := c.Read(make([]byte, 1<<16)); err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"choices\":\"")
		for range 80 {
			if _, err := io.WriteString(c, piece); err != nil {
				return
			}
		}
	})
	_, err := open(t, base, func(o *llm.Options) { o.Attempts = 1 }).Chat(context.Background(), ask("x"))
	if kindOf(err) != llm.Broken || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("got %v", err)
	}
}
