package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// guarded is the HTTP client of one server: it stays at its host and bounds each message.
func guarded(conf Server, start time.Duration) (*http.Client, error) {
	u, err := url.Parse(conf.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its url is no http:// or https:// address")
	}
	return &http.Client{Transport: &guard{base: hosted(start), limit: conf.MaxMessage}, CheckRedirect: sameHost}, nil
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
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := g.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	resp.Body = &body{ReadCloser: resp.Body, limit: g.limit, events: kind == eventStream}
	return resp, nil
}

// body bounds a message: the whole of an answer, or one event of a stream, which an empty line ends.
type body struct {
	io.ReadCloser
	limit  int64
	events bool
	size   int64
	last   byte
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
