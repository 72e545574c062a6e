package sales_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/testkit"
)

var day = time.Date(2026, 8, 12, 9, 30, 0, 0, time.UTC)

// everything may be seen by Carol.
var everything = sales.ScopeOf(testkit.Person("carol", access.SalesWrite))

// book is a set of rows that tests compare answers with.
type book struct {
	customers []company.Customer
	deals     []company.Deal
	quotas    []company.Quota
}

func bookOf(s company.Sales) *book {
	return &book{slices.Collect(s.Customers), slices.Collect(s.Deals), s.Quotas}
}

func (b *book) rows() company.Sales {
	return company.Sales{Customers: slices.Values(b.customers), Deals: slices.Values(b.deals), Quotas: b.quotas}
}

// tied is a book in which most deals share their sort keys with others.
func tied(n int) *book {
	b := bookOf(company.ScaledSales(n, day))
	for i := range b.deals {
		d := &b.deals[i]
		d.Value = 1000 * int64(i%5)
		d.Created = day.Truncate(time.Hour).Add(time.Duration(i%3) * time.Millisecond)
		d.ExpectedClose = day.Truncate(24*time.Hour).AddDate(0, 0, i%4*30)
		if !d.ActualClose.IsZero() {
			d.ActualClose = d.ExpectedClose.AddDate(0, 0, i%9)
		}
	}
	for i := range 6 {
		seller := b.deals[i]
		b.quotas = append(b.quotas, company.Quota{Quarter: "2026-Q3", Owner: seller.Owner, OwnerChain: seller.OwnerChain, Amount: int64(100_000 + i)})
	}
	slices.SortFunc(b.quotas, func(x, y company.Quota) int { return cmp.Compare(x.Owner, y.Owner) })
	b.quotas = slices.CompactFunc(b.quotas, func(x, y company.Quota) bool { return x.Owner == y.Owner })
	return b
}

func fill(t *testing.T, s sales.Store, b *book) {
	t.Helper()
	if err := s.Fill(t.Context(), b.rows()); err != nil {
		t.Fatal(err)
	}
}

// sees is the rule of who sees a row, written a second time.
func sees(p *access.Principal, owner string, chain []string) bool {
	if p.HasAny(access.SalesWrite, access.Executive) {
		return true
	}
	return p.HasAny(access.SalesRead) && p.Email() != "" && (owner == p.Email() || slices.Contains(chain, p.Email()))
}

// ask is what a person asks a list for.
type ask struct {
	who *access.Principal
	q   sales.DealQuery
}

func (a ask) wants(d company.Deal) bool {
	closing, q := d.ExpectedClose.Format(time.DateOnly), a.q
	return sees(a.who, d.Owner, d.OwnerChain) &&
		(q.Stage == "" || d.Stage == q.Stage) && (q.Owner == "" || d.Owner == q.Owner) && (q.CustomerID == "" || d.CustomerID == q.CustomerID) &&
		float64(d.Value) >= q.MinValue && (q.ClosingFrom == "" || closing >= q.ClosingFrom) && (q.ClosingTo == "" || closing <= q.ClosingTo)
}

// want is the ids that the answer must have, in order.
func (a ask) want(b *book) (ids []string) {
	var rows []company.Deal
	for _, d := range b.deals {
		if a.wants(d) {
			rows = append(rows, d)
		}
	}
	slices.SortFunc(rows, func(x, y company.Deal) int {
		switch a.q.Sort {
		case sales.ValueDesc:
			return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(y.ID, x.ID))
		case sales.ByClosing:
			return cmp.Or(x.ExpectedClose.Compare(y.ExpectedClose), cmp.Compare(x.ID, y.ID))
		}
		return cmp.Or(y.Created.Compare(x.Created), cmp.Compare(y.ID, x.ID))
	})
	for _, d := range rows {
		ids = append(ids, d.ID)
	}
	return ids
}

// walk reads every page, and calls between after each.
func (a ask) walk(t *testing.T, s sales.Store, page int, between func(seen []string)) (ids []string) {
	t.Helper()
	a.q.Limit = page + 1
	for {
		rows, err := s.Deals(t.Context(), sales.ScopeOf(a.who), a.q)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range rows[:min(page, len(rows))] {
			ids = append(ids, d.ID)
		}
		if len(rows) <= page {
			return ids
		}
		key := rows[page-1].Key()
		a.q.After = &key
		if between != nil {
			between(ids)
		}
	}
}

// anyone is a principal of any kind: with roles or without, an owner, a manager,
// a stranger, or somebody whose address nobody has verified.
func anyone(r *rand.Rand) *access.Principal {
	var roles []string
	for _, role := range access.Roles() {
		if r.IntN(6) == 0 || role == access.SalesRead && r.IntN(3) > 0 {
			roles = append(roles, string(role))
		}
	}
	if r.IntN(2) == 0 { // half of the people see a part only
		roles = slices.DeleteFunc(roles, func(s string) bool { return s == "sales-write" || s == "executive" })
	}
	email := company.ScaledEmail(r.IntN(14))
	return access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: email, Email: email, EmailVerified: r.IntN(8) > 0, Roles: roles})
}

func anything(r *rand.Rand, b *book) (q sales.DealQuery) {
	d := b.deals[r.IntN(len(b.deals))]
	some := func() bool { return r.IntN(4) == 0 }
	if some() {
		q.Stage = d.Stage
	}
	if some() {
		q.Owner = d.Owner
	}
	if some() {
		q.CustomerID = d.CustomerID
	}
	if some() {
		q.MinValue = float64(r.IntN(5000))
	}
	if some() {
		q.ClosingFrom = d.ExpectedClose.Format(time.DateOnly)
	}
	if some() {
		q.ClosingTo = d.ExpectedClose.AddDate(0, 0, r.IntN(60)).Format(time.DateOnly)
	}
	q.Sort = []sales.Sort{sales.Newest, sales.ValueDesc, sales.ByClosing}[r.IntN(3)]
	return q
}

// soon is a context that ends quickly.
func soon(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
