package rest

import (
	"errors"
	"io"
	"net/http"
)

// Anybody can send a body; whether it is proven is known at its end.
const (
	eachBytes = 64 << 10 // of a body that are read in any case: messages seldom have more
	allBytes  = 16 << 20 // of all bodies together beyond that
	step      = 4 << 10
)

// Body reads the body of a request that was let in. Its status is that of an answer: 200 when it was read, else what is to
// be answered. The caller calls done when it does not need the body any more.
func (g *Gate) Body(w http.ResponseWriter, r *http.Request, most int64) (body []byte, done func(), status int) {
	if r.ContentLength > most {
		return nil, func() {}, http.StatusRequestEntityTooLarge
	}
	in, held := http.MaxBytesReader(w, r.Body, most), int64(0)
	done = func() { g.held.Add(-held) }
	for body = make([]byte, 0, step); ; {
		if len(body) == cap(body) {
			more := int64(cap(body))
			if held += more; g.held.Add(more) > allBytes && 2*more > eachBytes {
				w.Header().Set("Connection", "close") // nothing of the rest is read
				return nil, done, http.StatusServiceUnavailable
			}
			body = append(make([]byte, 0, 2*more), body...)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		var large *http.MaxBytesError
		switch {
		case err == io.EOF:
			return body, done, http.StatusOK
		case errors.As(err, &large):
			return nil, done, http.StatusRequestEntityTooLarge
		case err != nil:
			return nil, done, http.StatusRequestTimeout
		}
	}
}
