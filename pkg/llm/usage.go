package llm

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// wireUsage is the usage object of an answer.
type wireUsage struct {
	Prompt     json.Number `json:"prompt_tokens"`
	Completion json.Number `json:"completion_tokens"`
	Total      json.Number `json:"total_tokens"`
	PromptInfo struct {
		Cached json.Number `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionInfo struct {
		Reasoning json.Number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit json.Number     `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached   json.Number     `json:"cached_tokens"`           // Moonshot
	Cost     json.RawMessage `json:"cost"`                    // OpenRouter
}

// count reads a number of tokens; what is none or negative is 0.
func count(n json.Number) int64 {
	f, err := n.Float64()
	if err != nil || f < 0 || f > 1e12 {
		return 0
	}
	return int64(f)
}

// usage returns what a call took. Tokens that the endpoint does not tell are estimated from the texts.
func (c *client) usage(a *answer, sent int) Usage {
	u := Usage{Calls: 1}
	if w := a.usage; w != nil {
		u.Input, u.Output, u.Reasoning = count(w.Prompt), count(w.Completion), count(w.CompletionInfo.Reasoning)
		u.Cached = min(u.Input, max(count(w.PromptInfo.Cached), count(w.CacheHit), count(w.Cached)))
		if thought := count(w.Total) - u.Input - u.Output; thought > 0 { // Gemini counts what the model thought in the sum only
			u.Output, u.Reasoning = u.Output+thought, u.Reasoning+thought
		}
		u.Reasoning = min(u.Reasoning, u.Output)
	}
	if u.Input == 0 && u.Output == 0 {
		u.Input, u.Output, u.Estimated = int64(sent+3)/4, EstimateTokens(a.text.String()), 1
		for _, b := range a.calls.all {
			u.Output += EstimateTokens(b.name + b.arguments.String())
		}
	}
	c.addCost(a.usage, &u)
	return u
}

// addCost adds what the call cost: what the endpoint says it billed, else by the list of prices. A model on
// this machine costs nothing.
func (c *client) addCost(w *wireUsage, u *Usage) {
	var billed float64
	switch {
	case c.provider.local:
	case c.provider.billed && w != nil && jsonl.Unmarshal(w.Cost, &billed) == nil && billed >= 0:
		u.Cost = billed
	case c.priced:
		u.Cost = c.price.cost(*u)
	default:
		u.Unpriced = 1
	}
}

// EstimateTokens returns about how many tokens a text has: four bytes of ASCII are one, and so is every other
// character. It is meant for budgets, and rather too high than too low.
func EstimateTokens(s string) int64 {
	ascii, other := 0, 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			ascii++
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		other++
		i += n
	}
	return int64((ascii+3)/4 + other)
}

// EstimateRequest returns about how many tokens a request has.
func EstimateRequest(r Request) (n int64) {
	const perMessage, perTool, perImage = 4, 8, 1500
	for _, m := range r.Messages {
		n += perMessage + EstimateTokens(m.Content) + perImage*int64(len(m.Images))
		for _, c := range m.ToolCalls {
			n += perTool + EstimateTokens(c.Name) + EstimateTokens(c.Arguments)
		}
		for _, raw := range m.Extra {
			n += int64(len(raw)+3) / 4
		}
	}
	for _, t := range r.Tools {
		n += perTool + EstimateTokens(t.Name) + EstimateTokens(t.Description) + int64(len(t.Parameters)+3)/4
	}
	return n
}
