package feishu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

const (
	defaultPing = 120 * time.Second
	maxFrame    = 4 << 20
	dialTime    = 30 * time.Second
	writeTime   = 10 * time.Second
)

// clientConfig is what the platform asks of a connection, in seconds.
type clientConfig struct {
	PingInterval int `json:"PingInterval"`
}

// connection is one connection from its beginning to its end.
func (c *Channel) connection(ctx context.Context, h gateway.Host) error {
	address, conf, err := c.endpoint(ctx)
	if err != nil {
		return err
	}
	dial, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, resp, err := websocket.Dial(dial, address.String(), &websocket.DialOptions{HTTPClient: c.api.http})
	if err != nil {
		return handshake(resp, err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxFrame)
	service, _ := strconv.ParseInt(address.Query().Get("service_id"), 10, 32)
	l := &link{conn: conn, service: int32(service), ping: make(chan time.Duration, 1), parts: map[string]*split{}}
	l.setPing(conf)
	h.State(true, "long connection")
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go l.keepAlive(ctx, stop)
	for {
		err := l.read(ctx, func(payload []byte) error {
			e, err := decode(payload)
			if err != nil {
				return nil
			}
			return c.handle(ctx, e, h.Take)
		})
		if err != nil {
			// A ping fails, too, on a connection that was given up; silence is the reason then.
			if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errSilent) {
				err = cause
			}
			return fmt.Errorf("connection lost: %w", err)
		}
	}
}

// endpoint asks where to connect to.
func (c *Channel) endpoint(ctx context.Context) (*url.URL, clientConfig, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	body, _ := json.Marshal(map[string]string{"AppID": c.config.AppID, "AppSecret": c.config.AppSecret})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.api.base+"/callback/ws/endpoint", bytes.NewReader(body))
	if err != nil {
		return nil, clientConfig{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("locale", "zh")
	var out struct {
		answer
		Data struct {
			URL    string       `json:"URL"`
			Config clientConfig `json:"ClientConfig"`
		} `json:"data"`
	}
	if err := c.api.do(req, &out, &out.answer); err != nil {
		var e *apiError
		if errors.As(err, &e) && e.Code > 0 && e.Code != 1 && e.Code != 1000040343 && !slices.Contains(rateCodes, e.Code) {
			return nil, clientConfig{}, gateway.Fatal("no long connection: %w", e)
		}
		return nil, clientConfig{}, fmt.Errorf("ask for the long connection: %w", err)
	}
	u, err := rest.Socket(out.Data.URL)
	if err != nil {
		return nil, clientConfig{}, fmt.Errorf("ask for the long connection: %w", err)
	}
	return u, out.Data.Config, nil
}

// handshake says why there is no connection.
func handshake(resp *http.Response, err error) error {
	if resp != nil {
		status, why, code := resp.Header.Get("Handshake-Status"), resp.Header.Get("Handshake-Msg"), resp.Header.Get("Handshake-Autherrcode")
		if status == "403" || status == "514" || code == "1000040350" {
			return gateway.Fatal("no long connection: status %s, code %s, %s", status, code, why)
		}
	}
	return fmt.Errorf("connect: %w", rest.Clean(err))
}

// errSilent tells of a connection on which nothing comes any more.
var errSilent = errors.New("nothing came")

// link is an open connection.
type link struct {
	conn    *websocket.Conn
	service int32
	ping    chan time.Duration // a new interval
	patient time.Duration      // how long the other side may be silent
	parts   map[string]*split
}

// split is a message that comes in several frames.
type split struct {
	since time.Time
	parts [][]byte
	got   int
	size  int
}

const (
	splitTime  = 5 * time.Second
	maxSplit   = 64
	maxPending = 100
)

func (l *link) setPing(conf clientConfig) {
	every := time.Duration(conf.PingInterval) * time.Second
	if every <= 0 || every > 10*time.Minute {
		every = defaultPing
	}
	l.patient = every + max(every/4, time.Second)
	select {
	case <-l.ping:
	default:
	}
	l.ping <- every
}

// keepAlive sends pings. Each is answered; who is silent for longer is gone, even if nobody has closed the
// connection.
func (l *link) keepAlive(ctx context.Context, stop func(error)) {
	every := <-l.ping
	for {
		if err := l.write(ctx, &Frame{Service: l.service, Headers: []Header{{"type", "ping"}}}); err != nil {
			stop(fmt.Errorf("send ping: %w", err))
			return
		}
		select {
		case every = <-l.ping:
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
	}
}

func (l *link) write(ctx context.Context, f *Frame) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageBinary, f.Bytes())
}

// read reads one frame and does what it asks for.
func (l *link) read(ctx context.Context, handle func(payload []byte) error) error {
	wait, cancel := context.WithTimeout(ctx, l.patient)
	defer cancel()
	kind, data, err := l.conn.Read(wait)
	if errors.Is(wait.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w for %v, not even a pong", errSilent, l.patient)
	}
	if err != nil {
		return err
	}
	f, err := ParseFrame(data)
	if err != nil || kind != websocket.MessageBinary {
		return nil
	}
	if f.Method == 0 {
		var conf clientConfig
		if f.Get("type") == "pong" && json.Unmarshal(f.Payload, &conf) == nil && conf.PingInterval > 0 {
			l.setPing(conf)
		}
		return nil
	}
	payload := l.whole(f)
	if payload == nil {
		return nil
	}
	begin, code := time.Now(), http.StatusOK
	if f.Get("type") == "event" {
		if err := handle(payload); err != nil {
			code = http.StatusInternalServerError
		}
	}
	f.Headers = append(f.Headers, Header{"biz_rt", strconv.FormatInt(time.Since(begin).Milliseconds(), 10)})
	f.Payload = fmt.Appendf(nil, `{"code":%d,"headers":null,"data":null}`, code)
	return l.write(ctx, f)
}

// whole returns the payload of a message once all of its frames are there; nil before.
func (l *link) whole(f *Frame) []byte {
	sum, _ := strconv.Atoi(f.Get("sum"))
	if sum <= 1 {
		return f.Payload
	}
	seq, err := strconv.Atoi(f.Get("seq"))
	id := f.Get("message_id")
	if err != nil || seq < 0 || seq >= sum || sum > maxSplit || id == "" {
		return nil
	}
	for key, s := range l.parts {
		if time.Since(s.since) > splitTime {
			delete(l.parts, key)
		}
	}
	s := l.parts[id]
	if s == nil {
		if len(l.parts) >= maxPending {
			return nil
		}
		s = &split{since: time.Now(), parts: make([][]byte, sum)}
		l.parts[id] = s
	}
	if len(s.parts) != sum || s.parts[seq] != nil || s.size+len(f.Payload) > maxFrame {
		return nil
	}
	s.parts[seq] = append([]byte{}, f.Payload...)
	s.got, s.size = s.got+1, s.size+len(f.Payload)
	if s.got < sum {
		return nil
	}
	delete(l.parts, id)
	return bytes.Join(s.parts, nil)
}
