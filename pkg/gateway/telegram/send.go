package telegram

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// sent is what the platform says of a message that it shows.
type sent struct {
	ID int64 `json:"message_id"`
}

// Send sends a text with its marks, or a file. A text that the platform cannot read with marks is sent without.
func (c *Channel) Send(ctx context.Context, out gateway.Out) (string, error) {
	var got sent
	err := c.send(ctx, out.Chat.ID, out, &got)
	var e *apiError
	if errors.As(err, &e) && e.MigrateTo != 0 { // a group that became a supergroup
		err = c.send(ctx, strconv.FormatInt(e.MigrateTo, 10), out, &got)
	}
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(got.ID, 10), nil
}

func (c *Channel) send(ctx context.Context, chat string, out gateway.Out, got *sent) error {
	params := map[string]any{"chat_id": chat}
	if n, err := strconv.ParseInt(out.Chat.Thread, 10, 64); err == nil {
		params["message_thread_id"] = n
	}
	if n, err := strconv.ParseInt(out.ReplyTo, 10, 64); err == nil {
		params["reply_parameters"] = map[string]any{"message_id": n, "allow_sending_without_reply": true}
	}
	if out.File != nil {
		return c.api.form(ctx, "sendDocument", params, "document", out.File, got)
	}
	params["link_preview_options"] = map[string]bool{"is_disabled": true}
	return c.marked(ctx, "sendMessage", params, out.Text, got)
}

// marked calls a method with a text in HTML, and once more without marks when that is not understood.
func (c *Channel) marked(ctx context.Context, method string, params map[string]any, text string, got any) error {
	params["text"], params["parse_mode"] = HTML(text), "HTML"
	err := c.api.call(ctx, method, params, got)
	var e *apiError
	if errors.As(err, &e) && e.Code == http.StatusBadRequest && strings.Contains(e.Description, "can't parse entities") {
		delete(params, "parse_mode")
		params["text"] = harmless(text)
		err = c.api.call(ctx, method, params, got)
	}
	return err
}

// Edit replaces the text of a message of ours.
func (c *Channel) Edit(ctx context.Context, chat gateway.Chat, id, text string) error {
	return c.marked(ctx, "editMessageText", map[string]any{"chat_id": chat.ID, "message_id": id}, text, nil)
}

// Working shows for five seconds that we type.
func (c *Channel) Working(ctx context.Context, m gateway.Message, on bool) error {
	if !on {
		return nil
	}
	params := map[string]any{"chat_id": m.Chat.ID, "action": "typing"}
	if n, err := strconv.ParseInt(m.Chat.Thread, 10, 64); err == nil {
		params["message_thread_id"] = n
	}
	return c.api.call(ctx, "sendChatAction", params, nil)
}

// Fetch streams a file of a message.
func (c *Channel) Fetch(ctx context.Context, _ gateway.Message, a gateway.Attachment, w io.Writer) error {
	var f struct {
		Path string `json:"file_path"`
	}
	if err := c.api.call(ctx, "getFile", map[string]any{"file_id": a.Key}, &f); err != nil {
		return err
	}
	return c.api.download(ctx, f.Path, w)
}

// form calls a method with a file.
func (c *client) form(ctx context.Context, method string, params map[string]any, part string, f *gateway.File, out any) error {
	texts, err := rest.Texts(params)
	if err != nil {
		return err
	}
	var fields [][2]string
	for name, text := range texts {
		fields = append(fields, [2]string{name, text})
	}
	req, done, err := rest.Form(c.base+"/bot"+c.token+"/"+method, fields, part, f)
	if err != nil {
		return err
	}
	defer done()
	return c.do(req.WithContext(ctx), method, out)
}
