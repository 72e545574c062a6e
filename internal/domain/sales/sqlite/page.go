package sqlite

import (
	"context"

	"countersign.dev/internal/domain/sales"
	engine "countersign.dev/internal/sqlite"
)

// order is a way to sort deals: by a column and then by the id, both in the
// same direction, so that a key is compared as one row value.
type order struct {
	column, direction, after string
	key                      func(sales.DealKey) any
}

var orders = map[sales.Sort]order{
	sales.Newest:    {"created_at", "desc", "<", func(k sales.DealKey) any { return k.Created }},
	sales.ValueDesc: {"value", "desc", "<", func(k sales.DealKey) any { return k.Value }},
	sales.ByClosing: {"expected_close_date", "asc", ">", func(k sales.DealKey) any { return k.Closing }},
}

// Deals returns a page: the deals of the scope that the query asks for, in its
// order.
func (s *Store) Deals(ctx context.Context, scope sales.Scope, q sales.DealQuery) (deals []sales.Deal, err error) {
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	by, where := orders[q.Sort], wanted(scope, q)
	if q.After != nil {
		where.And("(d."+by.column+", d.id) "+by.after+" (?, ?)", by.key(*q.After), q.After.ID)
	}
	statement := selectDeals + where.String() + " order by d." + by.column + " " + by.direction + ", d.id " + by.direction + " limit ?"
	found, err := s.In(ctx).QueryContext(ctx, statement, append(where.Args, q.Limit)...)
	err = s.Each(ctx, found, err, func() error {
		d, err := scanDeal(found)
		deals = append(deals, d)
		return err
	})
	return deals, err
}

// wanted is the condition of a scope and a query's filters.
func wanted(scope sales.Scope, q sales.DealQuery) engine.Clause {
	c := owners(scope)
	if q.Owner != "" {
		c.And("k.owner = ?", q.Owner)
	}
	if q.Stage != "" {
		c.And("d.stage = ?", q.Stage)
	}
	if q.CustomerID != "" {
		c.And("d.customer_id = ?", q.CustomerID)
	}
	if q.MinValue > 0 {
		c.And("d.value >= ? and d.currency = ?", q.MinValue, sales.Currency)
	}
	if q.Others {
		c.And("d.currency <> '" + sales.Currency + "'") // as its index has it
	}
	if q.ClosingFrom != "" {
		c.And("coalesce(d.actual_close_date, d.expected_close_date) >= ?", q.ClosingFrom)
	}
	if q.ClosingTo != "" {
		c.And("coalesce(d.actual_close_date, d.expected_close_date) <= ?", q.ClosingTo)
	}
	return c
}
