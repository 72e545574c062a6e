package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"countersign.dev/internal/domain/sales"
	engine "countersign.dev/internal/sqlite"
)

// owners is the condition that a scope puts on an owner k. Every statement that
// reads or changes a customer, a deal or a quota goes through it.
func owners(s sales.Scope) (c engine.Clause) {
	switch email := s.Email(); {
	case s.All():
	case email != "":
		c.And("k.id in (select owner_id from reach where email = ?)", email)
	default:
		c.And("false")
	}
	return c
}

const (
	customerColumns = `
select c.id, c.name, c.email, c.company, c.industry, c.phone, c.street, c.city, c.state, c.zip, c.country,
  k.owner, c.tier, c.annual_revenue, c.created_at, c.updated_at, c.version, `
	fromCustomers = ` from customers c join owners k on k.id = c.owner_id where c.deleted_at is null and `
	ofCustomer    = ` from deals d join owners k on k.id = d.owner_id where d.customer_id = c.id and d.stage not in ('CLOSED_WON', 'CLOSED_LOST') and `
)

// customersBy reads the customers that a condition holds for, each with the number of
// its open deals.
func (s *Store) customersBy(ctx context.Context, scope sales.Scope, where engine.Clause, limit int) (out []sales.Customer, err error) {
	in := owners(scope)
	statement := customerColumns + "(select count(*)" + ofCustomer + in.String() + ")" + fromCustomers + where.String() + " order by c.company, c.id limit ?"
	rows, err := s.In(ctx).QueryContext(ctx, statement, append(append(in.Args, where.Args...), limit)...)
	err = s.Each(ctx, rows, err, func() error {
		var c sales.Customer
		var created, updated int64
		a := &c.Address
		err := rows.Scan(&c.ID, &c.Name, &c.Email, &c.Company, &c.Industry, &c.Phone, &a.Street, &a.City, &a.State, &a.Zip, &a.Country,
			&c.AccountOwner, &c.Tier, &c.AnnualRevenue, &created, &updated, &c.Version, &c.OpenDeals)
		c.CreatedAt, c.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
		out = append(out, c)
		return err
	})
	return out, err
}

// Customers returns a page.
func (s *Store) Customers(ctx context.Context, scope sales.Scope, q sales.CustomerQuery) ([]sales.Customer, error) {
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	where := owners(scope)
	for _, word := range q.Name {
		where.And("instr(lower_all(c.company), lower_all(?)) > 0", word)
	}
	if q.Tier != "" {
		where.And("c.tier = ?", q.Tier)
	}
	if q.Owner != "" {
		where.And("k.owner = ?", q.Owner)
	}
	if q.After != nil {
		where.And("(c.company, c.id) > (?, ?)", q.After.Company, q.After.ID)
	}
	return s.customersBy(ctx, scope, where, q.Limit)
}

// Customer returns one customer with its open deals.
func (s *Store) Customer(ctx context.Context, scope sales.Scope, id string) (sales.Customer, bool, error) {
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	where := owners(scope)
	where.And("c.id = ?", id)
	found, err := s.customersBy(ctx, scope, where, 1)
	if err != nil || len(found) == 0 {
		return sales.Customer{}, false, err
	}
	c := found[0]
	c.OpenDeals, c.OpenName, err = s.openDeals(ctx, scope, id)
	return c, err == nil, err
}

const selectOpenDeals = `
select d.deal_name, count(*) over () from deals d join owners k on k.id = d.owner_id
where d.customer_id = ? and d.stage not in ('CLOSED_WON', 'CLOSED_LOST') and `

func (s *Store) openDeals(ctx context.Context, scope sales.Scope, customer string) (count int, names []string, err error) {
	in := owners(scope)
	rows, err := s.In(ctx).QueryContext(ctx, selectOpenDeals+in.String()+" order by d.id limit ?", append(append([]any{customer}, in.Args...), sales.NamesShown)...)
	err = s.Each(ctx, rows, err, func() error {
		var name string
		if err := rows.Scan(&name, &count); err != nil {
			return err
		}
		names = append(names, name)
		return nil
	})
	return count, names, err
}

const selectDeals = `
select d.id, d.customer_id, c.company, d.deal_name, d.value, d.currency, d.stage, d.probability, d.expected_close_date,
  coalesce(d.actual_close_date, ''), k.owner, d.notes, d.loss_reason, d.created_at, d.updated_at, d.version
from deals d join owners k on k.id = d.owner_id join customers c on c.id = d.customer_id
where `

// scanDeal reads a row of selectDeals.
func scanDeal(row interface{ Scan(...any) error }) (d sales.Deal, err error) {
	var created, updated int64
	err = row.Scan(&d.ID, &d.CustomerID, &d.CustomerName, &d.DealName, &d.Value, &d.Currency, &d.Stage, &d.Probability, &d.ExpectedCloseDate,
		&d.ActualCloseDate, &d.Owner, &d.Notes, &d.LossReason, &created, &updated, &d.Version)
	d.CreatedAt, d.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return d, err
}

// Deal returns one deal.
func (s *Store) Deal(ctx context.Context, scope sales.Scope, id string) (d sales.Deal, found bool, err error) {
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	where := owners(scope)
	where.And("d.id = ?", id)
	d, err = scanDeal(s.In(ctx).QueryRowContext(ctx, selectDeals+where.String(), where.Args...))
	if errors.Is(err, sql.ErrNoRows) {
		return sales.Deal{}, false, nil
	}
	return d, err == nil, s.Fault(ctx, err)
}

const (
	selectSums = `
select d.stage, d.currency = ?, count(*), sum(d.value), sum(d.value * d.probability) / 100
from deals d join owners k on k.id = d.owner_id
where coalesce(d.actual_close_date, d.expected_close_date) >= ? and coalesce(d.actual_close_date, d.expected_close_date) < ? and `
	selectTarget = `
select coalesce(sum(q.amount), 0) from quotas q join owners k on k.id = q.owner_id where q.quarter = ? and `
)

// Sums adds up a quarter.
func (s *Store) Sums(ctx context.Context, scope sales.Scope, q sales.Quarter) (sales.Sums, error) {
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	in := owners(scope)
	sums := sales.Sums{Stages: map[string]sales.StageSum{}}
	rows, err := s.In(ctx).QueryContext(ctx, selectSums+in.String()+" group by 1, 2",
		append([]any{sales.Currency, q.From().Format(time.DateOnly), q.Until().Format(time.DateOnly)}, in.Args...)...)
	err = s.Each(ctx, rows, err, func() error {
		var stage string
		var adds bool
		var sum sales.StageSum
		err := rows.Scan(&stage, &adds, &sum.Count, &sum.Value, &sum.Weighted)
		if adds {
			sums.Stages[stage] = sum
		} else {
			sums.Others += sum.Count
		}
		return err
	})
	if err != nil {
		return sales.Sums{}, err
	}
	err = s.In(ctx).QueryRowContext(ctx, selectTarget+in.String(), append([]any{q.String()}, in.Args...)...).Scan(&sums.Target)
	return sums, s.Fault(ctx, err)
}
