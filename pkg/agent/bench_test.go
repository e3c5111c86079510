package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/agent"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/recording"
)

// BenchmarkIteration is what the loop itself takes for one call of the model with one call of a tool,
// recording and compaction among it, in a conversation of 100 such iterations with results of 8 KiB.
func BenchmarkIteration(b *testing.B) {
	const iterations = 100
	for b.Loop() {
		rec, err := recording.Create(b.TempDir(), "t", recording.Meta{Mask: func(s string) string { return s }})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		m := &script{window: 128_000, replies: []any{funcReply(func() llm.Reply {
			if n++; n == iterations {
				return says("done")
			}
			return calls("run_shell", fmt.Sprintf(`{"command":"echo %d"}`, n))
		})}}
		out := run(b, agent.Options{Model: m, Tools: set(b, returns("run_shell", ok(strings.Repeat("8 bytes\n", 1024)))), Recorder: rec,
			Budget: agent.Budget{Iterations: iterations + 1}})
		if out.Iterations != iterations {
			b.Fatalf("got %d iterations: %v", out.Iterations, out.Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/iterations, "µs/iteration")
}
