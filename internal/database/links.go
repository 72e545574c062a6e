package database

import (
	"context"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/access"
)

// link links a caller to their first verified address, in the table `links` that
// every migrated schema has, in a transaction of its own. Policies read the link.
func (db *DB) link(ctx context.Context, who *access.Principal) error {
	if db.links == nil || who.Email() == "" { // without an address only an earlier link counts
		return nil
	}
	_, err := db.links.Of(ctx, who, func(ctx context.Context) (address string, err error) {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			return "", translate(err)
		}
		defer conn.Release()
		batch := &pgx.Batch{}
		batch.Queue(identify, identity(who, "off")...)
		batch.Queue(`select link_caller()`)
		err = send(ctx, conn, batch, `select coalesce(linked_address(), '')`, nil, func(rows pgx.Rows) (err error) {
			address, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
			return err
		})
		return address, err
	})
	return err
}
