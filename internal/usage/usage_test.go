package usage_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/usage"
)

// costly is a model whose every answer uses the same.
type costly struct{ used agent.Usage }

func (costly) Name() string { return "costly" }

func (c costly) Stream(context.Context, agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		_ = yield(agent.Delta{Text: "Yes."}, nil) && yield(agent.Delta{Usage: &c.used, Stop: agent.StopEnd}, nil)
	}
}

// ask asks once, and returns what the gateway said before, and the error.
func ask(t *testing.T, m agent.Model) (note string, err error) {
	t.Helper()
	for d, failed := range m.Stream(t.Context(), agent.Request{}) {
		note += d.Note
		err = failed
	}
	return note, err
}

var (
	alice = access.Owner{Issuer: "https://issuer.test", Subject: "alice"}
	bob   = access.Owner{Issuer: "https://issuer.test", Subject: "bob"}
	noon  = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	once  = agent.Usage{InputTokens: 350, OutputTokens: 50, CachedTokens: 300, Cost: 2_000_000, Currency: "USD"}
)

// gateways are two processes over one Redis, at a time that the test sets.
func gateways(t *testing.T, b usage.Budget) (one, two *usage.Service, now *time.Time) {
	t.Helper()
	r, err := state.Open(t.Context(), testkit.StartRedis(t).URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	now = new(time.Time)
	*now = noon
	o := usage.Options{Store: state.NewCounters(r), Budget: b, Now: func() time.Time { return *now }}
	return usage.New(o), usage.New(o), now
}

// A person is warned before the budget is used up, is refused after, on every
// gateway, and may ask again on the next day. Others are not concerned.
func TestBudgetHoldsOverTwoGateways(t *testing.T) {
	for name, b := range map[string]usage.Budget{
		"1000 tokens": {Tokens: 1000, Price: 1e9, Currency: "USD"}, "0.01 USD": {Tokens: 1e6, Price: 5_000_000, Currency: "USD"},
	} {
		one, two, now := gateways(t, b)
		for i, c := range []struct {
			s       *usage.Service
			note    string
			refused bool
		}{
			{one, "", false}, {two, "", false}, {one, "You have used 80% of today's budget of ", false}, {two, "", true}, {one, "", true},
		} {
			note, err := ask(t, c.s.Meter(costly{once}, alice))
			if f := fault.From(err); !strings.HasPrefix(note, c.note) || (note == "") != (c.note == "") || (err != nil) != c.refused ||
				c.refused && (f.Code != fault.TooManyRequests || f.RetryAfter != 12*time.Hour || !strings.Contains(f.Message, "00:00 UTC on 23 November")) {
				t.Errorf("%s, answer %d: got %q, %v", name, i+1, note, err)
			}
		}
		if _, err := ask(t, two.Meter(costly{once}, bob)); err != nil {
			t.Errorf("%s: another person: %v", name, err)
		}
		*now = noon.Add(12 * time.Hour)
		if note, err := ask(t, two.Meter(costly{once}, alice)); note != "" || err != nil {
			t.Errorf("%s: the next day: %q, %v", name, note, err)
		}
		days, err := one.Days(t.Context(), alice)
		if err != nil || len(days) != 2 || days[0].Day != "2026-11-23" || days[1].Usage != (agent.Usage{InputTokens: 1050, OutputTokens: 150, CachedTokens: 900, Cost: 6_000_000, Currency: "USD"}) {
			t.Errorf("%s: got %+v, %v", name, days, err)
		}
	}
}

// The loop of a turn is checked before each of its requests, and warned once.
func TestBudgetEndsATurnInItsLoop(t *testing.T) {
	one, _, _ := gateways(t, usage.Budget{Tokens: 450})
	turn := one.Meter(costly{once}, alice)
	if _, err := ask(t, turn); err != nil {
		t.Fatal(err)
	}
	if note, err := ask(t, turn); err != nil || !strings.Contains(note, "88%") {
		t.Errorf("the second request: %q, %v", note, err)
	}
	if _, err := ask(t, turn); err == nil {
		t.Error("the third request was made")
	}
}

// A turn of many requests has one warning that its budget is nearly used up.
func TestWarningComesOnceInATurn(t *testing.T) {
	one, _, _ := gateways(t, usage.Budget{Tokens: 1000})
	if _, err := ask(t, one.Meter(costly{agent.Usage{InputTokens: 850}}, alice)); err != nil {
		t.Fatal(err)
	}
	turn := one.Meter(costly{agent.Usage{InputTokens: 10}}, alice)
	for i, want := range []string{"You have used 85%", "", ""} {
		if note, err := ask(t, turn); err != nil || !strings.HasPrefix(note, want) || want == "" && note != "" {
			t.Errorf("request %d: %q, %v", i+1, note, err)
		}
	}
}

// An answer that its person cancelled is counted too, and under the model that gave it.
func TestCancelledAnswerIsCountedForTheModelThatGaveIt(t *testing.T) {
	r, err := state.Open(t.Context(), testkit.StartRedis(t).URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	var seen []string
	s := usage.New(usage.Options{Store: state.NewCounters(r), Observe: func(model string, u agent.Usage) { seen = append(seen, fmt.Sprint(model, " ", u.OutputTokens)) }})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range s.Meter(standIn{costly{once}}, alice).Stream(ctx, agent.Request{}) {
		cancel()
	}
	if days, err := s.Days(t.Context(), alice); err != nil || len(days) != 1 || days[0].Usage.OutputTokens != 50 || !slices.Equal(seen, []string{"stand-in 50"}) {
		t.Errorf("got %+v, %v, seen %q", days, err, seen)
	}
}

// standIn is a model for which another one answers.
type standIn struct{ costly }

func (s standIn) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		if yield(agent.Delta{Note: "stand-in answers instead.", Model: "stand-in"}, nil) {
			s.costly.Stream(ctx, r)(yield)
		}
	}
}

// lost is a store that cannot be reached.
type lost struct{ usage.Store }

func (lost) Counts(context.Context, ...string) ([]map[string]int64, error) {
	return nil, fault.ServiceDown.New("no store")
}

// A budget that cannot be read is not taken for one that is free.
func TestBudgetThatCannotBeReadEndsTheTurn(t *testing.T) {
	s := usage.New(usage.Options{Store: lost{}, Budget: usage.Budget{Tokens: 100}})
	answered := false
	for d, err := range s.Meter(costly{once}, alice).Stream(t.Context(), agent.Request{}) {
		if answered = answered || d.Text != ""; err == nil || fault.From(err).Code != fault.ServiceDown {
			t.Errorf("got %+v, %v", d, err)
		}
	}
	if answered {
		t.Error("the model was asked")
	}
}

func TestWithoutABudgetUsageIsCounted(t *testing.T) {
	one, two, _ := gateways(t, usage.Budget{})
	for range 2 {
		if note, err := ask(t, one.Meter(costly{once}, alice)); note != "" || err != nil {
			t.Errorf("got %q, %v", note, err)
		}
	}
	if days, err := two.Days(t.Context(), alice); err != nil || len(days) != 1 || days[0].Usage.InputTokens != 700 {
		t.Errorf("got %+v, %v", days, err)
	}
	if days, err := two.Days(t.Context(), bob); err != nil || len(days) != 0 {
		t.Errorf("another person has %+v, %v", days, err)
	}
}
