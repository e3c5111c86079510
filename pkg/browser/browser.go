package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	startTime = 30 * time.Second
	endTime   = 2 * time.Second // that the browser has to end by itself
	maxTabs   = 8
	width     = 1280 // of a page, in pixels
	height    = 900
)

// Options say what a browser is and what it may do.
type Options struct {
	Program string // path of the browser
	Dir     string // a folder of its own, which it may write; the caller removes it after Close

	// Check is asked about each address of the form 192.0.2.1:80 before it is called; its error says why it must not be.
	Check func(address string) error

	// Run starts the process with these arguments, the program first, and these files as its files 3 and 4.
	Run func(argv []string, extra []*os.File) (Process, error)

	Bare        bool  // without the sandbox that the browser makes for its pages: it refuses to make it for root
	MaxDownload int64 // bytes of a file; more are not taken
}

// Process is a program that was started.
type Process interface {
	Ended() <-chan struct{} // closed when nothing of it is left
	Stop()                  // ends it and waits for that
}

// Browser is a running browser with the tabs of one task.
type Browser struct {
	o       Options
	proxy   *proxy
	conn    *conn
	process Process
	profile string

	using sync.Mutex // one thing at a time

	mu        sync.Mutex // guards what events change
	changed   chan struct{}
	tabs      []*tab // the last one is in front
	opened    []target
	dialogs   []string
	downloads map[string]*Download
	order     []string // of downloads
	count     int      // of downloads that were begun
}

// Start starts a browser. When ctx ends before it is ready, it is ended.
func Start(ctx context.Context, o Options) (b *Browser, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	b = &Browser{o: o, profile: filepath.Join(o.Dir, "profile"), changed: make(chan struct{}), downloads: map[string]*Download{}}
	for _, dir := range []string{b.profile, b.downloadDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("start the browser: %w", err)
		}
	}
	if b.proxy, err = newProxy(o.Check); err != nil {
		return nil, err
	}
	if err = b.launch(); err == nil {
		err = b.begin(ctx)
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("start the browser %q: %w", o.Program, err)
	}
	return b, nil
}

// launch starts the process.
func (b *Browser) launch() error {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer inRead.Close()
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		inWrite.Close()
		return err
	}
	defer outWrite.Close()
	if b.process, err = b.o.Run(b.argv(), []*os.File{inRead, outWrite}); err != nil {
		b.process = nil
		inWrite.Close()
		outRead.Close()
		return err
	}
	b.conn = newConn(outRead, inWrite, b.event)
	go func() {
		<-b.conn.gone
		outRead.Close()
	}()
	return nil
}

// proxyName stands for the proxy. No address is left by which the browser could reach anything else, this machine
// included: every other name and every address is resolved to nothing.
const proxyName = "proxy.invalid"

// unwanted are features that talk to others than the pages, or around the proxy.
const unwanted = "Translate,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication," +
	"CertificateTransparencyComponentUpdater,InterestFeedContentSuggestions,NetworkTimeServiceQuerying,SafeBrowsingDelayedWarnings,WebTransport"

func (b *Browser) argv() []string {
	_, port, _ := net.SplitHostPort(b.proxy.address())
	args := []string{
		b.o.Program, "--headless", "--remote-debugging-pipe", "--user-data-dir=" + b.profile, fmt.Sprintf("--window-size=%d,%d", width, height),
		"--proxy-server=http://" + proxyName + ":" + port, "--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP " + proxyName + " 127.0.0.1, MAP * ~NOTFOUND",
		"--disable-quic", "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-features=" + unwanted,
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-extensions", "--disable-default-apps", "--disable-domain-reliability", "--disable-client-side-phishing-detection",
		"--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only", "--no-pings", "--mute-audio", "--hide-scrollbars",
		"--password-store=basic", "--use-mock-keychain", "--deny-permission-prompts", "--disable-gpu", "--disable-dev-shm-usage", "--log-level=3",
	}
	if b.o.Bare {
		args = append(args, "--no-sandbox")
	}
	return append(args, "about:blank")
}

// begin makes the connection ready and takes the first tab.
func (b *Browser) begin(ctx context.Context) error {
	if err := b.conn.call(ctx, "", "Browser.setDownloadBehavior", object{
		"behavior": "allowAndName", "downloadPath": b.downloadDir(), "eventsEnabled": true}, nil); err != nil {
		return err
	}
	var found struct {
		Infos []target `json:"targetInfos"`
	}
	if err := b.conn.call(ctx, "", "Target.getTargets", nil, &found); err != nil {
		return err
	}
	for _, t := range found.Infos {
		if t.Type == "page" {
			if err := b.attach(ctx, t.ID); err != nil {
				return err
			}
			return b.conn.call(ctx, "", "Target.setDiscoverTargets", object{"discover": true}, nil)
		}
	}
	return errors.New("it has no tab")
}

// Gone is closed when the browser has ended.
func (b *Browser) Gone() <-chan struct{} { return b.conn.gone }

// Close ends the browser and everything that belongs to it.
func (b *Browser) Close() {
	if b.conn != nil {
		b.conn.send("", "Browser.close", nil)
		select {
		case <-b.process.Ended():
		case <-time.After(endTime):
		}
		b.conn.out.Close()
	}
	if b.process != nil {
		b.process.Stop()
	}
	b.proxy.close()
}

// target is something in the browser that can be attached to.
type target struct {
	ID     string `json:"targetId"`
	Type   string `json:"type"`
	URL    string `json:"url"`
	Opener string `json:"openerId"`
}

// event takes what the browser tells.
func (b *Browser) event(session, method string, params json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch method {
	case "Target.targetCreated":
		var e struct {
			Info target `json:"targetInfo"`
		}
		if json.Unmarshal(params, &e) == nil && e.Info.Type == "page" && !b.has(e.Info.ID) {
			b.opened = append(b.opened, e.Info)
		}
	case "Target.targetDestroyed", "Target.targetCrashed":
		var e target
		json.Unmarshal(params, &e)
		b.lost(e.ID)
	case "Browser.downloadWillBegin", "Browser.downloadProgress":
		b.downloading(params)
	default:
		if t := b.tabOf(session); t != nil {
			b.tabEvent(t, method, params)
		}
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Browser) has(id string) bool {
	for _, t := range b.tabs {
		if t.id == id {
			return true
		}
	}
	return false
}

func (b *Browser) lost(id string) {
	for i, t := range b.tabs {
		if t.id == id {
			b.tabs = append(b.tabs[:i:i], b.tabs[i+1:]...)
			return
		}
	}
}

func (b *Browser) tabOf(session string) *tab {
	for _, t := range b.tabs {
		if t.session == session {
			return t
		}
	}
	return nil
}

// until waits until something that events change is so.
func (b *Browser) until(ctx context.Context, so func() bool) error {
	for {
		b.mu.Lock()
		is, changed := so(), b.changed
		b.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-changed:
		case <-b.conn.gone:
			return errGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Denied returns the requests that were not let through since it was last asked.
func (b *Browser) Denied() []Denied { return b.proxy.taken() }

// Dialogs returns the texts of the messages that pages showed since it was last asked. Each was closed at once.
func (b *Browser) Dialogs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.dialogs
	b.dialogs = nil
	return d
}

// netError makes words of an error code of the browser, such as net::ERR_NAME_NOT_RESOLVED.
func netError(code string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(code, "net::"), "ERR_"), "_", " "))
}
