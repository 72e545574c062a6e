package openai

import (
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/vendor"
)

// OpenAI's own address takes one field for the length of an answer, and every other
// server knows the older one.
func TestLimitOfAnAnswer(t *testing.T) {
	t.Parallel()
	for base, own := range map[string]bool{"": true, "https://api.openai.com/v1": true, "http://127.0.0.1:11434/v1": false} {
		p := New(vendor.Options{Model: "m", BaseURL: base, MaxTokens: 9}).params(agent.Request{}, vendor.NewNames(nil))
		if (p.MaxCompletionTokens.Value == 9) != own || (p.MaxTokens.Value == 9) == own {
			t.Errorf("%q: max_completion_tokens %v, max_tokens %v", base, p.MaxCompletionTokens, p.MaxTokens)
		}
	}
}
