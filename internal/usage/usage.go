// Package usage counts the tokens that each person's questions use, and what they
// cost, by day, over all replicas; and it holds people to a budget for a day where
// one is configured. It wraps the model of a turn, so that every request of it is
// counted and checked, and knows no vendor.
//
// The counters are not sealed: replicas add to them at the same time, which nothing
// sealed allows. Who can write to Redis can reset a budget, as any other limit of a
// person. Start with [Service.Meter].
package usage

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
)

const (
	keptDays  = 31
	warnAt    = 80 // per cent of a budget
	countTime = 2 * time.Second
)

// Store keeps counters that several processes add to. Package state has it.
type Store interface {
	// Count adds to the fields of a counter.
	Count(ctx context.Context, key string, add map[string]int64, ttl time.Duration) error
	// Counts returns the fields of counters, in the order of the keys.
	Counts(ctx context.Context, keys ...string) ([]map[string]int64, error)
}

// Budget is what one person may use in a day (UTC). Zero fields: no limit.
type Budget struct {
	Tokens   int         // read and written
	Price    agent.Nanos // of all models together
	Currency string
}

// Options are the parts of a Service. Store is required.
type Options struct {
	Store   Store
	Budget  Budget
	Observe func(model string, u agent.Usage) // is called for each answer; nil: nothing
	Log     *slog.Logger
	Now     func() time.Time
}

// Service counts. It is safe for concurrent use.
type Service struct{ o Options }

// New makes a service.
func New(o Options) *Service {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{o}
}

// Day is what a person used in one day.
type Day struct {
	Day   string // 2026-11-22
	Usage agent.Usage
}

// Days returns the days on which a person used something, the newest first, of the
// last 31.
func (s *Service) Days(ctx context.Context, o access.Owner) ([]Day, error) {
	var keys, names []string
	for i := range keptDays {
		day := s.o.Now().UTC().AddDate(0, 0, -i).Format(time.DateOnly)
		keys, names = append(keys, keyOf(o, day)), append(names, day)
	}
	counts, err := s.o.Store.Counts(ctx, keys...)
	if err != nil {
		return nil, err
	}
	days := []Day{}
	for i, c := range counts {
		if len(c) > 0 {
			days = append(days, Day{names[i], s.usageOf(c)})
		}
	}
	return days, nil
}

// Limit is the budget, and when it renews.
func (s *Service) Limit() (b Budget, renews time.Time) {
	return s.o.Budget, s.o.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

// Meter is the model of one turn of a person: each request is checked against the
// budget before, and counted after.
func (s *Service) Meter(m agent.Model, o access.Owner) agent.Model {
	return &metered{Model: m, service: s, owner: o}
}

type metered struct {
	agent.Model
	service *Service
	owner   access.Owner
	warned  bool
}

func (m *metered) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		note, err := m.service.check(ctx, m.owner)
		if err != nil {
			yield(agent.Delta{}, err)
			return
		}
		if note != "" && !m.warned {
			if m.warned = true; !yield(agent.Delta{Note: note}, nil) {
				return
			}
		}
		var used agent.Usage
		defer func() { m.service.count(ctx, m.owner, m.Name(), used) }()
		for d, err := range m.Model.Stream(ctx, r) {
			used.Add(d.Usage)
			used.Model = cmp.Or(d.Model, used.Model)
			if !yield(d, err) {
				return
			}
		}
	}
}

// check returns RATE_LIMITED when a person's budget is used up, and a line for them
// when it nearly is.
func (s *Service) check(ctx context.Context, o access.Owner) (note string, err error) {
	if s.o.Budget.Tokens == 0 && s.o.Budget.Price == 0 {
		return "", nil
	}
	counts, err := s.o.Store.Counts(ctx, keyOf(o, s.today()))
	if err != nil {
		return "", err
	}
	used, budget := s.part(s.usageOf(counts[0]))
	_, renews := s.Limit()
	switch {
	case used >= 100:
		return "", fault.TooManyRequests.New("You have used up today's budget of %s. It renews at %s.", budget, renews.Format("15:04 UTC on 2 January")).
			Suggest("Ask again after that, or for less at a time.").After(renews.Sub(s.o.Now())).With("limit", "budget")
	case used >= warnAt:
		return fmt.Sprintf("You have used %d%% of today's budget of %s. It renews at %s.", used, budget, renews.Format("15:04 UTC")), nil
	}
	return "", nil
}

// part returns how much of the budget is used, in per cent, and the budget in words:
// of tokens or of money, whichever is nearer to its end.
func (s *Service) part(u agent.Usage) (percent int64, words string) {
	b := s.o.Budget
	if b.Tokens > 0 {
		percent, words = int64(u.InputTokens+u.OutputTokens)*100/int64(b.Tokens), fmt.Sprintf("%d tokens", b.Tokens)
	}
	if b.Price > 0 {
		if p := int64(u.Cost) * 100 / int64(b.Price); p >= percent {
			percent, words = p, fmt.Sprintf("%.2f %s", b.Price.Units(), b.Currency)
		}
	}
	return percent, words
}

// count adds what an answer used, also when its turn was cancelled.
func (s *Service) count(ctx context.Context, o access.Owner, model string, u agent.Usage) {
	model = cmp.Or(u.Model, model)
	if s.o.Observe != nil {
		s.o.Observe(model, u)
	}
	if u.InputTokens+u.OutputTokens == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTime)
	defer cancel()
	add := map[string]int64{"input": int64(u.InputTokens), "output": int64(u.OutputTokens), "cached": int64(u.CachedTokens), "nanos": int64(u.Cost)}
	if err := s.o.Store.Count(ctx, keyOf(o, s.today()), add, (keptDays+1)*24*time.Hour); err != nil {
		s.o.Log.WarnContext(ctx, "the usage of an answer could not be counted", "error", err)
	}
}

func (s *Service) today() string { return s.o.Now().UTC().Format(time.DateOnly) }

func keyOf(o access.Owner, day string) string { return "usage:" + o.String() + ":" + day }

func (s *Service) usageOf(c map[string]int64) agent.Usage {
	u := agent.Usage{InputTokens: int(c["input"]), OutputTokens: int(c["output"]), CachedTokens: int(c["cached"]), Cost: agent.Nanos(c["nanos"])}
	if u.Cost > 0 {
		u.Currency = s.o.Budget.Currency
	}
	return u
}
