package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// The sizes of pages.
const (
	MaxPage       = 50
	MaxOffsetPage = 1000
	DefaultOffset = 100
	CursorLife    = 24 * time.Hour
)

// usual is the size of a page for which no limit was given.
func (t Tool) usual() int {
	if t.pager == offset {
		return DefaultOffset
	}
	return cmp.Or(t.spec.DefaultPage, t.spec.Page, MaxPage)
}

// Window is the part of a list that a keyset query has to fetch.
type Window[K any] struct {
	After *K  // the last row of the page before; nil on the first page
	Limit int // how many rows to ask the store for: one more than the page, so that the kernel sees whether more follow
}

// Keyed is a row with a sort key. The key ends in a unique tie-breaker
// and survives a round trip through JSON.
type Keyed[K any] interface{ Key() K }

// List declares a tool that shows rows, page by page. The kernel adds `limit`
// and `cursor` to the input, opens and seals cursors, limits the page and writes
// its metadata; fetch only asks the store for Window.Limit rows after
// Window.After.
func List[In, K any, T Keyed[K]](s Spec, fetch func(context.Context, In, Window[K]) ([]T, error)) Tool {
	t := Tool{spec: s, kind: result.List, pager: keyset, input: reflect.TypeFor[In](), output: reflect.TypeFor[T]()}
	if fetch == nil {
		return t
	}
	t.do = func(ctx context.Context, c *call) (any, *result.Page, error) {
		in, err := decode[In](c)
		if err != nil {
			return nil, nil, err
		}
		window, beside := Window[K]{Limit: c.window.Limit + 1}, aside{fit: c.window.Limit}
		if c.window.Cursor != "" {
			window.After = new(K)
			if beside.before, err = c.openCursor(c.window.Cursor, window.After); err != nil {
				return nil, nil, err
			}
		}
		rows, err := fetch(context.WithValue(ctx, asideKey{}, &beside), in, window)
		if err != nil {
			return nil, nil, err
		}
		return cut(c, rows, beside)
	}
	return t
}

// aside is what a list's function says of its page besides the rows.
type aside struct {
	remark string
	fit    int // rows of the page at most
	before int // rows of the pages before it
}

type asideKey struct{}

// Remark adds a sentence to the hint of the page that a list's function is about
// to return: what its reader must know of the rows. It must hold no text of a row
// and none of an input.
func Remark(ctx context.Context, sentence string) {
	if s, ok := ctx.Value(asideKey{}).(*aside); ok {
		s.remark = sentence
	}
}

// SomeWords says of a page that nothing has all of the words that were searched for.
func SomeWords(ctx context.Context) {
	Remark(ctx, "Nothing has all of these words; these have some of them.")
}

// OtherCurrencies says of a page that a bound of an amount left rows out that no rate of
// exchange compares with it.
func OtherCurrencies(ctx context.Context) {
	Remark(ctx, "What is in other currencies is left out: amounts are compared in US dollars.")
}

// Fit ends the page that a list's function is about to return after n rows, one at
// least: more would be longer than the caller asked for. The next page begins there.
func Fit(ctx context.Context, n int) {
	if s, ok := ctx.Value(asideKey{}).(*aside); ok {
		s.fit = min(s.fit, max(1, n))
	}
}

// cut makes a page from the rows of a keyset query.
func cut[K any, T Keyed[K]](c *call, rows []T, beside aside) (any, *result.Page, error) {
	page := &result.Page{Limit: beside.fit, Later: c.window.Cursor != "", Before: beside.before, Remark: beside.remark, Noun: c.spec.Noun, Narrow: c.spec.Narrow}
	if len(rows) > page.Limit {
		rows, page.More = rows[:page.Limit], true
		next, err := c.sealCursor(rows[len(rows)-1].Key(), page.Before+len(rows))
		if err != nil {
			return nil, nil, err
		}
		page.Next = next
	}
	if rows == nil {
		rows = []T{}
	}
	page.Returned = len(rows)
	return &rows, page, nil
}

// OffsetWindow is the part of a list that an offset query has to fetch.
type OffsetWindow struct {
	Limit, Offset int
	Fit           bool // no limit was given: fetch may return fewer rows than there are, when more would be too many
}

// Offsets declares a list with limit and offset pages, as the task server's
// founding document has them. fetch returns the page and the number of rows in
// all.
func Offsets[In, T any](s Spec, fetch func(context.Context, In, OffsetWindow) (rows []T, total int, err error)) Tool {
	t := Tool{spec: s, kind: result.List, pager: offset, input: reflect.TypeFor[In](), output: reflect.TypeFor[T]()}
	if fetch == nil {
		return t
	}
	t.do = func(ctx context.Context, c *call) (any, *result.Page, error) {
		in, err := decode[In](c)
		if err != nil {
			return nil, nil, err
		}
		w, beside := c.window, aside{}
		rows, total, err := fetch(context.WithValue(ctx, asideKey{}, &beside), in, OffsetWindow{Limit: w.Limit, Offset: w.Offset, Fit: w.unlimited})
		if err != nil {
			return nil, nil, err
		}
		rows = append([]T{}, rows[:min(len(rows), w.Limit)]...)
		if w.unlimited && len(rows) > 0 && w.Offset+len(rows) < total {
			w.Limit = len(rows) // what a client adds to the offset
		}
		return &rows, &result.Page{
			Limit: w.Limit, Offset: w.Offset, Total: total, Counted: true, Returned: len(rows), More: w.Offset+len(rows) < total, Later: w.Offset > 0,
			Remark: beside.remark, Noun: c.spec.Noun, Narrow: c.spec.Narrow,
		}, nil
	}
	return t
}

// sealedKey is the content of a cursor.
type sealedKey struct {
	Key     json.RawMessage `json:"k"`
	Expires int64           `json:"e"` // Unix seconds
	Before  int             `json:"n"` // rows of the pages up to the key; a cursor of an older version has none
}

// bound is the context of a cursor: the tool, the person and the filters.
func (c *call) bound() []byte {
	return []byte(c.spec.Name + "\x00" + c.who.Owner().String() + "\x00" + confirm.Digest(c.input))
}

func (c *call) sealCursor(key any, before int) (string, error) {
	k, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(sealedKey{Key: k, Expires: c.now().Add(CursorLife).Unix(), Before: before})
	if err != nil {
		return "", err
	}
	return c.cursors.Seal(plain, c.bound()), nil
}

// openCursor reads the key of a cursor, and how many rows came before.
func (c *call) openCursor(text string, key any) (before int, err error) {
	refused := fault.InvalidCursor.New("This cursor cannot be used here: it was altered, has expired, or belongs to another person, tool or filter.").Fields("cursor")
	plain, err := c.cursors.Open(text, c.bound())
	if err != nil {
		return 0, refused.Because(err)
	}
	var sealed sealedKey
	if err := json.Unmarshal(plain, &sealed); err != nil {
		return 0, refused.Because(err)
	}
	if c.now().Unix() >= sealed.Expires {
		return 0, refused
	}
	if err := json.Unmarshal(sealed.Key, key); err != nil {
		return 0, refused.Because(err)
	}
	return sealed.Before, nil
}
