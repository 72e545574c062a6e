package finance_test

import (
	"context"

	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
)

// change runs a statement with the server's own login, past every check above
// the store.
func change(h *house, ctx context.Context, statement string) error {
	return h.DB.Change(ctx, func(ctx context.Context) error {
		_, err := database.Exec(ctx, h.DB, statement)
		return err
	})
}

// cause is what the store said.
func cause(err error) string {
	f := fault.From(err)
	if f == nil || f.Unwrap() == nil {
		return ""
	}
	return f.Unwrap().Error()
}
