package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Health is what is known of a running gateway. Without the token only Status is told.
type Health struct {
	Status    string          `json:"status"` // ok, degraded (a channel is down, or nothing can be written), starting or stopping
	Version   string          `json:"version,omitempty"`
	PID       int             `json:"pid,omitempty"`
	StartedAt string          `json:"started_at,omitempty"`
	Channels  []ChannelHealth `json:"channels,omitempty"`
	Running   int             `json:"running"` // tasks
	Waiting   int             `json:"waiting"` // messages that are not begun
	Unsent    int             `json:"unsent"`  // answers that the platform does not take at the moment
	Sessions  int             `json:"sessions"`
}

// ChannelHealth is what is known of a channel. The counters begin with the process.
type ChannelHealth struct {
	Platform string `json:"platform"`
	Account  string `json:"account"`
	Up       bool   `json:"up"`
	Note     string `json:"note,omitempty"`
	Since    string `json:"since"`
	Received int    `json:"received"`
	Ignored  int    `json:"ignored"`
	Sent     int    `json:"sent"`
	Failed   int    `json:"failed"`
}

// Running is running.json: how the commands reach a gateway.
type Running struct {
	PID        int    `json:"pid"`
	Addr       string `json:"addr"`
	HealthPath string `json:"health_path"`
	Token      string `json:"token"`
	StartedAt  string `json:"started_at"`
}

func runningFile(dataDir string) string { return filepath.Join(dataDir, "running.json") }

// announce writes running.json.
func (g *Gateway) announce(addr string) (forget func(), err error) {
	g.token = rand.Text()
	r := Running{PID: os.Getpid(), Addr: addr, HealthPath: g.config.Server.HealthPath, Token: g.token, StartedAt: stamp(g.started)}
	data, err := jsonl.Marshal(r)
	path := runningFile(g.config.DataDir)
	if err == nil {
		err = atomicfile.Write(path, append(data, '\n'), 0o600, atomicfile.Tidy())
	}
	if err != nil {
		return nil, fmt.Errorf("announce the gateway: %w", err)
	}
	return func() { os.Remove(path) }, nil
}

// Find returns the gateway that works on a data directory; wire.NotFound when none does.
func Find(dataDir string) (r Running, err error) {
	none := wire.Errorf(wire.NotFound, "no gateway works on %q", dataDir)
	if _, err := os.Stat(lockFile(dataDir)); err != nil {
		return r, none
	}
	lock, err := atomicfile.TryLock(lockFile(dataDir))
	if err == nil {
		return r, errors.Join(none, lock.Unlock())
	}
	if !errors.Is(err, atomicfile.ErrLocked) {
		return r, err
	}
	data, err := os.ReadFile(runningFile(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return r, wire.Errorf(wire.Locked, "the gateway on %q is starting or stopping", dataDir)
	}
	if err == nil {
		err = jsonl.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read %q: %w", runningFile(dataDir), err)
	}
	return r, nil
}

// Health asks a running gateway.
func (r Running) Health(ctx context.Context) (h Health, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Addr+r.HealthPath, nil)
	if err != nil {
		return h, wire.Errorf(wire.Internal, "ask gateway: %w", err)
	}
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return h, wire.Errorf(wire.Network, "ask gateway: %w", err)
	}
	defer resp.Body.Close()
	body := make([]byte, 1<<20)
	n := 0
	for n < len(body) && err == nil {
		var m int
		m, err = resp.Body.Read(body[n:])
		n += m
	}
	if jsonl.Unmarshal(body[:n], &h) != nil || h.Status == "" {
		return h, wire.Errorf(wire.Network, "ask gateway: no gateway answers at %s", r.Addr)
	}
	return h, nil
}

// health tells how things are.
func (g *Gateway) health(all bool) Health {
	g.mu.Lock()
	h := Health{Status: g.state}
	for _, c := range g.chats {
		h.Waiting += len(c.queue)
	}
	h.Running, h.Unsent, h.Sessions = g.busy(), g.unsent(), len(g.chats)
	g.mu.Unlock()
	for _, j := range g.joined {
		j.mu.Lock()
		h.Channels = append(h.Channels, ChannelHealth{
			Platform: j.account.Platform, Account: j.account.ID, Up: j.up, Note: j.note, Since: stamp(j.since),
			Received: j.received, Ignored: j.ignored, Sent: j.sent, Failed: j.failed,
		})
		j.mu.Unlock()
	}
	slices.SortFunc(h.Channels, func(a, b ChannelHealth) int { return strings.Compare(a.Platform+a.Account, b.Platform+b.Account) })
	if h.Status == "running" {
		h.Status = "ok"
		if g.ledger.failing.Load() || slices.ContainsFunc(h.Channels, func(c ChannelHealth) bool { return !c.Up }) {
			h.Status = "degraded"
		}
	}
	if !all {
		return Health{Status: h.Status}
	}
	h.Version, h.PID, h.StartedAt = g.options.Version, os.Getpid(), stamp(g.started)
	return h
}

func (g *Gateway) serveHealth(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	all := subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
	var v any = g.health(all)
	if !all {
		v = map[string]string{"status": g.health(false).Status}
	}
	data, err := jsonl.Marshal(v)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(append(data, '\n'))
}

// Limits of the listener: whoever is slow or says much is cut off.
const (
	headerTime  = 5 * time.Second
	requestTime = 30 * time.Second
	idleTime    = 2 * time.Minute
	closeTime   = time.Second // for who is still speaking at the end: nothing is taken from them any more
	headerBytes = 16 << 10
)

// serve answers requests until the function that it returns is called.
func (g *Gateway) serve(l net.Listener) (stop func() error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+g.config.Server.HealthPath, g.serveHealth)
	for _, j := range g.joined {
		if hook, ok := j.Channel.(Webhook); ok && hook.Path() != "" {
			mux.Handle(hook.Path(), hook)
		}
	}
	s := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: requestTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerBytes, ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), closeTime)
		defer cancel()
		err := s.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = s.Close()
		}
		if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
}
