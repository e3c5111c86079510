package registry

import "time"

// Operations lists the operations of the server as method and path, for the test of docs/openapi.json.
func (s *Server) Operations() (out []string) {
	for _, r := range s.routes {
		out = append(out, r.method+" "+r.path)
	}
	return out
}

// StopClock lets no time pass for the limits of rates: however long requests take, nothing is earned meanwhile.
func (s *Server) StopClock() {
	s.rates.mu.Lock()
	defer s.rates.mu.Unlock()
	now := time.Now()
	s.rates.now = func() time.Time { return now }
}
