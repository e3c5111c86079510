package registry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-json"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// call is one request on its way.
type call struct {
	w         *recorder
	r         *http.Request
	requestID string
	id        string // record id of the path
	caller    *caller
	route     *route
	refused   api.ErrorCode
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom keeps the way open for the kernel to copy a file by itself.
func (w *recorder) ReadFrom(r io.Reader) (int64, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := io.Copy(w.ResponseWriter, r)
	w.bytes += n
	return n, err
}

func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{w: &recorder{ResponseWriter: w}, r: r, requestID: requestID(r), caller: anonymous}
	start := time.Now()
	w.Header().Set(api.HeaderRequestID, c.requestID)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.metrics.begin()
	defer func() {
		s.metrics.end(c, time.Since(start))
		s.logCall(c, time.Since(start))
	}()
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.log.Error("panic", "request_id", c.requestID, "error", fmt.Sprint(v), "trace", string(debug.Stack()))
			c.fail(refuse(api.ErrInternal, "internal fault"))
		}
	}()
	if err := s.dispatch(c); err != nil {
		c.fail(s.explain(c, err))
	}
}

// requestID returns the client's id of a request, or a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get(api.HeaderRequestID)
	odd := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c))
	}
	if id != "" && len(id) <= 64 && strings.IndexFunc(id, odd) < 0 {
		return id
	}
	var random [8]byte
	rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// refuse returns an error of the API.
func refuse(code api.ErrorCode, format string, args ...any) *api.Error {
	return &api.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// explain makes an error of the API of any error. What is not for the client's eyes goes to the log.
func (s *Server) explain(c *call, err error) *api.Error {
	var known *api.Error
	var path *api.PathError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &path):
		e := refuse(api.ErrInvalid, "%s", path.Error())
		e.Path = strings.ToValidUTF8(path.Path, "\ufffd")
		return e
	case errors.Is(err, errClosed), errors.Is(err, context.Canceled):
		return refuse(api.ErrUnavailable, "the registry is stopping")
	}
	s.log.Error("request failed", "request_id", c.requestID, "error", err)
	if isDiskTrouble(err) {
		return refuse(api.ErrUnavailable, "the registry cannot write")
	}
	return refuse(api.ErrInternal, "internal error")
}

// bodyError sorts the errors of reading a body.
func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return refuse(api.ErrTooLarge, "the body is larger than %d bytes", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(api.ErrTimeout, "the request took too long to arrive")
	}
	return refuse(api.ErrBadRequest, "the body cannot be read: %v", err)
}

// fail answers with an error.
func (c *call) fail(e *api.Error) {
	c.refused = e.Code
	if c.w.status != 0 {
		panic(http.ErrAbortHandler) // part of an answer is out: the client must see that it is not whole
	}
	e.RequestID = c.requestID
	h := c.w.Header()
	for _, name := range []string{"ETag", "Digest", "Content-Disposition", "Cache-Control", api.HeaderFingerprint, api.HeaderSignature} {
		h.Del(name)
	}
	switch e.Code {
	case api.ErrUnauthorized:
		h.Set("WWW-Authenticate", `ApiKey realm="openspace-registry"`)
	case api.ErrUnavailable:
		h.Set("Retry-After", "5")
	}
	c.json(e.Code.Status(), e)
}

// json answers with a JSON body.
func (c *call) json(status int, v any) {
	data, err := jsonl.Marshal(v)
	if err != nil {
		panic(err) // of our own types
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(data)+1))
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		c.w.Write(append(data, '\n'))
	}
}

// decode reads a JSON body.
func (s *Server) decode(c *call, v any) error {
	if t, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";"); t != "" && strings.TrimSpace(strings.ToLower(t)) != "application/json" {
		return refuse(api.ErrMediaType, "want application/json")
	}
	data, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, s.o.Limits.JSON))
	if err != nil {
		return bodyError(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return refuse(api.ErrBadRequest, "the body is not the JSON that is wanted: %v", err)
	}
	return nil
}

// query returns a whole number of the query string.
func (c *call) query(name string, usual, least, most int) (int, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, refuse(api.ErrBadRequest, "%s=%q: want a whole number from %d on", name, text, least)
	}
	return min(n, most), nil
}

// route is one operation of the API.
type route struct {
	method string
	path   string // with {record_id} for an id
	scope  string // that the key must have; "" for callers without a key
	run    func(s *Server, c *call) error
}

const recordPath = api.BasePath + "/records/{record_id}"

func (s *Server) routeTable() []route {
	return []route{
		{"GET", recordPath, ScopeRead, (*Server).getRecord},
		{"GET", recordPath + "/download", ScopeRead, (*Server).download},
		{"GET", api.BasePath + "/records/metadata", ScopeRead, (*Server).metadata},
		{"POST", api.BasePath + "/records/embeddings/search", ScopeRead, (*Server).searchRecords},
		{"POST", api.BasePath + "/artifacts/stage", ScopeWrite, (*Server).stage},
		{"POST", api.BasePath + "/records", ScopeWrite, (*Server).create},
		{"GET", api.BasePath + "/records", ScopeRead, (*Server).listRecords},
		{"PATCH", recordPath, ScopeWrite, (*Server).changeRecord},
		{"DELETE", recordPath, ScopeWrite, (*Server).deleteRecord},
		{"GET", recordPath + "/versions", ScopeRead, (*Server).versions},
		{"GET", api.BasePath + "/me", ScopeRead, (*Server).me},
		{"GET", "/healthz", "", (*Server).health},
		{"GET", "/metrics", "", (*Server).serveMetrics},
		{"GET", discoveryPath + "/index.json", "", (*Server).discover},
		{"GET", discoveryPath + "/{record_id}.zip", "", (*Server).discovered},
	}
}

// match finds the route of a path, and the id in it. Ids may have slashes, plain or encoded.
func (s *Server) match(method, escaped string) (found *route, id string, allowed []string) {
	best := -1
	for i := range s.routes {
		rt := &s.routes[i]
		before, after, wild := strings.Cut(rt.path, "{record_id}")
		raw, ok := strings.CutPrefix(escaped, before)
		if !wild && escaped != rt.path || !ok {
			continue
		}
		if wild {
			if raw, ok = strings.CutSuffix(raw, after); !ok || raw == "" {
				continue
			}
		}
		// A literal path goes before one with an id in it, a longer one before a shorter.
		rank := len(rt.path)
		if !wild {
			rank += 1000
		}
		if rank < best {
			continue
		}
		if rank > best {
			best, found, allowed = rank, nil, nil
		}
		allowed = append(allowed, rt.method)
		if rt.method == method || rt.method == "GET" && method == "HEAD" {
			found, id = rt, raw
		}
	}
	return found, id, allowed
}

// dispatch finds out who asks for what and runs it.
func (s *Server) dispatch(c *call) error {
	rt, rawID, allowed := s.match(c.r.Method, c.r.URL.EscapedPath())
	if len(allowed) == 0 {
		if err := s.authenticate(c, ""); err != nil {
			return err
		}
		return refuse(api.ErrNotFound, "no such path")
	}
	if rt == nil {
		slices.Sort(allowed)
		c.w.Header().Set("Allow", strings.Join(allowed, ", "))
		return refuse(api.ErrMethod, "method %s is not for this path", c.r.Method)
	}
	c.route = rt
	if err := s.authenticate(c, rt.scope); err != nil {
		return err
	}
	if strings.Contains(rt.path, "{record_id}") {
		id, err := url.PathUnescape(rawID)
		if err != nil || !ValidRecordID(id) {
			return noRecord(id)
		}
		c.id = id
	}
	return rt.run(s, c)
}

func noRecord(id string) *api.Error {
	return refuse(api.ErrNotFound, "no record %q", strings.ToValidUTF8(id, "\ufffd"))
}

// authenticate finds the caller by its key and holds it to its rate. A path without a scope needs no key.
func (s *Server) authenticate(c *call, scope string) error {
	s.followSometimes(c.r.Context())
	text := c.r.Header.Get(api.HeaderKey)
	if text == "" {
		text, _ = strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	}
	found := s.callerOf(c.r.Context(), text)
	switch {
	case found != nil:
		c.caller = found
		if wait, ok := s.rates.key(found.ID); !ok {
			return c.limited(wait)
		}
	default:
		if wait, ok := s.rates.address(c.r.RemoteAddr); !ok {
			return c.limited(wait)
		}
	}
	switch {
	case scope == "":
		return nil
	case text == "":
		return refuse(api.ErrUnauthorized, "no key: send one as %s", api.HeaderKey)
	case found == nil:
		return refuse(api.ErrUnauthorized, "the key is not known, or was revoked")
	case !found.may(scope):
		return refuse(api.ErrForbidden, "the key has the scope %s, this needs %s", found.Scope, scope)
	}
	return nil
}

// callerOf finds the holder of a key. A key that is not known may have been made just now.
func (s *Server) callerOf(ctx context.Context, key string) *caller {
	if !strings.HasPrefix(key, "osk_") {
		return nil
	}
	hash := rawHash(hashKey(key))
	if c := s.view.holder(hash); c != nil {
		return c
	}
	if err := s.follow(ctx); err != nil {
		return nil
	}
	return s.view.holder(hash)
}

func (v *view) holder(hash [32]byte) *caller {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.keys[hash]
}

// limited refuses a request that comes too soon.
func (c *call) limited(wait time.Duration) error {
	c.w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return refuse(api.ErrRateLimited, "too many requests; try again in %s", wait.Round(time.Millisecond))
}

// logCall writes one line about a request.
func (s *Server) logCall(c *call, took time.Duration) {
	level := slog.LevelInfo
	if c.w.status >= 500 {
		level = slog.LevelError
	}
	if !s.log.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("request_id", c.requestID), slog.String("method", c.r.Method), slog.String("path", c.r.URL.EscapedPath()),
		slog.Int("status", c.w.status), slog.Int64("bytes", c.w.bytes), slog.Float64("ms", float64(took.Microseconds())/1000), slog.String("remote", c.r.RemoteAddr)}
	if c.caller != anonymous {
		attrs = append(attrs, slog.String("key", c.caller.ID), slog.String("owner", c.caller.Owner))
	}
	if c.refused != "" {
		attrs = append(attrs, slog.String("error", string(c.refused)))
	}
	s.log.LogAttrs(context.Background(), level, "request", attrs...)
}
