package sales_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
)

func TestConformance(t *testing.T) { conformance.Run(t, domain()) }

type args = conformance.Args

// day is the day of these tests.
var day = time.Date(2026, 8, 12, 9, 30, 0, 0, time.UTC)

// fixture is a set of rows that tests compare answers with.
type fixture struct {
	customers []company.Customer
	deals     []company.Deal
	quotas    []company.Quota
}

func fixtureOf(s company.Sales) *fixture {
	return &fixture{slices.Collect(s.Customers), slices.Collect(s.Deals), s.Quotas}
}

func (b *fixture) rows() company.Sales {
	return company.Sales{Customers: slices.Values(b.customers), Deals: slices.Values(b.deals), Quotas: b.quotas}
}

// dataset is the fixture of that name.
func dataset(name string) *fixture {
	if name == conformance.Crowd {
		return tied(crowdSize)
	}
	return fixtureOf(company.At(day).Sales())
}

const crowdSize = 300

// tied is a fixture in which most deals share their sort keys with others.
func tied(n int) *fixture {
	b := fixtureOf(company.ScaledSales(n, day))
	for i := range b.deals {
		d := &b.deals[i]
		d.Value = 1000 * int64(i%5)
		d.Created = day.Truncate(time.Hour).Add(time.Duration(i%3) * time.Millisecond)
		d.ExpectedClose = day.Truncate(24*time.Hour).AddDate(0, 0, i%4*30)
		if !d.ActualClose.IsZero() {
			d.ActualClose = d.ExpectedClose.AddDate(0, 0, i%9)
		}
	}
	for i := range b.customers {
		b.customers[i].Company = []string{"Ärzte", "", "Österreich"}[i%3] + b.customers[i].Company
	}
	for i := range 6 {
		seller := b.deals[i]
		b.quotas = append(b.quotas, company.Quota{Quarter: "2026-Q3", Owner: seller.Owner, OwnerChain: seller.OwnerChain, Amount: int64(100_000 + i)})
	}
	slices.SortFunc(b.quotas, func(x, y company.Quota) int { return cmp.Compare(x.Owner, y.Owner) })
	b.quotas = slices.CompactFunc(b.quotas, func(x, y company.Quota) bool { return x.Owner == y.Owner })
	return b
}

const (
	acmeID      = "65a1c0000000000000000001"
	techStartID = "65a1c0000000000000000002"
	ironID      = "65a1c0000000000000000006"
	unknownID   = "ffffffffffffffffffffffff"
	gfpDeal     = "65a2d0000000000000000003" // GFP Expansion, Carol's
	ironDeal    = "65a2d0000000000000000009" // Manufacturing Starter
	wonDeal     = "65a2d0000000000000000001"
)

func domain() conformance.Domain {
	readers, writers := []string{"sales-read", "executive"}, []string{"sales-write", "executive"}
	const amanda = "amanda.white@tamshai.local"
	refuse := func(code, tool string, in args) conformance.Refusal {
		return conformance.Refuse(code, "carol.johnson", tool, in)
	}
	closing := args{"deal_id": gfpDeal, "outcome": "won"}
	return conformance.Domain{
		Server: "sales", Codes: sales.New(nil, nil).Codes(), Oracle: oracleOf, Engines: engines,
		Calls: []conformance.Call{
			{Tool: "get_customer", Allow: readers, Email: amanda, In: args{"customer_id": techStartID}},
			{Tool: "list_customers", Allow: readers, Email: amanda},
			{Tool: "list_deals", Allow: readers, Email: amanda},
			{Tool: "get_pipeline", Allow: readers, Email: amanda},
			{Tool: "close_deal", Allow: writers, Email: amanda, In: closing, Text: []string{"notes"}},
			{Tool: "delete_customer", Allow: writers, Email: amanda, In: args{"customer_id": acmeID}, Text: []string{"reason"}},
		},
		Inputs: map[string]string{
			"get_customer":    "customer_id:string! ",
			"list_customers":  "cursor:string limit:integer name:string owner:string tier:string ",
			"list_deals":      "closing_from:string closing_to:string cursor:string customer_id:string limit:integer min_value:number owner:string sort:string stage:string ",
			"get_pipeline":    "quarter:string ",
			"close_deal":      "actual_value:number deal_id:string! loss_reason:string notes:string outcome:string! ",
			"delete_customer": "customer_id:string! reason:string ",
		},
		Refusals: []conformance.Refusal{
			refuse("DEAL_ALREADY_CLOSED", "close_deal", args{"deal_id": wonDeal, "outcome": "won"}),
			refuse("DEAL_NOT_FOUND", "close_deal", args{"deal_id": unknownID, "outcome": "won"}),
			refuse("INVALID_INPUT", "close_deal", args{"deal_id": gfpDeal, "outcome": "lost"}),
			refuse("INVALID_INPUT", "close_deal", args{"deal_id": gfpDeal, "outcome": "won", "actual_value": 1.005}),
			refuse("VALIDATION_ERROR", "close_deal", args{"deal_id": gfpDeal, "outcome": "won", "actual_value": -1}),
			refuse("VALIDATION_ERROR", "close_deal", args{"deal_id": "GFP", "outcome": "won"}),
			refuse("pending_confirmation", "close_deal", args{"deal_id": gfpDeal, "outcome": "lost", "loss_reason": "price"}),
			refuse("pending_confirmation", "close_deal", args{"deal_id": gfpDeal, "outcome": "won", "actual_value": 700000.50, "notes": ""}),
			refuse("CUSTOMER_NOT_FOUND", "delete_customer", args{"customer_id": unknownID}),
			refuse("CUSTOMER_HAS_OPEN_DEALS", "delete_customer", args{"customer_id": ironID}),
			refuse("INVALID_INPUT", "list_deals", args{"closing_from": "2026-09-01", "closing_to": "2026-08-01"}),
			refuse("VALIDATION_ERROR", "list_deals", args{"min_value": -1}),
			refuse("VALIDATION_ERROR", "list_deals", args{"sort": "owner_chain"}),
			conformance.Refuse("CUSTOMER_NOT_FOUND", "amanda.white", "get_customer", args{"customer_id": acmeID}),
		},
		Writes: []conformance.Write{
			{
				Tool: "close_deal", Username: "carol.johnson", Other: "eve.thompson", In: closing, Says: "Deal GFP Expansion has been closed as won for $750,000.",
				Stale: []conformance.Stale{
					conformance.Meanwhile("closed by another", "DEAL_ALREADY_CLOSED", applied("close_deal", args{"deal_id": gfpDeal, "outcome": "lost", "loss_reason": "They merged."})),
					conformance.Meanwhile("worth something else", "CONFIRMATION_STALE", func(_ testing.TB, s *conformance.Store) { engineOf(s).touch(gfpDeal) }),
				},
			},
			{
				Tool: "delete_customer", Username: "carol.johnson", Other: "eve.thompson", In: args{"customer_id": acmeID}, Says: "has been deleted",
				Stale: []conformance.Stale{
					conformance.Meanwhile("deleted by another", "CUSTOMER_NOT_FOUND", applied("delete_customer", args{"customer_id": acmeID})),
				},
			},
		},
	}
}

// applied is a change that Eve makes meanwhile.
func applied(tool string, in args) func(testing.TB, *conformance.Store) {
	return func(t testing.TB, s *conformance.Store) {
		h := domaintest.Open(t, "sales", s)
		h.Apply(h.As("eve.thompson"), tool, in)
	}
}

// oracle computes which rows a caller sees from the fixture alone. It shares no
// code with the server.
type oracle struct{ *fixture }

func sees(a conformance.Asker, owner string, chain []string) bool {
	if a.Has("sales-write", "executive") {
		return true
	}
	return a.Has("sales-read") && (a.Is(owner) || slices.ContainsFunc(chain, a.Is))
}

func seesDeal(a conformance.Asker, d company.Deal) bool { return sees(a, d.Owner, d.OwnerChain) }

func seesCustomer(a conformance.Asker, c company.Customer) bool {
	return sees(a, c.Owner, c.OwnerChain)
}

func oracleOf(name string) conformance.Oracle {
	o := &oracle{dataset(name)}
	var emails []string
	for _, d := range o.deals {
		emails = append(append(emails, d.Owner), d.OwnerChain...)
	}
	deals := conformance.Rows[company.Deal]{Key: "_id", Rows: o.deals, ID: func(d company.Deal) string { return d.ID }, Sees: seesDeal, Shows: o.showsDeal}
	customers := conformance.Rows[company.Customer]{
		Key: "_id", Rows: o.customers, ID: func(c company.Customer) string { return c.ID }, Sees: seesCustomer, Shows: o.showsCustomer,
	}
	list := conformance.List[company.Deal]{
		Rows: deals, Tool: "list_deals", Draw: draw, Fits: fits, Order: order,
		Walks: []args{{"limit": 9}, {"limit": 7, "sort": "value_desc"}, {"limit": 7, "sort": "closing"}}, Churn: churn(o.deals),
	}
	companies := conformance.List[company.Customer]{
		Rows: conformance.Rows[company.Customer]{Key: "customer_id", Rows: o.customers, ID: customers.ID, Sees: seesCustomer, Shows: o.listsCustomer},
		Tool: "list_customers", Draw: drawCustomer, Fits: fitsCustomer, Order: func(args) func(x, y company.Customer) int {
			return func(x, y company.Customer) int {
				return cmp.Or(cmp.Compare(x.Company, y.Company), cmp.Compare(x.ID, y.ID))
			}
		},
	}
	byCustomer := func(tool string) conformance.ByID[company.Customer] {
		return conformance.ByID[company.Customer]{
			Rows: customers, Tool: tool, Input: func(c company.Customer) args { return args{"customer_id": c.ID} },
			Unknown: args{"customer_id": unknownID}, NotFound: "CUSTOMER_NOT_FOUND",
		}
	}
	deletion := byCustomer("delete_customer")
	deletion.Code = func(a conformance.Asker, c company.Customer, _ args) string {
		if o.open(a, c) > 0 {
			return "CUSTOMER_HAS_OPEN_DEALS"
		}
		return "pending_confirmation"
	}
	closing := conformance.ByID[company.Deal]{
		Rows: deals, Tool: "close_deal", Input: func(d company.Deal) args { return args{"deal_id": d.ID, "outcome": "won"} },
		Unknown: args{"deal_id": unknownID, "outcome": "won"}, NotFound: "DEAL_NOT_FOUND",
		Code: func(_ conformance.Asker, d company.Deal, _ args) string {
			if isClosed(d.Stage) {
				return "DEAL_ALREADY_CLOSED"
			}
			return "pending_confirmation"
		},
	}
	pipeline := conformance.Check{Tool: "get_pipeline", Draw: func(r *rand.Rand) args {
		return conformance.Pick(r, args{}, args{"quarter": "Q2 2026"}, args{"quarter": "2026-Q3"}, args{"quarter": "Q4 2026"})
	}, Judge: o.checkPipeline}
	return conformance.Oracle{Emails: emails, Leaks: leaks, Hidden: o.hidden(), Questions: []conformance.Question{list, list, companies, byCustomer("get_customer"), deletion, closing, pipeline}}
}

func isClosed(stage string) bool { return strings.HasPrefix(stage, "CLOSED_") }

func draw(r *rand.Rand, d company.Deal) args {
	in := args{"sort": conformance.Pick(r, "newest", "value_desc", "closing")}
	for field, value := range map[string]any{
		"stage": d.Stage, "owner": d.Owner, "customer_id": d.CustomerID, "min_value": int(d.Value),
		"closing_from": d.ExpectedClose.Format(time.DateOnly), "closing_to": d.ExpectedClose.AddDate(0, 0, 30).Format(time.DateOnly),
	} {
		in[field] = value
	}
	for _, field := range []string{"stage", "owner", "customer_id", "min_value", "closing_from", "closing_to"} {
		if r.IntN(4) > 0 {
			delete(in, field)
		}
	}
	return in
}

func fits(d company.Deal, in args) bool {
	closing := closesOn(d).Format(time.DateOnly)
	for field, want := range in {
		ok := true
		switch field {
		case "stage":
			ok = d.Stage == want
		case "owner":
			ok = d.Owner == want
		case "customer_id":
			ok = d.CustomerID == want
		case "min_value":
			ok = d.Value >= int64(want.(int))
		case "closing_from":
			ok = closing >= want.(string)
		case "closing_to":
			ok = closing <= want.(string)
		}
		if !ok {
			return false
		}
	}
	return true
}

// closesOn is when a deal was closed, or is expected to be.
func closesOn(d company.Deal) time.Time {
	if d.ActualClose.IsZero() {
		return d.ExpectedClose
	}
	return d.ActualClose
}

func order(in args) func(x, y company.Deal) int {
	return func(x, y company.Deal) int {
		switch in["sort"] {
		case "value_desc":
			return cmp.Or(cmp.Compare(y.Value, x.Value), cmp.Compare(y.ID, x.ID))
		case "closing":
			return cmp.Or(x.ExpectedClose.Compare(y.ExpectedClose), cmp.Compare(x.ID, y.ID))
		}
		return cmp.Or(y.Created.Compare(x.Created), cmp.Compare(y.ID, x.ID))
	}
}

func (o *oracle) company(id string) string {
	return o.customers[slices.IndexFunc(o.customers, func(c company.Customer) bool { return c.ID == id })].Company
}

func closedOn(d company.Deal) any {
	if d.ActualClose.IsZero() {
		return nil
	}
	return d.ActualClose.Format(time.DateOnly)
}

func (o *oracle) showsDeal(_ conformance.Asker, d company.Deal, _ args) map[string]any {
	return map[string]any{
		"customer_id": d.CustomerID, "customer_name": o.company(d.CustomerID), "deal_name": d.Name, "value": d.Value, "currency": "USD", "stage": d.Stage,
		"probability": d.Probability, "expected_close_date": d.ExpectedClose.Format(time.DateOnly), "owner": d.Owner, "notes": d.Notes, "loss_reason": orNil(d.LossReason),
		"actual_close_date": closedOn(d),
		"created_at":        d.Created.Format(time.RFC3339Nano), "updated_at": d.Updated.Format(time.RFC3339Nano),
	}
}

func (o *oracle) checkPipeline(a conformance.Asker, in args, out result.Outcome) error {
	if out.Code() != result.StatusSuccess {
		return fmt.Errorf("got %s", out.Code())
	}
	from := map[any]time.Time{"Q2 2026": date(2026, 4), "2026-Q3": date(2026, 7), "Q4 2026": date(2026, 10), nil: date(2026, 7)}[in["quarter"]]
	want := o.pipeline(a, from)
	var got sales.Pipeline
	if err := decode(out, &got); err != nil {
		return err
	}
	stages := map[string]sales.PipelineStage{}
	for _, s := range got.Stages {
		stages[s.Stage] = s
		if w := want.stages[s.Stage]; s.Count != w.Count || s.Value != w.Value {
			return fmt.Errorf("%s: got %+v, want %+v", s.Stage, s, w)
		}
	}
	if len(stages) != 7 || got.TotalPipeline != want.total || math.Abs(got.WeightedPipeline-want.weighted) > 0.01 || got.ClosedWon != want.won || got.Target != want.target {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return nil
}

func date(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// quarter is a quarter added up.
type quarter struct {
	total, weighted, won, target float64
	stages                       map[string]sales.PipelineStage
}

// pipeline adds up the deals that a caller sees: open ones where they are
// expected to close, closed ones where they did.
func (o *oracle) pipeline(a conformance.Asker, from time.Time) quarter {
	q, until := quarter{stages: map[string]sales.PipelineStage{}}, from.AddDate(0, 3, 0)
	for _, d := range o.deals {
		on := closesOn(d)
		if !seesDeal(a, d) || on.Before(from) || !on.Before(until) {
			continue
		}
		s := q.stages[d.Stage]
		q.stages[d.Stage] = sales.PipelineStage{Stage: d.Stage, Count: s.Count + 1, Value: s.Value + float64(d.Value)}
		switch {
		case d.Stage == "CLOSED_WON":
			q.won += float64(d.Value)
		case !isClosed(d.Stage):
			q.total += float64(d.Value)
			q.weighted += float64(d.Value) * float64(d.Probability) / 100
		}
	}
	name := fmt.Sprintf("%d-Q%d", from.Year(), (from.Month()+2)/3)
	for _, quota := range o.quotas {
		if quota.Quarter == name && sees(a, quota.Owner, quota.OwnerChain) {
			q.target += float64(quota.Amount)
		}
	}
	return q
}

// leaks looks for what no answer may have: who is above an owner.
func leaks(_ conformance.Asker, encoded string) error {
	if strings.Contains(encoded, "owner_chain") || strings.Contains(encoded, `"confirmation":`) {
		return fmt.Errorf("shows what is internal: %s", encoded)
	}
	return nil
}

// hidden adds customers, deals and quotas of someone whom only those who see
// everything may see.
func (o *oracle) hidden() []conformance.Hiding {
	add := func(t testing.TB, s *conformance.Store, n int) {
		more := &fixture{quotas: []company.Quota{{Quarter: "2026-Q3", Owner: "hidden@tamshai.local", Amount: 1_000_000}}}
		for i := range n {
			d, c := o.deals[i%len(o.deals)], o.customers[i%len(o.customers)]
			d.ID, d.Owner, d.OwnerChain = fmt.Sprintf("65b%021d", i), "hidden@tamshai.local", nil
			c.ID, c.Owner, c.OwnerChain = fmt.Sprintf("65c%021d", i), "hidden@tamshai.local", nil
			if i%3 == 0 {
				d.CustomerID = c.ID
			}
			more.deals, more.customers = append(more.deals, d), append(more.customers, c)
		}
		fill(t, engineOf(s).direct, more)
	}
	return []conformance.Hiding{{Name: "of another", Add: add, Blind: conformance.NotIn("sales-write", "executive")}}
}

// churn adds two deals between two pages, and removes one.
func churn(deals []company.Deal) func(t testing.TB, s *conformance.Store, step int) []string {
	r := rand.New(rand.NewPCG(5, 5))
	more := tied(2 * crowdSize).deals[crowdSize:]
	for i := range more {
		more[i].CustomerID = deals[i%len(deals)].CustomerID
	}
	return func(t testing.TB, s *conformance.Store, step int) []string {
		if 2*step+2 <= len(more) {
			fill(t, engineOf(s).store, &fixture{deals: more[2*step : 2*step+2]})
		}
		gone := conformance.Pick(r, deals...).ID
		engineOf(s).remove(gone)
		return []string{gone}
	}
}

// orNil is nil for an empty text, which an answer leaves out.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
