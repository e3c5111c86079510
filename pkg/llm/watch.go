package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errSilent is the cause when there was no sign of life for too long.
var errSilent = errors.New("no sign of life in time")

// watch ends a request that gives no sign of life. Every byte of an answer is one, also the comments by which
// servers say that they are still there; bytes of the headers are none.
type watch struct {
	limit time.Duration
	timer *time.Timer
	stop  func()
}

func newWatch(ctx context.Context, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(limit, func() { cancel(errSilent) })
	return ctx, &watch{limit: limit, timer: t, stop: func() { t.Stop(); cancel(nil) }}
}

func (w *watch) sign() { w.timer.Reset(w.limit) }

// drainTime is how long the end of a connection's answer is waited for.
const drainTime = 100 * time.Millisecond

// drain reads what comes after an answer, mostly nothing, so that the connection can be used for the next
// request. It does not wait for a server that keeps it open.
func (w *watch) drain(r io.Reader) {
	w.timer.Reset(drainTime)
	_, _ = io.CopyN(io.Discard, r, 64<<10) // whatever comes of it, the answer is there
}

func (w *watch) body(r io.Reader) io.Reader { return watched{r, w} }

type watched struct {
	io.Reader
	w *watch
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.w.sign()
	}
	return n, err
}

const (
	maxAnswer  = 64 << 20 // bytes of one answer
	maxRefusal = 1 << 20  // bytes of an error's body
)

var errTooLong = errors.New("the answer is longer than 64 MiB")

// bounded is a transport that reads no more of an answer than a model can mean.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxRefusal), resp.Body}
	} else {
		resp.Body = &capped{ReadCloser: resp.Body, left: maxAnswer}
	}
	return resp, nil
}

// capped fails after so many bytes.
type capped struct {
	io.ReadCloser
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
