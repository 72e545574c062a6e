package sales_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// office is the domain as the kernel runs it, with the sample company.
type office struct {
	*domaintest.Harness
	store sales.Store
}

func newOffice(t *testing.T, store sales.Store) *office {
	t.Helper()
	server := sales.New(store, func() time.Time { return day })
	if err := server.Seed(t.Context(), company.At(day)); err != nil {
		t.Fatal(err)
	}
	return &office{domaintest.Open(t, "sales", server), store}
}

const (
	acmeID      = "65a1c0000000000000000001"
	techStartID = "65a1c0000000000000000002"
	ironID      = "65a1c0000000000000000006"
	nobodysID   = "ffffffffffffffffffffffff"
	gfpDeal     = "65a2d0000000000000000003" // GFP Expansion, Carol's
	ironDeal    = "65a2d0000000000000000009" // Manufacturing Starter
	wonDeal     = "65a2d0000000000000000001"
)

func onBothStores(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	for _, name := range []string{"memory", "mongodb"} {
		t.Run(name, func(t *testing.T) { test(t, newOffice(t, engines[name](t).Store)) })
	}
}

func TestTopFiveDealsClosingThisMonth(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		out := o.CallAs("carol.johnson", "list_deals", `{"sort":"value_desc","closing_from":"2026-08-01","closing_to":"2026-08-31","limit":5}`)
		var got []string
		for _, d := range domaintest.Decode[[]sales.Deal](t, out) {
			got = append(got, d.DealName)
		}
		want := []string{"RetailMax Transformation", "GFP Expansion", "RetailMax Integration", "HealthCare Pilot", "TechStart Growth"}
		if diff := cmp.Diff(want, got); diff != "" || !out.Page().More {
			t.Errorf("more: %v (-want +got):\n%s", out.Page().More, diff)
		}
		next := o.CallAs("carol.johnson", "list_deals", `{"sort":"value_desc","closing_from":"2026-08-01","closing_to":"2026-08-31","limit":5,"cursor":"`+out.Page().Next+`"}`)
		if last := domaintest.Decode[[]sales.Deal](t, next); len(last) != 1 || last[0].DealName != "Manufacturing Starter" {
			t.Errorf("page 2: %+v", last)
		}
		if stolen := o.CallAs("ryan.garcia", "list_deals", `{"sort":"value_desc","closing_from":"2026-08-01","closing_to":"2026-08-31","limit":5,"cursor":"`+out.Page().Next+`"}`); stolen.Code() != "INVALID_CURSOR" {
			t.Errorf("Carol's cursor in Ryan's hands: %s", stolen.Code())
		}
	})
}

func TestPipelineOfThisQuarterByPerson(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		type sums struct {
			Total, Weighted, Won, Target float64
			Percent                      int
			Scope                        string
		}
		for username, want := range map[string]sums{
			"carol.johnson": {2_475_000, 1_395_000, 275_000, 2_500_000, 11, "all deals of the company"},
			"eve.thompson":  {2_475_000, 1_395_000, 275_000, 2_500_000, 11, "all deals of the company"},
			"ryan.garcia":   {525_000, 315_000, 275_000, 1_750_000, 16, "deals of ryan.garcia@tamshai.local and the people who report to them"},
			"amanda.white":  {210_000, 76_000, 0, 625_000, 0, "deals of amanda.white@tamshai.local and the people who report to them"},
		} {
			p := domaintest.Decode[sales.Pipeline](t, o.CallAs(username, "get_pipeline", `{}`))
			got := sums{p.TotalPipeline, p.WeightedPipeline, p.ClosedWon, p.Target, p.AttainmentPercent, p.Scope}
			if diff := cmp.Diff(want, got); diff != "" || p.Quarter != "2026-Q3" {
				t.Errorf("%s, %s (-want +got):\n%s", username, p.Quarter, diff)
			}
		}
		p := domaintest.Decode[sales.Pipeline](t, o.CallAs("carol.johnson", "get_pipeline", `{"quarter":"Q2 2026"}`))
		if p.Quarter != "2026-Q2" || p.ClosedWon != 575_000 || p.TotalPipeline != 0 {
			t.Errorf("the quarter before: %+v", p)
		}
	})
}

// TestWhoSeesACustomer is the domain's page for the curious: person, customer,
// what they get, and how the contact is shown.
func TestWhoSeesACustomer(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		for _, c := range []struct{ who, id, want string }{
			{"carol.johnson", techStartID, "lena.ostrowski@techstart.example 415-555-0172"},
			{"eve.thompson", techStartID, "lena.ostrowski@techstart.example 415-555-0172"},
			{"amanda.white", techStartID, "lena.ostrowski@techstart.example 415-555-0172"}, // the account owner
			{"ryan.garcia", techStartID, "l***@techstart.example ***-0172"},                // her manager
			{"ryan.garcia", acmeID, "gordon.blake@acme.example 312-555-0171"},
			{"amanda.white", acmeID, "CUSTOMER_NOT_FOUND"},
			{"amanda.white", nobodysID, "CUSTOMER_NOT_FOUND"},
			{"amanda.white", "not-an-id", "VALIDATION_ERROR"},
			{"frank.davis", techStartID, "INSUFFICIENT_PERMISSIONS"},
			{"bob.martinez", techStartID, "INSUFFICIENT_PERMISSIONS"},
			{"auditor.demo", techStartID, "INSUFFICIENT_PERMISSIONS"},
		} {
			out := o.CallAs(c.who, "get_customer", `{"customer_id":"`+c.id+`"}`)
			got := out.Code()
			if out.Fault() == nil {
				customer := domaintest.Decode[sales.Customer](t, out)
				got = customer.Email + " " + customer.Phone
			}
			if got != c.want {
				t.Errorf("%s looks at %s: got %s, want %s", c.who, c.id, got, c.want)
			}
		}
		hidden, unknown := o.CallAs("amanda.white", "get_customer", `{"customer_id":"`+acmeID+`"}`), o.CallAs("amanda.white", "get_customer", `{"customer_id":"`+nobodysID+`"}`)
		if diff := cmp.Diff(string(o.Encode(unknown)), string(o.Encode(hidden))); diff != "" {
			t.Errorf("a hidden customer is answered differently:\n%s", diff)
		}
	})
}

func TestRefusalNamesWhoMay(t *testing.T) {
	o := newOffice(t, sqliteAt(t, ""))
	for name, c := range map[string]struct{ input, roles string }{
		"list_deals":      {`{}`, "sales-read or executive"},
		"get_pipeline":    {`{}`, "sales-read or executive"},
		"close_deal":      {`{"deal_id":"` + gfpDeal + `","outcome":"won"}`, "sales-write or executive"},
		"delete_customer": {`{"customer_id":"` + ironID + `"}`, "sales-write or executive"},
	} {
		out := o.CallAs("frank.davis", name, c.input)
		if out.Code() != "INSUFFICIENT_PERMISSIONS" || !strings.Contains(out.Fault().Message, c.roles) {
			t.Errorf("%s: %s %v", name, out.Code(), out.Fault())
		}
	}
	if out := o.CallAs("ryan.garcia", "close_deal", `{"deal_id":"`+ironDeal+`","outcome":"won"}`); out.Code() != "INSUFFICIENT_PERMISSIONS" {
		t.Errorf("a reader closes his own deal: %s", out.Code())
	}
}

// TestChainsStayInside: who stands above an owner is on no wire.
func TestChainsStayInside(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		for _, out := range []result.Outcome{
			o.CallAs("amanda.white", "list_deals", `{}`),
			o.CallAs("amanda.white", "get_customer", `{"customer_id":"`+techStartID+`"}`),
			o.CallAs("amanda.white", "get_pipeline", `{}`),
		} {
			wire := string(o.Encode(out))
			for _, canary := range []string{"owner_chain", "ryan.garcia@", "carol@", "eve@", "chris.taylor@", "GFP", "RetailMax"} {
				if strings.Contains(wire, canary) {
					t.Errorf("%q is in %s", canary, wire)
				}
			}
		}
	})
}

func TestHostileInputIsRefusedOrFindsNothing(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		for _, input := range []string{
			`{"stage": {"$ne": ""}}`, `{"owner": {"$gt": ""}}`, `{"customer_id": {"$oid": "` + acmeID + `"}}`, `{"min_value": {"$gt": 0}}`, `{"$where": "1"}`,
			`{"stage":"CLOSED_WON","stage":"PROPOSAL"}`, `{"sort":"owner_chain"}`, `{"closing_from":"2026-02-30"}`, `{"closing_to":"' or 1=1"}`, `{"min_value":-1}`, `{"limit":51}`,
		} {
			if out := o.CallAs("carol.johnson", "list_deals", input); out.Code() != "VALIDATION_ERROR" {
				t.Errorf("%s: got %s", input, out.Code())
			}
		}
		for _, text := range hostile {
			quoted, _ := json.Marshal(map[string]string{"owner": text})
			out := o.CallAs("carol.johnson", "list_deals", string(quoted))
			if deals := domaintest.Decode[[]sales.Deal](t, out); len(deals) != 0 {
				t.Errorf("owner %q finds %d deals", text, len(deals))
			}
		}
		if out := o.CallAs("carol.johnson", "list_deals", `{"closing_from":"2026-09-01","closing_to":"2026-08-01"}`); out.Code() != "INVALID_INPUT" {
			t.Errorf("dates the wrong way round: %s", out.Code())
		}
		if out := o.CallAs("carol.johnson", "list_deals", `{"owner":"Ryan.Garcia@Tamshai.Local"}`); len(domaintest.Decode[[]sales.Deal](t, out)) != 2 {
			t.Error("an address in capitals is another address")
		}
	})
}

// TestInputsAreTheDocumentedOnes: names, types and required sets of document
// 003, and no more than what is allowed to be added.
func TestInputsAreTheDocumentedOnes(t *testing.T) {
	o := newOffice(t, sqliteAt(t, ""))
	documented := map[string]string{
		"get_customer":    "customer_id:string! ",
		"list_deals":      "closing_from:string closing_to:string cursor:string customer_id:string limit:integer min_value:number owner:string sort:string stage:string ",
		"get_pipeline":    "quarter:string ",
		"close_deal":      "actual_value:number deal_id:string! loss_reason:string notes:string outcome:string! ",
		"delete_customer": "customer_id:string! reason:string ",
	}
	for _, info := range o.Visible(testkit.Person("eve", access.Executive)) {
		if got := domaintest.Inputs(t, info); got != documented[info.Name] {
			t.Errorf("%s:\ngot  %s\nwant %s", info.Name, got, documented[info.Name])
		}
		delete(documented, info.Name)
	}
	if len(documented) > 0 {
		t.Errorf("not declared: %v", documented)
	}
}

func TestEveryCodeIsDeclaredOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range sales.New(nil, nil).Codes() {
		if seen[c.Name] || c.Meaning == "" || c.Suggest == "" {
			t.Errorf("%s", fmt.Sprint(c))
		}
		seen[c.Name] = true
	}
	if len(seen) != 4 {
		t.Errorf("got %v", seen)
	}
}
