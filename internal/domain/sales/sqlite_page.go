package sales

import "context"

// walked is how many entries of an index are looked at before a walk gives up.
// That takes less than two milliseconds, and is enough for who sees one deal in
// a hundred.
const walked = 5000

// Deals returns a page. No one way of finding it is cheap for everybody: see
// ways. Each of them but the last may give up, and then finds too few.
func (s *SQLite) Deals(ctx context.Context, scope Scope, q DealQuery) (deals []Deal, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for _, way := range q.ways(scope, s.walked) {
		if deals, err = s.page(ctx, way, q); err != nil || len(deals) == q.Limit {
			break
		}
	}
	return deals, err
}

const fromDeals = `
from deals d join owners k on k.id = d.owner_id join customers c on c.id = d.customer_id where d.rowid in (`

// page reads the deals whose row ids a search selects.
func (s *SQLite) page(ctx context.Context, rows search, q DealQuery) (deals []Deal, err error) {
	statement := dealColumns + fromDeals + rows.text + ")" + orders[q.Sort].first("d.")
	found, err := s.In(ctx).QueryContext(ctx, statement, append(rows.args, q.Limit)...)
	err = s.Each(ctx, found, err, func() error {
		var d Deal
		err := d.scan(found)
		deals = append(deals, d)
		return err
	})
	return deals, err
}

// search is a way to find a page: a select of row ids.
type search struct {
	text string
	args []any
}

// add goes on with a text, and with what its question marks stand for.
func (s *search) add(text string, args ...any) {
	s.text += text
	s.args = append(s.args, args...)
}

// ways are the searches for a page, the cheapest first. A customer has few
// deals. Whoever sees a good part of all deals meets a page of them within a
// short walk. For who sees few, the owners' own indexes are merged, or searched
// one after the other for what a filter finds.
func (q DealQuery) ways(scope Scope, walked int) []search {
	of := scope.owners()
	everybody := len(of.texts) == 0
	if q.Owner != "" {
		of.and("k.owner = ?", q.Owner)
	}
	rest := q.merged
	switch {
	case q.CustomerID != "" || everybody && q.Owner == "":
		rest = q.straight
	case q.narrow():
		rest = q.stretches
	}
	if q.CustomerID != "" || q.Owner != "" {
		return []search{rest(of)}
	}
	return []search{q.walk(of, walked), rest(of)}
}

// order is a way to sort deals: by a column and then by the id, both in the
// same direction, so that a key is compared as one row value.
type order struct {
	column, direction, after, until string
	key                             func(DealKey) any
}

var orders = map[Sort]order{
	Newest:    {"created_at", "desc", "<", ">=", func(k DealKey) any { return k.Created }},
	ValueDesc: {"value", "desc", "<", ">=", func(k DealKey) any { return k.Value }},
	ByClosing: {"expected_close_date", "asc", ">", "<=", func(k DealKey) any { return k.Closing }},
}

// sorted sorts the rows of a table, which is named with its dot.
func (o order) sorted(table string) string {
	return " order by " + table + o.column + " " + o.direction + ", " + table + "id " + o.direction
}

// first is sorted, and takes as many rows as a parameter says.
func (o order) first(table string) string { return o.sorted(table) + " limit ?" }

// The engine finds rows by the columns it likes. A plus before a column changes
// no answer, and keeps it from that one; before a key, it lets it compare the
// key as a whole. How a condition names its columns is one of these.
const (
	by      = "x."
	besides = "+x."
)

// along is the condition on the column by which deals x are sorted, from its
// near end to its far end. They go on after a key, if there is one.
func (q DealQuery) along(near, far string, after string, args ...any) (c clause) {
	if o := orders[q.Sort]; after != "" {
		c.and("("+near+o.column+", x.id) "+o.after+" ("+after+")", args...)
		near = besides
	}
	if q.Sort == ValueDesc && q.MinValue > 0 {
		c.and(far+"value >= ?", q.MinValue)
	}
	if q.Sort == ByClosing && q.ClosingFrom != "" {
		c.and(near+"expected_close_date >= ?", q.ClosingFrom)
	}
	if q.Sort == ByClosing && q.ClosingTo != "" {
		c.and(far+"expected_close_date <= ?", q.ClosingTo)
	}
	return c
}

// begin is along from where the query says.
func (q DealQuery) begin(near, far string) clause {
	if q.After == nil {
		return q.along(near, far, "")
	}
	return q.along(near, far, "?, ?", orders[q.Sort].key(*q.After), q.After.ID)
}

// beside adds the conditions on other columns. A stage has too many deals to
// find them by it.
func (q DealQuery) beside(c clause, column string) clause {
	if q.Stage != "" {
		c.and("+x.stage = ?", q.Stage)
	}
	if q.CustomerID != "" {
		c.and(column+"customer_id = ?", q.CustomerID)
	}
	if q.Sort != ValueDesc && q.MinValue > 0 {
		c.and(column+"value >= ?", q.MinValue)
	}
	if q.Sort != ByClosing && q.ClosingFrom != "" {
		c.and(column+"expected_close_date >= ?", q.ClosingFrom)
	}
	if q.Sort != ByClosing && q.ClosingTo != "" {
		c.and(column+"expected_close_date <= ?", q.ClosingTo)
	}
	return c
}

// narrow reports whether a filter on another column than the order's finds rows.
func (q DealQuery) narrow() bool {
	return q.CustomerID != "" || q.Sort != ValueDesc && q.MinValue > 0 || q.Sort != ByClosing && q.ClosingFrom+q.ClosingTo != ""
}

// owning is the condition that the owner of a deal x is one of these.
func (c clause) owning() (owned clause) {
	if len(c.texts) > 0 {
		owned.and("+x.owner_id in (select k.id from owners k where "+c.String()+")", c.args...)
	}
	return owned
}

// found is the deals x of a filter that are first in their order: found by the
// filter and then sorted, or else met in the order of an index.
func (q DealQuery) found(more clause) (s search) {
	order := by
	if q.narrow() {
		order = besides
	}
	c := q.beside(q.begin(order, order), by)
	c.and(more.String(), more.args...)
	s.add("select x.rowid from deals x where "+c.String(), c.args...)
	s.add(orders[q.Sort].first(order), q.Limit)
	return s
}

// straight finds the deals at once.
func (q DealQuery) straight(of clause) search { return q.found(of.owning()) }

// walk looks at the deals in their order, one by one, and gives up after a while:
// then, or when fewer are left, it finds too few.
func (q DealQuery) walk(of clause, walked int) (s search) {
	o, begin := orders[q.Sort], q.begin(by, by)
	c, more := q.beside(q.begin(by, besides), besides), of.owning()
	c.and(more.String(), more.args...)
	s.add("select x.rowid from deals x where "+c.String(), c.args...)
	s.add(" and (x."+o.column+", x.id) "+o.until+" (select x."+o.column+", +x.id from deals x where "+begin.String(), begin.args...)
	s.add(o.sorted(by)+" limit 1 offset ?)", walked)
	s.add(o.first(by), q.Limit)
	return s
}

// merged takes the best of each owner's deals. A queue holds the next deal of
// every owner; the best leaves it, and its owner's next one comes in. The cost
// depends on the owners, never on the number of deals.
func (q DealQuery) merged(of clause) (s search) {
	o := orders[q.Sort]
	first, next := q.beside(q.begin(by, by), besides), q.beside(q.along(by, by, "m.sort, m.id"), besides)
	const row = ", +y.id, y.rowid from "
	const one = " cross join deals y on y.rowid = (select x.rowid from deals x where x.owner_id = "
	s.add("with recursive merged (owner_id, sort, id, row) as (select k.id, y."+o.column+row+"owners k"+one+"k.id and "+first.String(), first.args...)
	s.add(o.sorted(by)+" limit 1) where "+of.String(), of.args...)
	s.add(" union all select m.owner_id, y."+o.column+row+"merged m"+one+"m.owner_id and "+next.String(), next.args...)
	s.add(o.sorted(by)+" limit 1) order by 2 "+o.direction+", 3 "+o.direction+" limit ?) select row from merged", q.Limit)
	return s
}

// stretches takes a page of each owner's deals, and the best of those.
func (q DealQuery) stretches(of clause) (s search) {
	var mine clause
	mine.and("x.owner_id = k.id")
	each := q.found(mine)
	s.add("select y.rowid from owners k cross join deals y on y.rowid in ("+each.text, each.args...)
	s.add(") where "+of.String(), of.args...)
	s.add(orders[q.Sort].first("y."), q.Limit)
	return s
}
