package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// Send sends a text or a file, in the thread of the message that it answers when that was written in a channel.
func (c *Channel) Send(ctx context.Context, out gateway.Out) (string, error) {
	id, err := c.send(ctx, out)
	var e *apiError
	if errors.As(err, &e) && slices.Contains(goneCodes, e.Code) && out.Chat.Thread != "" {
		out.Chat.Thread = ""
		id, err = c.send(ctx, out)
	}
	switch {
	case errors.As(err, &e) && slices.Contains(goneCodes, e.Code):
		err = gateway.Permanent("%w", err)
	case e != nil && slices.Contains(rightCodes, e.Code) && out.File == nil: // a file is told of by a text
		err = gateway.Fatal("the token has not the right to write: %w", e)
	}
	return id, err
}

func (c *Channel) send(ctx context.Context, out gateway.Out) (string, error) {
	if out.File != nil {
		return c.share(ctx, out)
	}
	params := map[string]any{"channel": out.Chat.ID, "text": Marks(out.Text), "unfurl_links": "false", "unfurl_media": "false"}
	if out.Chat.Thread != "" {
		params["thread_ts"] = out.Chat.Thread
	}
	var got struct {
		TS string `json:"ts"`
	}
	err := c.call(ctx, c.config.BotToken, "chat.postMessage", params, &got)
	return got.TS, err
}

// Edit replaces the text of a message of ours.
func (c *Channel) Edit(ctx context.Context, chat gateway.Chat, id, text string) error {
	return c.call(ctx, c.config.BotToken, "chat.update", map[string]any{"channel": chat.ID, "ts": id, "text": Marks(text)}, nil)
}

// share uploads a file and shows it.
func (c *Channel) share(ctx context.Context, out gateway.Out) (string, error) {
	f, err := os.Open(out.File.Path)
	if err != nil {
		return "", gateway.Permanent("%w", err)
	}
	defer f.Close()
	var at struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	if err := c.call(ctx, c.config.BotToken, "files.getUploadURLExternal", map[string]any{"filename": out.File.Name, "length": strconv.FormatInt(out.File.Size, 10)}, &at); err != nil {
		return "", err
	}
	u, err := url.Parse(at.URL)
	if err != nil || !c.known(u) {
		return "", gateway.Permanent("slack: the file is to go to an address that is not the platform's")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL, io.LimitReader(f, out.File.Size))
	if err != nil {
		return "", gateway.Permanent("slack: bad request")
	}
	req.ContentLength = out.File.Size
	req.Header.Set("Content-Type", "application/octet-stream")
	resp, _, err := rest.Do(c.http, req, "slack: upload")
	if err != nil {
		return "", err
	}
	if resp.StatusCode >= 300 {
		return "", fmt.Errorf("slack: upload: status %s", resp.Status)
	}
	params := map[string]any{"files": []any{map[string]string{"id": at.ID, "title": out.File.Name}}, "channel_id": out.Chat.ID}
	if out.Chat.Thread != "" {
		params["thread_ts"] = out.Chat.Thread
	}
	return at.ID, c.call(ctx, c.config.BotToken, "files.completeUploadExternal", params, nil)
}

// known reports whether an address is the platform's.
func (c *Channel) known(u *url.URL) bool {
	return u.Scheme == c.base.Scheme && u.Host == c.base.Host || u.Scheme == "https" && (strings.HasSuffix(u.Hostname(), ".slack.com") || strings.HasSuffix(u.Hostname(), ".slack-files.com"))
}

// Fetch streams a file of a message.
func (c *Channel) Fetch(ctx context.Context, _ gateway.Message, a gateway.Attachment, w io.Writer) error {
	u, err := url.Parse(a.Key)
	if err != nil || !c.known(u) {
		return gateway.Permanent("slack: the file is at an address that must not get the token")
	}
	err = rest.Download(ctx, c.http, "slack", u, c.config.BotToken, w)
	if errors.Is(err, rest.ErrRefused) {
		if key := c.Check(ctx); errors.Is(key, gateway.ErrFatal) {
			return key
		}
	}
	return err
}

// Working puts a reaction on a message, or takes it away.
func (c *Channel) Working(ctx context.Context, m gateway.Message, on bool) error {
	method := "reactions.add"
	if !on {
		method = "reactions.remove"
	}
	return c.call(ctx, c.config.BotToken, method, map[string]any{"channel": m.Chat.ID, "timestamp": m.ID, "name": "eyes"}, nil)
}
