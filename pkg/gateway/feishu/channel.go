package feishu

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Config is the section "feishu" of the config file.
type Config struct {
	gateway.Access
	AppID             string `json:"app_id" env:"FEISHU_APP_ID"`
	AppSecret         string `json:"app_secret" env:"FEISHU_APP_SECRET" kind:"secret"`
	Domain            string `json:"domain" env:"FEISHU_DOMAIN"` // feishu, lark, or an address
	ConnectionMode    string `json:"connection_mode" env:"FEISHU_CONNECTION_MODE" oneof:"webhook,websocket"`
	VerificationToken string `json:"verification_token" env:"FEISHU_VERIFICATION_TOKEN" kind:"secret"`
	EncryptKey        string `json:"encrypt_key" env:"FEISHU_ENCRYPT_KEY" kind:"secret"`
	BotOpenID         string `json:"bot_open_id" env:"FEISHU_BOT_OPEN_ID"`
	WebhookPath       string `json:"webhook_path" env:"FEISHU_WEBHOOK_PATH" kind:"path"`
}

// DefaultConfig is the Config of an empty section.
func DefaultConfig() Config {
	return Config{Access: gateway.DefaultAccess(), Domain: "feishu", ConnectionMode: "webhook", WebhookPath: "/feishu/webhook"}
}

// Channel is one app on Feishu or Lark.
type Channel struct {
	config Config
	api    *client
	now    func() time.Time
	gate   rest.Gate // of the webhook

	mu   sync.Mutex
	bot  string            // our open id
	sign map[string]string // the reaction that stands for our work, by message
}

// New checks the section.
func New(c Config) (*Channel, error) {
	base, err := baseOf(c.Domain)
	switch {
	case err != nil:
		return nil, err
	case c.AppID == "" || c.AppSecret == "":
		return nil, wire.Errorf(wire.Usage, "feishu: app_id and app_secret are needed").WithHint("the secret can come from FEISHU_APP_SECRET")
	case c.ConnectionMode == "webhook" && c.VerificationToken == "":
		return nil, wire.Errorf(wire.Usage, "feishu: verification_token is needed with connection_mode webhook").WithHint("it can come from FEISHU_VERIFICATION_TOKEN")
	}
	return &Channel{config: c, api: newClient(base, c.AppID, c.AppSecret), now: time.Now, bot: c.BotOpenID, sign: map[string]string{}}, nil
}

// baseOf returns the address of a domain.
func baseOf(domain string) (string, error) {
	switch domain {
	case "feishu":
		return "https://open.feishu.cn", nil
	case "lark":
		return "https://open.larksuite.com", nil
	}
	u, err := rest.Base(domain)
	if err != nil {
		return "", wire.Errorf(wire.Usage, "feishu: domain: want feishu, lark or an https address, got %q", domain)
	}
	return u.String(), nil
}

// Account is the app.
func (c *Channel) Account() gateway.Account {
	return gateway.Account{Platform: "feishu", ID: c.config.AppID}
}

// Limits are those of posts, which have 30 KB with their marks, and of uploads.
func (c *Channel) Limits() gateway.Limits {
	return gateway.Limits{Text: 10_000, File: 30 << 20, Pause: 250 * time.Millisecond, Keys: time.Hour}
}

// Path is where the webhook is; "" with the long connection.
func (c *Channel) Path() string {
	if c.config.ConnectionMode != "webhook" {
		return ""
	}
	return c.config.WebhookPath
}

// Run receives until ctx ends.
func (c *Channel) Run(ctx context.Context, h gateway.Host) error {
	if err := c.findBot(ctx); err != nil {
		return unless(ctx, err)
	}
	if c.config.ConnectionMode != "webhook" {
		return rest.Keep(ctx, h, func() error { return c.connection(ctx, h) })
	}
	c.gate.Open(h)
	h.State(true, "waiting for requests")
	<-ctx.Done()
	c.gate.Shut()
	return nil
}

// unless is the error of a run, which has none when it was to end.
func unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (c *Channel) botID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bot
}

// findBot asks who we are: without that no mention could be known.
func (c *Channel) findBot(ctx context.Context) error {
	if c.botID() != "" {
		return nil
	}
	var out struct {
		Bot struct {
			OpenID string `json:"open_id"`
		} `json:"bot"`
	}
	if err := c.api.call(ctx, http.MethodGet, "/open-apis/bot/v3/info", nil, &out); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bot = out.Bot.OpenID
	return nil
}

// Check asks the platform whether it knows us.
func (c *Channel) Check(ctx context.Context) error {
	if _, err := c.api.appToken(ctx); err != nil {
		return err
	}
	return c.findBot(ctx)
}

// CheckID takes open ids, union ids and user ids, which an organisation may choose freely.
func (c *Channel) CheckID(id string) error {
	for _, prefix := range []string{"oc_", "om_", "cli_"} {
		if strings.HasPrefix(id, prefix) {
			return errors.New("want the id of a person, such as ou_…, and not of a chat, a message or an app")
		}
	}
	return nil
}
