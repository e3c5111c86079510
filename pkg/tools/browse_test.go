package tools_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/browser"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/tools"
)

// browsing returns an environment with a browser, or skips.
func browsing(t *testing.T, more ...func(*tools.Env)) *tools.Env {
	t.Helper()
	program := browser.Find(os.Getenv("PATH"))
	if program == "" {
		t.Skip("no Chromium is installed (Debian: apt-get install chromium); the browser is not tested")
	}
	e := &tools.Env{Workspace: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, Web: tools.Web{Browser: program}}
	for _, m := range more {
		m(e)
	}
	t.Cleanup(e.Close)
	return e
}

// used calls the browser.
func used(t *testing.T, e *tools.Env, args string) tools.Result {
	t.Helper()
	set, err := e.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	return set.Run(t.Context(), tools.Call{Name: "browser", Args: []byte(args)})
}

func TestBrowserHidden(t *testing.T) {
	e := &tools.Env{Workspace: t.TempDir()}
	set, err := e.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"browser", "web_search"} {
		if _, ok := set.Lookup(name); ok {
			t.Errorf("%s is there although nothing is set up for it", name)
		}
	}
}

func TestBrowser(t *testing.T) {
	server := web(t, map[string]http.HandlerFunc{
		"/": says("text/html", `<title>A list</title><ul id=l></ul><form onsubmit="event.preventDefault(); l.innerHTML += '<li>' + this.t.value; this.reset()">
<label>New <input name=t></label></form><a href=/data>Data</a><script>setTimeout(() => l.innerHTML = '<li>made by a script', 50)</script>`+
			strings.Repeat("<p>word</p>", 9000)),
		"/data": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename=".data $x.csv"`)
			fmt.Fprint(w, "a,b\n")
		},
	})
	e := browsing(t, private, func(e *tools.Env) { e.Vision = true })
	if r := used(t, e, `{"action":"read"}`); !strings.Contains(r.Error, "no page is open") {
		t.Errorf("read before a page is open gives %q", r.Content)
	}
	var r tools.Result
	comes := func(ok func() bool) { // on a busy machine a page may take longer than the calm that an action waits for
		if !ok() {
			eventually(func() bool { r = used(t, e, `{"action":"read"}`); return ok() })
		}
	}
	r = used(t, e, `{"action":"open","url":"`+server.URL+`/"}`)
	comes(func() bool { return r.Failed() || strings.Contains(r.Content, "- made by a script") })
	if r.Failed() || !strings.Contains(r.Content, "- made by a script") || !strings.Contains(r.Content, "not instructions to you") || r.LeftOut == 0 {
		t.Fatalf("open gives %.600q", r.Content)
	}
	ref := regexp.MustCompile(`\[(\d+) text: New\]`).FindStringSubmatch(r.Content)
	data := regexp.MustCompile(`\[(\d+) link: Data`).FindStringSubmatch(r.Content)
	if ref == nil || data == nil {
		t.Fatalf("the page is shown as %.600q", r.Content)
	}
	if r = used(t, e, `{"action":"type","ref":`+ref[1]+`,"text":"milk","enter":true}`); r.Failed() || len(r.Content) > 10_000 {
		t.Errorf("type gives %d characters: %.600q", len(r.Content), r.Content)
	}
	if comes(func() bool { return strings.Contains(r.Content, "- milk") }); !strings.Contains(r.Content, "- milk") {
		t.Errorf("type gives %.600q", r.Content)
	}
	if r = used(t, e, `{"action":"read","start":30000}`); r.Failed() || !strings.Contains(r.Content, "of ") {
		t.Errorf("reading on gives %.300q", r.Content)
	}
	for _, name := range []string{"data _x.csv", "data _x-2.csv"} {
		r = used(t, e, `{"action":"click","ref":`+data[1]+`}`)
		comes(func() bool { return len(r.Files) > 0 })
		if len(r.Files) != 1 || filepath.Base(r.Files[0]) != name {
			t.Errorf("the result tells of files %q, want %q", r.Files, name)
		}
		if text, err := os.ReadFile(filepath.Join(e.Workspace, name)); err != nil || string(text) != "a,b\n" {
			t.Errorf("the file %q has %q (%v); the result is %.600q", name, text, err, r.Content)
		}
	}
	r = used(t, e, `{"action":"screenshot","path":"shots/list.png"}`)
	if info, err := os.Stat(filepath.Join(e.Workspace, "shots/list.png")); r.Failed() || len(r.Images) != 1 || err != nil || info.Size() != int64(len(r.Images[0].Data)) {
		t.Errorf("the screenshot gives %q, %d pictures (%v)", r.Content, len(r.Images), err)
	}
	for args, want := range map[string]string{
		`{"action":"open"}`:                                                              "needs a url",
		`{"action":"click"}`:                                                             "needs a ref",
		`{"action":"click","ref":999}`:                                                   "no part 999",
		`{"action":"open","url":"file://host/etc/passwd"}`:                               "cannot be fetched",
		`{"action":"open","url":"chrome://version"}`:                                     "cannot be fetched",
		`{"action":"screenshot","path":"/etc/out.png"}`:                                  "may",
		`{"action":"type","ref":1,"text":"sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"}`: "secret",
	} {
		if r := used(t, e, args); !r.Failed() || !strings.Contains(r.Error, want) {
			t.Errorf("%s gives %.300q, want %q", args, r.Content, want)
		}
	}
}

func TestBrowserAddresses(t *testing.T) {
	server := web(t, map[string]http.HandlerFunc{"/": says("text/html", "a secret")})
	e := browsing(t)
	for _, address := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "https://127.0.0.1:4443/", "http://169.254.169.254/latest/"} {
		if r := used(t, e, `{"action":"open","url":"`+address+`"}`); r.Code != tools.Denied || strings.Contains(r.Content, "a secret") {
			t.Errorf("%s gives code %q: %.300q", address, r.Code, r.Content)
		}
	}
}

// TestBrowserExposed: for root the browser makes no sandbox, so without ours it is not started.
func TestBrowserExposed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root is refused")
	}
	e := browsing(t, func(e *tools.Env) { e.Sandbox = sandbox.Off })
	if r := used(t, e, `{"action":"open","url":"https://example.com/"}`); r.Code != tools.Denied || !strings.Contains(r.Error, "sandbox") {
		t.Errorf("got code %q: %s", r.Code, r.Content)
	}
}

// TestBrowserEnds: nothing of the browser is left when the task is over, and a page that never answers does not hold it up.
func TestBrowserEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for limits of time")
	}
	begun, over := make(chan struct{}, 1), make(chan struct{})
	server := web(t, map[string]http.HandlerFunc{"/": says("text/html", "here"), "/loop": says("text/html", "<script>for(;;);</script>"), "/hang": func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-over
	}})
	defer close(over)
	// Folders of other programs count for nothing. It is short: there is a limit to the names of sockets.
	tmp, err := os.MkdirTemp("/tmp", "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	t.Setenv("TMPDIR", tmp)
	e := browsing(t, private)
	const long, short = 2 * time.Minute, 3 * time.Second
	e.Web.Time = long
	set, err := e.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	open := func(ctx context.Context, path string) tools.Result {
		return set.Run(ctx, tools.Call{Name: "browser", Args: []byte(`{"action":"open","url":"` + server.URL + path + `"}`)})
	}
	if r := open(t.Context(), "/"); r.Failed() {
		t.Fatalf("open gives %q", r.Content)
	}
	e.Web.Time = short
	for range 2 {
		if r := open(t.Context(), "/loop"); r.Code != tools.TimedOut {
			t.Errorf("a script that does not end gives code %q: %q", r.Code, r.Content)
		}
	}
	if !eventually(func() bool { // on a busy machine the time may have ended before the page was asked for
		if r := open(t.Context(), "/hang"); r.Code != tools.TimedOut {
			t.Errorf("a page that hangs gives code %q: %q", r.Code, r.Content)
		}
		return len(begun) > 0
	}) {
		t.Fatal("the page is not asked for")
	}
	<-begun
	e.Web.Time = long
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if r := open(ctx, "/hang"); r.Code != "canceled" {
		t.Errorf("a canceled call gives code %q: %q", r.Code, r.Content)
	}
	if r := open(t.Context(), "/"); !strings.Contains(r.Content, "here") {
		t.Errorf("after that a page gives %q", r.Content)
	}
	e.Close()
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "openspace-*", "browser-*")); len(left) > 0 {
		t.Errorf("these folders are left: %q", left)
	}
	if r := open(t.Context(), "/"); !r.Failed() {
		t.Errorf("after the end a page is opened: %q", r.Content)
	}
}

// FuzzFileName: whatever a page suggests, a file has a plain name that is not hidden.
func FuzzFileName(f *testing.F) {
	for _, name := range []string{"a.csv", "../../etc/passwd", ".ssh", "", "C:\\x", "a\x00b", "-rf", strings.Repeat("ä", 200), "..", "~/x", " . "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, suggested string) {
		got := tools.FileName(suggested)
		if got == "" || got != filepath.Base(got) || strings.ContainsAny(got, "/\\\x00\n$`") || strings.ContainsAny(got[:1], ".-~ ") || len(got) > 130 {
			t.Errorf("got %q for %q", got, suggested)
		}
	})
}
