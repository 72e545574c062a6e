package mcpsession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call runs a tool in the session of a key, at most once. The error is the one
// that the server answered with (see [ServerError]), or says that no answer
// came; it wraps [ErrNotSent] when the call cannot have been carried out.
func (p *Pool) Call(ctx context.Context, key, tool string, args json.RawMessage) (answer *mcp.CallToolResult, err error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	err = p.use(ctx, key, func(ctx context.Context, s *session) error {
		params := &mcp.CallToolParams{Name: tool, Arguments: args}
		defer p.o.Client.follow(ctx, params)()
		answer, err = s.CallTool(plainContext{ctx}, params)
		return err
	})
	return answer, err
}

// Tools lists at most max tools of the server, in the session of a key.
func (p *Pool) Tools(ctx context.Context, key string, max int) (tools []*mcp.Tool, err error) {
	err = p.use(ctx, key, func(ctx context.Context, s *session) error {
		tools, err = listed(max, func(cursor string) ([]*mcp.Tool, string, error) {
			page, err := s.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return page.Tools, page.NextCursor, nil
		})
		if err != nil && ctx.Err() != nil {
			return errors.Join(errHung, err)
		}
		return err
	})
	return tools, err
}

// Bounds of a list, beside how many things it may have: a server decides how large its pages are, and
// whether they end.
const (
	maxPages  = 100
	maxListed = 16 << 20 // bytes of all pages, of which each has the bound of an answer
)

// listed collects at most max things over the pages of a list. Entries that are null are left out.
func listed[T any](max int, page func(cursor string) (things []*T, next string, err error)) (all []*T, err error) {
	cursor, size := "", 0
	for range maxPages {
		things, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(things)
		if size += len(text); err != nil {
			return nil, err
		}
		things = slices.DeleteFunc(things, func(thing *T) bool { return thing == nil })
		all = append(all, things[:min(len(things), max-len(all))]...)
		switch {
		case next == "" || len(all) == max:
			return all, nil
		case next == cursor:
			return nil, fmt.Errorf("%w: a page leads to itself", errEndless)
		case size > maxListed:
			return nil, ErrTooLarge
		}
		cursor = next
	}
	return nil, fmt.Errorf("%w: more than %d pages", errEndless, maxPages)
}

// errEndless is the error of a list that does not end.
var errEndless = errors.New("the list does not end")

// errHung marks the error of a list that did not come in time. No person waits for it
// alone, so its server hangs, and is connected anew.
var errHung = errors.New("the server did not list its tools")

// use has an exchange with the server in the session of a key. A session that turns out
// to be dead before anything was sent is replaced, and so is, once, one that the server
// no longer knows: then it has run nothing.
func (p *Pool) use(ctx context.Context, key string, exchange func(context.Context, *session) error) error {
	for replaced := false; ; {
		var t trace
		fresh, err := p.once(withTrace(ctx, &t), &t, key, exchange)
		switch {
		case err == nil:
			return nil
		case t.forgotten() && !fresh && !replaced && ctx.Err() == nil:
			replaced = true
		case t.sent.Load() && !t.rejected():
			return t.explain(err)
		case t.sent.Load() || fresh || ctx.Err() != nil:
			return NotSent(t.explain(err))
		}
	}
}

// once has an exchange in the session of the key. fresh means that the session was opened
// for it, so that another one would not help.
func (p *Pool) once(ctx context.Context, t *trace, key string, exchange func(context.Context, *session) error) (fresh bool, err error) {
	s, fresh, err := p.acquire(ctx, key)
	if err != nil {
		return true, err
	}
	works := false
	defer func() { p.release(s, works) }() // after a panic, too
	t.sent.Store(!p.o.Traced)
	t.stateful = s.ID() != ""
	if err = exchange(ctx, s); t.answered(ctx, err) && s.alive(ctx) {
		err = errors.Join(ErrUnreadable, err)
	}
	works = err == nil || errors.Is(err, ErrUnreadable) || ctx.Err() != nil && !errors.Is(err, errHung) || !t.rejected() && (isServerError(err) || errors.As(err, new(Rejected)))
	return fresh, err
}

// pingTimeout is how long a session has to show that it works.
const pingTimeout = time.Second

// alive reports whether the session works after an exchange that failed. An answer that
// cannot be decoded leaves it so, and the SDK has no type for that.
func (s *session) alive(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	t := trace{stateful: s.ID() != ""}
	err := s.Ping(withTrace(bounded, &t), nil)
	return err == nil || !t.forgotten() && (isServerError(err) || errors.As(err, new(Rejected)))
}
