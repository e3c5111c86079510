package whatsapp

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Config is the section "whatsapp" of the config file.
type Config struct {
	gateway.Access
	PhoneNumberID string `json:"phone_number_id" env:"WHATSAPP_PHONE_NUMBER_ID"`
	AccessToken   string `json:"access_token" env:"WHATSAPP_ACCESS_TOKEN" kind:"secret"`
	AppSecret     string `json:"app_secret" env:"WHATSAPP_APP_SECRET" kind:"secret"`
	VerifyToken   string `json:"verify_token" env:"WHATSAPP_VERIFY_TOKEN" kind:"secret"`
	WebhookPath   string `json:"webhook_path" env:"WHATSAPP_WEBHOOK_PATH" kind:"path"`
	APIBase       string `json:"api_base" env:"WHATSAPP_API_BASE"`

	Bridge      map[string]string `json:"bridge" kind:"retired"`
	ReplyPrefix string            `json:"reply_prefix" env:"WHATSAPP_REPLY_PREFIX" kind:"retired"`
}

// DefaultConfig is the Config of an empty section.
func DefaultConfig() Config {
	return Config{Access: gateway.DefaultAccess(), WebhookPath: "/whatsapp/webhook", APIBase: "https://graph.facebook.com/v23.0"}
}

// Channel is one phone number.
type Channel struct {
	config Config
	base   *url.URL
	http   *http.Client
	gate   rest.Gate // of the webhook
}

// New checks the section.
func New(c Config) (*Channel, error) {
	for _, need := range []struct{ key, value string }{
		{"phone_number_id", c.PhoneNumberID}, {"access_token", c.AccessToken}, {"app_secret", c.AppSecret}, {"verify_token", c.VerifyToken},
	} {
		if need.value == "" {
			return nil, wire.Errorf(wire.Usage, "whatsapp: %s is needed", need.key).WithHint("it can come from WHATSAPP_%s; docs/gateway.md tells where it is found", strings.ToUpper(need.key))
		}
	}
	base, err := rest.Base(c.APIBase)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "whatsapp: api_base: %w", err)
	}
	return &Channel{config: c, base: base, http: rest.NewClient()}, nil
}

// Account is the phone number.
func (c *Channel) Account() gateway.Account {
	return gateway.Account{Platform: "whatsapp", ID: c.config.PhoneNumberID}
}

// Limits are those of the Cloud API.
func (c *Channel) Limits() gateway.Limits {
	return gateway.Limits{Text: 4000, Measure: utf8.RuneCountInString, File: 100 << 20, Pause: 500 * time.Millisecond, Working: 20 * time.Second}
}

// Path is where the webhook is.
func (c *Channel) Path() string { return c.config.WebhookPath }

// Run receives until ctx ends.
func (c *Channel) Run(ctx context.Context, h gateway.Host) error {
	if err := c.Check(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	c.gate.Open(h)
	h.State(true, "waiting for requests")
	<-ctx.Done()
	c.gate.Shut()
	return nil
}

// Check asks the platform whether it knows the number and the token.
func (c *Channel) Check(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "/"+url.PathEscape(c.config.PhoneNumberID)+"?fields=id", nil, nil)
}
