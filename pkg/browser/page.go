package browser

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// script is what reads a page and finds its parts. It runs in a world of its own, which the page's scripts cannot reach.
//
//go:embed page.js
var script string

// maxText bounds the text of a page, in characters.
const maxText = 1 << 20

// Page is what is seen in the tab in front.
type Page struct {
	URL    string `json:"url"`
	Title  string `json:"title"`
	Status int    `json:"status"` // of HTTP; 0: not known
	Text   string `json:"text"`   // what a person would read; what can be used stands in it as [number kind: name]
	Cut    bool   `json:"cut"`    // there was more
	Tabs   int    `json:"-"`      // that are open
}

// LoadError tells that a page was not loaded, in the browser's words.
type LoadError struct{ Reason string }

// Error tells the reason.
func (e *LoadError) Error() string { return e.Reason }

// PartError tells that a part of a page cannot be used, and what to do instead.
type PartError struct{ Reason string }

// Error tells the reason.
func (e *PartError) Error() string { return e.Reason }

// Open loads an address in the tab in front.
func (b *Browser) Open(ctx context.Context, address string) error {
	b.using.Lock()
	defer b.using.Unlock()
	t, err := b.front(ctx)
	if err != nil {
		return err
	}
	var got struct {
		Error    string `json:"errorText"`
		Download bool   `json:"isDownload"`
	}
	begun, host := b.begun(), hostOf(address)
	b.proxy.why("")
	if err := b.conn.call(ctx, t.session, "Page.navigate", object{"url": address}, &got); err != nil {
		b.conn.send(t.session, "Page.stopLoading", nil)
		return err
	}
	if got.Download || got.Error == "net::ERR_ABORTED" {
		return b.fileInstead(ctx, begun)
	}
	if got.Error != "" {
		return &LoadError{cmp.Or(b.proxy.why(host), netError(got.Error))}
	}
	if err := b.settle(ctx, t); err != nil {
		return err
	}
	if reason := b.proxy.why(host); reason != "" {
		return &LoadError{reason}
	}
	return nil
}

// hostOf returns the host of an address with its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return withPort(u.Host, map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// fileInstead waits for the file that came instead of a page. before is how many had begun.
func (b *Browser) fileInstead(ctx context.Context, before int) error {
	short, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := b.until(short, func() bool { return b.count > before }); err != nil {
		if short.Err() != nil && ctx.Err() == nil {
			return &LoadError{"the page was taken back"}
		}
		return err
	}
	return b.downloaded(ctx)
}

// Back goes to the page before; from the first page of a tab that another one has opened, to that one.
func (b *Browser) Back(ctx context.Context) error {
	b.using.Lock()
	defer b.using.Unlock()
	t, err := b.front(ctx)
	if err != nil {
		return err
	}
	var history struct {
		At      int `json:"currentIndex"`
		Entries []struct {
			ID  int    `json:"id"`
			URL string `json:"url"`
		} `json:"entries"`
	}
	if err := b.conn.call(ctx, t.session, "Page.getNavigationHistory", nil, &history); err != nil {
		return err
	}
	if at := history.At - 1; at >= 0 && at < len(history.Entries) && history.Entries[at].URL != "about:blank" {
		if err := b.conn.call(ctx, t.session, "Page.navigateToHistoryEntry", object{"entryId": history.Entries[at].ID}, nil); err != nil {
			return err
		}
		return b.after(ctx, t)
	}
	b.mu.Lock()
	n := len(b.tabs)
	b.mu.Unlock()
	if n < 2 {
		return &PartError{"there is no page before this one"}
	}
	b.drop(t)
	if t, err = b.front(ctx); err != nil {
		return err
	}
	return b.conn.call(ctx, t.session, "Page.bringToFront", nil, nil)
}

// Read returns what is seen in the tab in front.
func (b *Browser) Read(ctx context.Context) (p Page, err error) {
	b.using.Lock()
	defer b.using.Unlock()
	t, err := b.page(ctx)
	if err != nil {
		return p, err
	}
	if err := b.ask(ctx, t, &p, "read", maxText); err != nil {
		return p, err
	}
	b.mu.Lock()
	p.Tabs = len(b.tabs)
	b.mu.Unlock()
	return p, nil
}

// spot is where a part of a page is, or why it cannot be used.
type spot struct {
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Problem string  `json:"problem"`
	Done    bool    `json:"done"` // nothing more is to be done
}

// Click clicks on a part of the page by its number.
func (b *Browser) Click(ctx context.Context, part int) error {
	b.using.Lock()
	defer b.using.Unlock()
	t, at, err := b.find(ctx, "place", part)
	if err != nil {
		return err
	}
	if !at.Done {
		for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
			event := object{"type": kind, "x": at.X, "y": at.Y}
			if kind != "mouseMoved" {
				event["button"], event["clickCount"] = "left", 1
			}
			if err := b.input(ctx, t, "Input.dispatchMouseEvent", event); err != nil {
				return err
			}
		}
	}
	return b.afterwards(ctx, t)
}

// Type puts a text into a field of the page, in the place of what is there; of a list it chooses the entry with this
// text. With enter the Enter key is pressed after it.
func (b *Browser) Type(ctx context.Context, part int, text string, enter bool) error {
	b.using.Lock()
	defer b.using.Unlock()
	t, at, err := b.find(ctx, "fill", part, text)
	if err != nil {
		return err
	}
	if !at.Done {
		method, params := "Input.insertText", object{"text": text}
		if text == "" {
			method, params = "Input.dispatchKeyEvent", key("rawKeyDown", "Delete", 46)
		}
		if err := b.input(ctx, t, method, params); err != nil {
			return err
		}
	}
	if enter {
		down := key("keyDown", "Enter", 13)
		down["text"] = "\r"
		for _, event := range []object{down, key("keyUp", "Enter", 13)} {
			if err := b.input(ctx, t, "Input.dispatchKeyEvent", event); err != nil {
				return err
			}
		}
	}
	return b.afterwards(ctx, t)
}

func key(kind, name string, code int) object {
	return object{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code}
}

// input sends what a person would do. The answer comes when the page has dealt with it, which a message of the page holds
// up until it is closed.
func (b *Browser) input(ctx context.Context, t *tab, method string, params object) error {
	return b.conn.call(ctx, t.session, method, params, nil)
}

// afterwards waits for what was begun, also for a file.
func (b *Browser) afterwards(ctx context.Context, t *tab) error {
	if err := b.after(ctx, t); err != nil {
		return err
	}
	return b.downloaded(ctx)
}

// Screenshot returns a PNG of what is seen, after scrolling to a part of the page unless that is 0.
func (b *Browser) Screenshot(ctx context.Context, part int) ([]byte, error) {
	b.using.Lock()
	defer b.using.Unlock()
	t, err := b.page(ctx)
	if err != nil {
		return nil, err
	}
	if part > 0 {
		if _, _, err := b.find(ctx, "show", part); err != nil {
			return nil, err
		}
	}
	var got struct {
		Data []byte `json:"data"`
	}
	err = b.conn.call(ctx, t.session, "Page.captureScreenshot", object{"format": "png"}, &got)
	return got.Data, err
}

// find makes a part of the page ready to be used.
func (b *Browser) find(ctx context.Context, how string, part int, more ...any) (*tab, spot, error) {
	t, err := b.page(ctx)
	if err != nil {
		return nil, spot{}, err
	}
	var at spot
	if err := b.ask(ctx, t, &at, append([]any{how, part}, more...)...); err != nil {
		return nil, spot{}, err
	}
	if at.Problem != "" {
		return nil, spot{}, &PartError{at.Problem}
	}
	return t, at, nil
}

// ask runs the script in the page.
func (b *Browser) ask(ctx context.Context, t *tab, result any, args ...any) error {
	for try := 0; ; try++ {
		err := b.askOnce(ctx, t, result, args)
		var refused *protocolError
		if try >= 3 || !errors.As(err, &refused) { // the page went to another one meanwhile
			return err
		}
		b.mu.Lock()
		t.world = 0
		b.mu.Unlock()
		if err := b.settle(ctx, t); err != nil {
			return err
		}
	}
}

func (b *Browser) askOnce(ctx context.Context, t *tab, result any, args []any) error {
	world, err := b.worldOf(ctx, t)
	if err != nil {
		return err
	}
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	var got struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Fault *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := b.conn.call(ctx, t.session, "Runtime.evaluate", object{
		"expression": "(" + script + ")(..." + string(text) + ")", "contextId": world, "returnByValue": true}, &got); err != nil {
		return err
	}
	if got.Fault != nil {
		return fmt.Errorf("read the page: %s %.300s", got.Fault.Text, got.Fault.Exception.Description)
	}
	return json.Unmarshal(got.Result.Value, result)
}

// worldOf returns the script's own world in the document of a tab.
func (b *Browser) worldOf(ctx context.Context, t *tab) (int64, error) {
	b.mu.Lock()
	world, moves := t.world, t.moves
	b.mu.Unlock()
	if world != 0 {
		return world, nil
	}
	var got struct {
		ID int64 `json:"executionContextId"`
	}
	if err := b.conn.call(ctx, t.session, "Page.createIsolatedWorld", object{"frameId": t.id, "worldName": "openspace"}, &got); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.moves == moves {
		t.world = got.ID
	}
	return got.ID, nil
}

// ofTheWeb tells whether a page with this address may be shown: not one of a file or of the browser itself.
func ofTheWeb(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https", "data":
		return true
	case "blob":
		return strings.HasPrefix(u.Opaque, "http://") || strings.HasPrefix(u.Opaque, "https://")
	case "about":
		return u.Opaque == "blank" || u.Opaque == "srcdoc"
	}
	return false
}
