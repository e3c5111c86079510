package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// client makes requests to the Bot API. The token is part of every address, so no address is part of an error.
type client struct {
	base, token string
	http        *http.Client
}

func newClient(base, token string) *client {
	return &client{base: base, token: token, http: rest.NewClient()}
}

// apiError is an error of the platform.
type apiError struct {
	Code        int
	Description string
	MigrateTo   int64
}

func (e *apiError) Error() string { return fmt.Sprintf("telegram: [%d] %s", e.Code, e.Description) }

// call calls a method with parameters and decodes its result into out.
func (c *client) call(ctx context.Context, method string, params, out any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return gateway.Permanent("%w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/bot"+c.token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return gateway.Permanent("telegram: %s: bad request", method)
	}
	req.Header.Set("Content-Type", "application/json")
	return c.do(req, method, out)
}

func (c *client) do(req *http.Request, method string, out any) error {
	resp, body, err := rest.Do(c.http, req, "telegram: "+method)
	if err != nil {
		return err
	}
	var a struct {
		OK          bool            `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
		Parameters  struct {
			RetryAfter int   `json:"retry_after"`
			MigrateTo  int64 `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	if json.Unmarshal(body, &a) != nil || !a.OK && a.Code == 0 {
		return fmt.Errorf("telegram: %s: another answer than expected, status %s", method, resp.Status)
	}
	if !a.OK {
		return judge(&apiError{a.Code, a.Description, a.Parameters.MigrateTo}, a.Parameters.RetryAfter)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(a.Result, out)
}

// judge says what an error means for a second try.
func judge(e *apiError, after int) error {
	switch {
	case e.Code == http.StatusTooManyRequests:
		return gateway.Later(time.Duration(min(max(after, 1), 3600))*time.Second, e)
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusNotFound:
		return gateway.Fatal("the bot token is wrong: %w", e)
	case e.Code >= 500, e.Code == http.StatusConflict:
		return e
	}
	return gateway.Permanent("%w", e)
}

// download streams a file.
func (c *client) download(ctx context.Context, path string, w io.Writer) error {
	if strings.Contains(path, "..") || strings.HasPrefix(path, "/") {
		return gateway.Permanent("telegram: the file has no path that can be fetched")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/file/bot"+c.token+"/"+(&url.URL{Path: path}).EscapedPath(), nil)
	if err != nil {
		return gateway.Permanent("telegram: fetch file: bad request")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("telegram: fetch file: %w", rest.Clean(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("telegram: fetch file: status %s", resp.Status)
	}
	return rest.Copy(w, resp)
}
