package app

import (
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/revocation"
)

// links links the callers of a domain's store, and records when somebody's
// address belongs to another person.
func (p *platform) links(d domain) *database.Links {
	return &database.Links{Taken: func(ctx context.Context) {
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

// endAccounts makes a domain that knows whose employment has ended end their
// accounts: after each deletion, now, and from time to time.
func (p *platform) endAccounts(d domain, server domainServer) {
	employer, ok := server.(*hr.Server)
	if !ok {
		return
	}
	log := p.log.With("server", d.name)
	leavers := hr.NewLeavers(employer, accounts{p.revocations}, log)
	p.life.run(func(ctx context.Context) {
		ctx = access.With(ctx, auth.Server(d.name))
		tick := time.NewTicker(endEvery)
		defer tick.Stop()
		for {
			if err := leavers.EndAll(ctx); err != nil && ctx.Err() == nil {
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

// accounts ends the accounts that HR names.
type accounts struct{ revocations *revocation.List }

func (a accounts) End(ctx context.Context, gone []hr.Account) error {
	ended := make([]revocation.Account, len(gone))
	for i, one := range gone {
		ended[i] = revocation.Account(one)
	}
	return a.revocations.End(ctx, ended)
}
