package app

import (
	"context"
	"log/slog"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/storage"
)

// links links the callers of a domain's store, and records when somebody's
// address belongs to another person.
func (p *platform) links(d domain) *access.Links {
	return &access.Links{Taken: func(ctx context.Context) {
		p.log.WarnContext(ctx, "a caller's address is linked to another person", "server", d.name)
		err := p.audit.Append(ctx, audit.Event{
			Kind: audit.Denial, Server: d.name, Step: audit.AddressTaken, Outcome: fault.Unproven.Name,
			Note: "the caller's verified address is linked to another person, so it does not tell who they are",
		})
		if err != nil {
			p.log.ErrorContext(ctx, "audit could not be written", "error", err)
		}
	}}
}

// endEvery is how often the accounts of all who have left are ended again: it
// makes up for a crash after a deletion and for a Redis that lost the list.
const endEvery = 30 * time.Second

// employer is a domain that knows whose employment has ended.
type employer interface {
	// EndAccounts makes the server end the account of each person that it deletes,
	// and returns a function that ends those of all who have left.
	EndAccounts(end func(context.Context, []access.Account) error, log *slog.Logger) (all func(context.Context) error)
}

// endAccounts makes a domain that knows whose employment has ended end their
// accounts: after each deletion, now, and from time to time.
func (p *platform) endAccounts(d domain, server storage.Server) {
	e, ok := server.(employer)
	if !ok {
		return
	}
	log := p.log.With("server", d.name)
	endAll := e.EndAccounts(p.revocations.End, log)
	p.life.run(func(ctx context.Context) {
		ctx = access.With(ctx, auth.Server(d.name))
		tick := time.NewTicker(endEvery)
		defer tick.Stop()
		for {
			if err := endAll(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "the accounts of those who left could not be ended", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}
