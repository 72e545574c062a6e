package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestModelIsChosenForAConversation(t *testing.T) {
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
	p.Until(`(() => { const s = document.getElementById("model-select"); s.value = "careful"; return true; })()`)
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
	p.Shot("models")
}

func TestOneModelIsNoChoice(t *testing.T) {
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

func TestUsageIsBelowTheAnswer(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(object{"type": "text", "text": "Here."},
		object{"type": "stop", "usage": object{"input_tokens": 1234, "output_tokens": 56, "total_tokens": 1290, "price": object{"amount": 0.012345, "currency": "USD"}, "model": "quick"}}))
	p.Open(g.URL)
	p.ask("Who?")
	p.Sees("[data-turn=done] [data-usage]", "1,234 tokens in, 56 out · 0.0123 USD")
	p.Sees("[data-turn=done] [data-model=quick]", "quick")
}
