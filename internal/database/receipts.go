package database

import (
	"context"
	"encoding/json"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
)

// Receipts keeps the receipts of confirmed changes in the table `confirmations`
// of the login's schema, which every migrated schema has. Policies let only its
// owner read a receipt or keep one.
type Receipts struct{ db *DB }

// NewReceipts returns the receipts of the schema that db's login works in.
func NewReceipts(db *DB) *Receipts { return &Receipts{db} }

// Change is [DB.Change].
func (r *Receipts) Change(ctx context.Context, fn func(ctx context.Context) error) error {
	return r.db.Change(ctx, fn)
}

// A receipt is locked by its id from before it is kept until its transaction has ended, and so is a search for it:
// a commit that its client has given up may still be under way, and is waited for.
const (
	keepReceipt = `
insert into confirmations (id, owner_issuer, owner_subject, tool, receipt)
select $1::uuid, $2, $3, $4, $5 from (select pg_advisory_xact_lock(hashtextextended($1::text, 0))) as locked`

	awaitReceipt = `select pg_advisory_xact_lock_shared(hashtextextended($1::text, 0))::text`

	findReceipt = `
select receipt from confirmations
where id = $1 and owner_issuer = $2 and owner_subject = $3`
)

// Keep stores a receipt inside Change. A second one of the same id fails and
// rolls its change back.
func (r *Receipts) Keep(ctx context.Context, kept confirm.Receipt) error {
	_, err := Exec(ctx, r.db, keepReceipt, string(kept.ID), kept.Owner.Issuer, kept.Owner.Subject, kept.Tool, string(kept.Answer))
	return err
}

// Find returns the receipt that the owner has under an id, byte for byte. It waits for the end
// of a transaction that keeps it, so that none that is not found is kept by an earlier one.
func (r *Receipts) Find(ctx context.Context, owner access.Owner, id confirm.ID) (answer json.RawMessage, found bool, err error) {
	var receipt string
	err = r.db.within(ctx, "begin read only", false, func(ctx context.Context) (err error) {
		if _, _, err := Row[string](ctx, r.db, awaitReceipt, string(id)); err != nil {
			return err
		}
		receipt, found, err = Row[string](ctx, r.db, findReceipt, string(id), owner.Issuer, owner.Subject)
		return err
	})
	if err != nil || !found {
		return nil, false, err
	}
	return json.RawMessage(receipt), true, nil
}
