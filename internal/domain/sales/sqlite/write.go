package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/sales"
)

const updateDeal = `
update deals set stage = ?, value = ?, probability = ?, loss_reason = ?, notes = ?, actual_close_date = ?, updated_at = ?, version = version + 1
where id = ? and version = ? and stage not in ('CLOSED_WON', 'CLOSED_LOST') and owner_id in (select k.id from owners k where `

// CloseDeal closes a deal that is as it was seen.
func (s *Store) CloseDeal(ctx context.Context, scope sales.Scope, c sales.Closing) error {
	in := owners(scope)
	return s.ExecOne(ctx, updateDeal+in.String()+")", append([]any{
		c.Stage, c.Value, c.Probability, c.LossReason, c.Notes, c.At.Format(time.DateOnly), c.At.UnixMilli(), c.ID, c.Version,
	}, in.Args...)...)
}

const deleteStatement = `
update customers set deleted_at = ?, deleted_by = ?, updated_at = ?, version = version + 1
where id = ? and version = ? and deleted_at is null and owner_id in (select k.id from owners k where `

// DeleteCustomer leaves a tombstone of a customer that is as it was seen.
func (s *Store) DeleteCustomer(ctx context.Context, scope sales.Scope, t sales.Tombstone) error {
	in := owners(scope)
	return s.ExecOne(ctx, deleteStatement+in.String()+")", append([]any{
		t.At.UnixMilli(), t.By, t.At.UnixMilli(), t.ID, t.Version,
	}, in.Args...)...)
}

// Fill adds what is missing, all of it or nothing.
func (s *Store) Fill(ctx context.Context, rows company.Sales) (err error) {
	tx, err := s.Begin(ctx)
	if err != nil {
		return s.Fault(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to undo
	f := &inserter{ctx: ctx, tx: tx, owners: map[string]int64{}}
	for c := range rows.Customers {
		f.customer(c)
	}
	for d := range rows.Deals {
		f.deal(d)
	}
	for _, q := range rows.Quotas {
		f.run(insertQuota, q.Quarter, f.owner(q.Owner, q.OwnerChain), q.Amount)
	}
	f.run("analyze")
	if f.err != nil {
		return s.Fault(ctx, f.err)
	}
	return s.Fault(ctx, tx.Commit())
}

const (
	insertOwner    = `insert into owners (owner, owner_chain) values (?, ?) on conflict do nothing`
	insertCustomer = `
insert into customers (id, owner_id, name, email, company, industry, phone, street, city, state, zip, country, tier, annual_revenue, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
	insertDeal = `
insert into deals (id, customer_id, owner_id, deal_name, value, stage, probability, expected_close_date, actual_close_date, notes, loss_reason, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
	insertQuota = `insert into quotas (quarter, owner_id, amount) values (?, ?, ?) on conflict do nothing`
)

// inserter writes rows one by one and stops at the first that fails.
type inserter struct {
	ctx      context.Context
	tx       *sql.Tx
	owners   map[string]int64
	prepared map[string]*sql.Stmt
	err      error
}

func (f *inserter) run(statement string, args ...any) {
	if f.err != nil {
		return
	}
	prepared := f.prepared[statement]
	if prepared == nil {
		if prepared, f.err = f.tx.PrepareContext(f.ctx, statement); f.err != nil {
			return
		}
		if f.prepared == nil {
			f.prepared = map[string]*sql.Stmt{}
		}
		f.prepared[statement] = prepared // closed with the transaction
	}
	_, f.err = prepared.ExecContext(f.ctx, args...)
}

// owner returns the reference of an owner with their chain.
func (f *inserter) owner(owner string, chain []string) int64 {
	if chain == nil {
		chain = []string{}
	}
	encoded, err := json.Marshal(chain)
	if err != nil {
		f.err = err
		return 0
	}
	key := owner + string(encoded)
	if id, known := f.owners[key]; known {
		return id
	}
	f.run(insertOwner, owner, string(encoded))
	if f.err != nil {
		return 0
	}
	var id int64
	f.err = f.tx.QueryRowContext(f.ctx, `select id from owners where owner = ? and owner_chain = ?`, owner, string(encoded)).Scan(&id)
	f.owners[key] = id
	return id
}

func (f *inserter) customer(c company.Customer) {
	f.run(insertCustomer, c.ID, f.owner(c.Owner, c.OwnerChain), c.Contact, c.Email, c.Company, c.Industry, c.Phone,
		c.Street, c.City, c.State, c.Zip, c.Country, c.Tier, c.Revenue, c.Created.UnixMilli(), c.Created.UnixMilli())
}

func (f *inserter) deal(d company.Deal) {
	var closed any
	if !d.ActualClose.IsZero() {
		closed = d.ActualClose.Format(time.DateOnly)
	}
	f.run(insertDeal, d.ID, d.CustomerID, f.owner(d.Owner, d.OwnerChain), d.Name, d.Value, d.Stage, d.Probability,
		d.ExpectedClose.Format(time.DateOnly), closed, d.Notes, d.LossReason, d.Created.UnixMilli(), d.Updated.UnixMilli())
}
