package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Config is the section "slack" of the config file.
type Config struct {
	gateway.Access
	AppToken string `json:"app_token" env:"SLACK_APP_TOKEN" kind:"secret"`
	BotToken string `json:"bot_token" env:"SLACK_BOT_TOKEN" kind:"secret"`
	APIBase  string `json:"api_base" env:"SLACK_API_BASE"`
}

// DefaultConfig is the Config of an empty section.
func DefaultConfig() Config {
	return Config{Access: gateway.DefaultAccess(), APIBase: "https://slack.com/api"}
}

// Channel is one app in one workspace.
type Channel struct {
	config Config
	base   *url.URL
	http   *http.Client

	mu    sync.Mutex
	bot   string            // our user id
	names map[string]string // of users
}

// New checks the section.
func New(c Config) (*Channel, error) {
	if !strings.HasPrefix(c.AppToken, "xapp-") || len(strings.Split(c.AppToken, "-")) < 4 || !strings.HasPrefix(c.BotToken, "xoxb-") {
		return nil, wire.Errorf(wire.Usage, "slack: app_token (xapp-…) and bot_token (xoxb-…) are needed").WithHint("they can come from SLACK_APP_TOKEN and SLACK_BOT_TOKEN")
	}
	base, err := rest.Base(c.APIBase)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "slack: api_base: %w", err)
	}
	return &Channel{config: c, base: base, http: rest.NewClient(), names: map[string]string{}}, nil
}

// Account is the app: its id is part of the app token.
func (c *Channel) Account() gateway.Account {
	return gateway.Account{Platform: "slack", ID: strings.Split(c.config.AppToken, "-")[2]}
}

// Limits are those of Slack: it shows 4,000 characters well.
func (c *Channel) Limits() gateway.Limits {
	return gateway.Limits{Text: 3800, Measure: utf8.RuneCountInString, File: 100 << 20, Pause: time.Second}
}

const (
	callTime    = 30 * time.Second
	pingEvery   = 30 * time.Second
	pongTime    = 10 * time.Second
	maxEnvelope = 4 << 20
)

// Check asks the platform who we are.
func (c *Channel) Check(ctx context.Context) error {
	var me struct {
		User string `json:"user_id"`
	}
	if err := c.call(ctx, c.config.BotToken, "auth.test", nil, &me); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bot = me.User
	return nil
}

func (c *Channel) botID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bot
}

// Run keeps a connection until ctx ends.
func (c *Channel) Run(ctx context.Context, h gateway.Host) error {
	return rest.Keep(ctx, h, func() error {
		if c.botID() == "" {
			if err := c.Check(ctx); err != nil {
				return err
			}
		}
		return c.connection(ctx, h)
	})
}

// connection is one connection from its beginning to its end. The platform ends each now and then.
func (c *Channel) connection(ctx context.Context, h gateway.Host) error {
	var at struct {
		URL string `json:"url"`
	}
	if err := c.call(ctx, c.config.AppToken, "apps.connections.open", nil, &at); err != nil {
		return err
	}
	if _, err := rest.Socket(at.URL); err != nil {
		return fmt.Errorf("slack: apps.connections.open: %w", err)
	}
	dial, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	conn, _, err := websocket.Dial(dial, at.URL, &websocket.DialOptions{HTTPClient: c.http})
	if err != nil {
		return fmt.Errorf("slack: connect: %w", rest.Clean(err))
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxEnvelope)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go keepAlive(ctx, conn, stop)
	for {
		_, data, err := conn.Read(ctx)
		var ack []byte
		if err == nil {
			ack, err = c.envelope(ctx, data, h)
		}
		if err == nil && ack != nil {
			err = write(ctx, conn, ack)
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return fmt.Errorf("connection lost: %w", err)
		}
	}
}

// keepAlive sends pings; a connection on which none is answered is gone.
func keepAlive(ctx context.Context, conn *websocket.Conn, stop func(error)) {
	for {
		select {
		case <-time.After(pingEvery):
		case <-ctx.Done():
			return
		}
		wait, cancel := context.WithTimeout(ctx, pongTime)
		err := conn.Ping(wait)
		cancel()
		if err != nil {
			stop(errors.New("a ping was not answered"))
			return
		}
	}
}

var errRefresh = errors.New("the platform asks to connect anew")

func write(ctx context.Context, conn *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, data)
}

// envelope does what an envelope asks for, and returns what acknowledges it: nothing when its message could not be taken
// over, or there is nothing to acknowledge.
func (c *Channel) envelope(ctx context.Context, data []byte, h gateway.Host) (ack []byte, err error) {
	var e struct {
		Type    string `json:"type"`
		ID      string `json:"envelope_id"`
		Payload struct {
			Event event `json:"event"`
		} `json:"payload"`
	}
	if json.Unmarshal(data, &e) != nil {
		return nil, nil
	}
	switch e.Type {
	case "hello":
		h.State(true, "socket mode")
	case "disconnect":
		return nil, errRefresh
	case "events_api":
		if m, ok := c.message(ctx, e.Payload.Event); ok {
			if err := h.Take(ctx, m); err != nil {
				h.Log.Error("not acknowledged", "error", err)
				return nil, nil
			}
		}
	}
	if e.ID == "" {
		return nil, nil
	}
	return json.Marshal(map[string]string{"envelope_id": e.ID})
}

var memberID = regexp.MustCompile(`^[UW][A-Z0-9]+$`)

// CheckID wants a member id: names and addresses can be changed.
func (c *Channel) CheckID(id string) error {
	if !memberID.MatchString(id) {
		return errors.New("want a member id, such as U012AB3CD")
	}
	return nil
}
