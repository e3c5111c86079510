package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// channel is a platform in memory.
type channel struct {
	account gateway.Account
	limits  gateway.Limits

	mu    sync.Mutex
	host  *gateway.Host
	shown []gateway.Out
	files []string // contents of what was sent
	keys  map[string]string
	fail  func(out gateway.Out) error
	after func() error // after it is shown: the answer is lost
	data  map[string]string
	fetch func() error // before a file is fetched
	signs int
}

func newChannel(id string) *channel {
	return &channel{account: gateway.Account{Platform: "test", ID: id}, keys: map[string]string{}, data: map[string]string{}, limits: gateway.Limits{Text: 200, File: 1000, Keys: time.Hour}}
}

func (c *channel) Account() gateway.Account { return c.account }
func (c *channel) Limits() gateway.Limits   { return c.limits }

func (c *channel) Run(ctx context.Context, h gateway.Host) error {
	c.mu.Lock()
	c.host = &h
	c.mu.Unlock()
	h.State(true, "")
	<-ctx.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = nil
	return nil
}

func (c *channel) Send(_ context.Context, out gateway.Out) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		if err := c.fail(out); err != nil {
			return "", err
		}
	}
	if id := c.keys[out.Key]; id != "" && c.limits.Keys > 0 {
		return id, nil
	}
	content := ""
	if out.File != nil {
		data, err := os.ReadFile(out.File.Path)
		if err != nil {
			return "", gateway.Permanent("%w", err)
		}
		content = string(data)
	}
	id := fmt.Sprintf("out-%d", len(c.shown)+1)
	c.shown, c.files, c.keys[out.Key] = append(c.shown, out), append(c.files, content), id
	if c.after != nil {
		if err := c.after(); err != nil {
			return "", err
		}
	}
	return id, nil
}

func (c *channel) Fetch(_ context.Context, _ gateway.Message, a gateway.Attachment, w io.Writer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fetch != nil {
		if err := c.fetch(); err != nil {
			return err
		}
	}
	data, ok := c.data[a.Key]
	if !ok {
		return gateway.Permanent("no file %q", a.Key)
	}
	_, err := io.WriteString(w, data)
	return err
}

func (c *channel) Working(_ context.Context, _ gateway.Message, on bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if on {
		c.signs++
	} else {
		c.signs--
	}
	return nil
}

// say delivers a message and returns what Take says.
func (c *channel) say(m gateway.Message) error {
	c.mu.Lock()
	h := c.host
	c.mu.Unlock()
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	if m.Chat.Type == "" {
		m.Chat.Type = gateway.Direct
	}
	return h.Take(context.Background(), m)
}

// texts are what was sent.
func (c *channel) texts() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.shown {
		if o.File != nil {
			out = append(out, "file "+o.File.Name)
		} else {
			out = append(out, o.Text)
		}
	}
	return out
}

// fails sets what sending fails with, nil: it does not.
func (c *channel) fails(how func(out gateway.Out) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = how
}

// message is a message of ann in a direct chat.
func message(id, text string) gateway.Message {
	return gateway.Message{ID: id, Chat: gateway.Chat{ID: "c1"}, From: gateway.Person{ID: "ann", Name: "Ann"}, Text: text}
}

// runner runs tasks by a function.
type runner struct {
	mu    sync.Mutex
	tasks []wire.Task
	do    func(ctx context.Context, t wire.Task) (wire.Result, error)
}

func (r *runner) Run(ctx context.Context, t wire.Task, used func(string)) (wire.Result, error) {
	r.mu.Lock()
	r.tasks = append(r.tasks, t)
	do := r.do
	r.mu.Unlock()
	used("run_shell")
	if do == nil {
		return wire.Result{Status: "success", Response: "answer to " + t.Task}, nil
	}
	return do(ctx, t)
}

func (r *runner) Skills(context.Context) ([]wire.Skill, error) {
	return []wire.Skill{{Name: "pdf-forms", Description: "Fill in PDF forms."}}, nil
}

func (r *runner) ran() []wire.Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]wire.Task(nil), r.tasks...)
}

// fixture is a gateway under test.
type fixture struct {
	t       *testing.T
	dir     string
	ch      *channel
	runner  *runner
	options gateway.Options
	stop    func()
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, dir: t.TempDir(), ch: newChannel("bot"), runner: &runner{}}
	c := gateway.DefaultConfig()
	c.DataDir, c.Server.Port = filepath.Join(f.dir, "data"), 0
	access := gateway.DefaultAccess()
	access.AllowedUsers = []string{"ann", "bob"}
	f.options = gateway.Options{
		Config: c, Channels: []gateway.Joined{{Channel: f.ch, Access: access}}, Runner: f.runner, LockDir: filepath.Join(f.dir, "locks"),
		Log: slog.New(slog.DiscardHandler), Pause: time.Millisecond, Drain: 50 * time.Millisecond,
	}
	return f
}

// start runs the gateway until stop, or the end of the test.
func (f *fixture) start() {
	f.t.Helper()
	g, err := gateway.New(f.options)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- g.Run(ctx, func(string) { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		f.t.Fatal(err)
	}
	f.until("the channel runs", func() bool { f.ch.mu.Lock(); defer f.ch.mu.Unlock(); return f.ch.host != nil })
	once := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.t.Errorf("Run: %v", err)
		}
	})
	f.stop = once
	f.t.Cleanup(once)
}

func (f *fixture) until(what string, ok func() bool) {
	f.t.Helper()
	for start := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(start) > gatewaytest.Patience {
			f.t.Fatalf("waited in vain: %s; shown: %q", what, f.ch.texts())
		}
	}
}

// shows waits until so many messages were sent, and returns them.
func (f *fixture) shows(n int) []string {
	f.t.Helper()
	f.until(fmt.Sprintf("%d messages", n), func() bool { return len(f.ch.texts()) >= n })
	time.Sleep(5 * time.Millisecond) // one too many would come now
	return f.ch.texts()
}

func (f *fixture) say(m gateway.Message) {
	f.t.Helper()
	if err := f.ch.say(m); err != nil {
		f.t.Fatalf("say %q: %v", m.Text, err)
	}
}

// health asks the gateway that runs.
func (f *fixture) health() gateway.Health {
	f.t.Helper()
	r, err := gateway.Find(f.options.Config.DataDir)
	if err != nil {
		f.t.Fatal(err)
	}
	h, err := r.Health(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return h
}

// peek asks the gateway that may run.
func (f *fixture) peek() (h gateway.Health, ok bool) {
	r, err := gateway.Find(f.options.Config.DataDir)
	if err == nil {
		h, err = r.Health(f.t.Context())
	}
	return h, err == nil
}

// transcript returns the lines of the only session.
func (f *fixture) transcript() (lines []map[string]any) {
	f.t.Helper()
	found, _ := filepath.Glob(filepath.Join(f.options.Config.DataDir, "sessions", "*", "transcript.jsonl"))
	if len(found) != 1 {
		f.t.Fatalf("got transcripts %q, want one", found)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		f.t.Fatal(err)
	}
	for l := range strings.Lines(string(data)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			f.t.Fatal(err)
		}
		lines = append(lines, m)
	}
	return lines
}

// workspace is that of the only session.
func (f *fixture) workspace() string {
	found, _ := filepath.Glob(filepath.Join(f.options.Config.DataDir, "sessions", "*", "workspace"))
	if len(found) != 1 {
		f.t.Fatalf("got workspaces %q, want one", found)
	}
	return found[0]
}
