package finance_test

import (
	"slices"
	"testing"

	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit/domaintest"
)

// A part of a vendor's name is searched in three ways, depending on how many
// vendors have it: each finds what the plain search finds, alone and with other filters.
func TestVendorPartFindsTheSameHoweverManyHaveIt(t *testing.T) {
	t.Parallel()
	h := openScaled(t)
	h.Admin(`insert into finance.vendors (id, name) select 'P' || i, 'Plenty ' || to_char(i, 'FM0000') || ' plenty' from generate_series(1, 2500) i`)
	h.Admin(`update finance.invoices set vendor_id = 'P' || (1 + hashtext(number) & 2047) where right(number, 1) in ('1', '5', '8')`)
	ctx := domaintest.SignedIn(t.Context(), "x@y", "finance-read")
	const plain = `
select i.number from finance.invoices i join finance.vendors v on v.id = i.vendor_id
where i.deleted_at is null and v.name ilike '%' || $1 || '%' and ($2 = '' or i.status = $2) and i.amount_cents >= $3
order by i.invoice_date desc, i.id desc limit 50`
	find := func(in args) (found int) {
		want, err := database.Rows[string](ctx, h.DB, plain, in["vendor"], in["status"], in["min_amount"].(int)*100)
		if err != nil {
			t.Fatal(err)
		}
		if in["status"] == "" {
			delete(in, "status")
		}
		if got := numbers(get[[]invoice](h, ctx, "list_invoices", in)); !slices.Equal(got, want) {
			t.Errorf("%v: got %v\nwant %v", in, got, want)
		}
		return len(want)
	}
	for _, part := range []string{"plenty 001", "plenty 00", "PLENTY 0", "y 1", "plenty"} { // 10, 99, 999, 1,000 and 2,500 vendors have it
		if find(args{"vendor": part, "status": "", "min_amount": 0}) == 0 {
			t.Errorf("no vendor with %q sent an invoice: the question proves nothing", part)
		}
		find(args{"vendor": part, "status": "rejected", "min_amount": 0})
		find(args{"vendor": part, "status": "", "min_amount": 90_000})
	}
}
