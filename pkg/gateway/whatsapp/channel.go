package whatsapp

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/gateway"
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

	mu   sync.Mutex
	host *gateway.Host  // while Run runs
	busy sync.WaitGroup // requests to the webhook
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
	base, err := url.Parse(strings.TrimRight(c.APIBase, "/"))
	if err != nil || !safe(base) {
		return nil, wire.Errorf(wire.Usage, "whatsapp: api_base: want an https address, got %q", c.APIBase)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 16
	return &Channel{config: c, base: base, http: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// safe reports whether a token may go to an address.
func safe(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && local)
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
	c.setHost(&h)
	h.State(true, "waiting for requests")
	<-ctx.Done()
	c.setHost(nil)
	c.busy.Wait()
	return nil
}

// Check asks the platform whether it knows the number and the token.
func (c *Channel) Check(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "/"+url.PathEscape(c.config.PhoneNumberID)+"?fields=id", nil, nil)
}

func (c *Channel) setHost(h *gateway.Host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = h
}

// enter returns the host for a request to the webhook, and counts the request; nil: we do not run.
func (c *Channel) enter() *gateway.Host {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.host != nil {
		c.busy.Add(1)
	}
	return c.host
}
