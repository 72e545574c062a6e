package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"countersign.dev/internal/access"
	engine "countersign.dev/internal/sqlite"
)

// Link links a person to their address, unless either is linked already.
func (s *Store) Link(ctx context.Context, who access.Owner, address string) (linked string, err error) {
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	if linked, err = s.linked(ctx, who); linked != "" || err != nil || address == "" {
		return linked, err
	}
	err = s.Change(ctx, func(ctx context.Context) error {
		_, err := s.Exec(ctx, `insert into links (issuer, subject, address) values (?, ?, ?) on conflict do nothing`, who.Issuer, who.Subject, address)
		if err != nil {
			return err
		}
		linked, err = s.linked(ctx, who)
		return err
	})
	return linked, err
}

func (s *Store) linked(ctx context.Context, who access.Owner) (address string, err error) {
	err = s.In(ctx).QueryRowContext(ctx, `select address from links where issuer = ? and subject = ?`, who.Issuer, who.Subject).Scan(&address)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return address, s.Fault(ctx, err)
}
