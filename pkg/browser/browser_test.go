package browser_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/browser"
	"github.com/openspace-dev/openspace/pkg/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

func anywhere(string) error { return nil }

// start starts the browser that is installed, confined as in a task.
func start(t *testing.T, check func(string) error) *browser.Browser {
	t.Helper()
	program := browser.Find(os.Getenv("PATH"))
	if program == "" {
		t.Skip("no Chromium is installed (Debian: apt-get install chromium); the browser is not tested")
	}
	dir := t.TempDir()
	life, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	b, err := browser.Start(t.Context(), browser.Options{
		Program: program, Dir: dir, Check: check, Bare: os.Getuid() == 0, MaxDownload: 1 << 20,
		Run: func(argv []string, extra []*os.File) (browser.Process, error) {
			return sandbox.Start(life, sandbox.Spec{Argv: argv, Dir: dir, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir},
				Write: []string{dir}, Tmp: dir, Home: "/root", Limits: sandbox.Limits{Memory: 4 << 30, Processes: 1024, FileSize: 1 << 30}, Extra: extra, Nested: true})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// site serves pages by their paths, and counts requests.
func site(t *testing.T, pages map[string]string) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		text, ok := pages[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case strings.HasPrefix(text, "to "):
			http.Redirect(w, r, text[3:], http.StatusFound)
		case strings.HasPrefix(text, "file "):
			w.Header().Set("Content-Disposition", "attachment; filename="+text[5:])
			fmt.Fprint(w, "a,b\n1,2\n")
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, text)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// patience is for what must come in time, on a machine that is busy and with the race detector.
const patience = 2 * time.Minute

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func read(t *testing.T, b *browser.Browser) browser.Page {
	t.Helper()
	p, err := b.Read(within(t))
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return p
}

// reads waits for a page: on a busy machine the browser takes longer for it than the calm after which a click counts as done.
func reads(t *testing.T, b *browser.Browser, ok func(browser.Page) bool) (p browser.Page) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if p = read(t, b); ok(p) || time.Now().After(end) {
			return p
		}
	}
}

// says is for pages with a text.
func says(text string) func(browser.Page) bool {
	return func(p browser.Page) bool { return strings.Contains(p.Text, text) }
}

// downloaded waits for a file.
func downloaded(b *browser.Browser) (files []browser.Download) {
	for end := time.Now().Add(patience); len(files) == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		files = b.Downloads()
	}
	return files
}

// part returns the number of the part of a page that is shown like this.
func part(t *testing.T, p browser.Page, shown string) (n int) {
	t.Helper()
	for rest := p.Text; ; {
		_, after, ok := strings.Cut(rest, "[")
		if !ok {
			t.Fatalf("the page has no part %q:\n%s", shown, p.Text)
		}
		if _, err := fmt.Sscanf(after, "%d", &n); err == nil && strings.HasPrefix(after, fmt.Sprintf("%d %s", n, shown)) {
			return n
		}
		rest = after
	}
}

const form = `<!doctype html><title>A shop</title><h1>Order</h1><p>Fill this <b>in</b>.</p><p style="display:none">Ignore all of it</p>
<p style="opacity:0">and this</p><form onsubmit="event.preventDefault(); document.getElementById('out').textContent =
 'Thanks, ' + this.name.value + ', ' + this.colour.value + ', ' + this.news.checked + ', ' + this.day.value">
<label>Name <input name=name></label> <select name=colour><option>Red<option>Blue</select>
<label><input type=checkbox name=news>News</label> <input type=date name=day> <input type=password name=p value=secret1>
<button>Send</button></form><div id=out></div><a href="/next?x=1">Go on</a> <a href="/new" target=_blank>A tab</a>
<button onclick="alert('Mind the gap')">Say</button> <a href="/data">Data</a><ul><li>one<li>two</ul>`

func TestBrowse(t *testing.T) {
	b := start(t, anywhere)
	address, _ := site(t, map[string]string{"/": form, "/next": "<title>Next</title>The <i>end</i>", "/new": "<title>Tab</title>A new tab", "/data": "file ../../x.csv"})
	if err := b.Open(within(t), address+"/"); err != nil {
		t.Fatal(err)
	}
	p := read(t, b)
	if p.Title != "A shop" || p.Status != 200 || p.URL != address+"/" || p.Tabs != 1 {
		t.Errorf("got page %q, status %d, at %s, %d tabs", p.Title, p.Status, p.URL, p.Tabs)
	}
	for _, want := range []string{"# Order\n", "Fill this in.", "text: Name]", "list: colour = Red of Red | Blue]", "checkbox: News = off]",
		"link: Go on → /next?x=1]", "password: p = (filled)]", "- one\n- two"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, p.Text)
		}
	}
	for _, not := range []string{"Ignore all", "and this", "secret1", "Mind"} {
		if strings.Contains(p.Text, not) {
			t.Errorf("the text has %q, which nobody sees:\n%s", not, p.Text)
		}
	}
	ctx := within(t)
	err := errors.Join(b.Type(ctx, part(t, p, "text: Name"), "Ada", false), b.Type(ctx, part(t, p, "text: Name"), "Grace", false),
		b.Type(ctx, part(t, p, "list: colour"), "blue", false), b.Type(ctx, part(t, p, "date: day"), "2026-12-01", false),
		b.Click(ctx, part(t, p, "checkbox: News")), b.Click(ctx, part(t, p, "button: Send")))
	if err != nil {
		t.Fatal(err)
	}
	if p = reads(t, b, says("Thanks, ")); !strings.Contains(p.Text, "Thanks, Grace, Blue, true, 2026-12-01") {
		t.Errorf("after sending the form the page is\n%s", p.Text)
	}
	if err := b.Click(ctx, part(t, p, "button: Say")); err != nil {
		t.Fatal(err)
	}
	var got []string
	reads(t, b, func(browser.Page) bool { got = append(got, b.Dialogs()...); return len(got) > 0 })
	if len(got) != 1 || got[0] != "Mind the gap" {
		t.Errorf("got messages %q, want one", got)
	}
	if picture, err := b.Screenshot(ctx, 0); err != nil || len(picture) < 1000 || string(picture[1:4]) != "PNG" {
		t.Errorf("got a picture of %d bytes (%v)", len(picture), err)
	}
	if err := b.Click(ctx, part(t, p, "link: A tab")); err != nil {
		t.Fatal(err)
	}
	if p = reads(t, b, func(p browser.Page) bool { return p.Title == "Tab" }); p.Title != "Tab" || p.Tabs != 2 {
		t.Errorf("a click on a link to a new tab shows %q of %d tabs", p.Title, p.Tabs)
	}
	if err := b.Back(ctx); err != nil {
		t.Fatal(err)
	}
	p = reads(t, b, says("link: Go on"))
	if err := b.Click(ctx, part(t, p, "link: Go on")); err != nil {
		t.Fatal(err)
	}
	if p = reads(t, b, says("The end")); p.Title != "Next" || p.Text != "The end" {
		t.Errorf("after the link the page is %q: %q", p.Title, p.Text)
	}
	if err := b.Back(ctx); err != nil {
		t.Fatal(err)
	}
	p = reads(t, b, says("link: Data"))
	if err := b.Click(ctx, part(t, p, "link: Data")); err != nil {
		t.Fatal(err)
	}
	files := downloaded(b)
	if len(files) != 1 || files[0].Err != "" || !strings.HasSuffix(files[0].Name, "x.csv") {
		t.Fatalf("got files %+v, want one", files)
	}
	if text, err := os.ReadFile(files[0].Path); err != nil || string(text) != "a,b\n1,2\n" {
		t.Errorf("the file has %q (%v)", text, err)
	}
	if err := b.Open(ctx, address+"/data"); err != nil || len(downloaded(b)) != 1 {
		t.Errorf("a file that is opened is not got (%v)", err)
	}
	if err := b.Click(ctx, 4711); err == nil || !strings.Contains(err.Error(), "no part 4711") {
		t.Errorf("a click on a part that is not there gives %v", err)
	}
}

// A page whose text is there is shown although a part of it never comes.
func TestSlowPart(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for limits of time")
	}
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			<-over
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<p>the text<img src=/never>`)
	}))
	defer s.Close()
	defer close(over)
	b := start(t, anywhere)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := b.Open(ctx, s.URL+"/"); err != nil {
		t.Fatal(err)
	}
	if p := read(t, b); p.Text != "the text" {
		t.Errorf("got %q", p.Text)
	}
}
