package llm

import (
	"slices"
	"strings"
)

// sight tells of the models whose names begin like this whether they take pictures. The longest row that fits counts.
type sight struct {
	model string // without its maker, dots as hyphens
	sees  bool
}

var sights = []sight{
	{"claude-", true}, {"claude-2", false}, {"claude-instant", false},
	{"gpt-4o", true}, {"gpt-4o-audio", false}, {"gpt-4o-transcribe", false}, {"chatgpt-4o", true}, {"gpt-4-1", true}, {"gpt-4-5", true}, {"gpt-4-turbo", true}, {"gpt-5", true},
	{"o1", true}, {"o1-mini", false}, {"o1-preview", false}, {"o3", true}, {"o3-mini", false}, {"o4-mini", true},
	{"gemini-", true}, {"gemma-3", true}, {"gemma-3-1b", false}, {"gemma3", true}, {"gemma3:1b", false}, {"gemma-4", true}, {"gemma4", true},
	{"llama-4", true}, {"llama4", true}, {"pixtral", true}, {"mistral-small-3-1", true}, {"mistral-small-3-2", true}, {"mistral-medium-3", true}, {"mistral-large-3", true},
	{"grok-4", true}, {"kimi-k2-5", true}, {"kimi-latest", true}, {"qvq", true}, {"glm-4v", true}, {"glm-4-5v", true}, {"glm-4-6v", true}, {"minimax-01", true},
	{"internvl", true}, {"llava", true}, {"bakllava", true}, {"minicpm-v", true}, {"moondream", true}, {"nova-lite", true}, {"nova-pro", true}, {"nova-premier", true}, {"molmo", true},
}

// sightWords are parts of names by which makers say that a model takes pictures.
var sightWords = []string{"vision", "vl", "multimodal", "omni"}

// Sees tells whether a model of this name is known to take pictures. A model that is not known is taken for one that does
// not: most endpoints refuse a request with a picture that their model cannot see.
func Sees(model string) bool {
	name := strings.ReplaceAll(strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]), ".", "-")
	best, sees := 0, false
	for _, s := range sights {
		if strings.HasPrefix(name, s.model) && len(s.model) > best {
			best, sees = len(s.model), s.sees
		}
	}
	if best > 0 {
		return sees
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == ':' || r == '_' }), func(part string) bool {
		return slices.ContainsFunc(sightWords, func(w string) bool { return strings.TrimRight(part, "0123456789") == w })
	})
}
