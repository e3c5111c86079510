package cmd_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway/feishu/feishutest"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// gatewayProcess is a gateway that runs as a process of its own, with a fake Feishu and a scripted model.
type gatewayProcess struct {
	t       *testing.T
	dir     string
	feishu  *feishutest.Server
	model   *httptest.Server
	process *exec.Cmd

	env    []string  // more variables
	level  string    // of the log; "": error
	stderr io.Writer // nil: that of the test
}

func newGatewayProcess(t *testing.T, script string) *gatewayProcess {
	t.Helper()
	parsed, err := llmtest.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	g := &gatewayProcess{t: t, dir: t.TempDir(), feishu: feishutest.New(), model: httptest.NewServer(llmtest.New(parsed))}
	t.Cleanup(func() {
		g.kill()
		g.feishu.Close()
		g.model.Close()
	})
	return g
}

func (g *gatewayProcess) start() {
	g.t.Helper()
	addr := filepath.Join(g.dir, "addr")
	os.Remove(addr)
	g.process = exec.Command(filepath.Join(bin, "openspace-gateway"), "run", "--addr-file", addr, "--log-level", cmp.Or(g.level, "error"))
	g.process.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "OPENSPACE_SEARCH_SCOPE=none", "OPENSPACE_MODEL=test/model",
		"OPENSPACE_LLM_API_BASE=" + g.model.URL + "/v1", "OPENSPACE_LLM_API_KEY=key-of-the-test", "OPENSPACE_COMMUNICATION_PORT=0",
		"FEISHU_ENABLED=true", "FEISHU_ALLOW_ALL_USERS=true", "FEISHU_APP_ID=" + feishutest.AppID, "FEISHU_APP_SECRET=" + feishutest.AppSecret,
		"FEISHU_VERIFICATION_TOKEN=" + feishutest.Token, "FEISHU_DOMAIN=" + g.feishu.URL,
	}, g.env...)
	if g.process.Stderr = g.stderr; g.stderr == nil {
		g.process.Stderr = os.Stderr
	}
	if err := g.process.Start(); err != nil {
		g.t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if data, err := os.ReadFile(addr); err == nil && len(data) > 0 {
			g.feishu.Hook = "http://" + strings.TrimSpace(string(data)) + "/feishu/webhook"
			return
		}
		if time.Since(start) > awaitLimit {
			g.t.Fatal("the gateway does not start")
		}
	}
}

// say delivers a message until it is taken over: the gateway may not run, or not yet.
func (g *gatewayProcess) say(chat, text string) {
	g.t.Helper()
	id := g.feishu.Say(gatewaytest.Saying{Chat: chat, Me: "ann", Text: text})
	waitFor(g.t, "the message is taken over", func() bool {
		if !g.feishu.Acknowledged(id) {
			g.feishu.Again(id)
		}
		return g.feishu.Acknowledged(id)
	})
}

// kill ends the process as a crash would.
func (g *gatewayProcess) kill() {
	if g.process != nil && g.process.ProcessState == nil {
		g.process.Process.Kill()
		g.process.Wait()
	}
}

// CG-03 and more: whatever was acknowledged is answered once, in order, though the process is killed again
// and again.
func TestGatewayKilled(t *testing.T) {
	const chats, each = 3, 3
	g := newGatewayProcess(t, `{"conversations": [{"match": "message", "repeat": true, "steps": [{"reply": {"text": "answer to {{last}}"}}]}]}`)
	g.start()
	for i := range each {
		for c := range chats {
			g.say(fmt.Sprint("c", c), fmt.Sprintf("message %d", i))
		}
		g.kill()
		g.start()
	}
	deadline := time.Now().Add(2 * awaitLimit)
	for len(g.feishu.Shown()) < chats*each {
		if time.Now().After(deadline) {
			t.Fatalf("got %d answers, want %d", len(g.feishu.Shown()), chats*each)
		}
		time.Sleep(20 * time.Millisecond)
	}
	g.kill()
	g.start()
	time.Sleep(200 * time.Millisecond) // what would be sent twice would be sent now
	order := map[string]string{}
	for _, s := range g.feishu.Shown() {
		_, number, _ := strings.Cut(s.Text, "message ")
		order[s.Chat] += number
	}
	for chat, got := range order {
		if got != "012" {
			t.Errorf("%s: got answers %s, want 012: %+v", chat, got, g.feishu.Shown())
		}
	}
}
