package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// apiError is an error of the platform.
type apiError struct{ Code string }

func (e *apiError) Error() string { return "slack: " + e.Code }

// Codes that mean something to us.
var (
	keyCodes  = []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"}
	soonCodes = []string{"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
	goneCodes = []string{"thread_not_found", "message_not_found"}

	rightCodes = []string{"missing_scope", "access_denied", "no_permission"}
)

// call calls a method. Slack takes forms for every method; values that are no strings are sent as JSON.
func (c *Channel) call(ctx context.Context, token, method string, params map[string]any, out any) error {
	texts, err := rest.Texts(params)
	if err != nil {
		return err
	}
	form := url.Values{}
	for name, text := range texts {
		form.Set(name, text)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+"/"+method, strings.NewReader(form.Encode()))
	if err != nil {
		return gateway.Permanent("slack: %s: bad request", method)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+token)
	return c.do(req, method, out)
}

// do makes a request and decodes its answer into out.
func (c *Channel) do(req *http.Request, method string, out any) error {
	resp, body, err := rest.Do(c.http, req, "slack: "+method)
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		n, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return gateway.Later(time.Duration(min(max(n, 1), 3600))*time.Second, &apiError{"ratelimited"})
	}
	var a struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &a) != nil || resp.StatusCode >= 300 || !a.OK && a.Error == "" {
		return fmt.Errorf("slack: %s: another answer than expected, status %s", method, resp.Status)
	}
	if !a.OK {
		return judge(&apiError{a.Error})
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

// judge says what an error means for a second try.
func judge(e *apiError) error {
	switch {
	case slices.Contains(keyCodes, e.Code):
		return gateway.Fatal("the token is not accepted: %w", e)
	case e.Code == "ratelimited":
		return gateway.Later(time.Second, e)
	case slices.Contains(soonCodes, e.Code), slices.Contains(goneCodes, e.Code):
		return e
	}
	return gateway.Permanent("%w", e)
}
