package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/usage"
)

// kept keeps counters in memory, as state does in Redis.
type kept map[string]map[string]int64

func (k kept) Count(_ context.Context, key string, add map[string]int64, _ time.Duration) error {
	if k[key] == nil {
		k[key] = map[string]int64{}
	}
	for field, n := range add {
		k[key][field] += n
	}
	return nil
}

func (k kept) Counts(_ context.Context, keys ...string) (all []map[string]int64, err error) {
	for _, key := range keys {
		all = append(all, k[key])
	}
	return all, nil
}

// What a question used is in its conversation, in the person's day, in the audit
// log and against the budget. It is the person's own.
func TestUsageOfAPersonIsCountedAndBounded(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	used := usage.New(usage.Options{Store: kept{}, Budget: usage.Budget{Tokens: 220, Price: 1e9, Currency: "USD"}, Now: func() time.Time { return noon }})
	r := newRig(t, func(o *conversation.Options) { o.Meter = used.Meter }, func(o *gateway.Options) { o.Usage = used })
	r.model.script["dear?"] = []step{func(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
		_ = yield(agent.Delta{Text: "Yes."}, nil) &&
			yield(agent.Delta{Usage: &agent.Usage{InputTokens: 100, OutputTokens: 10, CachedTokens: 40, Cost: 1_500_000, Currency: "USD"}, Stop: agent.StopEnd}, nil)
	}}
	conversation := conversationOf(t, r.stream(r.send("POST", "/api/query", alice, askBody("dear?", ""))).rest())
	r.stream(r.send("POST", "/api/query", alice, askBody("dear?", conversation))).rest()
	over := dataOf(r.stream(r.send("POST", "/api/query", alice, askBody("dear?", conversation))).rest())
	if !strings.Contains(over, `"code":"RATE_LIMITED"`) || !strings.Contains(over, "You have used up today's budget of 220 tokens.") || !strings.Contains(over, "00:00 UTC") {
		t.Errorf("over the budget: got %s", over)
	}
	_, body := r.read(r.send("GET", "/api/usage", alice, ""))
	const want = `"input_tokens":200,"output_tokens":20,"total_tokens":220,"cached_tokens":80,"price":{"amount":0.003,"currency":"USD"}}]`
	for _, part := range []string{`{"days":[{"day":"2026-11-22",` + want, `"conversations":[{"id":"` + conversation + `","title":"dear?",` + want, `"budget":{"tokens":220,"price":{"amount":1,"currency":"USD"},"renews":"2026-11-23T00:00:00Z"}`} {
		if !strings.Contains(body, part) {
			t.Errorf("%s is missing in\n%s", part, body)
		}
	}
	_, body = r.read(r.send("GET", "/api/conversations/"+conversation, alice, ""))
	const ofTurn = `"usage":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_tokens":40,"price":{"amount":0.0015,"currency":"USD"}}}`
	if strings.Count(body, ofTurn) != 2 || !strings.Contains(body, `"usage":{`+want[:len(want)-1]) {
		t.Errorf("opened again: got %s", body)
	}
	if _, body := r.read(r.send("GET", "/api/usage", "bob.martinez:finance-read", "")); !strings.HasPrefix(body, `{"days":[],"conversations":[],`) {
		t.Errorf("another person: got %s", body)
	}
	var notes string
	for _, e := range r.audit.Events() {
		notes += e.Note + "; "
	}
	if !strings.Contains(notes, "tools used: 0, tokens in: 100 (40 of them cached), tokens out: 10, price: 0.001500 USD; ") {
		t.Errorf("audited: %s", notes)
	}
}
