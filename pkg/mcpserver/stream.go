package mcpserver

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	patience  = 5 * time.Second  // until an answer that is not there becomes a stream, so that nothing between takes it for dead
	keepAlive = 15 * time.Second // between two signs of life on a stream
)

// body reads a message that was sent; nil: it was not one, and that has been said.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) []byte {
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		refuse(w, http.StatusUnsupportedMediaType, mcp.INVALID_REQUEST, "the Content-Type must be application/json")
		return nil
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(bodyTime))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		refuse(w, http.StatusRequestEntityTooLarge, mcp.INVALID_REQUEST, "the message is longer than 4 MiB")
		return nil
	case err != nil:
		refuse(w, http.StatusBadRequest, mcp.PARSE_ERROR, "the message did not come to its end")
		return nil
	}
	control.SetReadDeadline(time.Time{})
	return data
}

// refuse answers a request that is at fault as a whole.
func refuse(w http.ResponseWriter, status, code int, text string) {
	writeJSON(w, status, (&fault{code: code, text: text}).reply())
}

func writeJSON(w http.ResponseWriter, status int, line []byte) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(slices.Clip(line), '\n'))
}

// accepts reports whether a client takes a media type. One that does not say takes everything.
func accepts(r *http.Request, media string) bool {
	list := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(list) == "" {
		return true
	}
	kind, _, _ := strings.Cut(media, "/")
	for item := range strings.SplitSeq(list, ",") {
		item, _, _ = strings.Cut(item, ";")
		item = strings.ToLower(strings.TrimSpace(item))
		if item == media || item == "*/*" || item == kind+"/*" {
			return true
		}
	}
	return false
}

// stream writes server-sent events. It is safe for concurrent use.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController

	mu   sync.Mutex
	open bool
	err  error
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, control: http.NewResponseController(w)}
}

// begin sends the head of the stream, once.
func (s *stream) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginLocked()
}

func (s *stream) beginLocked() {
	if s.open {
		return
	}
	s.open = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.err = s.control.Flush()
}

// event sends one event. Its data is one line.
func (s *stream) event(name string, data []byte) error {
	return s.write(slices.Concat([]byte("event: "+name+"\ndata: "), bytes.ReplaceAll(data, []byte("\n"), nil), []byte("\n\n")))
}

// alive sends a sign of life.
func (s *stream) alive() error { return s.write([]byte(": alive\n\n")) }

func (s *stream) write(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginLocked()
	if s.err != nil {
		return s.err
	}
	s.control.SetWriteDeadline(time.Now().Add(writeTime))
	if _, s.err = s.w.Write(text); s.err == nil {
		s.err = s.control.Flush()
	}
	return s.err
}

// isOpen reports whether the stream has begun.
func (s *stream) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}
