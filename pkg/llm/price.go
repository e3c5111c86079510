package llm

import (
	"strings"
)

// price is the list price of a model in US dollars for a million tokens, and its window.
type price struct {
	model                 string // without its maker, version dots as hyphens
	input, cached, output float64
	window                int64 // tokens; 0: not known
}

// priced is the day on which the prices were last looked over; docs/models.md names the sources.
const priced = "2026-12-01"

// prices are of the makers' own endpoints, short prompts, the dearest time of the day. A model that is not
// here has no price.
var prices = []price{
	{"claude-opus-5", 5, 0.5, 25, 0},
	{"claude-opus-4-8", 5, 0.5, 25, 0},
	{"claude-opus-4-7", 5, 0.5, 25, 0},
	{"claude-opus-4-6", 5, 0.5, 25, 200_000},
	{"claude-opus-4-5", 5, 0.5, 25, 200_000},
	{"claude-opus-4-1", 15, 1.5, 75, 200_000},
	{"claude-opus-4", 15, 1.5, 75, 200_000},
	{"claude-sonnet-5", 2, 0.2, 10, 0},
	{"claude-sonnet-4-6", 3, 0.3, 15, 200_000},
	{"claude-sonnet-4-5", 3, 0.3, 15, 200_000},
	{"claude-sonnet-4", 3, 0.3, 15, 200_000},
	{"claude-haiku-4-5", 1, 0.1, 5, 200_000},
	{"gpt-5-5", 5, 0.5, 30, 1_000_000},
	{"gpt-5-4", 2.5, 0.25, 15, 1_000_000},
	{"gpt-5-4-mini", 0.75, 0.075, 4.5, 0},
	{"gpt-5-4-nano", 0.2, 0.02, 1.25, 0},
	{"gpt-5-1", 1.25, 1.25, 10, 400_000},
	{"gpt-5", 1.25, 1.25, 10, 400_000},
	{"gpt-5-mini", 0.25, 0.25, 2, 400_000},
	{"gpt-5-nano", 0.05, 0.05, 0.4, 400_000},
	{"gpt-4-1", 2, 2, 8, 1_047_576},
	{"gpt-4-1-mini", 0.4, 0.4, 1.6, 1_047_576},
	{"gpt-4-1-nano", 0.1, 0.1, 0.4, 1_047_576},
	{"gpt-4o", 2.5, 2.5, 10, 128_000},
	{"gpt-4o-mini", 0.15, 0.15, 0.6, 128_000},
	{"gemini-2-5-pro", 1.25, 0.125, 10, 1_048_576},
	{"gemini-2-5-flash", 0.3, 0.03, 2.5, 1_048_576},
	{"gemini-2-5-flash-lite", 0.1, 0.01, 0.4, 1_048_576},
	{"deepseek-flash", 0.3, 0.006, 1.2, 1_000_000},
	{"deepseek-v4-flash", 0.3, 0.006, 1.2, 1_000_000},
	{"deepseek-v4-pro", 1.32, 0.044, 3.96, 1_000_000},
}

// dated matches what may follow a model's name without changing its price.
var dated = lazy(`^(-latest|-preview|-\d{2}-\d{4}|-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{4})?$`)

// priceOf finds the price of a model by the last part of its name.
func priceOf(model string) (price, bool) {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if name, free := strings.CutSuffix(name, ":free"); free {
		p, _ := priceOf(name)
		return price{model: name, window: p.window}, true
	}
	name = strings.ReplaceAll(name, ".", "-")
	best, found := price{}, false
	for _, p := range prices {
		if rest, ok := strings.CutPrefix(name, p.model); ok && dated().MatchString(rest) && len(p.model) > len(best.model) {
			best, found = p, true
		}
	}
	return best, found
}

// cost of a usage in US dollars.
func (p price) cost(u Usage) float64 {
	return (float64(u.Input-u.Cached)*p.input + float64(u.Cached)*p.cached + float64(u.Output)*p.output) / 1e6
}
