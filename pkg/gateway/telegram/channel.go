package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Config is the section "telegram" of the config file.
type Config struct {
	gateway.Access
	BotToken string `json:"bot_token" env:"TELEGRAM_BOT_TOKEN" kind:"secret"`
	APIBase  string `json:"api_base" env:"TELEGRAM_API_BASE"` // of another Bot API server
}

// DefaultConfig is the Config of an empty section.
func DefaultConfig() Config {
	return Config{Access: gateway.DefaultAccess(), APIBase: "https://api.telegram.org"}
}

// Channel is one bot.
type Channel struct {
	api *client
	id  string // of the bot, the first half of its token

	mu   sync.Mutex
	name string // how people mention us, without the @
}

// New checks the section.
func New(c Config) (*Channel, error) {
	id, secret, _ := strings.Cut(c.BotToken, ":")
	if _, err := strconv.ParseInt(id, 10, 64); err != nil || secret == "" || strings.ContainsAny(c.BotToken, "/?# ") {
		return nil, wire.Errorf(wire.Usage, "telegram: bot_token is needed, such as 123456:ABC…").WithHint("it can come from TELEGRAM_BOT_TOKEN; @BotFather gives one")
	}
	base, err := rest.Base(c.APIBase)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "telegram: api_base: %w", err)
	}
	return &Channel{api: newClient(base.String(), c.BotToken), id: id}, nil
}

// Account is the bot.
func (c *Channel) Account() gateway.Account { return gateway.Account{Platform: "telegram", ID: c.id} }

// Limits are those of the Bot API. A text has 4,096 UTF-16 units after its marks are read; some are left for
// what is written in their place.
func (c *Channel) Limits() gateway.Limits {
	return gateway.Limits{Text: 3900, Measure: units, File: 50 << 20, Pause: time.Second, Working: 4 * time.Second}
}

// units is the length of a text in UTF-16.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// pollTime is how long the platform lets us wait for a message.
const pollTime = 50 * time.Second

// Run receives until ctx ends.
func (c *Channel) Run(ctx context.Context, h gateway.Host) error {
	offset := int64(0)
	return rest.Keep(ctx, h, func() (err error) {
		if c.username() == "" {
			if err := c.Check(ctx); err != nil {
				return err
			}
		}
		for up := false; ; up = true {
			if offset, err = c.poll(ctx, offset, !up, h); err != nil {
				return err
			}
			if !up {
				h.State(true, "polling")
			}
		}
	})
}

// Check asks the platform who we are.
func (c *Channel) Check(ctx context.Context) error {
	var me struct {
		Name string `json:"username"`
	}
	if err := c.api.call(ctx, "getMe", nil, &me); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name = me.Name
	return nil
}

// poll fetches what is there from offset on, hands it on, and returns the offset that acknowledges it. The
// first poll does not wait, so that it soon says whether the channel is up.
func (c *Channel) poll(ctx context.Context, offset int64, first bool, h gateway.Host) (int64, error) {
	wait := pollTime
	if first {
		wait = 0
	}
	ctx, cancel := context.WithTimeout(ctx, wait+20*time.Second)
	defer cancel()
	var updates []update
	err := c.api.call(ctx, "getUpdates", map[string]any{"offset": offset, "timeout": int(wait.Seconds()), "allowed_updates": []string{"message", "edited_message"}}, &updates)
	var odd *json.UnmarshalTypeError
	switch {
	case errors.As(err, &odd): // the rest is read, and the platform would send the same again and again
		h.Log.Warn("something in an update is not as expected", "error", odd)
	case err != nil:
		return offset, err
	}
	for _, u := range updates {
		if m, ok := c.message(u); ok {
			if err := h.Take(ctx, m); err != nil {
				return offset, fmt.Errorf("a message could not be taken over: %w", err)
			}
		}
		offset = max(offset, u.ID+1)
	}
	return offset, nil
}

func (c *Channel) username() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

// CheckID wants the number of a person: a name can be changed, and taken by somebody else.
func (c *Channel) CheckID(id string) error {
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n <= 0 || strconv.FormatInt(n, 10) != id {
		return errors.New("want the number of a person, such as 12345678")
	}
	return nil
}
