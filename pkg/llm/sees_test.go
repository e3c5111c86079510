package llm_test

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/llm"
)

func TestSees(t *testing.T) {
	for model, want := range map[string]bool{
		"anthropic/claude-sonnet-4.5": true, "claude-2.1": false, "openai/gpt-4o-mini": true, "gpt-4o-audio-preview": false, "gpt-4.1": true, "gpt-3.5-turbo": false,
		"o1-mini-2024-09-12": false, "o3": true, "o3-mini": false, "google/gemini-2.5-flash:free": true, "gemma3:27b": true, "google/gemma-3-1b-it": false,
		"qwen/qwen2.5-vl-72b-instruct": true, "qwen3-coder": false, "meta-llama/llama-3.2-11b-vision-instruct": true, "llama3.2": false, "deepseek-chat": false,
		"deepseek/deepseek-vl2": true, "test/model": false, "": false, "grok-4-fast": true, "vlad": false,
	} {
		if got := llm.Sees(model); got != want {
			t.Errorf("Sees(%q): got %t, want %t", model, got, want)
		}
	}
}
