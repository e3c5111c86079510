package whatsapp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// apiError is an error of the platform.
type apiError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *apiError) Error() string { return fmt.Sprintf("whatsapp: [%d] %s", e.Code, e.Message) }

// Codes that mean something to us.
var (
	keyCodes  = []int{190, 10, 200, 3}
	rateCodes = []int{4, 80007, 130429, 131048, 131056}
	soonCodes = []int{1, 2, 131000, 131016, 133004}
	goneCodes = []int{100, 131009} // a parameter, such as the message that is answered
)

const (
	maxAnswer = 4 << 20
	maxImage  = 5 << 20 // larger ones are sent as documents
)

// call makes a request with a JSON body.
func (c *Channel) call(ctx context.Context, method, path string, body, out any) error {
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return gateway.Permanent("%w", err)
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, payload)
	if err != nil {
		return gateway.Permanent("whatsapp: bad request")
	}
	req.Header.Set("Content-Type", "application/json")
	return c.do(req, out)
}

func (c *Channel) do(req *http.Request, out any) error {
	req.Header.Set("Authorization", "Bearer "+c.config.AccessToken)
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("whatsapp: %w", rest.Clean(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("whatsapp: %w", rest.Clean(err))
	}
	if resp.StatusCode >= 300 {
		return judge(resp, body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("whatsapp: another answer than expected, status %s", resp.Status)
	}
	return nil
}

// judge says what an error means for a second try.
func judge(resp *http.Response, body []byte) error {
	var in struct {
		Error apiError `json:"error"`
	}
	if json.Unmarshal(body, &in) != nil || in.Error.Code == 0 {
		in.Error = apiError{-resp.StatusCode, "status " + resp.Status}
	}
	e := &in.Error
	switch {
	case slices.Contains(keyCodes, e.Code):
		return gateway.Fatal("the access token is not accepted: %w", e)
	case resp.StatusCode == http.StatusTooManyRequests, slices.Contains(rateCodes, e.Code):
		return gateway.Later(2*time.Second, e)
	case resp.StatusCode >= 500, e.Code < 0 && rest.MayPass(resp.StatusCode), slices.Contains(soonCodes, e.Code), slices.Contains(goneCodes, e.Code):
		return e
	}
	return gateway.Permanent("%w", e)
}

// Send sends a text or a file.
func (c *Channel) Send(ctx context.Context, out gateway.Out) (string, error) {
	body := map[string]any{"messaging_product": "whatsapp", "recipient_type": "individual", "to": out.Chat.ID}
	if out.File == nil {
		body["type"], body["text"] = "text", map[string]any{"body": Marks(out.Text), "preview_url": false}
	} else {
		kind, shown, err := c.upload(ctx, out.File)
		if err != nil {
			return "", waiting(err)
		}
		body["type"], body[kind] = kind, shown
	}
	if out.ReplyTo != "" {
		body["context"] = map[string]string{"message_id": out.ReplyTo}
	}
	id, err := c.post(ctx, body)
	var e *apiError
	if errors.As(err, &e) && slices.Contains(goneCodes, e.Code) {
		if out.ReplyTo == "" {
			return "", gateway.Permanent("%w", e)
		}
		delete(body, "context")
		if id, err = c.post(ctx, body); errors.As(err, &e) && slices.Contains(goneCodes, e.Code) {
			return "", gateway.Permanent("%w", e)
		}
	}
	return id, waiting(err)
}

// newKey is how long to wait for another access token: those that are made by hand last a day.
const newKey = time.Minute

// waiting makes of a token that is refused an error of Send: the answer is kept until there is another, or it is too
// late.
func waiting(err error) error {
	if errors.Is(err, gateway.ErrFatal) {
		return gateway.Later(newKey, err)
	}
	return err
}

func (c *Channel) messages() string {
	return "/" + url.PathEscape(c.config.PhoneNumberID) + "/messages"
}

func (c *Channel) post(ctx context.Context, body any) (string, error) {
	var got struct {
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
	}
	if err := c.call(ctx, http.MethodPost, c.messages(), body, &got); err != nil {
		return "", err
	}
	if len(got.Messages) == 0 {
		return "", nil
	}
	return got.Messages[0].ID, nil
}

// Working marks a message as read and shows for a while that we type.
func (c *Channel) Working(ctx context.Context, m gateway.Message, on bool) error {
	if !on {
		return nil
	}
	return c.call(ctx, http.MethodPost, c.messages(), map[string]any{
		"messaging_product": "whatsapp", "status": "read", "message_id": m.ID, "typing_indicator": map[string]string{"type": "text"},
	}, nil)
}

// plainNames are the ends of names of texts whose type is often not known.
var plainNames = []string{".md", ".txt", ".csv", ".log", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".xml", ".go", ".py", ".sh", ".sql", ".diff", ".patch"}

// typeOf is the type of a file as the platform knows it. It takes no text but plain text: text/markdown would be
// refused.
func typeOf(f *gateway.File) string {
	mime, _, _ := strings.Cut(f.MIME, ";")
	if strings.HasPrefix(mime, "text/") || slices.Contains(plainNames, strings.ToLower(filepath.Ext(f.Name))) {
		return "text/plain"
	}
	return cmp.Or(mime, "application/octet-stream")
}

// upload uploads a file and returns what shows it.
func (c *Channel) upload(ctx context.Context, f *gateway.File) (kind string, shown map[string]string, err error) {
	named := *f
	named.MIME = typeOf(f)
	mime := named.MIME
	address := c.base.String() + "/" + url.PathEscape(c.config.PhoneNumberID) + "/media"
	req, done, err := rest.Form(address, [][2]string{{"messaging_product", "whatsapp"}, {"type", mime}}, "file", &named)
	if err != nil {
		return "", nil, err
	}
	defer done()
	var got struct {
		ID string `json:"id"`
	}
	err = c.do(req.WithContext(ctx), &got)
	var e *apiError
	if errors.As(err, &e) && slices.Contains(goneCodes, e.Code) { // of this type, or so large
		err = gateway.Permanent("%w", e)
	}
	if err != nil {
		return "", nil, err
	}
	if (mime == "image/png" || mime == "image/jpeg") && f.Size <= maxImage {
		return "image", map[string]string{"id": got.ID}, nil
	}
	return "document", map[string]string{"id": got.ID, "filename": f.Name}, nil
}

// Fetch streams a file of a message.
func (c *Channel) Fetch(ctx context.Context, _ gateway.Message, a gateway.Attachment, w io.Writer) error {
	var at struct {
		URL string `json:"url"`
	}
	if err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(a.Key), nil, &at); err != nil {
		return err
	}
	u, err := url.Parse(at.URL)
	if err != nil || !c.mayHave(u) {
		return gateway.Permanent("whatsapp: the file is at an address that must not get the token")
	}
	return rest.Download(ctx, c.http, "whatsapp", u, c.config.AccessToken, w)
}

// mayHave reports whether a server may have the token: the API's own, and those where the platform keeps files.
func (c *Channel) mayHave(u *url.URL) bool {
	if u.Scheme == c.base.Scheme && u.Host == c.base.Host {
		return true
	}
	return u.Scheme == "https" && slices.ContainsFunc([]string{".fbsbx.com", ".facebook.com", ".whatsapp.net", ".fbcdn.net"}, func(s string) bool { return strings.HasSuffix(u.Hostname(), s) })
}
