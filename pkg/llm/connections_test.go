package llm_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// One connection is enough for one conversation, and a server that keeps a stream open after its end does not
// hold the answer.
func TestConnections(t *testing.T) {
	var made atomic.Int32
	web := httptest.NewUnstartedServer(llmtest.New(llmtest.Script{Rules: []llmtest.Rule{{When: llmtest.Expect{LastContains: []string{"hang"}},
		Step: llmtest.Step{Reply: llmtest.Reply{Text: "ok"}, Fault: llmtest.Fault{Hang: true}}}, {Step: ok}}}))
	web.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			made.Add(1)
		}
	}
	web.Start()
	defer web.Close()
	m := open(t, web.URL)
	n := int32(0)
	for range 50 { // a busy server may be so late with an answer's end that it is not waited for
		before := made.Load()
		for range 5 {
			chat(t, m, ask("x"))
		}
		if n = made.Load() - before; n == 0 {
			break
		}
	}
	if n > 0 {
		t.Errorf("%d connections for 5 requests, want one of before", n)
	}
	start := time.Now()
	if chat(t, m, ask("hang")); time.Since(start) > time.Minute {
		t.Errorf("took %s", time.Since(start))
	}
}
