package gateway_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// troubled is a channel whose Run does what the test says.
type troubled struct {
	*channel
	run func(ctx context.Context, h gateway.Host) error
}

func (c troubled) Run(ctx context.Context, h gateway.Host) error { return c.run(ctx, h) }

// A channel that fails, faults or is refused is no matter of the others; one that fails for a while is started again.
func TestChannelInTrouble(t *testing.T) {
	f := newFixture(t)
	var runs atomic.Int64
	fails := map[string]func(ctx context.Context, h gateway.Host) error{
		"fatal": func(context.Context, gateway.Host) error { return gateway.Fatal("the key is wrong") },
		"fault": func(context.Context, gateway.Host) error { panic("no such thing") },
		"ends":  func(context.Context, gateway.Host) error { return nil },
		"again": func(ctx context.Context, h gateway.Host) error {
			if runs.Add(1) < 4 {
				return errors.New("down")
			}
			h.State(true, "")
			<-ctx.Done()
			return nil
		},
	}
	for id, run := range fails {
		f.options.Channels = append(f.options.Channels, gateway.Joined{Channel: troubled{newChannel(id), run}})
	}
	f.start()
	f.say(message("m1", "one"))
	f.shows(1)
	want := map[string]string{"fatal": "the key is wrong", "fault": "internal fault", "ends": "ended by itself", "again": "", "bot": ""}
	f.until("each channel is as it should be", func() bool {
		for _, c := range f.health().Channels {
			if c.Up != (want[c.Account] == "") || !strings.Contains(c.Note, want[c.Account]) {
				return false
			}
		}
		return true
	})
	if h := f.health(); h.Status != "degraded" || len(h.Channels) != 5 {
		t.Errorf("got %+v", h)
	}
}

// When no channel can work the gateway ends and says why, without a secret.
func TestNoChannelCanWork(t *testing.T) {
	f := newFixture(t)
	f.options.Secrets = []string{"the-app-secret"}
	f.options.Channels = []gateway.Joined{{Channel: troubled{newChannel("x"), func(context.Context, gateway.Host) error { return gateway.Fatal("refused: the-app-secret") }}}}
	g, err := gateway.New(f.options)
	if err != nil {
		t.Fatal(err)
	}
	err = g.Run(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "no channel can work") || !strings.Contains(err.Error(), "test/x") || strings.Contains(err.Error(), "the-app-secret") {
		t.Errorf("got %v", err)
	}
}

// Files that a crash or somebody damaged keep no chat from being answered.
func TestDamagedFiles(t *testing.T) {
	f := newFixture(t)
	f.start()
	f.say(message("m1", "one"))
	f.shows(1)
	f.until("the transcript", func() bool { return len(f.transcript()) == 2 })
	f.stop()
	dir := filepath.Dir(f.workspace())
	for name, content := range map[string]string{"session.json": `{"session_key": "te`, "transcript.jsonl": "\x00\xff\n[]\n{\"entry_id\":\"x\",\"ro"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(f.options.Config.DataDir, "pairing.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.say(message("m2", "two"))
	if got := f.shows(2); got[1] != "answer to two" {
		t.Errorf("got %q", got)
	}
}

// Each part of an answer is known as ours, not only the last.
func TestReplyToAnyPart(t *testing.T) {
	f := newFixture(t)
	f.runner.do = func(context.Context, wire.Task) (wire.Result, error) {
		return wire.Result{Status: "success", Response: strings.Repeat("word ", 100)}, nil
	}
	f.start()
	chat := gateway.Chat{ID: "g", Type: gateway.Group}
	m := message("m1", "go")
	m.Chat, m.Mentioned = chat, true
	f.say(m)
	parts := len(f.shows(3))
	f.until("the transcript", func() bool { return len(f.transcript()) == 2 })
	for i, id := range []string{"out-1", "out-2"} {
		m = message("r"+id, "more")
		m.Chat, m.ReplyTo = chat, id
		f.say(m)
		f.shows(parts * (i + 2))
	}
}

// Tasks that wait for others are not begun any more when the gateway is to stop.
func TestNothingBegunWhileStopping(t *testing.T) {
	f := newFixture(t)
	f.options.Config.Sessions.MaxParallelSessions = 1
	release := make(chan struct{})
	f.runner.do = func(_ context.Context, t wire.Task) (wire.Result, error) {
		<-release
		return wire.Result{Status: "success", Response: t.Task}, nil
	}
	f.options.Drain = gatewaytest.Patience
	f.start()
	f.say(message("m1", "one"))
	f.until("it runs", func() bool { return len(f.runner.ran()) == 1 })
	other := message("m2", "two")
	other.Chat.ID = "c2"
	f.say(other)
	ended := make(chan struct{})
	go func() { f.stop(); close(ended) }()
	f.until("it says that it stops", func() bool { h, ok := f.peek(); return !ok || h.Status == "stopping" })
	close(release)
	<-ended
	if got := f.ch.texts(); len(got) != 1 || len(f.runner.ran()) != 1 {
		t.Errorf("got %q and %d runs, want the second task left", got, len(f.runner.ran()))
	}
	f.start()
	f.shows(2)
}
