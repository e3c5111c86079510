package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxMessage bounds a message of the browser, in bytes: a picture of a page is the largest.
const maxMessage = 64 << 20

// errGone is the error of everything once the browser has ended.
var errGone = errors.New("the browser has ended")

// conn speaks the DevTools protocol: JSON messages, each ended by a zero byte.
type conn struct {
	out    io.WriteCloser
	events func(session, method string, params json.RawMessage) // called in order; must not call

	writing sync.Mutex
	mu      sync.Mutex
	last    int64
	waiting map[int64]chan message
	gone    chan struct{} // closed when nothing comes any more
}

// message is a command, its answer or an event.
type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *protocolError  `json:"error,omitempty"`
}

// protocolError is the browser's answer to a command that it did not carry out.
type protocolError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error tells the browser's words.
func (e *protocolError) Error() string { return e.Message }

func newConn(in io.Reader, out io.WriteCloser, events func(session, method string, params json.RawMessage)) *conn {
	c := &conn{out: out, events: events, waiting: map[int64]chan message{}, gone: make(chan struct{})}
	go c.read(bufio.NewReaderSize(in, 64<<10))
	return c
}

func (c *conn) read(in *bufio.Reader) {
	defer close(c.gone)
	for {
		data, err := nextMessage(in)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		if m.ID == 0 {
			c.events(m.Session, m.Method, m.Params)
			continue
		}
		c.mu.Lock()
		answer := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// nextMessage reads up to the next zero byte.
func nextMessage(in *bufio.Reader) (data []byte, err error) {
	for {
		part, err := in.ReadSlice(0)
		data = append(data, part...)
		switch {
		case len(data) > maxMessage:
			return nil, fmt.Errorf("a message of more than %d bytes", maxMessage)
		case err == nil:
			return data[:len(data)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// call sends a command and waits for its answer, which is put into result unless that is nil.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	answer, id, err := c.send(session, method, params)
	if err != nil {
		return err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %w", method, m.Error)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-c.gone:
		return errGone
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return ctx.Err()
	}
}

// send sends a command. The channel gets its answer.
func (c *conn) send(session, method string, params any) (<-chan message, int64, error) {
	m := message{Session: session, Method: method}
	if params != nil {
		data, err := json.Marshal(params)
		if err != nil {
			return nil, 0, err
		}
		m.Params = data
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	m.ID = c.last
	c.waiting[m.ID] = answer
	c.mu.Unlock()
	data, err := json.Marshal(m)
	if err != nil {
		return nil, 0, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(data, 0)); err != nil {
		return nil, 0, errGone
	}
	return answer, m.ID, nil
}
