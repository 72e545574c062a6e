package support

import (
	"context"

	"countersign.dev/internal/tool"
)

// find asks a store for the rows that have all words of a query. When none has, it
// asks for those that have the same numbers with separators, or two words as one, then
// for those that have any, and says so; the pages after the first go on as it began. It
// returns the query that found the rows.
func find[T any](ctx context.Context, text string, after *Key, ask func(Query) ([]T, error)) ([]T, Query, error) {
	q := ParseQuery(text)
	if after == nil || !after.Any {
		rows, err := ask(q)
		for _, respelt := range []func() (Query, bool){q.grouped, q.joined} {
			if other, is := respelt(); is && len(rows) == 0 && err == nil {
				if rows, err = ask(other); len(rows) > 0 {
					return rows, other, err
				}
			}
		}
		if len(rows) > 0 || err != nil || after != nil || len(q.With()) < 2 {
			return rows, q, err
		}
	}
	q = q.Any()
	rows, err := ask(q)
	if len(rows) > 0 {
		tool.SomeWords(ctx)
	}
	return rows, q, err
}
