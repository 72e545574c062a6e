package database

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"countersign.dev/internal/access"
)

// identify sets the identity that a transaction runs for. The third argument
// makes each setting end with the transaction, so that the next user of the
// connection does not inherit it.
const identify = `
select set_config('transaction_read_only', $1, true),
       set_config('app.current_user_issuer', $2, true),
       set_config('app.current_user_id', $3, true),
       set_config('app.current_user_email', $4, true),
       set_config('app.current_user_roles', $5, true)`

// identity lists the settings that the policies read. A role with a comma in its
// name would read as two, so it is left out.
func identity(who *access.Principal, readOnly string) []any {
	roles := slices.DeleteFunc(slices.Clone(who.Roles()), func(r string) bool { return strings.Contains(r, ",") })
	owner := who.Owner()
	return []any{readOnly, owner.Issuer, owner.Subject, who.Email(), strings.Join(roles, ",")}
}

// send sends a batch and a statement after it, in one round trip. Outside of
// [DB.Change] and [DB.Read] all of it is one implicit transaction.
func send(ctx context.Context, conn *pgxpool.Conn, batch *pgx.Batch, sql string, args []any, collect func(pgx.Rows) error) error {
	before := batch.Len()
	batch.Queue(sql, args...)
	results := conn.SendBatch(ctx, batch)
	err := receive(results, before, collect)
	if closing := results.Close(); err == nil { // else it is the same error again
		err = closing
	}
	return translate(err)
}

func receive(results pgx.BatchResults, before int, collect func(pgx.Rows) error) error {
	for range before {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	return collect(rows)
}
