package audit

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	refusalInterval = time.Minute // one line and one count for each kind of refusal
	maxRefusals     = 64          // kinds that are counted apart
)

// Refusals appends refused requests, which anyone can send: the first of a kind at once, and how
// many more there were in each minute as one line. Its memory is bounded.
type Refusals struct {
	sink Sink
	now  func() time.Time

	mu    sync.Mutex
	kinds map[Event]*tally
}

type tally struct {
	since time.Time
	more  int // after the first, which has its own line
}

// NewRefusals returns refusals that are appended to a sink. A nil now is time.Now.
func NewRefusals(sink Sink, now func() time.Time) *Refusals {
	if now == nil {
		now = time.Now
	}
	return &Refusals{sink: sink, now: now, kinds: map[Event]*tally{}}
}

// Append implements [Sink]. Events of one server, tool, step, outcome, note and person are of
// one kind; only the first keeps its request's id. The name of a tool that no server has is the
// caller's invention, and makes no kind.
func (r *Refusals) Append(ctx context.Context, e Event) error {
	attribute(ctx, &e)
	kind := Event{Kind: e.Kind, Server: e.Server, Tool: e.Tool, Step: e.Step, Outcome: e.Outcome, Note: e.Note, Issuer: e.Issuer, Subject: e.Subject, Username: e.Username}
	if e.Server == "" {
		kind.Tool = ""
	}
	due, first := r.tally(kind)
	err := r.write(ctx, due)
	if !first {
		return err
	}
	return r.sink.Append(ctx, e)
}

// tally counts a refusal. Kinds beyond the bound are counted as one.
func (r *Refusals) tally(kind Event) (due []Event, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	due = r.over()
	if r.kinds[kind] == nil && len(r.kinds) >= maxRefusals {
		kind = Event{Kind: Denial, Outcome: "OTHER"}
	}
	if t := r.kinds[kind]; t != nil {
		t.more++
		return due, false
	}
	r.kinds[kind] = &tally{since: r.now()}
	return due, true
}

// over takes the kinds whose interval is over, as events with their counts.
func (r *Refusals) over() (due []Event) {
	now := r.now()
	for kind, t := range r.kinds {
		if now.Sub(t.since) >= refusalInterval {
			due = append(due, counted(kind, t)...)
			delete(r.kinds, kind)
		}
	}
	return due
}

func counted(kind Event, t *tally) []Event {
	if t.more == 0 {
		return nil
	}
	kind.Count, kind.Note = t.more, strings.TrimSpace(kind.Note+" The same, again, since "+t.since.UTC().Format(time.RFC3339)+".")
	return []Event{kind}
}

// Flush appends the counts of the intervals that are over; all counts when the
// process ends.
func (r *Refusals) Flush(ctx context.Context, all bool) error {
	r.mu.Lock()
	due := r.over()
	if all {
		for kind, t := range r.kinds {
			due = append(due, counted(kind, t)...)
			delete(r.kinds, kind)
		}
	}
	r.mu.Unlock()
	return r.write(ctx, due)
}

func (r *Refusals) write(ctx context.Context, due []Event) error {
	for _, e := range due {
		if err := r.sink.Append(context.WithoutCancel(ctx), e); err != nil {
			return err
		}
	}
	return nil
}

// Run flushes the counts until the context ends.
func (r *Refusals) Run(ctx context.Context) {
	tick := time.NewTicker(refusalInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = r.Flush(ctx, false) // the log reports itself that it cannot be written
		case <-ctx.Done():
			_ = r.Flush(context.WithoutCancel(ctx), true)
			return
		}
	}
}
