package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"
)

// guarded is the HTTP client of one server: it stays at its host, bounds each message, and tells when the stream on
// which an SSE server answers is over.
func guarded(conf Server, start time.Duration, over func()) (*http.Client, error) {
	u, err := url.Parse(conf.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its url is no http:// or https:// address")
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: start}).DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: start, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 4,
	}
	g := &guard{base: base, limit: conf.MaxMessage}
	if conf.Kind == SSE {
		g.over = over
	}
	return &http.Client{Transport: g, CheckRedirect: sameHost}, nil
}

// sameHost follows a redirect only to where the keys may go.
func sameHost(r *http.Request, via []*http.Request) error {
	const most = 5
	first := via[0].URL
	if r.URL.Host != first.Host || first.Scheme == "https" && r.URL.Scheme != "https" {
		return fmt.Errorf("it redirects to another host, %s; if that is right, give its address", r.URL.Host)
	}
	if len(via) > most {
		return errors.New("it redirects in circles")
	}
	return nil
}

type guard struct {
	base  http.RoundTripper
	limit int64
	over  func() // when a stream of answers that a GET opened ends; nil: nobody asks
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := g.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	b := &body{ReadCloser: resp.Body, limit: g.limit, events: kind == "text/event-stream"}
	if g.over != nil && r.Method == http.MethodGet && b.events {
		b.over = g.over
	}
	resp.Body = b
	return resp, nil
}

// body bounds a message: the whole of an answer, or one event of a stream, which an empty line ends.
type body struct {
	io.ReadCloser
	limit  int64
	events bool
	size   int64
	last   byte
	over   func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	if b.events {
		b.count(p[:n])
	}
	if b.size > b.limit {
		err = fmt.Errorf("the server sent a message of more than %d bytes, the limit max_message_bytes", b.limit)
	}
	if err != nil && b.over != nil {
		b.over()
	}
	return n, err
}

// count begins anew behind the last empty line.
func (b *body) count(p []byte) {
	if len(p) == 0 {
		return
	}
	p2 := bytes.ReplaceAll(p, []byte("\r"), nil)
	switch i := bytes.LastIndex(p2, []byte("\n\n")); {
	case i >= 0:
		b.size = int64(len(p2) - i - 2)
	case b.last == '\n' && len(p2) > 0 && p2[0] == '\n':
		b.size = int64(len(p2) - 1)
	}
	if len(p2) > 0 {
		b.last = p2[len(p2)-1]
	}
}
