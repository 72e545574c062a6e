package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/vendor"
)

// two are a registry of a first model and of one that answers when it cannot.
func two(t *testing.T, first, second *replaying, p Policy) *Registry {
	t.Helper()
	p.Default, p.Fallback, p.Delay = "careful", "quick", time.Microsecond
	r, err := New(map[string]Options{
		"careful": {Provider: Anthropic, Budget: 9000, Vendor: vendor.Options{Model: "m-1", BaseURL: first.URL, APIKey: testKey}},
		"quick":   {Provider: OpenAI, Budget: 5000, Price: agent.Price{Input: 2, Output: 10, Cached: 1, Currency: "USD"}, Vendor: vendor.Options{Model: "m-2", BaseURL: second.URL}},
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSecondModelAnswersWhenTheFirstCannot(t *testing.T) {
	t.Parallel()
	for name, replies := range map[string][]reply{
		"its key":   {{status: 401}},
		"its name":  {{status: 404}},
		"its tries": {{status: 529}, {status: 529}, {status: 529}, {status: 529}},
		"a page":    {{body: "<html>", header: map[string]string{"Content-Type": "text/html"}}},
	} {
		var log bytes.Buffer
		first, second := replay(t, Anthropic, replies...), replay(t, OpenAI, reply{file: "text"}, reply{file: "text"})
		r := two(t, first, second, Policy{Log: slog.New(slog.NewTextHandler(&log, nil))})
		c, err := r.Choose("careful")
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != "careful" || c.Budget != 5000 {
			t.Errorf("%s: the choice is %s with a budget of %d", name, c.Name(), c.Budget)
		}
		asked := question
		asked.Messages = append(asked.Messages[:1:1], agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Opaque{Provider: Anthropic, Model: "m-1", Data: json.RawMessage(`{"type":"thinking"}`)}, agent.Text("Hm.")}})
		var note, model string
		var used agent.Usage
		for range 2 { // the second time the first model is not asked
			note, model = "", ""
			for d, err := range c.Model.Stream(t.Context(), asked) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				note, model = note+d.Note, model+d.Model
				used.Add(d.Usage)
			}
			if note != "careful cannot answer at the moment. quick answers instead." || model != "quick" {
				t.Errorf("%s: the note is %q of %q", name, note, model)
			}
		}
		if used.Currency != "USD" || used.Cost != 2*(20*2000+400*1000+35*10000) {
			t.Errorf("%s: used %+v", name, used)
		}
		if sent, _ := json.Marshal(second.requests); strings.Contains(string(sent), "thinking") {
			t.Errorf("%s: a part of the first provider was sent: %s", name, sent)
		}
		if len(first.requests) != len(replies) || strings.Count(log.String(), "cannot answer") != 1 {
			t.Errorf("%s: %d requests, logged %s", name, len(first.requests), log.String())
		}
	}
}

// silent is a model that takes a request and answers after a time, or never.
type silent struct{ after time.Duration }

func (silent) Name() string { return "silent" }

func (m silent) Stream(ctx context.Context, _ agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		for range 2 {
			select {
			case <-ctx.Done():
				yield(agent.Delta{}, ctx.Err())
				return
			case <-time.After(m.after):
			}
			if !yield(agent.Delta{Text: "Slow. "}, nil) {
				return
			}
		}
		yield(agent.Delta{Stop: agent.StopEnd}, nil)
	}
}

// TestSilentModelLeavesTimeForTheSecond: a provider that hangs takes half of the time
// of the answer; one that has begun may take all of it.
func TestSilentModelLeavesTimeForTheSecond(t *testing.T) {
	for after, want := range map[time.Duration]string{time.Hour: "Slow. Slow. ", 25 * time.Second: "Slow. Slow. "} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			m := falling{silent{after}, silent{10 * time.Second}, new(atomic.Int64), nil, time.Now}
			got := collect(ctx, m, question)
			if took := time.Since(began); got.err != nil || got.text != want || took != 50*time.Second {
				t.Errorf("after %v: got %+v in %v", after, got, took)
			}
			if asked := m.until.Load() > 0; asked != (after == time.Hour) {
				t.Errorf("after %v: outage %v", after, asked)
			}
		})
	}
}

// late is a model whose first piece comes after a time, whatever its context says, and
// whose rest the context ends.
type late struct{ after time.Duration }

func (late) Name() string { return "late" }

func (m late) Stream(ctx context.Context, _ agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		<-time.After(m.after)
		if !yield(agent.Delta{Text: "Late. "}, nil) {
			return
		}
		select {
		case <-ctx.Done():
			yield(agent.Delta{}, ctx.Err())
		case <-time.After(time.Second):
			yield(agent.Delta{Stop: agent.StopEnd}, nil)
		}
	}
}

// TestPieceAtHalfTimeEndsNoTurn: a first piece that comes when the try has just ended
// is not shown, and the second model answers in its place.
func TestPieceAtHalfTimeEndsNoTurn(t *testing.T) {
	for after, want := range map[time.Duration]string{29 * time.Second: "Late. ", 30 * time.Second: "Slow. Slow. ", 31 * time.Second: "Slow. Slow. "} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m := falling{late{after}, silent{time.Second}, new(atomic.Int64), nil, time.Now}
			if got := collect(ctx, m, question); got.err != nil || got.text != want {
				t.Errorf("after %v: got %+v, want %q", after, got, want)
			}
			if asked := m.until.Load() > 0; asked != (want != "Late. ") {
				t.Errorf("after %v: outage %v", after, asked)
			}
		})
	}
}

func TestFirstModelIsAskedAgainAfterItsOutage(t *testing.T) {
	t.Parallel()
	first, second := replay(t, Anthropic, reply{status: 401}, reply{file: "text"}), replay(t, OpenAI, reply{file: "text"})
	c, err := two(t, first, second, Policy{}).Choose("careful")
	if err != nil {
		t.Fatal(err)
	}
	now, m := time.Now(), c.Model.(falling)
	m.now = func() time.Time { return now }
	collect(t.Context(), m, question)
	now = now.Add(outageTime)
	if got := collect(t.Context(), m, question); got.text != "Nina leads nine people." || len(first.requests) != 2 {
		t.Errorf("got %+v after %d requests", got, len(first.requests))
	}
}

// After a piece of an answer, and when the turn was ended, there is no second one.
func TestNoSecondModelAfterAnAnswerBegan(t *testing.T) {
	t.Parallel()
	first, second := replay(t, Anthropic, reply{file: "error_later"}, reply{file: "text"}), replay(t, OpenAI)
	c, err := two(t, first, second, Policy{}).Choose("careful")
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(t.Context(), c.Model, question); got.text != "Nina leads nine" || got.err == nil {
		t.Errorf("got %+v", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := collect(ended, c.Model, question); got.err == nil {
		t.Errorf("an ended turn: got %+v", got)
	}
}

func TestFallbackMustBeConfigured(t *testing.T) {
	if _, err := New(map[string]Options{"m": {Provider: Rehearsal}}, Policy{Default: "m", Fallback: "n"}); err == nil || !strings.Contains(err.Error(), `"n"`) {
		t.Errorf("got %v", err)
	}
}

// The number of tries and their first pause are the operator's; when all have
// failed a person reads a sentence of ours.
func TestRetriesAreConfigured(t *testing.T) {
	t.Parallel()
	for n, replies := range [][]reply{{{status: 500}}, {{status: 500}, {status: 500}}} {
		s := replay(t, OpenAI, replies...)
		c, err := provide(Options{Provider: OpenAI, Vendor: vendor.Options{Model: "m-1", BaseURL: s.URL}}, Policy{Retries: &n, Delay: 8 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		m, pauses := c.Model.(retrying), []time.Duration{}
		m.pause = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
		got := collect(t.Context(), m, question)
		want := map[int]string{0: "The model's provider has a failure of its own.", 1: fault.TriesFailed}[n]
		if f := fault.From(got.err); f == nil || f.Message != want || f.Code != fault.ServiceDown {
			t.Errorf("%d retries: got %v", n, got.err)
		}
		if len(pauses) != n || n > 0 && (pauses[0] < 4*time.Second || pauses[0] > 8*time.Second) {
			t.Errorf("%d retries: paused %v", n, pauses)
		}
	}
}

// One person's request that is too large says nothing of others'.
func TestRejectedRequestIsNoOutage(t *testing.T) {
	first, second := replay(t, Anthropic, reply{status: 413}, reply{file: "text"}), replay(t, OpenAI, reply{file: "text"}, reply{file: "text"})
	c, err := two(t, first, second, Policy{}).Choose("careful")
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for range 2 {
		model := ""
		for d, err := range c.Model.Stream(t.Context(), question) {
			if err != nil {
				t.Fatal(err)
			}
			model += d.Model
		}
		by = append(by, model)
	}
	if by[0] == "" || by[1] != "" {
		t.Errorf("answered by %q, want the second model once and then the first again", by)
	}
}
