package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestModelIsChosenForAConversation(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/models", answer(http.StatusOK, object{"models": []object{
		{"name": "careful", "provider": "anthropic", "default": false, "price": object{"input": 3, "output": 15, "cached": 0.3, "currency": "USD"}},
		{"name": "quick", "provider": "openai", "default": true},
	}}))
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c2", "title": "Before"}}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c2", "model": "careful", "messages": []object{{"id": "1", "role": "user", "content": "Before"}}}))
	g.on("POST /api/query", g.hears(turn(object{"type": "start", "conversationId": "c1", "model": "careful"}, object{"type": "text", "text": "Here I am."})))
	p.Open(g.URL)
	p.Until(`document.getElementById("model-select").textContent.includes("careful · 3 in, 15 out USD per million tokens")`)
	p.Until(`document.getElementById("model-select").value === "quick"`)
	p.ready() // what opens a conversation chooses its model
	eval[bool](p, `(document.getElementById("model-select").value = "careful") !== ""`)
	p.ask("Who is there?")
	p.Sees("[data-turn=done] [data-answer]", "Here I am.")
	if got := g.said(); len(got) != 1 || !strings.Contains(got[0], `"model":"careful"`) {
		t.Errorf("got %q, want one question of the chosen model", got)
	}
	p.Click("#new")
	p.Until(`document.getElementById("model-select").value === "quick"`)
	p.Click("[data-conversation=c2] [data-open]")
	p.Sees("[data-question]", "Before")
	p.Until(`document.getElementById("model-select").value === "careful"`)
	p.Looks("models")
}

func TestOneModelIsNoChoice(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", g.hears(turn(object{"type": "text", "text": "Here."})))
	p.Open(g.URL)
	p.ask("Who?")
	p.Sees("[data-turn=done] [data-answer]", "Here.")
	p.Misses("#model-choice")
	if got := g.said(); len(got) != 1 || strings.Contains(got[0], "model") {
		t.Errorf("got %q, want a question without a model", got)
	}
}

// TestReopenedConversationShowsNotesAndUsage: what the gateway added stays the
// gateway's, and each turn and the conversation say what they used.
func TestReopenedConversationShowsNotesAndUsage(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/conversations", answer(http.StatusOK, object{"conversations": []object{{"id": "c1", "title": "Before"}}}))
	g.on("GET /api/conversations/{id}", answer(http.StatusOK, object{"id": "c1", "messages": []object{
		{"id": "1", "role": "user", "content": "Who?"},
		{"id": "2", "role": "assistant", "content": "Leo.", "usage": object{"input_tokens": 1000, "output_tokens": 10, "price": object{"amount": 0.01, "currency": "USD"}}, "notes": []object{
			{"kind": "invented", "text": "Not from the data: Leo is the model's own."}, {"kind": "incomplete", "text": "There are 9 more."}}},
		{"id": "3", "role": "user", "content": "And?"},
		{"id": "4", "role": "assistant", "content": "No.", "usage": object{"input_tokens": 500, "output_tokens": 5, "cached_tokens": 400, "estimated": true, "price": object{"amount": 0.02, "currency": "USD"}}},
	}}))
	p.Open(g.URL)
	p.Click("[data-conversation=c1] [data-open]")
	p.Sees("[data-note=invented]", "Leo is the model's own.")
	p.Sees("[data-text=gateway]:not([data-note])", "There are 9 more.")
	p.Sees("[data-text=model]", "Leo.")
	p.Sees("[data-turn]:first-child [data-usage]", "1,000 tokens in, 10 out · 0.01 USD")
	p.Sees("[data-turn]:last-child [data-usage]", "500 tokens in, 5 out (400 of them cached) · 0.02 USD · partly estimated")
	p.Sees("[data-conversation-usage]", "This conversation: 1,500 tokens in, 15 out (400 of them cached) · 0.03 USD · partly estimated")
}

func TestUsageIsBelowTheAnswer(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(object{"type": "text", "text": "Here."},
		object{"type": "stop", "usage": object{"input_tokens": 1234, "output_tokens": 56, "total_tokens": 1290, "price": object{"amount": 0.012345, "currency": "USD"}, "model": "quick"}}))
	p.Open(g.URL)
	p.ask("Who?")
	p.Sees("[data-turn=done] [data-usage]", "1,234 tokens in, 56 out · 0.0123 USD")
	p.Sees("[data-turn=done] [data-model=quick]", "quick")
}
