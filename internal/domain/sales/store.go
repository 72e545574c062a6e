package sales

import (
	"context"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/tool"
)

// Store keeps customers, deals, quotas, receipts and links. Packages sqlite and mongo
// implement it, and pass one contract suite.
//
// A store that cannot be reached is SERVICE_UNAVAILABLE, a deadline that passes
// is TIMEOUT, a statement that fails is DATABASE_ERROR.
type Store interface {
	CustomerReader
	DealReader
	Writer
	Bookkeeping
	Lifecycle
}

// Bookkeeping is what a store keeps besides its rows: who people are, and the
// receipts of changes.
type Bookkeeping interface {
	Linker
	tool.ReceiptStore
}

// Lifecycle is what operators do with a store.
type Lifecycle interface {
	// Ready reads a customer and a deal, or names what has none.
	Ready(ctx context.Context) error
	// Fill adds the rows that are not there yet, by their ids.
	Fill(ctx context.Context, rows company.Sales) error
	// Close releases the store; it is not used afterwards.
	Close() error
	// Oversize returns a sentence for operators when the store holds more rows
	// than it is meant for, and nothing otherwise.
	Oversize(ctx context.Context) (string, error)
}

// CustomerReader finds customers that are not deleted, and counts the open deals
// of each, within a scope. Rows outside of it are not found, here and below.
type CustomerReader interface {
	// Customer returns one customer, with the names of its first open deals.
	Customer(ctx context.Context, s Scope, id string) (c Customer, found bool, err error)
	// Customers returns at most q.Limit customers by company and id, after q.After.
	Customers(ctx context.Context, s Scope, q CustomerQuery) ([]Customer, error)
}

// DealReader finds deals and adds them up.
type DealReader interface {
	// Deal returns one deal.
	Deal(ctx context.Context, s Scope, id string) (d Deal, found bool, err error)
	// Deals returns at most q.Limit deals in q's order, after q.After.
	Deals(ctx context.Context, s Scope, q DealQuery) ([]Deal, error)
	// Sums adds up a quarter: open deals count where they are expected to close,
	// closed ones where they did.
	Sums(ctx context.Context, s Scope, q Quarter) (Sums, error)
}

// Writer makes the two changes, inside the transaction of Change, which has room
// for one of them and its receipt. A row that has another version, another state
// or is out of scope is not changed: then the call or the end of the transaction
// fails with CONFIRMATION_STALE.
type Writer interface {
	CloseDeal(ctx context.Context, s Scope, c Closing) error
	DeleteCustomer(ctx context.Context, s Scope, t Tombstone) error
}

// CustomerQuery says which customers, from where. Zero fields do not filter.
type CustomerQuery struct {
	Name  []string // parts of the company's name, in any order; letters match in both cases
	Tier  string
	Owner string // e-mail, in lower case
	After *CustomerKey
	Limit int
}

// DealQuery says which deals, in which order, from where. Zero fields do not
// filter.
type DealQuery struct {
	Stage       string
	Owner       string  // e-mail, in lower case
	CustomerID  string  // 24 hex digits, in lower case
	MinValue    float64 // in US dollars: deals in other currencies do not compare
	Others      bool    // only those in other currencies
	ClosingFrom string  // won, lost or, while open, expected to close on this day or later, 2026-03-31
	ClosingTo   string  // … or earlier
	Sort        Sort
	After       *DealKey
	Limit       int
}

// Sort is an order of deals. The id breaks ties, so that the order is total.
type Sort string

// The orders.
const (
	Newest    Sort = "newest"     // created last
	ValueDesc Sort = "value_desc" // worth most
	ByClosing Sort = "closing"    // expected to close soonest
)

// Closing is the change to a deal that is won or lost.
type Closing struct {
	ID          string
	Version     int64 // as it was seen
	Stage       string
	Value       float64
	Probability float64
	LossReason  string
	Notes       string // all of them, the old ones included
	At          time.Time
}

// Tombstone marks a customer as deleted.
type Tombstone struct {
	ID      string
	Version int64 // as it was seen
	By      string
	At      time.Time
}

// Sums is a quarter's deals in US dollars added up: no rates of exchange are known.
type Sums struct {
	Stages map[string]StageSum
	Others int     // deals in other currencies, which are in no stage's sum
	Target float64 // the quotas of the owners in scope
}

// StageSum is a stage added up. Weighted is the value times the probability.
type StageSum struct {
	Count           int
	Value, Weighted float64
}

// NamesShown is how many open deals of a customer are named.
const NamesShown = 10

// Currency is that of sums, of quotas and of amounts in queries.
const Currency = "USD"
