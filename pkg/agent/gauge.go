package agent

import "github.com/openspace-dev/openspace/pkg/llm"

// Limits of requests in tokens.
const (
	defaultContext = 160_000 // a request costs its length each time, so a huge window is not filled
	unknownWindow  = 120_000 // when the model does not tell its window
	maxReserve     = 16_000  // kept for the reply
)

// gauge turns sizes into tokens of the model and knows how many may be sent.
type gauge struct {
	tools int64   // size of the specs of the tools
	ratio float64 // tokens for one unit of size; learned from what the provider counted
	limit int64   // tokens of a request
}

func newGauge(o Options, offer []llm.ToolSpec) gauge {
	g := gauge{ratio: 1}
	for _, t := range offer {
		g.tools += messageTokens + textSize(t.Name) + textSize(t.Description) + textSize(string(t.Parameters))
	}
	window := o.Model.Window()
	if window <= 0 {
		window = unknownWindow
	}
	reserve := min(window/4, maxReserve)
	if o.MaxOutput > 0 {
		reserve = min(window/2, o.MaxOutput)
	}
	limit := o.MaxContext
	if limit <= 0 {
		limit = defaultContext
	}
	g.limit = min(window-reserve, limit)
	return g
}

// tokens returns how many tokens a request with messages of a size has.
func (g *gauge) tokens(size int64) int64 { return int64(float64(size+g.tools) * g.ratio) }

// prior is how many tokens the estimate is trusted for before anything is learned, so that a short request
// teaches little.
const prior = 1000

// learn compares what a request was thought to have with what the provider counted.
func (g *gauge) learn(size int64, u llm.Usage) {
	if u.Input <= 0 || u.Estimated > 0 || size+g.tools <= 0 {
		return
	}
	g.ratio = min(max(float64(u.Input+prior)/float64(size+g.tools+prior), 0.4), 4)
}

// tooLarge learns that a request of a size was more than the model takes.
func (g *gauge) tooLarge(size int64) { g.limit = min(g.limit, g.tokens(size)*9/10) }

// The share of the limit at which older messages are shortened, and the share that they are shortened to. The
// distance is large, because each time the provider's cache is lost.
const (
	fullShare = 0.85
	goalShare = 0.45
)

func (g *gauge) full(size int64) bool { return float64(g.tokens(size)) > fullShare*float64(g.limit) }

// room returns what size there is left for, beside messages of a size, before the limit is near.
func (g *gauge) room(size int64) int64 {
	const share = fullShare - 0.1 // the estimate of a text that was never sent may be wrong
	return max(int64(share*float64(g.limit)/g.ratio)-g.tools-size, 0)
}

func (g *gauge) goal() int64 { return int64(goalShare * float64(g.limit)) }
