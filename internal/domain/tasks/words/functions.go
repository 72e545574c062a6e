package words

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"

	"countersign.dev/internal/domain/tasks/rowset"
	engine "countersign.dev/internal/sqlite"
)

// AddFunctions adds the functions by which texts are indexed: search_words and
// search_vocabulary of a text, or null, search_add and search_cut of a stored span, or
// null, and a row of it, search_join and search_less of two spans.
var AddFunctions = sync.OnceValue(func() error {
	ofText := func(name string, of func(text string) string) error {
		return engine.AddFunction(name, 1, func(args []driver.Value) (driver.Value, error) {
			if args[0] == nil {
				return nil, nil
			}
			text, ok := args[0].(string)
			if !ok {
				return nil, fmt.Errorf("a %T is no text", args[0])
			}
			return of(text), nil
		})
	}
	ofSpan := func(name string, of func(span []byte, row int) []byte) error {
		return engine.AddFunction(name, 2, func(args []driver.Value) (driver.Value, error) {
			row, ok := args[1].(int64)
			if !ok || row < 0 || row >= rowset.SpanRows {
				return nil, fmt.Errorf("%v is no row of a span", args[1])
			}
			span, _ := args[0].([]byte)
			return orNull(of(span, int(row))), nil
		})
	}
	ofSpans := func(name string, of func(span, other []byte) []byte) error {
		return engine.AddFunction(name, 2, func(args []driver.Value) (driver.Value, error) {
			span, _ := args[0].([]byte)
			other, _ := args[1].([]byte)
			return orNull(of(span, other)), nil
		})
	}
	return errors.Join(
		ofText("search_words", func(text string) string { return strings.Join(Of(text), " ") }),
		ofText("search_vocabulary", vocabulary),
		ofSpan("search_add", rowset.Put), ofSpan("search_cut", rowset.Cut),
		ofSpans("search_join", rowset.Join), ofSpans("search_less", rowset.Less))
})

func orNull(span []byte) driver.Value {
	if span == nil {
		return nil
	}
	return span
}
