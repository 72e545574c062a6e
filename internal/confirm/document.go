package confirm

import (
	"context"
	"errors"
)

// document is the transaction of a store whose only atomic step is one
// conditional write of one document. It collects the write and its receipt.
type document struct {
	write   func(ctx context.Context, r Receipt) error
	receipt *Receipt
}

type documentKey struct{}

// ChangeDocument runs fn and then the one write that fn staged, with the one
// receipt that it kept. Without both of them nothing is written.
func ChangeDocument(ctx context.Context, fn func(ctx context.Context) error) error {
	d := &document{}
	if err := fn(context.WithValue(ctx, documentKey{}, d)); err != nil {
		return err
	}
	if d.write == nil || d.receipt == nil {
		return errors.New("a transaction of a document store needs one write and its receipt")
	}
	return d.write(ctx, *d.receipt)
}

// StageDocument leaves a write for the end of [ChangeDocument]. The write puts
// the receipt into the document that it changes.
func StageDocument(ctx context.Context, write func(ctx context.Context, r Receipt) error) error {
	d, ok := ctx.Value(documentKey{}).(*document)
	if !ok {
		return errors.New("a change outside of a transaction")
	}
	if d.write != nil {
		return errors.New("a second change in the transaction of a document store")
	}
	d.write = write
	return nil
}

// KeepInDocument leaves a receipt for the write of [StageDocument].
func KeepInDocument(ctx context.Context, r Receipt) error {
	d, ok := ctx.Value(documentKey{}).(*document)
	if !ok || d.receipt != nil {
		return errors.New("a receipt needs a transaction of its own")
	}
	d.receipt = &r
	return nil
}
