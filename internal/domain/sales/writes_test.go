package sales_test

import (
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/testkit/domaintest"
)

func (o *office) stage(id string) string {
	o.Helper()
	d, _, err := o.store.Deal(o.Context(), everything, id)
	if err != nil {
		o.Fatal(err)
	}
	return d.Stage
}

func TestDealIsClosedOnceByItsHuman(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		p := o.PendingAs("carol.johnson", "close_deal", `{"deal_id":"`+strings.ToUpper(gfpDeal)+`","outcome":"won","notes":"Signed in person."}`)
		want := "Close deal GFP Expansion (Global Finance Partners, in NEGOTIATION, valued at USD 750,000) as won for USD 750,000? (No actual value was given, so the deal's value is taken.)\nThis cannot be undone."
		if p.Message != want || p.Data["valueAssumed"] != true || p.Data["dealName"] != "GFP Expansion" {
			t.Errorf("got  %s\nwant %s\n%v", p.Message, want, p.Data)
		}
		if got := o.stage(gfpDeal); got != "NEGOTIATION" {
			t.Fatalf("asking has closed it: %s", got)
		}
		if got := o.AnswerAs("dan.williams", p.ID, true); !strings.Contains(got, "USER_MISMATCH") {
			t.Errorf("a stranger approves: %s", got)
		}
		first := o.AnswerAs("carol.johnson", p.ID, true)
		if !strings.Contains(first, `"message":"Deal GFP Expansion has been closed as won for USD 750,000."`) {
			t.Errorf("got %s", first)
		}
		if again := o.AnswerAs("carol.johnson", p.ID, true); again != first {
			t.Errorf("the second answer differs:\n%s\n%s", first, again)
		}
		d, _, _ := o.store.Deal(t.Context(), everything, gfpDeal)
		if d.Stage != "CLOSED_WON" || d.Probability != 100 || d.Version != 2 || !strings.HasSuffix(d.Notes, "terms.\nSigned in person.") {
			t.Errorf("got %+v", d)
		}
		owner, err := access.From(o.As("carol.johnson"))
		if err != nil {
			t.Fatal(err)
		}
		kept, found, err := o.store.Find(t.Context(), owner.Owner(), confirm.ID(p.ID))
		if string(kept) != first || !found || err != nil {
			t.Errorf("the receipt in the store: %v, %v\n%s\n%s", found, err, kept, first)
		}
		won := domaintest.Decode[sales.Pipeline](t, o.CallAs("carol.johnson", "get_pipeline", `{}`))
		if won.ClosedWon != 275_000+750_000 {
			t.Errorf("won this quarter: %v", won.ClosedWon)
		}
	})
}

func TestCustomerIsDeletedOnceNothingIsOpen(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		input := `{"customer_id":"` + ironID + `","reason":"Bankrupt."}`
		out := o.CallAs("carol.johnson", "delete_customer", input)
		if out.Code() != "CUSTOMER_HAS_OPEN_DEALS" || !strings.Contains(out.Fault().Message, "1 open deal (Manufacturing Starter)") {
			t.Fatalf("got %s, %v", out.Code(), out.Fault())
		}
		p := o.PendingAs("carol.johnson", "close_deal", `{"deal_id":"`+ironDeal+`","outcome":"lost","loss_reason":"Bankrupt."}`)
		o.AnswerAs("carol.johnson", p.ID, true)
		first, second := o.PendingAs("carol.johnson", "delete_customer", input), o.PendingAs("carol.johnson", "delete_customer", input)
		receipt := o.AnswerAs("carol.johnson", first.ID, true)
		for _, want := range []string{`"deleted":true`, `"customerId":"` + ironID + `"`, `"customerName":"Ironbridge Manufacturing"`, "has been deleted."} {
			if !strings.Contains(receipt, want) {
				t.Errorf("%s is not in %s", want, receipt)
			}
		}
		if got := o.AnswerAs("carol.johnson", second.ID, true); !strings.Contains(got, "CUSTOMER_NOT_FOUND") {
			t.Errorf("deleted twice: %s", got)
		}
		if out := o.CallAs("carol.johnson", "get_customer", `{"customer_id":"`+ironID+`"}`); out.Code() != "CUSTOMER_NOT_FOUND" {
			t.Errorf("it is still there: %s", out.Code())
		}
	})
}
