package hr

import (
	"context"
	"log/slog"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
)

// Account is the account of somebody whose employment has ended: who they are at
// their issuer, where that is known, and their address.
type Account struct {
	access.Owner
	Address string
}

// Accounts ends accounts everywhere. Ending one again must do no harm.
type Accounts interface {
	End(ctx context.Context, gone []Account) error
}

// Leavers ends the accounts of those whose employment has ended.
type Leavers struct {
	db       *database.DB
	accounts Accounts
	log      *slog.Logger
}

// NewLeavers makes the server end the account of each person that it deletes.
func NewLeavers(s *Server, accounts Accounts, log *slog.Logger) *Leavers {
	s.leavers = &Leavers{s.db, accounts, log}
	return s.leavers
}

// endTimeout bounds the ending of accounts after a deletion.
const endTimeout = 5 * time.Second

// endAfter ends the account of the person that this transaction deletes, once it
// is committed. The row says for good that the employment has ended, so what
// fails here, or is cut off by a crash, is made up for by [Leavers.EndAll].
func (l *Leavers) endAfter(ctx context.Context) {
	if l == nil {
		return
	}
	database.OnCommit(ctx, l.db, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, endTimeout)
		defer cancel()
		if err := l.EndAll(ctx); err != nil {
			l.log.ErrorContext(ctx, "an account has not been ended yet", "error", err)
		}
	})
}

// EndAll ends the account of everyone whose employment has ended. A server calls
// it when it starts and from time to time.
func (l *Leavers) EndAll(ctx context.Context) error {
	rows, err := database.Rows[struct{ Address, Issuer, Subject string }](ctx, l.db, `select address, issuer, subject from hr.ended()`)
	if err != nil {
		return err
	}
	gone := make([]Account, len(rows))
	for i, row := range rows {
		gone[i] = Account{access.Owner{Issuer: row.Issuer, Subject: row.Subject}, row.Address}
	}
	return l.accounts.End(ctx, gone)
}
