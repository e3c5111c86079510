package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// remote is a server at an address. The library knows the two HTTP transports; what it lacks is around it: bounds for
// what is read, an end of a call when the stream of answers ends, no header for another host.
type remote struct {
	*ending
	wire   transport.Interface
	last   atomic.Int64
	cancel context.CancelFunc
	once   sync.Once
}

// openRemote connects to a server. ctx is the life of the connection, start bounds its beginning.
func openRemote(ctx context.Context, conf Server, start time.Duration, changed func()) (*remote, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &remote{ending: newEnding(), cancel: cancel}
	client, err := guarded(conf, start, func() { r.end(errors.New("the stream of answers ended")) })
	if err == nil {
		r.wire, err = newTransport(conf, client)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	r.wire.SetNotificationHandler(func(n mcp.JSONRPCNotification) {
		if n.Method == listChanged {
			changed()
		}
	})
	if err := r.begin(ctx, start); err != nil {
		r.close()
		return nil, plainError(err)
	}
	return r, nil
}

func newTransport(conf Server, client *http.Client) (transport.Interface, error) {
	quiet := slog.New(slog.DiscardHandler)
	if conf.Kind == SSE {
		return transport.NewSSE(conf.URL, transport.WithHTTPClient(client), transport.WithHeaders(conf.Headers), transport.WithSSELogger(quiet),
			transport.WithEndpointTimeout(conf.StartTimeout), transport.WithResponseTimeout(24*time.Hour)) // the context of a call bounds it
	}
	return transport.NewStreamableHTTP(conf.URL, transport.WithHTTPBasicClient(client), transport.WithHTTPHeaders(conf.Headers), transport.WithHTTPLogger(quiet))
}

// begin starts the transport. It is not left waiting for a server that takes the connection and says nothing.
func (r *remote) begin(ctx context.Context, start time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- r.wire.Start(ctx) }()
	late := time.NewTimer(start)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("no answer within %s", start)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *remote) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	select {
	case <-r.over:
		return nil, errNotSent
	default:
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-r.over:
			stop()
		case <-ctx.Done():
		}
	}()
	answer, err := r.wire.SendRequest(ctx, transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId(r.last.Add(1)), Method: method, Params: params})
	select {
	case <-r.over:
		if err != nil {
			return nil, &LostError{r.cause()}
		}
	default:
	}
	switch {
	case errors.Is(err, transport.ErrSessionTerminated):
		r.end(errors.New("the server has ended the session"))
		return nil, errNotSent
	case err != nil:
		return nil, plainError(err)
	case answer == nil:
		return nil, errors.New("the server answered with nothing")
	case answer.Error != nil:
		return nil, &RPCError{Code: answer.Error.Code, Message: answer.Error.Message}
	}
	return answer.Result, nil
}

func (r *remote) notify(ctx context.Context, method string, params any) error {
	n := mcp.JSONRPCNotification{JSONRPC: "2.0", Notification: mcp.Notification{Method: method}}
	if fields, ok := params.(map[string]any); ok {
		n.Params.AdditionalFields = fields
	}
	return r.wire.SendNotification(ctx, n)
}

func (r *remote) speak(version string) {
	if c, ok := r.wire.(transport.HTTPConnection); ok {
		c.SetProtocolVersion(version)
	}
}

func (r *remote) close() {
	r.once.Do(func() {
		r.end(errNotSent)
		if r.wire != nil {
			r.wire.Close()
		}
		r.cancel()
	})
}

// legacy tells whether an error means that the server speaks the older HTTP transport.
func legacy(err error) bool { return errors.Is(err, transport.ErrLegacySSEServer) }

// plainError says what is wrong without the library's layers and without the query of the address, where keys stand.
func plainError(err error) error {
	var dns *net.DNSError
	var u *url.Error
	switch {
	case legacy(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, transport.ErrAuthorizationRequired), errors.Is(err, transport.ErrOAuthAuthorizationRequired):
		return errors.New("the server wants to know who asks (401): give it a key in headers or auth_token")
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %q", dns.Name)
	case errors.As(err, &u):
		return plainError(u.Err)
	}
	text := err.Error()
	for _, layer := range []string{"transport error: ", "failed to send request: ", "failed to connect to SSE stream: "} {
		text = strings.ReplaceAll(text, layer, "")
	}
	return errors.New(oneLine(text, 300))
}
