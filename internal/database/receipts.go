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

const keepReceipt = `
insert into confirmations (id, owner_issuer, owner_subject, tool, receipt)
values ($1, $2, $3, $4, $5)`

// Keep stores a receipt inside Change. A second one of the same id fails and
// rolls its change back.
func (r *Receipts) Keep(ctx context.Context, kept confirm.Receipt) error {
	_, err := Exec(ctx, r.db, keepReceipt, string(kept.ID), kept.Owner.Issuer, kept.Owner.Subject, kept.Tool, string(kept.Answer))
	return err
}

const findReceipt = `
select receipt from confirmations
where id = $1 and owner_issuer = $2 and owner_subject = $3`

// Find returns the receipt that the owner has under an id, byte for byte.
func (r *Receipts) Find(ctx context.Context, owner access.Owner, id confirm.ID) (answer json.RawMessage, found bool, err error) {
	receipt, found, err := Row[string](ctx, r.db, findReceipt, string(id), owner.Issuer, owner.Subject)
	if err != nil || !found {
		return nil, false, err
	}
	return json.RawMessage(receipt), true, nil
}
