package sandbox_test

import (
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/sandbox"
)

// What has no end is ended by its limits. The numbers are small, so that a failure of this test does no harm.
func TestLimits(t *testing.T) {
	linux(t)
	mark := marked()
	tests := []struct {
		name, script string
		limits       sandbox.Limits
		check        func(outcome) bool
	}{
		{"processes", "i=0; while [ $i -lt 60 ]; do sleep " + mark + " & i=$((i+1)); done; wait", sandbox.Limits{Processes: 20}, stopped},
		{"memory of one", "python3 -c 'x = bytearray(600 << 20)'", sandbox.Limits{Memory: 256 << 20}, stopped},
		{"memory of all", `for i in 1 2 3 4 5 6; do (x=$(head -c 15000000 /dev/zero | tr '\0' a); sleep 5; echo ${#x}) & done; wait`, sandbox.Limits{Memory: 60 << 20}, stopped},
		{"a file", "head -c 3000000 /dev/zero >f", sandbox.Limits{FileSize: 1 << 20}, stopped},
		{"within them", "head -c 3000 /dev/zero >f; (sleep 0.01 | cat); echo ok", sandbox.Limits{FileSize: 1 << 20, Processes: 50, Memory: 1 << 30}, func(o outcome) bool {
			return o.exit.Code == 0 && o.text == "ok\n"
		}},
	}
	for _, level := range []sandbox.Level{sandbox.BestEffort, sandbox.Off} {
		for _, tt := range tests {
			t.Run(string(level)+"/"+tt.name, func(t *testing.T) {
				if raced && tt.limits.Memory > 0 {
					t.Skip("the race detector does not start within this memory")
				}
				s := spec(t, tt.script)
				s.Limits, s.Level = tt.limits, level
				got := run(t, s)
				if !tt.check(got) {
					t.Errorf("got %+v, want it to meet its limits", got)
				}
				t.Log(got.exit, strings.TrimSpace(got.text))
			})
		}
	}
	if n := running(t, mark); n != 0 {
		t.Errorf("got %d processes left, want none", n)
	}
}

func stopped(o outcome) bool {
	return o.exit.Code != 0 || o.exit.Limit != "" || strings.Contains(strings.ToLower(o.text), "memory")
}
