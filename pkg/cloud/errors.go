package cloud

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Refusal is an answer that is no success.
type Refusal struct {
	Status     int
	Body       api.Error     // what could be read of it
	RetryAfter time.Duration // 0: not said
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("registry answers %d: %s", r.Status, r.Body.Message)
}

var (
	errTooManyRedirects = errors.New("more than 10 redirects")
	errNoID             = errors.New("empty record id")
)

// maxErrorBody is what is read of an answer that is no success.
const maxErrorBody = 64 << 10

// refused makes the error of an answer that is no success.
func refused(resp *http.Response) *wire.Error {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	r := &Refusal{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now())}
	if json.Unmarshal(data, &r.Body) != nil {
		r.Body = api.Error{}
	}
	if r.Body.Message == "" {
		r.Body.Message = whatItSays(resp, r.Body.Code, data)
	}
	err := wire.Errorf(codeOf(r), "%w", r)
	err.RequestID = resp.Header.Get(api.HeaderRequestID)
	err.Path = r.Body.Path
	err.RetryAfter = int((r.RetryAfter + time.Second - 1) / time.Second)
	switch err.Code {
	case wire.Auth:
		err.Hint = "check OPENSPACE_API_KEY, and that it is for this registry"
	case wire.RateLimited:
		err.Hint = "try again later, or with fewer --jobs"
	}
	return err
}

// whatItSays describes an answer without a message.
func whatItSays(resp *http.Response, code api.ErrorCode, body []byte) string {
	text := strings.Join(strings.Fields(string(body)), " ")
	switch {
	case resp.StatusCode/100 == 3:
		return "redirects to " + elsewhere(resp.Header.Get("Location")) + ", which is not followed"
	case code != "":
		return string(code)
	case text == "" || !utf8.ValidString(text) || strings.HasPrefix(text, "<"):
		return http.StatusText(resp.StatusCode)
	case len(text) > 500:
		return strings.ToValidUTF8(text[:500], "") + "…"
	}
	return text
}

// elsewhere is an address as far as it can be shown.
func elsewhere(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return "another path"
	}
	return u.Scheme + "://" + u.Host
}

// codeOf gives an answer its code; docs/transfer.md has the table.
func codeOf(r *Refusal) wire.Code {
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return wire.Auth
	case http.StatusNotFound, http.StatusGone:
		return wire.NotFound
	case http.StatusConflict:
		return wire.Exists
	case http.StatusRequestEntityTooLarge:
		return wire.TooLong
	case http.StatusTooManyRequests:
		return wire.RateLimited
	case http.StatusRequestTimeout:
		return wire.Network
	}
	switch {
	case r.Body.Code == api.ErrUnsafe || r.Body.Code == api.ErrSignature:
		return wire.Unsafe
	case r.Status/100 == 4:
		return wire.Invalid
	}
	return wire.Network
}

// retryAfter reads the header: seconds or a date.
func retryAfter(v string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
		return time.Duration(min(max(n, 0), 1<<30)) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// mayHelp tells whether trying again makes sense.
func (r *Refusal) mayHelp() bool {
	switch r.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// unreachable makes the error of a request that got no answer, and tells whether trying again makes sense.
func unreachable(err error) (*wire.Error, bool) {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var cert x509.CertificateInvalidError
	var record tls.RecordHeaderError
	final := errors.As(err, &dns) && dns.IsNotFound || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &cert) ||
		errors.As(err, &record) || errors.Is(err, errTooManyRedirects) || strings.Contains(err.Error(), "HTTP response to HTTPS client")
	return wire.Errorf(wire.Network, "reach registry: %w", err), !final
}

// unreadable is the error of an answer that is not what the API promises.
func unreadable(err error) *wire.Error {
	return wire.Errorf(wire.Network, "read answer of registry: %w", err).WithHint("is the address right? It ends in %s", api.BasePath)
}
