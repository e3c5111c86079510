package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// firstPause is how long the first retry waits, on the average; the next ones wait twice as long each, up to
// a minute.
const firstPause = time.Second

// maxLearned bounds how often a request is changed because an endpoint refused a field.
const maxLearned = 8

// errMaxTime is the cause when the time for all attempts is over.
var errMaxTime = errors.New("the time for one answer is over")

// call is one call of Chat.
type call struct {
	c     *client
	r     Request
	begun bool // text was given out in this attempt
	cut   bool // an attempt broke off
	sent  int  // requests
	last  *Error
}

// Chat asks the model. What may go away by itself (too many requests, an overloaded server, no connection, an
// answer that breaks off once) is tried again, within the limits of the options. An error is an *Error, or
// wraps the cause when ctx ended.
func (c *client) Chat(ctx context.Context, r Request) (Reply, error) {
	within, cancel := context.WithTimeoutCause(ctx, c.o.MaxTime, errMaxTime)
	defer cancel()
	w := &call{c: c, r: r}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = c.o.Pause
	end, _ := within.Deadline() // ctx may have less time than we would take
	reply, err := backoff.Retry(within, func() (Reply, error) { return w.try(within) },
		backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(c.o.Attempts)), backoff.WithMaxElapsedTime(time.Until(end)),
		backoff.WithNotify(func(_ error, d time.Duration) {
			c.o.Log(fmt.Sprintf("%s; again in %s", w.last, d.Round(100*time.Millisecond)))
		}))
	if err == nil {
		reply.Attempts = w.sent
		return reply, nil
	}
	return Reply{}, w.end(ctx, err)
}

// end returns the error of the call.
func (w *call) end(ctx context.Context, err error) error {
	w.takeBack()
	if ctx.Err() != nil {
		return fmt.Errorf("ask model %q at %s: %w", w.c.o.Model, w.c.endpoint(), context.Cause(ctx))
	}
	if w.last == nil {
		w.last = w.c.failure(Late, 0, err.Error(), err)
	}
	w.last.Attempts = w.sent
	return w.last
}

// takeBack tells the receiver of the text that the attempt failed.
func (w *call) takeBack() {
	if w.begun && w.r.OnText != nil {
		w.r.OnText("")
	}
	w.begun = false
}

func (w *call) text(piece string) {
	if piece != "" && w.r.OnText != nil {
		w.begun = true
		w.r.OnText(piece)
	}
}

// try makes one attempt, with the requests in it that teach how the endpoint wants it.
func (w *call) try(ctx context.Context) (Reply, error) {
	for learned := 0; ; learned++ {
		w.sent++
		q := w.c.learned()
		reply, err := w.c.send(ctx, w.r, q, w.text)
		if err == nil {
			return reply, nil
		}
		w.takeBack()
		if !errors.As(err, &w.last) {
			return Reply{}, backoff.Permanent(err)
		}
		if learned == maxLearned || !w.c.learn(w.last, q, w.r) {
			return Reply{}, w.verdict(w.last)
		}
	}
}

// verdict tells the retry loop what to do about an error.
func (w *call) verdict(e *Error) error {
	if e.final {
		return backoff.Permanent(e)
	}
	switch e.Kind {
	case Limited, Server, Unreachable, Late:
	case Broken:
		if w.cut {
			return backoff.Permanent(e)
		}
		w.cut = true
	default:
		return backoff.Permanent(e)
	}
	if e.RetryAfter > 0 {
		return errors.Join(e, &backoff.RetryAfterError{Duration: e.RetryAfter})
	}
	return e
}

func (c *client) learned() quirks {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quirks
}

// learn takes from a refusal how the endpoint wants it. Another call may have learned it meanwhile: then the
// request is just sent again.
func (c *client) learn(e *Error, sent quirks, r Request) bool {
	next := sent
	if !next.learn(e.Status, e.Message, e.param, func(field string) bool { return c.sends(r, sent, field) }) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quirks.merge(next)
	return true
}

// send makes one request.
func (c *client) send(ctx context.Context, r Request, q quirks, text func(string)) (Reply, error) {
	body, err := c.body(r, q)
	if err != nil {
		return Reply{}, c.failure(BadRequest, 0, "make the request: "+err.Error(), err)
	}
	ctx, watch := newWatch(ctx, c.o.Timeout)
	defer watch.stop()
	var resp *http.Response
	_, err = c.service.New(ctx, openai.ChatCompletionNewParams{},
		option.WithRequestBody("application/json", body), option.WithResponseBodyInto(&resp))
	if resp == nil {
		if err == nil {
			err = errors.New("no response")
		}
		return Reply{}, c.unreached(ctx, err)
	}
	defer resp.Body.Close()
	watch.sign()
	if resp.StatusCode >= 300 {
		return Reply{}, c.refused(resp)
	}
	a := &answer{turn: len(r.Messages)}
	if err := a.read(watch.body(resp.Body), resp.Header.Get("Content-Type"), text); err != nil {
		return Reply{}, c.broken(ctx, resp, err)
	}
	watch.drain(resp.Body)
	return c.reply(a, len(body)), nil
}

// unreached is the error when there was no response.
func (c *client) unreached(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent), errors.Is(cause, errMaxTime):
		return c.failure(Late, 0, cause.Error(), err)
	case cause != nil:
		return cause
	}
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err // the address stands in our own message
	}
	e := c.failure(Unreachable, 0, err.Error(), err)
	var bad *tls.CertificateVerificationError
	var name *net.DNSError
	e.final = errors.As(err, &bad) || errors.As(err, &name) && name.IsNotFound
	return e
}

// broken is the error when an answer could not be read to its end.
func (c *client) broken(ctx context.Context, resp *http.Response, err error) error {
	var said *providerError
	cause := context.Cause(ctx)
	e := c.failure(Broken, resp.StatusCode, err.Error(), err)
	switch {
	case errors.As(err, &said):
		e = c.failure(said.kind(), said.status(), said.Message, err)
		e.param = said.Param
	case errors.Is(cause, errSilent), errors.Is(cause, errMaxTime):
		e = c.failure(Late, resp.StatusCode, cause.Error(), err)
	case cause != nil:
		return cause
	}
	e.RequestID = requestID(resp.Header)
	return e
}
