package support

import (
	"context"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/tool"
)

// Store keeps tickets, articles and receipts. Packages sqlite and elastic
// implement it, and pass one contract suite.
//
// A store that cannot be reached is SERVICE_UNAVAILABLE, a deadline that passes
// is TIMEOUT, a statement that fails is DATABASE_ERROR.
type Store interface {
	Reader
	Writer
	tool.ReceiptStore
	Lifecycle
}

// Lifecycle is what operators do with a store.
type Lifecycle interface {
	// Ready reads a ticket and an article as a search would, or names what has
	// none.
	Ready(ctx context.Context) error
	// Fill adds the rows that are not there yet, by their ids.
	Fill(ctx context.Context, rows company.Support) error
	// Close releases the store; it is not used afterwards.
	Close() error
	// Oversize returns a sentence for operators when the store holds more rows
	// than it is meant for, and nothing otherwise.
	Oversize(ctx context.Context) (string, error)
}

// Reader finds rows within a scope. Rows outside of it are not found.
type Reader interface {
	// Ticket returns one ticket as it is now, written a moment ago or not.
	Ticket(ctx context.Context, s Scope, id string) (t Ticket, found bool, err error)
	// Tickets returns at most q.Limit tickets after q.After: the best matches
	// first, or without words the newest. Rows that others have just written may
	// be missing for as long as the store's index takes.
	Tickets(ctx context.Context, s Scope, q TicketQuery) ([]Ticket, error)
	// Article and Articles are the same for the knowledge base.
	Article(ctx context.Context, s Scope, id string) (a Article, found bool, err error)
	Articles(ctx context.Context, s Scope, q ArticleQuery) ([]Article, error)
}

// Writer makes the one change, inside the transaction of Change, which has room
// for it and its receipt. A ticket that has another version, is closed or is out
// of scope is not changed: then the call or the end of the transaction fails with
// CONFIRMATION_STALE.
type Writer interface {
	CloseTicket(ctx context.Context, s Scope, c Closing) error
}

// TicketQuery says which tickets, and from where. Empty fields do not filter.
type TicketQuery struct {
	Find       Query
	Status     string
	Priority   string
	CustomerID string
	After      *Key
	Limit      int
}

// ArticleQuery says which articles, and from where.
type ArticleQuery struct {
	Find     Query
	Category string
	After    *Key
	Limit    int
}

// Closing is the change to a ticket that is closed.
type Closing struct {
	ID               string
	Version          Version // as it was seen
	Resolution       string  // all of it, with what the ticket had before
	ResolutionType   string
	CustomerNotified *bool     // nil: not known
	By               string    // who closed it
	At               time.Time // closed; resolved too, unless it was before
}
