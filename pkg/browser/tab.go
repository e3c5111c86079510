package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const (
	loadTime   = 5 * time.Second        // for the parts of a page once its text is there
	settleTime = 700 * time.Millisecond // after a page has loaded, for what its scripts get
	calmTime   = 150 * time.Millisecond // for a click to begin something
	maxDialogs = 10
)

// tab is a page of the browser. Events change it.
type tab struct {
	id, session string
	loading     bool
	ready       bool // its text is there
	quiet       bool // of requests, since it was last loaded
	moves       int  // how often it went to another document
	world       int64
	crashed     bool
	url         string // of its document
	missing     string // the address of a document that could not be loaded
}

// attach takes a tab and brings it to the front.
func (b *Browser) attach(ctx context.Context, id string) error {
	var got struct {
		Session string `json:"sessionId"`
	}
	if err := b.conn.call(ctx, "", "Target.attachToTarget", object{"targetId": id, "flatten": true}, &got); err != nil {
		return err
	}
	b.mu.Lock()
	b.tabs = append(b.tabs, &tab{id: id, session: got.Session})
	b.mu.Unlock()
	for _, c := range []struct {
		method string
		params any
	}{{"Page.enable", nil}, {"Page.setLifecycleEventsEnabled", object{"enabled": true}}, {"Page.bringToFront", nil}} {
		if err := b.conn.call(ctx, got.Session, c.method, c.params, nil); err != nil {
			return err
		}
	}
	return nil
}

type object = map[string]any

func (b *Browser) tabEvent(t *tab, method string, params json.RawMessage) {
	var e struct {
		FrameID string `json:"frameId"`
		Name    string `json:"name"`
		Type    string `json:"type"`
		Message string `json:"message"`
		Frame   struct {
			ID          string `json:"id"`
			URL         string `json:"url"`
			Unreachable string `json:"unreachableUrl"`
		} `json:"frame"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	main := e.FrameID == t.id
	switch method {
	case "Page.frameStartedLoading":
		t.loading, t.ready = t.loading || main, t.ready && !main
	case "Page.frameStoppedLoading":
		t.loading = t.loading && !main
	case "Page.frameNavigated":
		if e.Frame.ID == t.id {
			t.ready, t.quiet, t.world, t.url, t.missing = false, false, 0, e.Frame.URL, e.Frame.Unreachable
			t.moves++
		}
	case "Page.lifecycleEvent":
		t.ready = t.ready || main && e.Name == "DOMContentLoaded"
		t.quiet = t.quiet || main && e.Name == "networkAlmostIdle"
	case "Inspector.targetCrashed":
		t.crashed = true
	case "Page.javascriptDialogOpening":
		if len(b.dialogs) < maxDialogs {
			b.dialogs = append(b.dialogs, e.Message)
		}
		// Nobody can answer: a message is read, a page may be left, a question is denied.
		accept := e.Type == "alert" || e.Type == "beforeunload"
		go b.conn.send(t.session, "Page.handleJavaScriptDialog", object{"accept": accept})
	}
}

// front returns the tab in front; a new one when there is none.
func (b *Browser) front(ctx context.Context) (*tab, error) {
	if err := b.follow(ctx); err != nil {
		return nil, err
	}
	for range 2 {
		b.mu.Lock()
		n := len(b.tabs)
		var t *tab
		if n > 0 {
			t = b.tabs[n-1]
		}
		crashed := t != nil && t.crashed
		b.mu.Unlock()
		if t != nil && !crashed {
			return t, nil
		}
		if crashed {
			b.drop(t)
			continue
		}
		if err := b.fresh(ctx); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the page has crashed; open it again")
}

// fresh opens an empty tab.
func (b *Browser) fresh(ctx context.Context) error {
	var made target
	if err := b.conn.call(ctx, "", "Target.createTarget", object{"url": "about:blank"}, &made); err != nil {
		return err
	}
	return b.attach(ctx, made.ID)
}

// Abandon closes the tab in front, whose page does not answer any more, and opens an empty one in its place.
func (b *Browser) Abandon(ctx context.Context) error {
	b.using.Lock()
	defer b.using.Unlock()
	b.mu.Lock()
	var old *tab
	if n := len(b.tabs); n > 0 {
		old = b.tabs[n-1]
	}
	b.mu.Unlock()
	if err := b.fresh(ctx); err != nil || old == nil {
		return err
	}
	b.drop(old) // after that, for a browser without a tab ends
	return nil
}

// page is the tab in front when there is a page of the web in it. Nothing but a fault leads to others.
func (b *Browser) page(ctx context.Context) (*tab, error) {
	t, err := b.front(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case t.missing != "":
		return nil, &LoadError{fmt.Sprintf("%.300s could not be loaded", t.missing)}
	case t.url != "" && !ofTheWeb(t.url):
		return nil, &LoadError{fmt.Sprintf("%.300s is no page of the web", t.url)}
	}
	return t, nil
}

// follow takes the tabs that pages have opened; too many are closed.
func (b *Browser) follow(ctx context.Context) error {
	for {
		b.mu.Lock()
		if len(b.opened) == 0 {
			b.mu.Unlock()
			return nil
		}
		next, many := b.opened[0], len(b.tabs) >= maxTabs
		known := b.has(next.ID)
		b.opened = b.opened[1:]
		b.mu.Unlock()
		switch {
		case known:
		case many:
			b.conn.send("", "Target.closeTarget", object{"targetId": next.ID})
		default:
			err := b.attach(ctx, next.ID)
			if err == nil {
				err = b.arrive(ctx)
			}
			if err != nil && ctx.Err() != nil {
				return err
			}
		}
	}
}

// arrive waits until a tab that a page has opened is at the document for which it was opened.
func (b *Browser) arrive(ctx context.Context) error {
	b.mu.Lock()
	t := b.tabs[len(b.tabs)-1]
	t.loading = true // unless an event or the document says that it is over
	b.mu.Unlock()
	var got struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	if err := b.conn.call(ctx, t.session, "Runtime.evaluate", object{"expression": "document.readyState + ' ' + location.href"}, &got); err != nil {
		return err
	}
	b.mu.Lock()
	state, address, _ := strings.Cut(got.Result.Value, " ") // loading, interactive or complete
	t.loading = t.loading && state != "complete"
	if t.url == "" {
		t.url = address
	}
	b.mu.Unlock()
	if address != "about:blank" {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := b.until(short, func() bool { return t.moves > 0 || t.loading }); err != nil && short.Err() == nil {
		return err
	}
	return nil
}

// drop closes a tab.
func (b *Browser) drop(t *tab) {
	b.mu.Lock()
	b.lost(t.id)
	b.mu.Unlock()
	b.conn.send("", "Target.closeTarget", object{"targetId": t.id})
}

// settle waits until a tab has loaded, and a little for what its scripts do then. A page whose text is there need not have all of its parts,
// and one that goes on loading when the time of ctx is nearly over is stopped, and is what it is then.
func (b *Browser) settle(ctx context.Context, t *tab) error {
	inner, cancel := withRest(ctx)
	defer cancel()
	over := func() bool { return !t.loading || t.crashed }
	if err := b.until(inner, func() bool { return t.ready || over() }); err != nil {
		if ctx.Err() != nil || inner.Err() == nil {
			return err
		}
		b.conn.send(t.session, "Page.stopLoading", nil)
		return nil
	}
	for _, wait := range []struct {
		most  time.Duration
		until func() bool
	}{{loadTime, over}, {settleTime, func() bool { return t.quiet || t.crashed }}} {
		short, cancel := context.WithTimeout(inner, wait.most)
		err := b.until(short, wait.until)
		late := short.Err() != nil
		cancel()
		if err != nil && !late {
			return err
		}
	}
	return ctx.Err()
}

// withRest is a context that ends a little before another, so that something can be said of what there is.
func withRest(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(3*time.Second, time.Until(deadline)/4)))
}

// after waits for what a click or a key has begun: a new document, a new tab, or a change of the page.
func (b *Browser) after(ctx context.Context, t *tab) error {
	short, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	if err := b.until(short, func() bool { return t.loading || len(b.opened) > 0 }); err != nil && short.Err() == nil {
		return err
	}
	now, err := b.front(ctx)
	if err != nil {
		return err
	}
	return b.settle(ctx, now)
}
