package audit

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// AnchorInterval is how often a process publishes its head and keeps the others'.
// What was appended since can be cut off without contradicting another log.
const AnchorInterval = 30 * time.Second

// MaxHeads bounds how many other logs a process keeps heads of.
const MaxHeads = 256

// Heads is where processes publish the newest heads of their logs: Redis.
type Heads interface {
	Publish(ctx context.Context, h SignedHead) error
	Newest(ctx context.Context) ([]SignedHead, error)
}

// Anchors publishes the head of a log and writes the heads of others into it.
type Anchors struct {
	log   *Log
	heads Heads
	slog  *slog.Logger

	seen      map[string]SignedHead // by log
	published uint64                // event up to which the head was published
	checked   bool
}

// NewAnchors returns the anchors of a log.
func NewAnchors(l *Log, heads Heads, log *slog.Logger) *Anchors {
	return &Anchors{log: l, heads: heads, slog: log, seen: map[string]SignedHead{}}
}

// Run exchanges heads each AnchorInterval until the context ends, and once more
// then.
func (a *Anchors) Run(ctx context.Context) {
	tick := time.NewTicker(AnchorInterval)
	defer tick.Stop()
	for done := false; ; {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		if err := a.Exchange(bounded); err != nil {
			a.slog.WarnContext(ctx, "heads of audit logs were not exchanged", "error", err)
		}
		cancel()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			done = true
		}
	}
}

// Exchange publishes the log's head and appends the heads of others that have
// moved. A log to which nothing but anchors was appended has nothing to publish,
// so that idle processes do not write to each other without end.
func (a *Anchors) Exchange(ctx context.Context) error {
	newest, err := a.heads.Newest(ctx)
	if err != nil {
		return err
	}
	own, others := a.log.SignedHead()
	for _, h := range newest[:min(len(newest), MaxHeads)] {
		if err := a.keep(ctx, h, own); err != nil {
			return err
		}
	}
	a.checked = true
	if others == a.published && a.published > 0 {
		return nil
	}
	if err := a.heads.Publish(ctx, own); err != nil {
		return err
	}
	a.published = others
	return nil
}

// keep appends a head, unless it is known or is not signed.
func (a *Anchors) keep(ctx context.Context, h, own SignedHead) error {
	if h.Log == own.Log {
		return a.compare(ctx, h)
	}
	before, known := a.seen[h.Log]
	if h.check() != nil || known && (h.Key != before.Key || h.Head() == before.Head()) {
		return nil
	}
	e := Event{Kind: Anchored, Anchor: &h}
	switch {
	case known && h.Seq < before.Seq:
		e.Step, e.Note = stepWentBack, fmt.Sprintf("The head of the log of %s went back from event %d to %d.", h.Name, before.Seq, h.Seq)
	case known && h.Seq == before.Seq:
		e.Step, e.Note = stepRewritten, fmt.Sprintf("The head of the log of %s has another hash for event %d than before.", h.Name, h.Seq)
	}
	if err := a.log.Append(ctx, e); err != nil {
		return err
	}
	a.seen[h.Log] = h
	return nil
}

// compare looks, when the process starts, whether Redis knows an end of this log that
// the files do not have: then they were cut, replaced by older ones or rewritten.
func (a *Anchors) compare(ctx context.Context, h SignedHead) error {
	if a.checked || !a.log.o.Signer.made(h) {
		return nil
	}
	e := Event{Kind: Anchored, Anchor: &h}
	switch has, there := eventAt(a.log.path, h.Seq); {
	case there && has.Hash == h.Hash:
		return nil
	case h.Seq > a.log.found:
		e.Step, e.Note = stepWentBack, fmt.Sprintf("The log ended with event %d and its published head names event %d: it was cut or replaced by an older one.", a.log.found, h.Seq)
	case there:
		e.Step, e.Note = stepRewritten, fmt.Sprintf("Its published head has another hash for event %d: the log was rewritten before the process started.", h.Seq)
	default: // the file with it was moved away
		return nil
	}
	a.slog.ErrorContext(ctx, "the audit log contradicts its last published head", "events", a.log.found, "published", h.Seq)
	return a.log.Append(ctx, e)
}
