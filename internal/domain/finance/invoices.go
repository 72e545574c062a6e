package finance

import (
	"context"
	"math"
	"slices"
	"time"

	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

// Invoice is a vendor's bill.
type Invoice struct {
	InvoiceID     string     `json:"invoice_id" jsonschema:"format=uuid"`
	InvoiceNumber string     `json:"invoice_number"`
	VendorName    string     `json:"vendor_name" field:"label=Vendor,aka=supplier"`
	VendorID      string     `json:"vendor_id"`
	Amount        float64    `json:"amount" jsonschema:"minimum=0" db:"-" field:"unit=USD,amount,aka=cost|price|value|spend|pay|paid"`
	Currency      string     `json:"currency" jsonschema:"default=USD" field:"show=detail"`
	Description   string     `json:"description"`
	Department    string     `json:"department"`
	Status        string     `json:"status" jsonschema:"enum=pending,enum=approved,enum=paid,enum=rejected" jsonschema_description:"As it is stored; the field overdue says whether it is past due"`
	Overdue       bool       `json:"overdue" jsonschema_description:"Pending or approved, and due before today (UTC)" field:"aka=late"`
	InvoiceDate   string     `json:"invoice_date" jsonschema:"format=date"`
	DueDate       string     `json:"due_date" jsonschema:"format=date" field:"aka=overdue"`
	SubmittedBy   string     `json:"submitted_by" jsonschema:"format=email"`
	SubmittedAt   time.Time  `json:"submitted_at" field:"show=detail"`
	ApprovedBy    *string    `json:"approved_by" jsonschema:"oneof_type=string;null,format=email" jsonschema_description:"E-mail address"`
	ApprovedAt    *time.Time `json:"approved_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
}

// invoiceKey is an invoice's sort key in lists.
type invoiceKey struct{ Date, ID string }

// Key orders lists by date, the newest first.
func (i Invoice) Key() invoiceKey { return invoiceKey{i.InvoiceDate, i.InvoiceID} }

// invoiceRow is an invoice as the queries return one.
type invoiceRow struct {
	Invoice
	AmountCents int64
}

func (s *Server) invoices() []tool.Tool {
	return []tool.Tool{tool.List(tool.Spec{
		Name: "list_invoices", Title: "List invoices", Ask: "Which invoices are pending?",
		Description: "List vendor invoices, the newest first. Status overdue means unpaid and past due. With invoice_number: that one invoice with its invoice_id.",
		Allow:       readers, Synonyms: []string{"bill", "payable", "owe", "payment"}, Noun: "invoices", Narrow: "status, vendor, department, amount or due date", Untrusted: []string{"vendor_name", "invoice_number", "description"},
		Lacks: []tool.Lack{{
			Said: `^(\w+ ){0,3}(pay|approve|create|add|reject|update|change|rename|edit|modify|correct)\b.*(\b(invoice|bill)s?\b|\binv-)`,
			Tell: "Invoices can be read and deleted here, not added, changed, approved or paid",
		}, {
			Said: `\b(outstanding|owed?|owes?|owing|receivables?)\b.*\b(customers?|clients?|us)\b|\b(customers?|clients?)\b.*\b(owe|outstanding)\b|\b(we are|are we) (being )?owed\b`,
			Tell: "What customers owe is not kept here: invoices are those of vendors",
		}, {
			Said: `^who (pays|paid|is paying|has to pay)\b`,
			Tell: "Who pays is not kept here, only for which department an invoice is",
		}, {
			Said: `\bwhen (was|were|did|is|are) .*\b(paid|pay)$`,
			Tell: "When invoices were paid is not kept here, only when they were written and fall due",
		}},
	}, s.listInvoices)}
}

type listInvoices struct {
	Status        string   `json:"status,omitempty" jsonschema:"enum=pending,enum=approved,enum=paid,enum=rejected,enum=unpaid,enum=overdue" jsonschema_description:"Filter by invoice status; unpaid means pending or approved, overdue unpaid and past its due date" field:"aka.pending=waiting for approval|awaiting approval|waiting to be approved|waiting|unapproved|to be approved|needs approval,aka.unpaid=outstanding|open|to be paid|owe|owed|are due|due invoices|invoices due|due bills|bills due,aka.overdue=past due|past their due date|past its due date|late on payment"`
	Vendor        string   `json:"vendor,omitempty" jsonschema_description:"Filter by vendor name (partial match)" field:"aka=supplier"`
	Department    string   `json:"department,omitempty" jsonschema_description:"Filter by department, by name or code"`
	InvoiceNumber string   `json:"invoice_number,omitempty" jsonschema_description:"Only the invoice with this number, for example INV-2025-009" field:"like=INV-2025-004"`
	DueFrom       string   `json:"due_from,omitempty" jsonschema:"format=date" jsonschema_description:"Only invoices that are due on this day (YYYY-MM-DD) or later"`
	DueBefore     string   `json:"due_before,omitempty" jsonschema:"format=date" jsonschema_description:"Only invoices that are due before this day (YYYY-MM-DD)"`
	MinAmount     *float64 `json:"min_amount,omitempty" jsonschema:"minimum=0" jsonschema_description:"Only invoices of at least this amount in USD" field:"unit=USD,amount,aka=cost|price|value"`
	MaxAmount     *float64 `json:"max_amount,omitempty" jsonschema:"minimum=0" jsonschema_description:"Only invoices of at most this amount in USD" field:"unit=USD,amount,aka=cost|price|value"`
}

const invoicesWanted = `
  from finance.invoices i
  where i.deleted_at is null and (i.invoice_date, i.id) < ($1, $2)
    and ($4 = '' or i.status = $4 or $4 in ('unpaid', 'overdue') and i.status in ('pending', 'approved'))
    and ($4 <> 'overdue' or i.due_date < $3::date)
    and ($5 = '' or i.department = (select code from finance.departments where lower($5) in (lower(name), lower(code))))
    and ($6 = '' or i.number = upper($6))
    and ($7 = '' or i.due_date < nullif($7, '')::date)
    and ($8::bigint is null or i.amount_cents >= $8 and i.currency = 'USD')
    and ($9::bigint is null or i.amount_cents <= $9 and i.currency = 'USD')
    and ($10::text[] is null or i.vendor_id = any ($10))
    and ($11 = '' or (i.vendor_id in (
      select vendor_id from finance.vendor_tails where tail >= lower($11) collate "C" and tail < (lower($11) || chr(1114111)) collate "C")) is true)
    and ($12 = '' or (select strpos(v.name_key, lower($12)) > 0 from finance.vendors v where v.id = i.vendor_id))
    and ($13 = '' or i.due_date >= nullif($13, '')::date)`

// Amounts in other currencies compare with no bound.
const otherCurrencies = `select exists (select` + invoicesWanted + ` and i.currency <> 'USD')`

// The page's ids are found first, in an index where possible; only the rows of
// the page are fetched.
const pageOfInvoices = `
with page as (
  select i.id` + invoicesWanted + `
  order by i.invoice_date desc, i.id desc
  limit $14
)
select i.id as invoice_id, i.number as invoice_number, v.name as vendor_name, i.vendor_id, i.amount_cents, i.currency, i.description,
       d.name as department, i.status, i.status in ('pending', 'approved') and i.due_date < $3::date as overdue,
       i.invoice_date::text, i.due_date::text, i.submitted_by, i.submitted_at, i.approved_by, i.approved_at
from page
join finance.invoices i using (id)
join finance.vendors v on v.id = i.vendor_id
join finance.departments d on d.code = i.department
order by i.invoice_date desc, i.id desc`

// afterAll is a key after every invoice's.
var afterAll = invoiceKey{"9999-12-31", "ffffffff-ffff-ffff-ffff-ffffffffffff"}

func (s *Server) listInvoices(ctx context.Context, in listInvoices, w tool.Window[invoiceKey]) (invoices []Invoice, err error) {
	if in.MinAmount != nil && in.MaxAmount != nil && *in.MinAmount > *in.MaxAmount {
		return nil, fault.InvalidInput.New("The smallest amount is larger than the largest.").Instruct("Give min_amount as the smaller of the two.").Fields("min_amount", "max_amount")
	}
	err = s.db.Read(ctx, func(ctx context.Context) error {
		of, err := s.vendorsNamed(ctx, words(in.Vendor))
		if err != nil {
			return err
		}
		rows, err := database.Rows[invoiceRow](ctx, s.db, pageOfInvoices, append(parameters(in, w.After, s.today(), of), w.Limit)...)
		invoices = make([]Invoice, 0, len(rows))
		for _, row := range rows {
			row.Amount = money.Dollars(row.AmountCents)
			invoices = append(invoices, row.Invoice)
		}
		if err != nil || in.MinAmount == nil && in.MaxAmount == nil {
			return err
		}
		in.MinAmount, in.MaxAmount = nil, nil
		others, _, err := database.Row[bool](ctx, s.db, otherCurrencies, parameters(in, nil, s.today(), of)...)
		if others {
			tool.OtherCurrencies(ctx)
		}
		return err
	})
	return invoices, err
}

// parameters are those of invoicesWanted.
func parameters(in listInvoices, after *invoiceKey, today string, of vendors) []any {
	before := startOf(in, after)
	return []any{before.Date, before.ID, today, in.Status, words(in.Department), words(in.InvoiceNumber), in.DueBefore,
		atLeast(in.MinAmount), atMost(in.MaxAmount), of.few, of.some, of.many, in.DueFrom}
}

// startOf is the key that the scan by date begins after. An invoice that is due
// before a day is dated before it too, so the scan can begin there.
func startOf(in listInvoices, after *invoiceKey) invoiceKey {
	switch {
	case after != nil:
		return *after
	case in.DueBefore != "":
		return invoiceKey{in.DueBefore, "00000000-0000-0000-0000-000000000000"}
	}
	return afterAll
}

// Up to fewVendors their ids are parameters: the planner then estimates the
// number of invoices, and reads them vendor by vendor when that is fewer than a
// scan by date would pass. Planning with a longer list takes longer than the
// search. Up to someVendors the scan checks each invoice's vendor against a set in
// memory (`is true` keeps the planner from a join, which would fetch and sort
// every invoice of these vendors). With more vendors than that, a scan by date
// meets their invoices soon.
const (
	fewVendors  = 250
	someVendors = 2000
)

// vendors are those whose name has a part: one of the fields is set, depending
// on how many there are, or none when no part was given.
type vendors struct {
	few        []string // ids
	some, many string   // the part itself
}

// Ids are returned only when they are few: returning two thousand of them takes
// longer than the page.
const findVendors = `
select count(*) as found, case when count(*) <= $2 then array_agg(vendor_id) end as ids
from (
  select vendor_id from finance.vendor_tails
  where tail >= lower($1) collate "C" and tail < (lower($1) || chr(1114111)) collate "C"
  limit $3
) named`

type vendorsFound struct {
	Found int
	IDs   []string `db:"ids"`
}

func (s *Server) vendorsNamed(ctx context.Context, part string) (vendors, error) {
	if part == "" {
		return vendors{}, nil
	}
	named, _, err := database.Row[vendorsFound](ctx, s.db, findVendors, part, fewVendors, someVendors+1)
	switch {
	case err != nil:
		return vendors{}, err
	case named.Found > someVendors:
		return vendors{many: part}, nil
	case named.Found > fewVendors:
		return vendors{some: part}, nil
	}
	few := append([]string{}, named.IDs...) // not nil, which would not filter
	slices.Sort(few)                        // a name may have the part twice
	return vendors{few: slices.Compact(few)}, nil
}

// atLeast and atMost are the bounds of an amount in whole cents; nil is none.
func atLeast(dollars *float64) *int64 { return bound(dollars, math.Ceil) }

func atMost(dollars *float64) *int64 { return bound(dollars, math.Floor) }

// bound rounds what is no whole number of cents to the inside of the range.
func bound(dollars *float64, inside func(float64) float64) *int64 {
	if dollars == nil {
		return nil
	}
	cents, whole := money.Cents(*dollars)
	if !whole {
		cents = int64(inside(min(*dollars*100, 1<<53)))
	}
	return &cents
}
