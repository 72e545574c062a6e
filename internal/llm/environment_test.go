package llm

import (
	"testing"

	"countersign.dev/internal/llm/vendor"
)

// The vendors' clients read variables of the process by themselves. Here only the
// configuration decides where a key goes.
func TestEnvironmentOfTheProcessIsNotRead(t *testing.T) {
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID", "GEMINI_API_KEY", "GOOGLE_API_KEY",
	} {
		t.Setenv(name, "sk-of-the-environment")
	}
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-of-the-environment")
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "text"})
		m, _ := s.model(t, provider)
		if got := collect(t.Context(), m, question); got.err != nil || got.text == "" {
			t.Errorf("%s: got %+v", provider, got)
		}
		if provider == Gemini && s.paths[0] != "/v1beta/models/m-1:streamGenerateContent" { // Google's other service has other paths
			t.Errorf("gemini: asked %s", s.paths[0])
		}
		if len(s.keys) != 1 || s.keys[0] != testKey {
			t.Errorf("%s: the keys sent are %q", provider, s.keys)
		}
	}
	for _, provider := range []string{Anthropic, OpenAI} { // Gemini without a key is refused
		s := replay(t, provider, reply{file: "text"})
		c, err := provide(Options{Provider: provider, Vendor: vendor.Options{Model: "m-1", BaseURL: s.URL}}, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(t.Context(), c.Model, question); got.err != nil || s.keys[0] != "" {
			t.Errorf("%s without a key: sent %q, got %v", provider, s.keys, got.err)
		}
	}
	if _, err := provide(Options{Provider: Gemini, Vendor: vendor.Options{Model: "m-1"}}, Policy{}); err == nil {
		t.Error("gemini took a key of the environment")
	}
}
