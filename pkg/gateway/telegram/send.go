package telegram

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"strings"

	"github.com/openspace-dev/openspace/pkg/gateway"
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
		if errors.Is(err, gateway.ErrFatal) {
			return "", gateway.Permanent("%w", err)
		}
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

// form calls a method with a file, without holding it in memory.
func (c *client) form(ctx context.Context, method string, params map[string]any, part string, f *gateway.File, out any) error {
	file, err := os.Open(f.Path)
	if err != nil {
		return gateway.Permanent("%w", err)
	}
	defer file.Close()
	head, tail, kind, err := frameOf(params, part, f)
	if err != nil {
		return gateway.Permanent("%w", err)
	}
	body := io.MultiReader(bytes.NewReader(head), io.LimitReader(file, f.Size), bytes.NewReader(tail))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/bot"+c.token+"/"+method, body)
	if err != nil {
		return gateway.Permanent("telegram: %s: bad request", method)
	}
	req.ContentLength = int64(len(head)) + f.Size + int64(len(tail))
	req.Header.Set("Content-Type", kind)
	return c.do(req, method, out)
}

// frameOf is what stands before and after a file in a form.
func frameOf(params map[string]any, part string, f *gateway.File) (head, tail []byte, kind string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range params {
		text, ok := value.(string)
		if !ok {
			data, err := json.Marshal(value)
			if err != nil {
				return nil, nil, "", err
			}
			text = string(data)
		}
		if err := w.WriteField(name, text); err != nil {
			return nil, nil, "", err
		}
	}
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`, part, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "").Replace(f.Name)))
	h.Set("Content-Type", cmp.Or(f.MIME, "application/octet-stream"))
	if _, err := w.CreatePart(h); err != nil {
		return nil, nil, "", err
	}
	n := b.Len()
	if err := w.Close(); err != nil {
		return nil, nil, "", err
	}
	return b.Bytes()[:n:n], b.Bytes()[n:], w.FormDataContentType(), nil
}
