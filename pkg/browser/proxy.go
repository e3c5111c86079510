package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	dialTime   = 20 * time.Second
	maxTraffic = 1 << 30 // bytes that one browser may load
	maxDenied  = 50      // refusals that are kept
)

// Denied is a request that was not let through.
type Denied struct {
	Host   string // with its port
	Reason string
}

// proxy is the only way from the browser to the network.
type proxy struct {
	listener net.Listener
	server   *http.Server
	dialer   net.Dialer
	pages    *httputil.ReverseProxy
	traffic  atomic.Int64

	mu     sync.Mutex
	denied []Denied
	lost   map[string]string // hosts with their ports that could not be reached, and why
	open   map[net.Conn]bool // tunnels
	closed bool
}

// deniedError marks the error of the check.
type deniedError struct{ error }

// newProxy listens on loopback. check is asked about each address of the form 192.0.2.1:80 before it is called.
func newProxy(check func(address string) error) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	p := &proxy{listener: listener, open: map[net.Conn]bool{}, lost: map[string]string{}}
	p.dialer = net.Dialer{Timeout: dialTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if err := check(address); err != nil {
			return &deniedError{err}
		}
		return nil
	}}
	quiet := log.New(io.Discard, "", 0) // what goes wrong between a page and the browser is told to the page
	p.pages = &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: quiet,
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL, r.Out.Host = r.In.URL, r.In.Host },
		Transport:    &http.Transport{DialContext: p.dial, DisableCompression: true, MaxIdleConnsPerHost: 6, IdleConnTimeout: time.Minute},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { p.refuse(w, r.URL.Host, err) },
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: dialTime, MaxHeaderBytes: 1 << 20, ErrorLog: quiet}
	go p.server.Serve(listener)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// dial connects to one of the addresses of a name, each of which is checked.
func (p *proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if p.traffic.Load() > maxTraffic {
		return nil, &deniedError{fmt.Errorf("the browser has loaded more than %d MiB", maxTraffic>>20)}
	}
	c, err := p.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: c, sum: &p.traffic}, nil
}

// counted is a connection whose bytes are counted as they come.
type counted struct {
	net.Conn
	sum *atomic.Int64
}

// Read ends when the browser has loaded too much.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.sum.Add(int64(n)) > maxTraffic {
		return n, errors.New("the browser has loaded too much")
	}
	return n, err
}

// ServeHTTP forwards a request, or makes a tunnel for what is encrypted and for web sockets.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.pages.ServeHTTP(w, r)
	default:
		http.Error(w, "this is a proxy", http.StatusBadRequest)
	}
}

func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	far, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		p.refuse(w, r.Host, err)
		return
	}
	defer far.Close()
	w.WriteHeader(http.StatusOK)
	near, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	if !p.keep(near, far) {
		return
	}
	defer p.drop(near, far)
	go func() {
		io.Copy(far, in)
		far.Close()
	}()
	io.Copy(near, far)
}

// keep notes connections, so that they can be ended; false when it is over.
func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.open[c] = true
	}
	return !p.closed
}

func (p *proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.open, c)
	}
}

// refuse answers a request that could not be made, and keeps it in mind when it was not allowed.
func (p *proxy) refuse(w http.ResponseWriter, host string, err error) {
	if d := new(deniedError); errors.As(err, &d) {
		p.mu.Lock()
		if one := (Denied{Host: host, Reason: d.Error()}); len(p.denied) < maxDenied && !slices.Contains(p.denied, one) {
			p.denied = append(p.denied, one)
		}
		p.mu.Unlock()
		http.Error(w, "not allowed: "+d.Error(), http.StatusForbidden)
		return
	}
	p.mu.Lock()
	if len(p.lost) < maxDenied && !errors.Is(err, context.Canceled) { // the browser itself went on
		p.lost[withPort(host, "80")] = unreached(err)
	}
	p.mu.Unlock()
	http.Error(w, unreached(err), http.StatusBadGateway)
}

// withPort adds a port to a host that has none.
func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// unreached says why there is no connection.
func unreached(err error) string {
	dns, op := new(net.DNSError), new(net.OpError)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no such host"
	case errors.As(err, &dns):
		return "its name could not be looked up"
	case errors.As(err, &op) && op.Timeout():
		return "it does not answer"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

// why returns why a host could not be reached when it was last tried, and forgets it.
func (p *proxy) why(host string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	reason := p.lost[host]
	clear(p.lost)
	return reason
}

// taken returns what was refused since the last time.
func (p *proxy) taken() []Denied {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.denied
	p.denied = nil
	return d
}

func (p *proxy) close() {
	p.server.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	if t, ok := p.pages.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}
