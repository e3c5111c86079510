package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxBody bounds what one request may have.
const maxBody = 64 << 20

// Server plays a script. It answers POST to any path that ends in /chat/completions.
type Server struct {
	URL string // of Start, with /v1 at the end

	script Script

	mu       sync.Mutex
	at       []int // the next step of each conversation
	requests []Request
	failures []string
	made     int // ids of calls
}

// New returns a server, which is an [http.Handler].
func New(s Script) *Server { return &Server{script: s, at: make([]int, len(s.Conversations))} }

// Start serves a script until the test ends, and makes the test fail for every check that failed and every
// step that was not asked for.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	s := New(script)
	web := httptest.NewServer(s)
	s.URL = web.URL + "/v1"
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		for _, f := range append(s.Failures(), s.Unused()...) {
			t.Errorf("test model: %s", f)
		}
	})
	return s
}

// Requests returns what was sent so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Failures returns the checks that failed so far.
func (s *Server) Failures() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.failures)
}

// Unused returns the steps that nobody asked for; those of a conversation that repeats need not be.
func (s *Server) Unused() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.script.Conversations {
		if !c.Repeat && s.at[i] < len(c.Steps) {
			out = append(out, fmt.Sprintf("conversation %d (%q): %d of %d steps were asked for", i+1, c.Match, s.at[i], len(c.Steps)))
		}
	}
	return out
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"no such path","type":"invalid_request_error"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	req, err := parseRequest(r.Header.Clone(), body)
	step, wrong := s.next(req, err)
	if len(wrong) > 0 {
		refuse(w, http.StatusUnprocessableEntity, "test model: "+strings.Join(wrong, "; "))
		return
	}
	if !pause(r, time.Duration(step.Fault.DelayMS)*time.Millisecond) {
		return
	}
	(&sender{w: w, r: r, req: req, step: step, name: s.model(req), newID: s.newID}).send()
}

func (s *Server) model(r Request) string {
	if s.script.Model != "" {
		return s.script.Model
	}
	return r.Model
}

func (s *Server) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return fmt.Sprintf("call_%d", s.made)
}

// next finds the step for a request and keeps both it and what is wrong with it.
func (s *Server) next(r Request, err error) (step Step, wrong []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	where := fmt.Sprintf("request %d", len(s.requests))
	if err != nil {
		wrong = []string{where + ": " + err.Error()}
	} else if step, where, err = s.find(r, where); err != nil {
		wrong = []string{where + ": " + err.Error()}
	} else {
		for _, w := range step.Expect.check(r) {
			wrong = append(wrong, where+": "+w)
		}
	}
	s.failures = append(s.failures, wrong...)
	return step, wrong
}

func (s *Server) find(r Request, where string) (Step, string, error) {
	if s.script.Answer != nil {
		if step, ok := s.script.Answer(r); ok {
			return step, where, nil
		}
	}
	for i, c := range s.script.Conversations {
		if !r.marked(c.Match) {
			continue
		}
		if c.Repeat && s.at[i] == len(c.Steps) {
			s.at[i] = 0
		}
		if s.at[i] < len(c.Steps) {
			s.at[i]++
			return c.Steps[s.at[i]-1], fmt.Sprintf("%s, conversation %d (%q), step %d", where, i+1, c.Match, s.at[i]), nil
		}
		return Step{}, where, fmt.Errorf("conversation %d (%q) is over after %d steps; last message %q", i+1, c.Match, len(c.Steps), short(r.Last()))
	}
	for i, rule := range s.script.Rules {
		if len(rule.When.check(r)) == 0 {
			return rule.Step, fmt.Sprintf("%s, rule %d", where, i+1), nil
		}
	}
	return Step{}, where, fmt.Errorf("no conversation and no rule fits; last message %q", short(r.Last()))
}

// pause waits and tells whether the client is still there.
func pause(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-t.C:
		return true
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "test_model"}})
}
