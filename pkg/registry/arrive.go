package registry

import (
	"io"
	"net/http"
	"os"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/atomicfile"
)

const (
	// arriving is how many large uploads of one key may be on their way at once.
	arriving = 16
	// drainTimes and drainTime bound what is still read of a body that was refused: so many times the limit on all files, for so long.
	drainTimes = 8
	drainTime  = 10 * time.Second
)

// arrived returns the body of an upload. A large one is kept in a file until all of it is there, and only then gets one of the few places for
// large uploads: whoever sends slowly takes a place from nobody. done gives everything back.
func (s *Server) arrived(c *call) (body io.Reader, done func(), err error) {
	limit := s.o.Limits.Total + overhead*int64(s.o.Limits.Files)
	body = http.MaxBytesReader(c.w, c.r.Body, limit)
	if n := c.r.ContentLength; n >= 0 && n <= smallBody {
		return body, func() {}, nil
	}
	if c.r.ContentLength > limit {
		s.drain(c)
		return nil, nil, refuse(api.ErrTooLarge, "the body is larger than %d bytes", limit)
	}
	f, err := s.receive(c, body)
	if err != nil {
		return nil, nil, err
	}
	if err := enter(c, s.large); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, func() { <-s.large; f.Close() }, nil
}

// receive reads a body into a file that has no name any more, so that it ends with the process.
func (s *Server) receive(c *call, body io.Reader) (*os.File, error) {
	places := s.arrivals(c.caller.ID)
	if err := enter(c, places); err != nil {
		return nil, err
	}
	defer func() { <-places }()
	f, err := os.CreateTemp(s.o.SpoolDir, atomicfile.TempGlob)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	in := &bodyReader{r: body}
	if _, err = io.Copy(f, in); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if in.err != nil {
		err = bodyError(in.err)
	}
	s.drain(c)
	return nil, err
}

// bodyReader tells a body that cannot be read from a file that cannot be written.
type bodyReader struct {
	r   io.Reader
	err error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// arrivals are the places of a key for large uploads on their way.
func (s *Server) arrivals(key string) chan struct{} {
	s.arrivingMu.Lock()
	defer s.arrivingMu.Unlock()
	places := s.arriving[key]
	if places == nil {
		places = make(chan struct{}, arriving)
		s.arriving[key] = places
	}
	return places
}

// enter waits for a place.
func enter(c *call, places chan<- struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-c.r.Context().Done():
		return c.r.Context().Err()
	}
}

// drain takes what a refused client still sends. Many clients read no answer before they have sent everything, and would see nothing but a
// broken connection. One that waits for a sign to go on gets the answer instead.
func (s *Server) drain(c *call) {
	if c.r.Header.Get("Expect") != "" {
		return
	}
	if err := http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return
	}
	io.CopyN(io.Discard, c.r.Body, drainTimes*s.o.Limits.Total) // what cannot be read is not missed
}
