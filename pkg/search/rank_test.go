package search

import "testing"

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		want        fit
	}{
		{"docker", "docker", exactFit},
		{"node-js", "nodejs", exactFit},
		{"docker-monitor", "docker", prefixFit},
		{"docker-monitor", "docker-mon", prefixFit},
		{"docker", "docker-monitor", noFit},
		{"monitor", "docker", noFit},
		{"", "", noFit},
		{"a", "", noFit},
		{"周报-生成", "周报", prefixFit},
	} {
		if got := fitOf(tt.name, tt.query); got != tt.want {
			t.Errorf("name %q, query %q: got %q, want %q", tt.name, tt.query, got, tt.want)
		}
	}
}

// Whatever the share, an exact name is above a prefix and a prefix above a mention.
func TestBands(t *testing.T) {
	for _, low := range []float64{0, 0.2, 0.9999} {
		for _, high := range []float64{0, 0.5, 0.9999} {
			if e, p := score(exactFit, low), score(prefixFit, high); e <= p {
				t.Errorf("exact with share %v scores %v, prefix with %v scores %v", low, e, high, p)
			}
			if p, m := score(prefixFit, low), score(noFit, high); p <= m {
				t.Errorf("prefix with share %v scores %v, mention with %v scores %v", low, p, high, m)
			}
		}
	}
	if s := score(exactFit, 0.9999); s > 1 {
		t.Errorf("score %v above 1", s)
	}
}

func TestValidate(t *testing.T) {
	good := Request{Limit: 10}
	if err := good.Validate(); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	for _, bad := range []Request{{}, {Limit: -1}, {Limit: MaxLimit + 1}, {Limit: 1, MinScore: -0.1}, {Limit: 1, MinScore: 1.1}, {Limit: 1, Exact: true, Prefix: true}} {
		if bad.Validate() == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
