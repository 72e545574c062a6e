package tool

import (
	"context"
	"encoding/json"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
)

// ReceiptStore keeps receipts in the same store as a domain's data, so that a
// change and its receipt are one atomic step.
type ReceiptStore interface {
	// Change runs fn in one writable transaction of the principal in ctx. What
	// fn reads for update stays locked until the end. An error undoes all of it.
	// A document store collects what fn changes and keeps, and writes it as one
	// conditional update when fn returns.
	Change(ctx context.Context, fn func(ctx context.Context) error) error
	// Keep adds a receipt to the transaction of Change. A second receipt of the
	// same id makes Change fail, and so undoes its change.
	Keep(ctx context.Context, r confirm.Receipt) error
	// Find returns the answer of the receipt that owner has under id.
	Find(ctx context.Context, owner access.Owner, id confirm.ID) (answer json.RawMessage, found bool, err error)
}

// ReceiptStores knows which store keeps which receipt. A server with one store
// uses [OneStore]; one with a store per workspace finds it from the input.
type ReceiptStores interface {
	// Assign picks the store for a change from its validated input and remembers
	// it under the confirmation's id, in durable storage: [ReceiptStores.Of] must
	// find it again when nothing but the id is left. It is called before the
	// confirmation can be answered; an error refuses the change.
	Assign(ctx context.Context, id confirm.ID, input json.RawMessage) error
	// Of returns the store that was assigned to a confirmation. found is false
	// for an id that was never assigned.
	Of(ctx context.Context, id confirm.ID) (store ReceiptStore, found bool, err error)
}

// OneStore is the ReceiptStores of a server that has one store.
func OneStore(s ReceiptStore) ReceiptStores { return singleStore{s} }

type singleStore struct{ store ReceiptStore }

func (o singleStore) Assign(context.Context, confirm.ID, json.RawMessage) error { return nil }

func (o singleStore) Of(context.Context, confirm.ID) (ReceiptStore, bool, error) {
	return o.store, true, nil
}
