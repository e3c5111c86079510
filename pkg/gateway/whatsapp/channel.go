package whatsapp

import (
	"context"
	"errors"
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
	Transport string `json:"transport" env:"WHATSAPP_TRANSPORT" oneof:"cloud,linked"`

	// Of the transport linked.
	SessionDir string `json:"session_dir" env:"WHATSAPP_SESSION_DIR"` // "": below data_dir
	Mode       string `json:"mode" env:"WHATSAPP_MODE" oneof:"self-chat,bot"`

	// Of the transport cloud.
	PhoneNumberID string `json:"phone_number_id" env:"WHATSAPP_PHONE_NUMBER_ID"`
	AccessToken   string `json:"access_token" env:"WHATSAPP_ACCESS_TOKEN" kind:"secret"`
	AppSecret     string `json:"app_secret" env:"WHATSAPP_APP_SECRET" kind:"secret"`
	VerifyToken   string `json:"verify_token" env:"WHATSAPP_VERIFY_TOKEN" kind:"secret"`
	WebhookPath   string `json:"webhook_path" env:"WHATSAPP_WEBHOOK_PATH" kind:"path"`
	APIBase       string `json:"api_base" env:"WHATSAPP_API_BASE"`

	Bridge      Bridge `json:"bridge"`
	ReplyPrefix string `json:"reply_prefix" env:"WHATSAPP_REPLY_PREFIX" kind:"retired" instead:"answers quote what they answer"`
}

// Bridge was a program of its own between the gateway and WhatsApp.
type Bridge struct {
	SessionDir  string `json:"session_dir" kind:"retired" instead:"whatsapp.session_dir has the keys of the transport linked, in another format: link the phone again"`
	Mode        string `json:"mode" kind:"retired" instead:"whatsapp.mode means the same for the transport linked"`
	Host        string `json:"host" env:"WHATSAPP_BRIDGE_HOST" kind:"retired" instead:"there is no bridge: whatsapp.transport linked needs no other program"`
	Port        int    `json:"port" env:"WHATSAPP_BRIDGE_PORT" kind:"retired" instead:"there is no bridge: whatsapp.transport linked needs no other program"`
	ScriptPath  string `json:"script_path" env:"WHATSAPP_BRIDGE_SCRIPT" kind:"retired" instead:"there is no bridge: whatsapp.transport linked needs no other program"`
	Token       string `json:"token" env:"WHATSAPP_BRIDGE_TOKEN" kind:"retired" instead:"there is no bridge: whatsapp.transport linked needs no other program"`
	Loopback    bool   `json:"enforce_loopback" env:"WHATSAPP_BRIDGE_ENFORCE_LOOPBACK" kind:"retired" instead:"there is no bridge: whatsapp.transport linked needs no other program"`
	AutoInstall bool   `json:"auto_install_dependencies" kind:"retired" instead:"there is no bridge: whatsapp.transport linked needs no other program"`
}

// Transports.
const (
	Cloud  = "cloud"  // the Business Cloud API: Channel
	Linked = "linked" // a phone's account: package linked
)

// DefaultConfig is the Config of an empty section.
func DefaultConfig() Config {
	return Config{Access: gateway.DefaultAccess(), Transport: Cloud, Mode: "self-chat", WebhookPath: "/whatsapp/webhook", APIBase: "https://graph.facebook.com/v23.0"}
}

// Channel is one phone number.
type Channel struct {
	config Config
	base   *url.URL
	http   *http.Client
	gate   rest.Gate // of the webhook
}

// New checks the section for the transport cloud.
func New(c Config) (*Channel, error) {
	for _, need := range []struct{ key, value string }{
		{"phone_number_id", c.PhoneNumberID}, {"access_token", c.AccessToken}, {"app_secret", c.AppSecret}, {"verify_token", c.VerifyToken},
	} {
		if need.value == "" {
			return nil, wire.Errorf(wire.Usage, "whatsapp: %s is needed", need.key).WithHint("it can come from WHATSAPP_%s; docs/gateway.md tells where it is found. For the account of a phone, set transport to linked", strings.ToUpper(need.key))
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

// CheckID wants a number with its country, with or without a plus.
func (c *Channel) CheckID(id string) error {
	if !IsNumber(strings.TrimPrefix(id, "+")) {
		return errors.New("want a number with its country, such as +491701234567")
	}
	return nil
}

// IsNumber reports whether this is a number with its country, in digits alone.
func IsNumber(s string) bool {
	return len(s) >= 5 && len(s) <= 15 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
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
