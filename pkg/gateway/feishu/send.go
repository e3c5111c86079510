package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// Send sends a text as a post, which shows Markdown, or a file.
func (c *Channel) Send(ctx context.Context, out gateway.Out) (string, error) {
	kind, content, err := "post", post2(out.Text), error(nil)
	if out.File != nil {
		if kind, content, err = c.upload(ctx, out.File); err != nil {
			return "", err
		}
	}
	if out.ReplyTo != "" {
		id, err := c.reply(ctx, out, kind, content)
		var e *apiError
		if !errors.As(err, &e) || !slices.Contains(goneCodes, e.Code) {
			return id, err
		}
		out.Key += "n"
	}
	return c.post(ctx, "/open-apis/im/v1/messages?receive_id_type=chat_id", map[string]any{
		"receive_id": out.Chat.ID, "msg_type": kind, "content": content, "uuid": out.Key,
	})
}

func (c *Channel) reply(ctx context.Context, out gateway.Out, kind, content string) (string, error) {
	body := map[string]any{"msg_type": kind, "content": content, "uuid": out.Key}
	if out.Chat.Thread != "" {
		body["reply_in_thread"] = true
	}
	return c.post(ctx, "/open-apis/im/v1/messages/"+escape(out.ReplyTo)+"/reply", body)
}

func (c *Channel) post(ctx context.Context, path string, body any) (string, error) {
	var sent struct {
		ID string `json:"message_id"`
	}
	err := c.api.call(ctx, http.MethodPost, path, body, &sent)
	var e *apiError
	if errors.As(err, &e) && slices.Contains(rightCodes, e.Code) {
		err = gateway.Fatal("the app has not the right to write: %w", e)
	}
	return sent.ID, err
}

// post2 is the content of a post of one Markdown paragraph.
func post2(text string) string {
	span := map[string]string{"tag": "md", "text": harmless(text)}
	data, err := json.Marshal(map[string]any{"zh_cn": map[string]any{"content": [][]any{{span}}}})
	if err != nil {
		return "{}"
	}
	return string(data)
}

var atTag = regexp.MustCompile(`(?i)<(/?\s*(?:at|person|link|text_tag|font|number_tag))\b`)

// harmless takes the power out of tags that the platform obeys: <at user_id="all"> would call everybody.
func harmless(text string) string { return atTag.ReplaceAllString(text, "<\u200b$1") }

// Edit replaces the text of a message of ours.
func (c *Channel) Edit(ctx context.Context, _ gateway.Chat, id, text string) error {
	return c.api.call(ctx, http.MethodPut, "/open-apis/im/v1/messages/"+escape(id), map[string]any{"msg_type": "post", "content": post2(text)}, nil)
}

// maxImage is how large an image may be that is shown as one; larger ones are sent as files.
const maxImage = 10 << 20

// upload uploads a file and returns the message that shows it.
func (c *Channel) upload(ctx context.Context, f *gateway.File) (kind, content string, err error) {
	var got struct {
		Image string `json:"image_key,omitempty"`
		File  string `json:"file_key,omitempty"`
	}
	kind, path, fields := "file", "/open-apis/im/v1/files", [][2]string{{"file_type", fileType(f.Name)}, {"file_name", f.Name}}
	part := "file"
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, f.MIME) && f.Size <= maxImage {
		kind, path, fields, part = "image", "/open-apis/im/v1/images", [][2]string{{"image_type", "message"}}, "image"
	}
	if err := c.api.form(ctx, path, fields, part, f, &got); err != nil {
		return "", "", err
	}
	if got.Image == "" && got.File == "" {
		return "", "", errors.New("feishu: upload: the answer has no key")
	}
	data, err := json.Marshal(got)
	return kind, string(data), err
}

// fileType is the kind of file that the platform shows.
func fileType(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".pdf":
		return "pdf"
	case ".doc", ".docx":
		return "doc"
	case ".xls", ".xlsx":
		return "xls"
	case ".ppt", ".pptx":
		return "ppt"
	}
	return "stream"
}

// form uploads a file without holding it in memory.
func (c *client) form(ctx context.Context, path string, fields [][2]string, part string, f *gateway.File, out any) error {
	return c.authorized(ctx, func(token string) error {
		req, done, err := rest.Form(c.base+path, fields, part, f)
		if err != nil {
			return err
		}
		defer done()
		req.Header.Set("Authorization", "Bearer "+token)
		var a answer
		var raw json.RawMessage
		if err := c.do(req.WithContext(ctx), &raw, &a); err != nil {
			return err
		}
		return json.Unmarshal(a.Data, out)
	})
}

// Fetch streams a file of a message.
func (c *Channel) Fetch(ctx context.Context, m gateway.Message, a gateway.Attachment, w io.Writer) error {
	kind, key, _ := strings.Cut(a.Key, ":")
	path := "/open-apis/im/v1/messages/" + escape(m.ID) + "/resources/" + escape(key) + "?type=" + url.QueryEscape(kind)
	return c.api.authorized(ctx, func(token string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api.base+path, nil)
		if err != nil {
			return gateway.Permanent("%w", err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := c.api.http.Do(req)
		if err != nil {
			return fmt.Errorf("feishu: fetch file: %w", rest.Clean(err))
		}
		defer resp.Body.Close()
		if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || media == "application/json" && resp.Header.Get("Content-Disposition") == "" {
			return trouble(resp)
		}
		return rest.Copy(w, resp)
	})
}

// trouble is the error in the place of a file.
func trouble(resp *http.Response) error {
	var a answer
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if json.Unmarshal(body, &a) != nil || a.Code == 0 {
		a = answer{Code: -resp.StatusCode, Msg: "status " + resp.Status}
	}
	return judge(resp, &apiError{Code: a.Code, Msg: a.Msg})
}

// Working puts a reaction on a message, or takes it away.
func (c *Channel) Working(ctx context.Context, m gateway.Message, on bool) error {
	path := "/open-apis/im/v1/messages/" + escape(m.ID) + "/reactions"
	if on {
		var got struct {
			ID string `json:"reaction_id"`
		}
		if err := c.api.call(ctx, http.MethodPost, path, map[string]any{"reaction_type": map[string]string{"emoji_type": "Typing"}}, &got); err != nil {
			return err
		}
		c.mu.Lock()
		c.sign[m.ID] = got.ID
		c.mu.Unlock()
		return nil
	}
	c.mu.Lock()
	id := c.sign[m.ID]
	delete(c.sign, m.ID)
	c.mu.Unlock()
	if id == "" {
		return nil
	}
	return c.api.call(ctx, http.MethodDelete, path+"/"+escape(id), nil, nil)
}

// Quote returns the text of the message that m answers.
func (c *Channel) Quote(ctx context.Context, m gateway.Message) (string, error) {
	var got struct {
		Items []struct {
			Type string `json:"msg_type"`
			Body struct {
				Content string `json:"content"`
			} `json:"body"`
			Mentions []struct {
				Key, Name string
			} `json:"mentions"`
		} `json:"items"`
	}
	if err := c.api.call(ctx, http.MethodGet, "/open-apis/im/v1/messages/"+escape(m.ReplyTo), nil, &got); err != nil || len(got.Items) == 0 {
		return "", err
	}
	item := got.Items[0]
	text, _ := content(item.Type, item.Body.Content)
	var mentions []mention
	for _, who := range item.Mentions {
		mentions = append(mentions, mention{Key: who.Key, Name: who.Name})
	}
	return named(text, mentions, ""), nil
}
