package hr

import (
	"context"
	"log/slog"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
)

// leavers ends the accounts of those whose employment has ended.
type leavers struct {
	db  *database.DB
	end func(context.Context, []access.Account) error
	log *slog.Logger
}

// EndAccounts makes the server end the account of each person that it deletes, by
// end, which must do no harm when it is called again. It returns a function that
// ends the account of everyone whose employment has ended, for the start and from
// time to time.
func (s *Server) EndAccounts(end func(context.Context, []access.Account) error, log *slog.Logger) (all func(context.Context) error) {
	s.leavers = &leavers{s.db, end, log}
	return s.leavers.endAll
}

// endTimeout bounds the ending of accounts after a deletion.
const endTimeout = 5 * time.Second

// endAfter ends the account of the person that this transaction deletes, once it
// is committed. The row says for good that the employment has ended, so what
// fails here, or is cut off by a crash, is made up for by endAll.
func (l *leavers) endAfter(ctx context.Context) {
	if l == nil {
		return
	}
	database.OnCommit(ctx, l.db, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, endTimeout)
		defer cancel()
		if err := l.endAll(ctx); err != nil {
			l.log.ErrorContext(ctx, "an account has not been ended yet", "error", err)
		}
	})
}

// endAll ends the account of everyone whose employment has ended.
func (l *leavers) endAll(ctx context.Context) error {
	rows, err := database.Rows[struct{ Address, Issuer, Subject string }](ctx, l.db, `select address, issuer, subject from hr.ended()`)
	if err != nil {
		return err
	}
	gone := make([]access.Account, len(rows))
	for i, row := range rows {
		gone[i] = access.Account{Owner: access.Owner{Issuer: row.Issuer, Subject: row.Subject}, Address: row.Address}
	}
	return l.end(ctx, gone)
}
