package llm

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Options say which model is asked, where and how.
type Options struct {
	Model   string            // as the endpoint names it
	Base    string            // address of an OpenAI-compatible endpoint, up to what stands before /chat/completions
	Key     string            // "" sends none
	Headers map[string]string // to be sent along
	Config  map[string]any    // more fields of the request, such as reasoning_effort; not those that this package owns
	Window  int64             // tokens of the model; 0: as the table of models says

	Timeout  time.Duration // longest time without a sign of life; 0: two minutes
	MaxTime  time.Duration // of one call with all attempts; 0: ten minutes
	Attempts int           // 0: 4
	Pause    time.Duration // before the first retry, twice as long before each next one; 0: a second
	Whole    bool          // answers come at once instead of as a stream

	HTTP *http.Client      // nil: as net/http does it, with the proxies of the environment
	Log  func(text string) // what a user may like to know, such as that a try failed; nil: nothing is told
}

const (
	defaultTimeout  = 2 * time.Minute
	defaultMaxTime  = 10 * time.Minute
	defaultAttempts = 4
)

// owned are fields of a request that the configuration does not change.
var owned = []string{"model", "messages", "tools", "stream", "n"}

// client is a model at an endpoint.
type client struct {
	o        Options
	base     *url.URL
	provider provider
	family   family
	price    price
	priced   bool
	secrets  []string
	most     any // limit of output tokens that the configuration sets
	service  openai.ChatCompletionService

	mu     sync.Mutex
	quirks quirks // what was learned from refusals
}

// Open returns a model at an endpoint. Nothing is sent and nothing is read from the environment but the proxies.
func Open(o Options) (Model, error) {
	base, err := parseBase(o.Base)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Model) == "" {
		return nil, errors.New("open model: no model is named")
	}
	for _, name := range owned {
		if _, ok := o.Config[name]; ok {
			return nil, fmt.Errorf("open model %q: the configuration must not set %q", o.Model, name)
		}
	}
	if err := checkHeaders(o); err != nil {
		return nil, fmt.Errorf("open model %q: %w", o.Model, err)
	}
	c := &client{o: o, base: base, provider: providerAt(base), family: familyOf(o.Model)}
	c.price, c.priced = priceOf(o.Model)
	c.defaults()
	c.quirks = quirks{maxField: c.provider.maxField, oneSystem: c.family.oneSystem, whole: o.Whole}
	c.service = openai.NewChatCompletionService(c.options()...)
	return c, nil
}

func (c *client) defaults() {
	if c.o.Timeout <= 0 {
		c.o.Timeout = defaultTimeout
	}
	if c.o.MaxTime <= 0 {
		c.o.MaxTime = max(defaultMaxTime, c.o.Timeout)
	}
	if c.o.Attempts <= 0 {
		c.o.Attempts = defaultAttempts
	}
	if c.o.Pause <= 0 {
		c.o.Pause = firstPause
	}
	if c.o.Window == 0 {
		c.o.Window = c.price.window
	}
	if c.o.Log == nil {
		c.o.Log = func(string) {}
	}
	c.o.Config = maps.Clone(c.o.Config)
	for _, name := range []string{oldMax, newMax} {
		if v, ok := c.o.Config[name]; ok {
			c.most = v
			delete(c.o.Config, name)
		}
	}
	c.secrets = append(c.secrets, c.o.Key)
	for _, v := range c.o.Headers {
		c.secrets = append(c.secrets, v, strings.TrimPrefix(v, "Bearer "))
	}
}

// options of the library. It must not look at OPENAI_ variables, must not retry, must not send its own and
// the machine's description.
func (c *client) options() []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(c.base.String()), option.WithHTTPClient(c.http()), option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "openspace"),
	}
	for _, name := range []string{"Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Retry-Count", "Timeout"} {
		opts = append(opts, option.WithHeaderDel("X-Stainless-"+name))
	}
	if c.o.Key != "" {
		opts = append(opts, option.WithAPIKey(c.o.Key))
	}
	for name, value := range c.o.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	return opts
}

// http returns the client for requests. It follows no redirect: a key goes where the user said and nowhere else.
func (c *client) http() *http.Client {
	h := http.Client{}
	if c.o.HTTP != nil {
		h = *c.o.HTTP
	}
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h.Timeout = 0 // a stream may last; the time limits are ours
	next := h.Transport
	if next == nil {
		next = transport()
	}
	h.Transport = bounded{next}
	return &h
}

// transport is the usual one, which keeps as many connections as there may be tasks at once.
func transport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	return t
}

// Name returns the name of the model as the endpoint has it.
func (c *client) Name() string { return c.o.Model }

// Window returns how many tokens the model takes, 0 when that is not known.
func (c *client) Window() int64 { return c.o.Window }

// parseBase checks the address of an endpoint.
func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case text == "":
		return nil, errors.New("open model: no address of an endpoint is given")
	case err != nil:
		return nil, errors.New("open model: the address of the endpoint is no URL") // without it: there may be a password in it
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("open model: the address %q does not begin with https:// or http:// and a host", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("open model: the address %q has a query", u.Redacted())
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	if u.Path == "" {
		u.Path = "/v1"
	}
	return u, nil
}

// endpoint is the address as it may be shown.
func (c *client) endpoint() string {
	u := *c.base
	u.User = nil
	return u.String()
}

// checkHeaders refuses what cannot be sent, before a library does it in the middle of a run.
func checkHeaders(o Options) error {
	all := maps.Clone(o.Headers)
	if all == nil {
		all = map[string]string{}
	}
	all["Authorization-Key"] = o.Key
	for name, value := range all {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			if name == "Authorization-Key" {
				return errors.New("the key has a line break or another control character in it")
			}
			return fmt.Errorf("header %q has a control character in its value", name)
		}
		if name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
		}) {
			return fmt.Errorf("%q is no name of a header", name)
		}
	}
	return nil
}
