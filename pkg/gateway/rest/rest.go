package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// answerTime is how long a platform may take to answer: longer than any of them lets us wait for a message.
const answerTime = 90 * time.Second

// NewClient returns a client that follows no redirects: they would carry a token to elsewhere.
func NewClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.ResponseHeaderTimeout = 16, answerTime
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Clean leaves the address, which may have a token in it, out of an error of the HTTP client.
func Clean(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// maxAnswer bounds an answer that is no file.
const maxAnswer = 16 << 20

// Do makes a request and reads its answer, which is no file. what names the request in errors.
func Do(client *http.Client, req *http.Request, what string) (*http.Response, []byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, Clean(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: read answer: %w", what, Clean(err))
	}
	return resp, body, nil
}

// Texts turns parameters into texts for a form: what is none is JSON.
func Texts(params map[string]any) (map[string]string, error) {
	out := map[string]string{}
	for name, value := range params {
		text, ok := value.(string)
		if !ok {
			data, err := json.Marshal(value)
			if err != nil {
				return nil, gateway.Permanent("parameter %s: %w", name, err)
			}
			text = string(data)
		}
		out[name] = text
	}
	return out, nil
}

// Base reads the address of an API: https, or on this machine http.
func Base(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && local(u)) {
		return nil, fmt.Errorf("want an https address, got %q", address)
	}
	return u, nil
}

// Socket reads the address of a web socket: wss, or on this machine ws.
func Socket(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "wss" && !(u.Scheme == "ws" && local(u)) {
		return nil, errors.New("the answer has no wss address")
	}
	return u, nil
}

func local(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Form returns a request that uploads a file in a form without holding it in memory. close is for after the request.
func Form(address string, fields [][2]string, part string, f *gateway.File) (req *http.Request, close func() error, err error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, nil, gateway.Permanent("%w", err)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, kv := range fields {
		err = errors.Join(err, w.WriteField(kv[0], kv[1]))
	}
	h := textproto.MIMEHeader{}
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "").Replace(f.Name)
	h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`, part, name))
	h.Set("Content-Type", cmp.Or(f.MIME, "application/octet-stream"))
	_, perr := w.CreatePart(h)
	n := b.Len()
	err = errors.Join(err, perr, w.Close())
	body := io.MultiReader(bytes.NewReader(b.Bytes()[:n]), io.LimitReader(file, f.Size), bytes.NewReader(b.Bytes()[n:]))
	if err == nil {
		req, err = http.NewRequest(http.MethodPost, address, body)
	}
	if err != nil {
		return nil, nil, errors.Join(gateway.Permanent("make the form of a file: %w", Clean(err)), file.Close())
	}
	req.ContentLength = int64(b.Len()) + f.Size
	req.Header.Set("Content-Type", w.FormDataContentType())
	return req, file.Close, nil
}

// MayPass reports whether an answer of this status that is not the platform's own may be another one later: a proxy, a page
// where people log in, a server that is being replaced. What is malformed or too large stays so.
func MayPass(status int) bool {
	return status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge
}

// Copy writes a body to w; one that is cut off is an error.
func Copy(w io.Writer, resp *http.Response) error {
	n, err := io.Copy(w, resp.Body)
	if err == nil && resp.ContentLength > 0 && n < resp.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// ErrRefused is matched by errors of Download when the server does not give the file to whoever has this token.
var ErrRefused = errors.New("refused")

// Download writes the file at an address to w. The caller has made sure that this server may have the token.
func Download(ctx context.Context, client *http.Client, platform string, from *url.URL, token string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return gateway.Permanent("%s: bad request", platform)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s: fetch file: %w", platform, Clean(err))
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusOK:
		return Copy(w, resp)
	case resp.StatusCode/100 == 3, resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden: // a redirect leads to where people log in
		return fmt.Errorf("%s: fetch file: %w, status %s", platform, ErrRefused, resp.Status)
	}
	return fmt.Errorf("%s: fetch file: status %s", platform, resp.Status)
}
