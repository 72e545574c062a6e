package discovery

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/llm"
)

// modelServer lists one model, and describes it as Ollama and llama.cpp do.
func modelServer(t *testing.T, model, capabilities, template string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model"}]}`, model)
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"capabilities":[%s]}`, capabilities) })
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"chat_template":%q}`, template) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// The first model that there is, in the documented order.
func TestFind(t *testing.T) {
	t.Parallel()
	able, unable := modelServer(t, "qwen3:8b", `"completion","tools"`, ""), modelServer(t, "gemma:2b", `"completion"`, "")
	templated := modelServer(t, "local", "", "{% if tools %}")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	ollama := func(url string) []localServer {
		return []localServer{{"Ollama", url, ollamaCallsTools}, {"llama.cpp", closed.URL, llamaCppCallsTools}}
	}
	for _, c := range []struct {
		named, environment string
		here               []localServer
		want, why          string // of an error: only why
	}{
		{"rehearsal", "ANTHROPIC_API_KEY=k", ollama(able), "rehearsal rehearsal", "as was asked"},
		{"", "ANTHROPIC_API_KEY=k GEMINI_API_KEY=g OPENAI_API_KEY=o", ollama(able), "anthropic " + anthropicModel, "by ANTHROPIC_API_KEY"},
		{"claude-opus-5", "ANTHROPIC_API_KEY=k", nil, "anthropic claude-opus-5", "by ANTHROPIC_API_KEY"},
		{"", "GEMINI_API_KEY=g OPENAI_API_KEY=o", nil, "gemini " + geminiModel, "by GEMINI_API_KEY"},
		{"gemini-2.5-pro", "ANTHROPIC_API_KEY=k GEMINI_API_KEY=g", nil, "gemini gemini-2.5-pro", "by GEMINI_API_KEY"},
		{"gpt-5", "ANTHROPIC_API_KEY=k OPENAI_API_KEY=o", nil, "openai gpt-5", "by OPENAI_API_KEY"},
		{"", "OPENAI_API_KEY=o", ollama(able), "openai " + openaiModel, "by OPENAI_API_KEY"},
		{"", "OPENAI_BASE_URL=" + able + "/v1", nil, "openai qwen3:8b", "at OPENAI_BASE_URL"},
		{"", "OPENAI_BASE_URL=" + closed.URL, nil, "", "lists no model"},
		{"", "OPENAI_BASE_URL=http://192.0.2.1/v1", nil, "", "OPENAI_BASE_URL would send everything in plain text"},
		{"", "OPENAI_API_KEY=o OPENAI_BASE_URL=http://models.example.com/v1", nil, "", "OPENAI_BASE_URL would send everything in plain text"},
		{"claude-opus-5", "ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=http://192.0.2.1", nil, "", "ANTHROPIC_BASE_URL would send everything in plain text"},
		{"", "GEMINI_API_KEY=g GOOGLE_GEMINI_BASE_URL=http://192.0.2.1", nil, "", "GOOGLE_GEMINI_BASE_URL would send everything in plain text"},
		{"gpt-5", "OPENAI_API_KEY=o OPENAI_BASE_URL=https://models.example.com/v1", nil, "openai gpt-5", "at OPENAI_BASE_URL"},
		{"", "", ollama(able), "openai qwen3:8b", "of Ollama on this machine"},
		{"qwen3:8b", "", ollama(able), "openai qwen3:8b", "of Ollama"},
		{"mistral", "", ollama(able), "", `no way to reach the model "mistral"`},
		{"gemma:2b", "", ollama(unable), "openai gemma:2b", "calls tools in its text"},
		{"", "", ollama(unable), "rehearsal rehearsal", "no key is set"},
		{"", "", ollama(closed.URL), "rehearsal rehearsal", "no key is set"},
		{"", "", []localServer{{"llama.cpp", templated, llamaCppCallsTools}}, "openai local", "of llama.cpp"},
		{"", "", []localServer{{"llama.cpp", unable, llamaCppCallsTools}}, "rehearsal rehearsal", "no key is set"},
	} {
		getenv := func(name string) string {
			for _, pair := range strings.Fields(c.environment) {
				if key, value, _ := strings.Cut(pair, "="); key == name {
					return value
				}
			}
			return ""
		}
		m, err := find(t.Context(), c.named, getenv, c.here)
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%q, %s: got %+v, %v; want %q", c.named, c.environment, m, err, c.why)
			}
			continue
		}
		if got := m.Options.Provider + " " + m.Name; err != nil || got != c.want || !strings.Contains(m.Said, c.why) {
			t.Errorf("%q, %s: got %s, %q, %v; want %s, %q", c.named, c.environment, got, m.Said, err, c.want, c.why)
		}
		if _, err := llm.New(map[string]llm.Options{m.Name: m.Options}, llm.Policy{Default: m.Name}); err != nil {
			t.Errorf("%q, %s: %v", c.named, c.environment, err)
		}
	}
}

// TestOnlyTheNamedModelIsProbed: what the others can do is not asked, and all
// questions to this machine have one end.
func TestOnlyTheNamedModelIsProbed(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"a"},{"id":"b"},{"id":"c"}]}`)
	}))
	t.Cleanup(s.Close)
	for named, want := range map[string]string{"c": "c", "d": "", "": "a b c a b c"} {
		var probed []string
		ends := map[time.Time]bool{}
		able := func(ctx context.Context, _, model string) bool {
			end, ok := ctx.Deadline()
			if !ok {
				t.Errorf("%q: the probe of %s has no end", named, model)
			}
			probed, ends[end] = append(probed, model), true
			return false
		}
		here := []localServer{{"one", s.URL, able}, {"two", s.URL, able}}
		modelHere(t.Context(), named, here)
		if got := strings.Join(probed, " "); got != want || len(ends) > 1 {
			t.Errorf("%q: probed %q with %d ends, want %q with one", named, got, len(ends), want)
		}
	}
}

// A key goes to the address that the environment names, and to no other.
func TestKeyFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other address got %s with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	named := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/models", http.StatusTemporaryRedirect))
	t.Cleanup(named.Close)
	if names := modelsAt(t.Context(), named.URL, "k"); len(names) > 0 {
		t.Errorf("found %v", names)
	}
}
