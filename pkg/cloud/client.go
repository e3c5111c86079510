// Package cloud is the HTTP client of a skill registry.
//
// It owns how a registry is talked to: paths, headers, deadlines, retries, redirects, proxies and the meaning
// of answers. What the bodies look like stands in package api; what is done with skills in package transfer.
// Everything is streamed, bounded in size and ends within a deadline. Every error is a *wire.Error with a
// code; that of an answer also has its endpoint and request id, and wraps a *Refusal.
//
// The key goes to one origin only: scheme, host and port of the base address. A Client may be used by many
// goroutines.
package cloud

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// DefaultBase is the address of the public registry.
const DefaultBase = "https://open-space.cloud" + api.BasePath

// Options say how to reach a registry. The zero value of each field but Key is useful.
type Options struct {
	Base      string // address that ends in the API's base path; empty: DefaultBase
	Key       string // sent as X-API-Key
	UserAgent string

	Answer   time.Duration // wait for an answer, or for the next byte of a transfer; 0: 30 s
	Transfer time.Duration // wait for a whole upload or download; 0: 10 min
	Patience time.Duration // spent on trying again; 0: 60 s, negative: never again
	Pause    time.Duration // before the second try, growing from then on; 0: 250 ms

	Proxy func(*http.Request) (*url.URL, error) // nil: by the environment
}

// maxTries bounds how often one thing is tried.
const maxTries = 5

// Client talks to one registry.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
}

// New returns a client. It connects to nothing. Without a key the error has the code auth, with a bad address
// the code usage.
func New(o Options) (*Client, error) {
	if o.Base == "" {
		o.Base = DefaultBase
	}
	base, err := url.Parse(strings.TrimRight(o.Base, "/"))
	switch {
	case err != nil:
		return nil, wire.Errorf(wire.Usage, "registry address %q: %w", o.Base, err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, wire.Errorf(wire.Usage, "registry address %q is no http or https address", o.Base)
	case base.RawQuery != "" || base.Fragment != "":
		return nil, wire.Errorf(wire.Usage, "registry address %q has more than a path", o.Base)
	case o.Key == "":
		return nil, wire.Errorf(wire.Auth, "no API key for %s", base.Redacted()).WithHint("set OPENSPACE_API_KEY, or api_key in the config file")
	case strings.ContainsFunc(o.Key, notInHeader):
		return nil, wire.Errorf(wire.Usage, "the API key has characters that cannot be sent")
	}
	if o.UserAgent == "" {
		o.UserAgent = "OpenSpace-Client/1.0"
	}
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&o.Answer, 30 * time.Second}, {&o.Transfer, 10 * time.Minute}, {&o.Patience, time.Minute}, {&o.Pause, 250 * time.Millisecond}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	c := &Client{o: o, base: base}
	c.http = &http.Client{Transport: transport(o), CheckRedirect: c.checkRedirect}
	return c, nil
}

func notInHeader(r rune) bool { return r <= ' ' || r >= 0x7f }

// Base is the address of the registry, without a password.
func (c *Client) Base() string { return c.base.Redacted() }

// transport is one for many small requests at once.
func transport(o Options) *http.Transport {
	proxy := o.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	dial := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		Proxy: proxy, DialContext: dial.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second, ExpectContinueTimeout: time.Second,
	}
}

// checkRedirect follows a redirect of a question anywhere, but with the key only within the origin that it is
// for. Anything else is followed only where method and body stay as they are and the origin too: a registry
// that moved is for the user to know about.
func (c *Client) checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errTooManyRedirects
	}
	home := c.ours(next.URL)
	for _, r := range via {
		home = home && c.ours(r.URL)
	}
	if !home {
		next.Header.Del(api.HeaderKey)
	}
	next.Header.Del("Referer")
	if first := via[0].Method; first != http.MethodGet && (first != next.Method || !home) {
		return http.ErrUseLastResponse
	}
	return nil
}

// ours tells whether an address has the origin of the registry.
func (c *Client) ours(u *url.URL) bool {
	return u.Scheme == c.base.Scheme && strings.EqualFold(u.Hostname(), c.base.Hostname()) && port(u) == port(c.base)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// recordPath is the path of a record. The id is one segment whatever is in it: slashes are escaped, and so
// are dots that stand alone.
func recordPath(id string, more ...string) string {
	escaped := url.PathEscape(id)
	if strings.Trim(escaped, ".") == "" {
		escaped = strings.ReplaceAll(escaped, ".", "%2E")
	}
	return "/records/" + strings.Join(append([]string{escaped}, more...), "/")
}
