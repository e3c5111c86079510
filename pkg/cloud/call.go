package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// call is one thing that is asked of the registry.
type call struct {
	method, path string // path below the base, escaped
	query        url.Values
	body         func() *payload // a fresh one for each try; nil: none
	transfer     bool            // it may take as long as bytes flow
	accept       string
}

// payload is the body of a request.
type payload struct {
	io.Reader
	size int64
	kind string // content type
}

// do asks until there is an answer, an error that asking again cannot mend, or no more patience. read gets
// every answer that is a success.
func (c *Client) do(ctx context.Context, what call, read func(resp *http.Response) error) error {
	if c.o.Patience < 0 {
		return c.endpoint(c.try(ctx, what, read), what)
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = c.o.Pause
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.try(ctx, what, read) },
		backoff.WithBackOff(pauses), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(c.o.Patience))
	if err != nil && ctx.Err() != nil {
		return canceled(ctx)
	}
	return c.endpoint(err, what)
}

// endpoint completes an error for the user.
func (c *Client) endpoint(err error, what call) error {
	var again *tryAgain
	if errors.As(err, &again) {
		err = again.err
	}
	var perm *backoff.PermanentError
	if errors.As(err, &perm) {
		err = perm.Err
	}
	var e *wire.Error
	if errors.As(err, &e) && e.Endpoint == "" {
		e.Endpoint = what.method + " " + c.Base() + what.path
	}
	return err
}

// tryAgain is an error that the next try may not have; wait is 0 where the server said nothing.
type tryAgain struct {
	err  error
	wait time.Duration
}

func (t *tryAgain) Error() string { return t.err.Error() }

// Unwrap lets the retry loop see the pause that the server asks for.
func (t *tryAgain) Unwrap() []error {
	if t.wait > 0 {
		return []error{t.err, &backoff.RetryAfterError{Duration: t.wait}}
	}
	return []error{t.err}
}

// try asks once.
func (c *Client) try(ctx context.Context, what call, read func(resp *http.Response) error) error {
	watch := c.watch(ctx, what.transfer)
	defer watch.stop()
	req, err := c.request(watch, what)
	if err != nil {
		return backoff.Permanent(err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return watch.failed(ctx, err)
	}
	defer resp.Body.Close()
	body := &watched{ReadCloser: resp.Body, w: watch}
	resp.Body = body
	if resp.StatusCode/100 != 2 {
		err := refused(resp)
		var r *Refusal
		if errors.As(err, &r) && r.mayHelp() {
			return &tryAgain{err, r.RetryAfter}
		}
		return backoff.Permanent(err)
	}
	err = read(resp)
	switch {
	case err == nil:
		return nil
	case body.err != nil: // the answer broke off; whatever read made of it
		return watch.failed(ctx, body.err)
	case errors.As(err, new(*tryAgain)):
		return err
	}
	return backoff.Permanent(err)
}

func (c *Client) request(w *watch, what call) (*http.Request, error) {
	address := c.base.String() + what.path
	if len(what.query) > 0 {
		address += "?" + what.query.Encode()
	}
	req, err := http.NewRequestWithContext(w.ctx, what.method, address, nil)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "ask registry: %w", err)
	}
	if what.body != nil {
		fresh := func() (io.ReadCloser, error) { return &watched{ReadCloser: io.NopCloser(what.body()), w: w}, nil }
		p := what.body()
		req.Body = &watched{ReadCloser: io.NopCloser(p), w: w}
		req.ContentLength, req.GetBody = p.size, fresh
		req.Header.Set("Content-Type", p.kind)
	}
	req.Header.Set(api.HeaderKey, c.o.Key)
	req.Header.Set("User-Agent", c.o.UserAgent)
	if what.accept != "" {
		req.Header.Set("Accept", what.accept)
	}
	if what.transfer {
		req.Header.Set("Accept-Encoding", "identity")
	}
	return req, nil
}

// watch ends a try that takes too long: as a whole, or, while bytes flow, since the last one.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	still  time.Duration
	flow   bool // a byte extends the deadline
	end    func()
}

func (c *Client) watch(ctx context.Context, transfer bool) *watch {
	w := &watch{still: c.o.Answer, flow: transfer, end: func() {}}
	if transfer {
		limit := fmt.Errorf("transfer took longer than %v", c.o.Transfer)
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.o.Transfer, limit)
		w.end = stop
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(w.still, func() { w.cancel(fmt.Errorf("nothing came for %v", w.still)) })
	return w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
	w.end()
}

func canceled(ctx context.Context) error { return wire.Errorf(wire.Canceled, "%w", context.Cause(ctx)) }

// failed makes the error of a try that broke off.
func (w *watch) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return backoff.Permanent(canceled(ctx))
	}
	if cause := context.Cause(w.ctx); cause != nil {
		err = cause
	}
	res, again := unreachable(err)
	if again {
		return &tryAgain{err: res}
	}
	return backoff.Permanent(res)
}

// watched is a body whose bytes keep the watch quiet; err is what ended it early.
type watched struct {
	io.ReadCloser
	w   *watch
	err error
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.w.flow {
		b.w.timer.Reset(b.w.still)
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}
