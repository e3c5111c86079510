package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/wire"
)

func TestConversation(t *testing.T) {
	f := newFixture(t)
	f.start()
	f.say(message("m1", "one"))
	f.shows(1)
	m := message("m2", "two")
	m.ReplyTo, m.Chat.Name = "out-1", "a\nname"
	f.say(m)
	got := f.shows(2)
	if !slices.Equal(got, []string{"answer to one", "answer to two"}) {
		t.Errorf("got %q", got)
	}
	tasks := f.runner.ran()
	if tasks[0].History != nil || len(tasks[1].History) != 2 || tasks[1].History[1].Content != "answer to one" {
		t.Errorf("got history %+v", tasks[1].History)
	}
	c := tasks[1].Channel
	if c.Platform != "test" || c.UserName != "Ann" || c.MessageID != "m2" || c.ReplyToText != "answer to one" || c.ChatName != "a name" || !strings.HasPrefix(c.SessionKey, "test__c1-") {
		t.Errorf("got channel %+v", c)
	}
	if f.ch.shown[1].ReplyTo != "m2" || tasks[0].WorkspaceDir != f.workspace() || tasks[0].MaxIterations != 20 || tasks[0].TimeoutMS != 1800_000 {
		t.Errorf("got %+v of %+v", f.ch.shown[1], tasks[0])
	}
	f.until("four lines", func() bool { return len(f.transcript()) == 4 })
	if l := f.transcript()[1]; l["role"] != "assistant" || l["content"] != "answer to one" {
		t.Errorf("got line %v", l)
	}
	f.until("no sign of work is left", func() bool { f.ch.mu.Lock(); defer f.ch.mu.Unlock(); return f.ch.signs == 0 })
}

// CG-01: the same message several times at once is one run and one reply.
func TestDeliveredAgain(t *testing.T) {
	f := newFixture(t)
	f.start()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { f.say(message("m1", "once")) })
	}
	wait.Wait()
	f.shows(1)
	f.stop()
	f.start()
	f.say(message("m1", "once"))
	f.say(message("m2", "more"))
	if got := f.shows(2); !slices.Equal(got, []string{"answer to once", "answer to more"}) || len(f.runner.ran()) != 2 {
		t.Errorf("got %q and %d runs", got, len(f.runner.ran()))
	}
}

// CG-02: two bots that get the same message both answer.
func TestTwoAccounts(t *testing.T) {
	f := newFixture(t)
	other := newChannel("other")
	f.options.Channels = append(f.options.Channels, gateway.Joined{Channel: other, Access: f.options.Channels[0].Access})
	f.start()
	f.until("both run", func() bool { other.mu.Lock(); defer other.mu.Unlock(); return other.host != nil })
	f.say(message("m1", "to both"))
	if err := other.say(message("m1", "to both")); err != nil {
		t.Fatal(err)
	}
	f.until("both answer", func() bool { return len(f.ch.texts()) == 1 && len(other.texts()) == 1 })
}

// CG-03: a message is taken over at once, however long its task takes, and is answered after a restart.
func TestSlowTaskAndRestart(t *testing.T) {
	f := newFixture(t)
	f.runner.do = func(ctx context.Context, _ wire.Task) (wire.Result, error) {
		<-ctx.Done()
		return wire.Result{}, ctx.Err()
	}
	f.start()
	for i := range 3 {
		f.say(message(fmt.Sprint("m", i), fmt.Sprint("text ", i)))
	}
	f.until("a task runs", func() bool { return len(f.runner.ran()) == 1 })
	f.stop()
	if got := f.ch.texts(); len(got) != 0 {
		t.Errorf("got %q before the restart", got)
	}
	f.runner.mu.Lock()
	f.runner.do = nil
	f.runner.mu.Unlock()
	f.start()
	if got := f.shows(3); !slices.Equal(got, []string{"answer to text 0", "answer to text 1", "answer to text 2"}) {
		t.Errorf("got %q", got)
	}
}

// An answer whose sending was interrupted is gone on with where it stopped.
func TestRestartWhileSending(t *testing.T) {
	f := newFixture(t)
	f.runner.do = func(context.Context, wire.Task) (wire.Result, error) {
		return wire.Result{Status: "success", Response: strings.Repeat("word ", 100)}, nil
	}
	n := 0
	f.ch.after = func() error {
		if n++; n == 2 {
			return errors.New("the answer is lost")
		}
		return nil
	}
	f.ch.fail = func(gateway.Out) error {
		if n >= 2 {
			return errors.New("down")
		}
		return nil
	}
	f.start()
	f.say(message("m1", "go"))
	f.shows(2)
	f.stop()
	f.ch.fail, f.ch.after = nil, nil
	f.start()
	f.shows(3)
	f.until("the end", func() bool { return strings.Count(strings.Join(f.ch.texts(), " "), "word") == 100 })
	if got := f.shows(3); len(got) != 3 || len(f.runner.ran()) != 1 {
		t.Errorf("got %d messages and %d runs", len(got), len(f.runner.ran()))
	}
}

// A message that takes the process down each time is not tried for ever.
func TestGivesUp(t *testing.T) {
	f := newFixture(t)
	f.runner.do = func(ctx context.Context, _ wire.Task) (wire.Result, error) {
		<-ctx.Done()
		return wire.Result{}, ctx.Err()
	}
	for i := range 5 {
		f.start()
		if i == 0 {
			f.say(message("m1", "deadly"))
		}
		f.until("a task runs", func() bool { return len(f.runner.ran()) == i+1 })
		f.stop()
	}
	f.start()
	if got := f.shows(1); !strings.Contains(got[0], "not try again") {
		t.Errorf("got %q", got)
	}
}

func TestFullQueue(t *testing.T) {
	f := newFixture(t)
	f.options.Config.Sessions.PerSessionQueueSize = 2
	release := make(chan struct{})
	f.runner.do = func(ctx context.Context, t wire.Task) (wire.Result, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return wire.Result{Status: "success", Response: "did " + t.Task}, nil
	}
	f.start()
	f.say(message("m0", "0"))
	f.until("it runs", func() bool { return len(f.runner.ran()) == 1 })
	for i := 1; i < 6; i++ {
		f.say(message(fmt.Sprint("m", i), fmt.Sprint(i)))
	}
	if got := f.shows(1); len(got) != 1 || !strings.Contains(got[0], "Too many messages") {
		t.Errorf("got %q, want one notice", got)
	}
	close(release)
	if got := f.shows(4); !slices.Equal(got[1:], []string{"did 0", "did 1", "did 2"}) {
		t.Errorf("got %q", got)
	}
}

// Tasks of different chats run side by side, but not more than allowed; a chat keeps its order.
func TestParallel(t *testing.T) {
	f := newFixture(t)
	f.options.Config.Sessions.MaxParallelSessions = 3
	var mu sync.Mutex
	now, most := 0, 0
	f.runner.do = func(_ context.Context, t wire.Task) (wire.Result, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return wire.Result{Status: "success", Response: t.Task}, nil
	}
	f.start()
	for i := range 5 {
		for c := range 20 {
			m := message(fmt.Sprintf("m%d", i), fmt.Sprintf("%d", i))
			m.Chat.ID = fmt.Sprintf("c%d", c)
			f.say(m)
		}
	}
	f.shows(100)
	by := map[string]string{}
	for _, o := range f.ch.shown {
		by[o.Chat.ID] += o.Text
	}
	for chat, order := range by {
		if order != "01234" {
			t.Errorf("%s: got order %s", chat, order)
		}
	}
	if most != 3 {
		t.Errorf("got %d tasks at once, want 3", most)
	}
}

func TestCommands(t *testing.T) {
	f := newFixture(t)
	f.ch.limits.Text = 1000
	f.start()
	for i, tt := range []struct{ say, want string }{
		{"/help", "/stop"}, {"/HELP@some_bot", "/stop"}, {"/start", "/stop"}, {"/status", "Nothing is running"}, {"/skills", "pdf-forms"}, {"/files", "no files"},
		{"/files ../../x", "no such file"}, {"/stop", "Nothing is running"}, {"/new", "new conversation"},
	} {
		f.say(message(fmt.Sprint("m", i), tt.say))
		if got := f.shows(i + 1); !strings.Contains(got[i], tt.want) {
			t.Errorf("%s: got %q", tt.say, got[i])
		}
	}
	if len(f.runner.ran()) != 0 {
		t.Error("a command became a task")
	}
	f.say(message("n1", "/unknown thing"))
	f.shows(10)
	f.until("it is in the transcript", func() bool { return len(f.transcript()) == 3 })
	f.say(message("n2", "/new"))
	f.shows(11)
	f.say(message("n3", "after"))
	f.shows(12)
	if h := f.runner.ran()[1].History; len(h) != 0 {
		t.Errorf("got history %+v after /new", h)
	}
}

func TestStop(t *testing.T) {
	f := newFixture(t)
	f.runner.do = func(ctx context.Context, _ wire.Task) (wire.Result, error) {
		<-ctx.Done()
		return wire.Result{Status: "canceled"}, nil
	}
	f.start()
	f.say(message("m1", "long"))
	f.until("it runs", func() bool { return len(f.runner.ran()) == 1 })
	f.say(message("m2", "waits"))
	f.say(message("m3", "/status"))
	if got := f.shows(1); !strings.Contains(got[0], "Running for") || !strings.Contains(got[0], "wait here: 1") {
		t.Errorf("got %q", got)
	}
	f.say(message("m4", "/stop"))
	if got := f.shows(2); !strings.Contains(got[1], "Stopped") || !strings.Contains(got[1], "dropped: 1") {
		t.Errorf("got %q", got)
	}
	f.runner.mu.Lock()
	f.runner.do = nil
	f.runner.mu.Unlock()
	f.stop()
	f.start()
	f.say(message("m5", "next"))
	if got := f.shows(3); got[2] != "answer to next" || len(f.runner.ran()) != 2 {
		t.Errorf("got %q and %d runs: what was stopped came back", got, len(f.runner.ran()))
	}
}

// CG-08: what is too old is not answered one by one.
func TestOldMessages(t *testing.T) {
	f := newFixture(t)
	f.start()
	for i := range 500 {
		m := message(fmt.Sprint("old", i), "old")
		m.Time = time.Now().Add(-48 * time.Hour)
		f.say(m)
	}
	for i := range 3 {
		m := message(fmt.Sprint("late", i), fmt.Sprint("late ", i))
		m.Time = time.Now().Add(-time.Hour)
		f.say(m)
	}
	f.until("the three are answered", func() bool { return strings.Count(strings.Join(f.ch.texts(), "|"), "answer to late") == 3 })
	if got := f.shows(4); len(got) != 4 {
		t.Errorf("got %d messages, want one note and three answers", len(got))
	}
}

// CG-10: a secret of ours is not sent.
func TestSecrets(t *testing.T) {
	f := newFixture(t)
	f.options.Secrets = []string{"app-secret-1", "app-secret-1-longer"}
	f.runner.do = func(context.Context, wire.Task) (wire.Result, error) {
		return wire.Result{Status: "success", Response: "it is app-secret-1-longer and app-secret-1"}, nil
	}
	f.start()
	f.say(message("m1", "tell me"))
	if got := f.shows(1); got[0] != "it is [secret] and [secret]" {
		t.Errorf("got %q", got)
	}
	f.until("it is in the transcript", func() bool { return len(f.transcript()) == 2 })
	if l := f.transcript()[1]["content"]; strings.Contains(fmt.Sprint(l), "app-secret") {
		t.Errorf("got %q in the transcript", l)
	}
}

func TestEdit(t *testing.T) {
	f := newFixture(t)
	release := make(chan struct{})
	f.runner.do = func(_ context.Context, t wire.Task) (wire.Result, error) {
		<-release
		return wire.Result{Status: "success", Response: "did " + t.Task}, nil
	}
	f.start()
	f.say(message("m1", "first"))
	f.until("it runs", func() bool { return len(f.runner.ran()) == 1 })
	f.say(message("m2", "secnd"))
	for _, m := range []gateway.Message{message("m1", "too late"), message("m2", "second"), message("m9", "unknown")} {
		m.Edited = true
		f.say(m)
	}
	close(release)
	if got := f.shows(2); !slices.Equal(got, []string{"did first", "did second"}) {
		t.Errorf("got %q", got)
	}
}

func TestTrouble(t *testing.T) {
	for _, tt := range []struct {
		name string
		res  wire.Result
		err  error
		want string
	}{
		{"auth", wire.Result{Status: "error", Error: &wire.Error{Code: wire.Auth, Message: "401 from http://x"}}, nil, "does not accept the key"},
		{"invalid", wire.Result{Status: "error", Error: &wire.Error{Code: wire.Invalid, Message: "no such model"}}, nil, "no such model"},
		{"internal", wire.Result{}, errors.New("panic at 0x12"), "inside"},
		{"incomplete", wire.Result{Status: "incomplete", Response: "half", Warning: "20 iterations"}, nil, "half\n\n_This is not finished: 20 iterations_"},
		{"nothing", wire.Result{Status: "success"}, nil, "Done"},
		{"canceled", wire.Result{Status: "canceled"}, nil, "in the time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.runner.do = func(context.Context, wire.Task) (wire.Result, error) { return tt.res, tt.err }
			f.start()
			f.say(message("m1", "go"))
			if got := f.shows(1); !strings.Contains(got[0], tt.want) || strings.Contains(got[0], "0x12") {
				t.Errorf("got %q, want %q", got[0], tt.want)
			}
		})
	}
}

func TestFailingSends(t *testing.T) {
	f := newFixture(t)
	f.runner.do = func(_ context.Context, t wire.Task) (wire.Result, error) {
		return wire.Result{Status: "success", Response: t.Task}, nil
	}
	tries := map[string]int{}
	f.ch.fail = func(out gateway.Out) error {
		tries[out.Text]++
		switch {
		case out.Text == "soon" && tries["soon"] < 4:
			return errors.New("down")
		case out.Text == "later" && tries["later"] < 2:
			return gateway.Later(time.Millisecond, errors.New("too many"))
		case out.Text == "never":
			return gateway.Permanent("no such chat")
		}
		return nil
	}
	f.start()
	for i, text := range []string{"soon", "never", "later"} {
		f.say(message(fmt.Sprint("m", i), text))
	}
	if got := f.shows(2); !slices.Equal(got, []string{"soon", "later"}) || tries["never"] != 1 {
		t.Errorf("got %q, tries %v", got, tries)
	}
	f.until("six lines", func() bool { return len(f.transcript()) == 6 })
	f.say(message("m9", "next"))
	f.shows(3)
	var said []string
	for _, m := range f.runner.ran()[3].History {
		said = append(said, m.Role+" "+m.Content)
	}
	if want := []string{"user soon", "assistant soon", "user never", "user later", "assistant later"}; !slices.Equal(said, want) {
		t.Errorf("got history %q, want %q: nobody saw the answer that was not sent", said, want)
	}
}

func TestOneGateway(t *testing.T) {
	f := newFixture(t)
	f.start()
	g, err := gateway.New(f.options)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(t.Context(), nil); wire.CodeOf(err) != wire.Locked {
		t.Errorf("got %v of a second gateway on the same data, want locked", err)
	}
	f.options.Config.DataDir += "2"
	g, _ = gateway.New(f.options)
	if err := g.Run(t.Context(), nil); wire.CodeOf(err) != wire.Locked || !strings.Contains(err.Error(), "test/bot") {
		t.Errorf("got %v of a second gateway with the same account, want locked", err)
	}
	f.options.Config.DataDir = strings.TrimSuffix(f.options.Config.DataDir, "2")
	r, err := gateway.Find(f.options.Config.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.Health(t.Context())
	for tries := 0; err == nil && h.Status != "ok" && tries < 1000; tries++ { // the channel connects beside us
		time.Sleep(10 * time.Millisecond)
		h, err = r.Health(t.Context())
	}
	if err != nil || h.Status != "ok" || len(h.Channels) != 1 || h.PID != os.Getpid() {
		t.Errorf("got %+v, %v", h, err)
	}
	r.Token = "guess"
	if h, err := r.Health(t.Context()); err != nil || h.Status != "ok" || h.PID != 0 || h.Channels != nil {
		t.Errorf("got %+v, %v without the token, want the status only", h, err)
	}
	f.stop()
	if _, err := gateway.Find(f.options.Config.DataDir); wire.CodeOf(err) != wire.NotFound {
		t.Errorf("got %v after it stopped, want not found", err)
	}
}
