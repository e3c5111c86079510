package cmd_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// mkzip FILE NAME SOURCE…: write an archive whose entries have any names that one likes.
func mkzip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args)%2 == 0 {
		ts.Fatalf("usage: mkzip FILE [NAME SOURCE]...")
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 1; i < len(args); i += 2 {
		w, err := z.Create(args[i])
		ts.Check(err)
		_, err = w.Write([]byte(ts.ReadFile(args[i+1])))
		ts.Check(err)
	}
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}

// flaky VAR ADDRESS METHOD PATH FROM TO STATUS: set VAR to the address of a server that hands everything on to the one at ADDRESS, but answers the
// requests FROM to TO (from 1) with this method and path by STATUS; 429 comes with a Retry-After of one second.
func flaky(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 7 {
		ts.Fatalf("usage: flaky VAR ADDRESS METHOD PATH FROM TO STATUS")
	}
	var n [3]int
	for i, arg := range args[4:] {
		v, err := strconv.Atoi(arg)
		ts.Check(err)
		n[i] = v
	}
	target, err := url.Parse("http://" + args[1])
	ts.Check(err)
	f := &flakyServer{method: args[2], path: args[3], from: n[0], to: n[1], status: n[2], next: httputil.NewSingleHostReverseProxy(target)}
	s := httptest.NewServer(f)
	ts.Defer(s.Close)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}

// site VAR DIR: set VAR to the address of a server on loopback that shows the files of DIR.
func site(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: site VAR DIR")
	}
	s := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[1]))))
	ts.Defer(s.Close)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}

type flakyServer struct {
	method, path     string
	from, to, status int
	next             http.Handler

	mu sync.Mutex
	n  int
}

func (f *flakyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == f.method && strings.HasPrefix(r.URL.Path, f.path) && f.hit() {
		if f.status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(f.status)
		return
	}
	f.next.ServeHTTP(w, r)
}

// hit counts a request and tells whether it is one to refuse.
func (f *flakyServer) hit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n >= f.from && f.n <= f.to
}
