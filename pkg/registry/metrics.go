package registry

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
)

// metrics counts what happens, in the terms of Prometheus.
type metrics struct {
	inFlight atomic.Int64
	start    time.Time

	mu     sync.Mutex
	routes map[routeStatus]*timing
}

type routeStatus struct {
	method, path string
	status       int
}

// timing is a histogram of seconds.
type timing struct {
	buckets [len(latencies)]int64
	count   int64
	sum     float64
}

// latencies are the upper bounds of the histogram's buckets in seconds.
var latencies = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10}

func newMetrics() *metrics { return &metrics{routes: map[routeStatus]*timing{}, start: time.Now()} }

func (m *metrics) begin() { m.inFlight.Add(1) }

func (m *metrics) end(c *call, took time.Duration) {
	m.inFlight.Add(-1)
	at := routeStatus{"", "none", c.w.status}
	if c.route != nil {
		at.method, at.path = c.route.method, c.route.path
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.routes[at]
	if t == nil {
		t = &timing{}
		m.routes[at] = t
	}
	seconds := took.Seconds()
	t.count++
	t.sum += seconds
	for i, bound := range latencies {
		if seconds <= bound {
			t.buckets[i]++
		}
	}
}

// serveMetrics answers with everything that is counted (GET /metrics). Without a key only this machine may ask.
func (s *Server) serveMetrics(c *call) error {
	if c.caller == anonymous && !isLocal(c.r.RemoteAddr) {
		return refuse(api.ErrUnauthorized, "from another machine a key is needed")
	}
	var b strings.Builder
	s.metrics.write(&b)
	records, keys := s.view.totals()
	gauge := func(name, help string, v any) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n%s %v\n", name, help, name, name, v)
	}
	b.WriteString("# HELP openspace_registry_records Records by visibility.\n# TYPE openspace_registry_records gauge\n")
	for _, v := range []visibility{public, private, group} {
		name := [...]string{private: api.Private, public: api.Public, group: api.Group}[v]
		fmt.Fprintf(&b, "openspace_registry_records{visibility=%q} %d\n", name, records[v])
	}
	gauge("openspace_registry_keys", "Keys that are not revoked.", keys)
	gauge("openspace_registry_indexed", "Records that a search can find.", s.search.Len())
	gauge("openspace_registry_changes", "Number of the last change.", s.view.last())
	gauge("openspace_registry_requests_in_flight", "Requests that are being answered.", s.metrics.inFlight.Load())
	gauge("process_start_time_seconds", "When the server started.", s.metrics.start.Unix())
	c.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method != http.MethodHead {
		c.w.Write([]byte(b.String()))
	}
	return nil
}

// write writes the histograms, sorted.
func (m *metrics) write(b *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const name = "openspace_registry_request_seconds"
	fmt.Fprintf(b, "# HELP %s Requests by operation and status, and how long they took.\n# TYPE %s histogram\n", name, name)
	keys := make([]routeStatus, 0, len(m.routes))
	for k := range m.routes {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y routeStatus) int {
		return cmp.Or(cmp.Compare(x.path, y.path), cmp.Compare(x.method, y.method), cmp.Compare(x.status, y.status))
	})
	for _, k := range keys {
		t := m.routes[k]
		labels := fmt.Sprintf("method=%q,path=%q,status=\"%d\"", k.method, k.path, k.status)
		for i, bound := range latencies {
			fmt.Fprintf(b, "%s_bucket{%s,le=\"%g\"} %d\n", name, labels, bound, t.buckets[i])
		}
		fmt.Fprintf(b, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %g\n%s_count{%s} %d\n", name, labels, t.count, name, labels, t.sum, name, labels, t.count)
	}
}

// totals counts records by visibility and keys in use.
func (v *view) totals() (records [3]int, keys int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, label := range v.order {
		records[v.entries[label].vis]++
	}
	return records, len(v.keys)
}

// isLocal tells whether an address is of this machine.
func isLocal(remote string) bool {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
