package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/embed"
)

const (
	tries      = 4
	maxAnswer  = 64 << 20 // bytes
	maxMessage = 300      // bytes of what a server says that are shown
)

// refusedError says that the endpoint does not want this request, and would not want it again.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// request is the body of a request. Optional fields are not sent: some servers refuse them.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// answer is as much of an answer as is read.
type answer struct {
	Data []struct {
		Index     *int            `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Error json.RawMessage `json:"error"`
}

// ask sends one request, again after errors that pass, and puts the vectors into the items.
func (r *Client) ask(ctx context.Context, batch []*item) error {
	body := request{Model: r.config.Model, Dimensions: r.config.Dim}
	for _, it := range batch {
		body.Input = append(body.Input, it.text)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return err
	}
	for try := 0; ; try++ {
		data, again, err := r.post(ctx, buf.Bytes())
		if err == nil {
			return r.take(batch, data)
		}
		if again < 0 || try == tries-1 {
			return err
		}
		pause := max(again, r.config.Pause<<try+rand.N(r.config.Pause))
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// post sends body once. again is how long to wait before the next try at least, or −1 when it would be of no use.
func (r *Client) post(ctx context.Context, body []byte) (data []byte, again time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, -1, err
	}
	req.Header.Set("Content-Type", "application/json")
	if r.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+r.config.Key)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %s: %w", embed.ErrUnreachable, req.URL.Host, unwrapURL(err))
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%w: %s: %w", embed.ErrUnreachable, req.URL.Host, err)
	case len(data) > maxAnswer:
		return nil, -1, fmt.Errorf("%w: %s: more than %d bytes", embed.ErrAnswer, req.URL.Host, maxAnswer)
	case resp.StatusCode == http.StatusOK:
		return data, 0, nil
	}
	said := fmt.Errorf("%s: status %d: %s", req.URL.Host, resp.StatusCode, message(data, r.config.Key))
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return nil, -1, fmt.Errorf("%w: %w", embed.ErrAuth, said)
	case code == http.StatusTooManyRequests:
		return nil, retryAfter(resp.Header), fmt.Errorf("%w: %w", embed.ErrLimited, said)
	case code == http.StatusRequestTimeout || code >= 500:
		return nil, retryAfter(resp.Header), fmt.Errorf("%w: %w", embed.ErrUnreachable, said)
	case code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge || code == http.StatusUnprocessableEntity:
		return nil, -1, &refusedError{fmt.Errorf("%w: %w", embed.ErrAnswer, said)}
	}
	return nil, -1, fmt.Errorf("%w: %w", embed.ErrAnswer, said)
}

// unwrapURL takes off what net/http says about the request; the host is named once.
func unwrapURL(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// retryAfter reads how long the server wants to be left alone.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// message is what the server says, on one line, without the key.
func message(data []byte, key string) string {
	var a struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	s := string(data)
	if json.Unmarshal(data, &a) == nil && a.Error.Message != "" {
		s = a.Error.Message
	}
	if key != "" {
		s = strings.ReplaceAll(s, key, "***")
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), maxMessage)], "")), " ")
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7F {
			return -1
		}
		return c
	}, s)
}

// take checks a whole answer before any of it is used.
func (r *Client) take(batch []*item, data []byte) error {
	vectors, err := decode(data, len(batch))
	if err == nil {
		err = r.width(vectors)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", embed.ErrAnswer, r.name, err)
	}
	for i, it := range batch {
		it.vector = vectors[i]
	}
	return nil
}

// width checks that all vectors have the width of the first answer ever.
func (r *Client) width(vectors [][]float32) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dim == 0 {
		r.dim = len(vectors[0])
		if want := r.config.Dim; want > 0 && want != r.dim {
			r.warnings = append(r.warnings, fmt.Sprintf("the embedding endpoint gives vectors of %d numbers, not of %d as asked", r.dim, want))
		}
	}
	for _, v := range vectors {
		if len(v) != r.dim {
			return fmt.Errorf("a vector of %d numbers among those of %d", len(v), r.dim)
		}
	}
	return nil
}

// decode returns the n vectors of an answer in the order of the question: by index, or by place when no item has one.
func decode(data []byte, n int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if len(a.Data) != n {
		if len(a.Error) > 0 && string(a.Error) != "null" {
			return nil, fmt.Errorf("an error with status 200: %s", message(data, ""))
		}
		return nil, fmt.Errorf("%d vectors for %d texts", len(a.Data), n)
	}
	out := make([][]float32, n)
	for place, d := range a.Data {
		at := place
		if (d.Index == nil) != (a.Data[0].Index == nil) {
			return nil, errors.New("some vectors have an index, some have none")
		}
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, fmt.Errorf("index %d is twice there or out of range", at)
		}
		v, err := numbers(d.Embedding)
		if err != nil {
			return nil, err
		}
		out[at] = v
	}
	return out, nil
}

// numbers reads a vector: a list of numbers, or base64 of little-endian float32.
func numbers(raw json.RawMessage) (v []float32, err error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
		if err != nil || len(b)%4 != 0 {
			return nil, errors.New("a vector that is neither numbers nor base64 of float32")
		}
		for ; len(b) > 0; b = b[4:] {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	} else if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, errors.New("a vector that is zero or not finite")
	}
	return v, nil
}
