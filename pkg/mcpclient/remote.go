package mcpclient

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	eventStream = "text/event-stream"
	sayTime     = 5 * time.Second // for what nobody waits for
	resumeAfter = time.Second     // before a stream that ended too early is asked for again
)

// errClosed: the connection was closed on our side.
var errClosed = errors.New("the connection was closed")

// errLegacy: the server speaks the older of the two HTTP transports.
var errLegacy = errors.New("the server takes no requests at its address")

// remote is a server at an address: over streamable HTTP, where each request has its answer, or over SSE, where one stream
// has all of them.
type remote struct {
	*ending
	conf    Server
	client  *http.Client
	life    context.Context
	cancel  context.CancelFunc
	changed func()
	pending pending

	mu      sync.Mutex
	post    string // where requests go
	session string
	version string
}

// openRemote connects to a server. ctx is the life of the connection, start bounds its beginning.
func openRemote(ctx context.Context, conf Server, start time.Duration, changed func()) (*remote, error) {
	client, err := guarded(conf, start)
	if err != nil {
		return nil, err
	}
	r := &remote{ending: newEnding(), conf: conf, client: client, changed: changed, post: conf.URL}
	r.life, r.cancel = context.WithCancel(ctx)
	if conf.Kind != SSE {
		return r, nil
	}
	if err := r.listen(start); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// request makes one with all that every request has.
func (r *remote) request(ctx context.Context, method string, body []byte) (*http.Request, error) {
	r.mu.Lock()
	address, session, version := r.post, r.session, r.version
	r.mu.Unlock()
	if method == http.MethodGet {
		address = r.conf.URL
	}
	q, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its url cannot be read")
	}
	q.Header.Set("Accept", "application/json, "+eventStream)
	if method == http.MethodGet {
		q.Header.Set("Accept", eventStream)
	}
	if len(body) > 0 {
		q.Header.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": version} {
		if value != "" {
			q.Header.Set(name, value)
		}
	}
	for name, value := range r.conf.Headers {
		q.Header.Set(name, value)
	}
	return q, nil
}

// call sends a request and waits for its answer.
func (r *remote) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, answer := r.pending.add()
	defer r.pending.drop(id)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(r.life, func() { stop(&LostError{errClosed}) })()
	err := r.ask(ctx, method, id, request{Version: "2.0", ID: &id, Method: method, Params: params})
	select {
	case m := <-answer:
		return m.outcome()
	default:
	}
	if err != nil {
		return nil, r.failure(ctx, method, id, err)
	}
	select { // over SSE the answer is still to come
	case m := <-answer:
		return m.outcome()
	case <-ctx.Done():
		return nil, r.failure(ctx, method, id, ctx.Err())
	case <-r.over:
		select {
		case m := <-answer: // it came just before the end
			return m.outcome()
		default:
			return nil, &LostError{r.cause()}
		}
	}
}

// failure says why a call has no answer, and tells the server when nobody waits any more.
func (r *remote) failure(ctx context.Context, method string, id int64, err error) error {
	if ctx.Err() == nil {
		return plainError(err)
	}
	if method != initialize && r.life.Err() == nil {
		go func() {
			say, stop := context.WithTimeout(r.life, sayTime)
			defer stop()
			_ = r.notify(say, cancelled, map[string]any{"requestId": id})
		}()
	}
	var lost *LostError
	if errors.As(context.Cause(ctx), &lost) {
		return lost
	}
	return ctx.Err()
}

// ask posts a request and takes what comes back. Without an error the answer is there, or, over SSE, is to come.
func (r *remote) ask(ctx context.Context, method string, id int64, v request) error {
	resp, err := r.send(ctx, v)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if method == initialize && resp.Header.Get("Mcp-Session-Id") != "" {
		r.mu.Lock()
		r.session = resp.Header.Get("Mcp-Session-Id")
		r.mu.Unlock()
	}
	if r.conf.Kind == SSE {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind {
	case eventStream:
		return r.streamed(ctx, resp.Body, id)
	case "application/json":
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if m, err := parseMessage(data); err != nil || m.number() != id {
			return errors.New("the server answered with something else than the answer")
		}
		r.take(data)
		return nil
	default:
		return fmt.Errorf("the server answered with an unexpected content type %.60q", kind)
	}
}

// send posts a message. A response has a good status.
func (r *remote) send(ctx context.Context, v any) (*http.Response, error) {
	select {
	case <-r.over:
		return nil, errNotSent
	default:
	}
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	q, err := r.request(ctx, http.MethodPost, body)
	if err != nil {
		return nil, err
	}
	resp, err := r.client.Do(q)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, r.refused(resp, v, q.Header.Get("Mcp-Session-Id") != "")
}

// refused makes an error of a bad status.
func (r *remote) refused(resp *http.Response, v any, inSession bool) error {
	asked, _ := v.(request)
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized:
		return errors.New("the server wants to know who asks (401): give it a key in headers or auth_token")
	case code == http.StatusNotFound && inSession:
		r.end(errors.New("the server has ended the session"))
		return errNotSent
	case asked.Method == initialize && r.conf.Kind == HTTP && (code == http.StatusBadRequest || code == http.StatusNotFound || code == http.StatusMethodNotAllowed):
		return errLegacy
	}
	const shown = 4 << 10
	data, _ := io.ReadAll(io.LimitReader(resp.Body, shown))
	if m, err := parseMessage(data); err == nil && m.err != nil {
		return m.err
	}
	return fmt.Errorf("the server refuses with status %s: %s", resp.Status, oneLine(string(data), 200))
}

// streamed takes events until the answer to a request is among them. A stream that ends too early goes on with another
// one, if the server numbered its events.
func (r *remote) streamed(ctx context.Context, body io.Reader, id int64) error {
	last := ""
	for {
		got := false
		err := r.events(body, func(e event) bool {
			last = e.id
			m, err := parseMessage(e.data)
			r.take(e.data)
			got = err == nil && m.method == "" && m.number() == id
			return !got
		})
		switch {
		case got:
			return nil
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case last == "":
			return &LostError{errors.New("the stream of answers ended")}
		}
		next, err := r.resume(ctx, last)
		if err != nil {
			return err
		}
		defer next.Close()
		body = next
	}
}

// resume asks for what comes behind an event.
func (r *remote) resume(ctx context.Context, last string) (io.ReadCloser, error) {
	select {
	case <-time.After(resumeAfter):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	q, err := r.request(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Last-Event-ID", last)
	resp, err := r.client.Do(q)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &LostError{errors.New("the stream of answers ended")}
	}
	return resp.Body, nil
}

// event is one event of a stream.
type event struct {
	name, id string
	data     []byte
}

// events reads a stream until its end, or until f has enough.
func (r *remote) events(body io.Reader, f func(event) bool) error {
	in := bufio.NewReaderSize(body, 64<<10)
	var e event
	for {
		line, err := readLine(in, r.conf.MaxMessage+16)
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if e.data != nil && !f(e) {
				return nil
			}
			e.name, e.data = "", nil
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.name = string(value)
		case "id":
			e.id = string(value)
		case "data":
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
		}
	}
}

// listen opens the stream on which an SSE server answers, and waits until it says where requests go.
func (r *remote) listen(start time.Duration) error {
	ready := make(chan error, 2) // nobody may wait any more
	go func() {
		err := r.stream(ready)
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("the stream of answers ended")
		}
		r.end(plainError(err))
		ready <- err
	}()
	late := time.NewTimer(start)
	defer late.Stop()
	select {
	case err := <-ready:
		if err != nil {
			return plainError(err)
		}
		return nil
	case <-late.C:
		return fmt.Errorf("no answer within %s", start.Round(time.Millisecond))
	case <-r.life.Done():
		return r.life.Err()
	}
}

// stream reads the stream of an SSE server. ready gets nil once requests can be sent.
func (r *remote) stream(ready chan<- error) error {
	q, err := r.request(r.life, http.MethodGet, nil)
	if err != nil {
		return err
	}
	resp, err := r.client.Do(q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return r.refused(resp, nil, false)
	}
	known := false
	var elsewhere error
	err = r.events(resp.Body, func(e event) bool {
		if e.name != "endpoint" {
			r.take(e.data)
			return true
		}
		if known {
			return true
		}
		base := resp.Request.URL
		at, err := base.Parse(string(e.data))
		if err != nil || at.Host != base.Host || at.Scheme != base.Scheme { // requests, and their keys, stay at the host
			elsewhere = fmt.Errorf("it wants its requests at another place than %s://%s", base.Scheme, base.Host)
			return false
		}
		known = true
		r.mu.Lock()
		r.post = at.String()
		r.mu.Unlock()
		ready <- nil
		return true
	})
	return cmp.Or(elsewhere, err)
}

// take sees to one message.
func (r *remote) take(data []byte) {
	m, err := parseMessage(data)
	switch {
	case err != nil:
	case m.method == "":
		r.pending.answer(m)
	case m.id != nil:
		go r.serve(m)
	case m.method == listChanged:
		r.changed()
	}
}

// serve answers a request of the server.
func (r *remote) serve(m message) {
	ctx, stop := context.WithTimeout(r.life, sayTime)
	defer stop()
	if resp, err := r.send(ctx, m.reply()); err == nil {
		resp.Body.Close()
	}
}

func (r *remote) notify(ctx context.Context, method string, params any) error {
	resp, err := r.send(ctx, request{Version: "2.0", Method: method, Params: params})
	if err != nil {
		return plainError(err)
	}
	return resp.Body.Close()
}

func (r *remote) speak(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

// close ends the session, which is a courtesy, and the connection.
func (r *remote) close() {
	defer r.cancel()
	ctx, stop := context.WithTimeout(context.Background(), closeWait)
	defer stop()
	r.mu.Lock()
	session := r.session
	r.session = ""
	r.mu.Unlock()
	select {
	case <-r.over:
		return
	default:
	}
	r.end(errNotSent)
	if session == "" {
		return
	}
	if q, err := r.request(ctx, http.MethodDelete, nil); err == nil {
		q.Header.Set("Mcp-Session-Id", session)
		if resp, err := r.client.Do(q); err == nil {
			resp.Body.Close()
		}
	}
}

// plainError says what is wrong without the address, in whose query keys may stand.
func plainError(err error) error {
	var dns *net.DNSError
	var u *url.Error
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %q", dns.Name)
	case errors.As(err, &u):
		return plainError(u.Err)
	}
	return err
}

// hosted is the base of the HTTP clients of servers.
func hosted(start time.Duration) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: start}).DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: start, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 4,
	}
}

// legacy tells whether an error means that the server speaks the older HTTP transport.
func legacy(err error) bool { return errors.Is(err, errLegacy) }
