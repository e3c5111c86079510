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
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// client makes requests with the app's token.
type client struct {
	base, id, secret string
	http             *http.Client

	mu      sync.Mutex // held while a token is fetched: all others wait for it
	token   string
	expires time.Time
}

func newClient(base, id, secret string) *client {
	return &client{base: base, id: id, secret: secret, http: rest.NewClient()}
}

// apiError is an error of the platform.
type apiError struct {
	Code int
	Msg  string
}

func (e *apiError) Error() string { return fmt.Sprintf("feishu: [%d] %s", e.Code, e.Msg) }

// Codes that mean something to us.
var (
	tokenCodes = []int{99991661, 99991663, 99991664, 99991665, 99991671}
	rateCodes  = []int{99991400, 230020, 11232}
	soonCodes  = []int{1000, 2200, 5000, 230049, 1500, 55001}
	goneCodes  = []int{230011, 230019, 230110}
	appCodes   = []int{10003, 10014, 10013}
	rightCodes = []int{99991672, 99991679} // of the app
)

// answer is what every call returns.
type answer struct {
	Code int             `json:"code"`
	Msg  string          `json:"msg"`
	Data json.RawMessage `json:"data"`
}

// appToken returns the token of the app, a fresh one when it ends soon.
func (c *client) appToken(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" && time.Now().Before(c.expires) {
		return c.token, nil
	}
	body, _ := json.Marshal(map[string]string{"app_id": c.id, "app_secret": c.secret})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/open-apis/auth/v3/tenant_access_token/internal", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	var out struct {
		answer
		Token  string `json:"tenant_access_token"`
		Expire int64  `json:"expire"`
	}
	if err := c.do(req, &out, &out.answer); err != nil {
		var e *apiError
		if errors.As(err, &e) && slices.Contains(appCodes, e.Code) {
			return "", gateway.Fatal("the app id or its secret is wrong: %w", e)
		}
		return "", fmt.Errorf("fetch token: %w", err)
	}
	if out.Token == "" {
		return "", errors.New("fetch token: the answer has none")
	}
	c.token, c.expires = out.Token, time.Now().Add(max(time.Duration(out.Expire)*time.Second-3*time.Minute, time.Minute))
	return c.token, nil
}

// forget drops a token that is not taken any more.
func (c *client) forget(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == token {
		c.token = ""
	}
}

// call makes a request with a JSON body and decodes data, or the whole answer where there is no data, into out.
func (c *client) call(ctx context.Context, method, path string, body, out any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return gateway.Permanent("%w", err)
		}
	}
	return c.authorized(ctx, func(token string) error {
		req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(payload))
		if err != nil {
			return gateway.Permanent("%w", err)
		}
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		req.Header.Set("Authorization", "Bearer "+token)
		var raw json.RawMessage
		var a answer
		if err := c.do(req, &raw, &a); err != nil || out == nil {
			return err
		}
		if len(a.Data) == 0 {
			a.Data = raw
		}
		return json.Unmarshal(a.Data, out)
	})
}

// authorized does something with a token, and once more with a new one when that is refused.
func (c *client) authorized(ctx context.Context, do func(token string) error) error {
	for try := 0; ; try++ {
		token, err := c.appToken(ctx)
		if err != nil {
			return err
		}
		err = do(token)
		var e *apiError
		if !errors.As(err, &e) || !slices.Contains(tokenCodes, e.Code) {
			return err
		}
		c.forget(token)
		if try > 0 {
			return e
		}
	}
}

// do makes a request and decodes its answer into whole and a.
func (c *client) do(req *http.Request, whole any, a *answer) error {
	resp, body, err := rest.Do(c.http, req, "feishu")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, whole); err != nil {
		return judge(resp, &apiError{Code: -resp.StatusCode, Msg: "no JSON in the answer, status " + resp.Status})
	}
	if err := json.Unmarshal(body, a); err != nil {
		return judge(resp, &apiError{Code: -resp.StatusCode, Msg: "another answer than expected, status " + resp.Status})
	}
	if a.Code != 0 || resp.StatusCode >= 400 {
		return judge(resp, &apiError{Code: a.Code, Msg: a.Msg})
	}
	return nil
}

// judge says what an error means for a second try.
func judge(resp *http.Response, e *apiError) error {
	switch {
	case slices.Contains(tokenCodes, e.Code), slices.Contains(goneCodes, e.Code), slices.Contains(appCodes, e.Code), slices.Contains(soonCodes, e.Code):
		return e
	case resp.StatusCode == http.StatusTooManyRequests, slices.Contains(rateCodes, e.Code):
		return gateway.Later(resetTime(resp.Header), e)
	case resp.StatusCode >= 500, e.Code <= 0 && rest.MayPass(resp.StatusCode):
		return e
	}
	return gateway.Permanent("%w", e)
}

// resetTime is how long the platform wants us to wait.
func resetTime(h http.Header) time.Duration {
	for _, name := range []string{"X-Ogw-Ratelimit-Reset", "Retry-After"} {
		if n, err := strconv.Atoi(h.Get(name)); err == nil && n > 0 && n <= 3600 {
			return time.Duration(n) * time.Second
		}
	}
	return time.Second
}

// escape makes an id of the platform part of a path.
func escape(id string) string { return strings.ReplaceAll(url.PathEscape(id), "..", "%2E%2E") }
