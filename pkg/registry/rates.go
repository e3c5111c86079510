package registry

import (
	"net"
	"sync"
	"time"
)

// rates holds callers to a number of requests a second: each has a bucket that fills steadily, and a request
// takes one out.
type rates struct {
	limits Limits
	now    func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
	swept   time.Time
}

type bucket struct {
	level float64
	at    time.Time
}

func newRates(l Limits) *rates {
	return &rates{limits: l, now: time.Now, buckets: map[string]*bucket{}}
}

// key takes one request of a key; when there is none left it tells how long until there is.
func (r *rates) key(id string) (wait time.Duration, ok bool) {
	return r.take("k "+id, float64(r.limits.Rate), float64(r.limits.Burst))
}

// address takes one request of an address without a key that is known.
func (r *rates) address(remote string) (wait time.Duration, ok bool) {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	return r.take("a "+host, float64(r.limits.Foreign), 4*float64(r.limits.Foreign))
}

func (r *rates) take(name string, rate, burst float64) (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.sweep(now)
	b := r.buckets[name]
	if b == nil {
		b = &bucket{burst, now}
		r.buckets[name] = b
	}
	b.level = min(burst, b.level+now.Sub(b.at).Seconds()*rate)
	b.at = now
	if b.level < 1 {
		return time.Duration((1 - b.level) / rate * float64(time.Second)), false
	}
	b.level--
	return 0, true
}

// sweep forgets buckets that nobody used for a minute: they are full again, or nearly so.
func (r *rates) sweep(now time.Time) {
	if now.Sub(r.swept) < time.Minute {
		return
	}
	r.swept = now
	for name, b := range r.buckets {
		if now.Sub(b.at) > time.Minute {
			delete(r.buckets, name)
		}
	}
}
