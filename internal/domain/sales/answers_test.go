package sales_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

func TestEmptyStoreIsNotReadyByName(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		err := r.Ready(t.Context())
		if !fault.Is(err, fault.ServiceDown) || !strings.Contains(err.Error(), "customers") && !strings.Contains(err.Error(), "deals") {
			t.Fatalf("got %v, want a named collection that is empty", err)
		}
		b := bookOf(company.At(day).Sales())
		b.deals = nil
		fill(t, r, b)
		if err := r.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "deals") {
			t.Fatalf("got %v, want deals named", err)
		}
		fill(t, r, bookOf(company.At(day).Sales()))
		if err := r.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFillingTwiceChangesNothing(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := bookOf(company.At(day).Sales())
		fill(t, r, b)
		d := b.deals[1]
		if won, err := change(t.Context(), r, closing(d.ID, "c1", 1)); !won || err != nil {
			t.Fatal(won, err)
		}
		fill(t, r, b)
		all, err := r.Deals(t.Context(), everything, sales.DealQuery{Limit: 100, Sort: sales.Newest})
		if err != nil || len(all) != 10 {
			t.Fatalf("got %d deals, %v, want 10", len(all), err)
		}
		if got, _, _ := r.Deal(t.Context(), everything, d.ID); got.Stage != "CLOSED_WON" {
			t.Errorf("filling again reopened a deal: %s", got.Stage)
		}
	})
}

func TestRowsComeBackAsTheyWereFilledIn(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := bookOf(company.At(day).Sales())
		fill(t, r, b)
		names := map[string]string{}
		for _, c := range b.customers {
			names[c.ID] = c.Company
		}
		for _, d := range b.deals {
			want := sales.Deal{
				ID: d.ID, CustomerID: d.CustomerID, CustomerName: names[d.CustomerID], DealName: d.Name, Value: float64(d.Value), Currency: "USD", Stage: d.Stage,
				Probability: float64(d.Probability), ExpectedCloseDate: d.ExpectedClose.Format(time.DateOnly), Owner: d.Owner, Notes: d.Notes,
				CreatedAt: d.Created, UpdatedAt: d.Updated, Version: 1,
			}
			got, found, err := r.Deal(t.Context(), everything, d.ID)
			if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
				t.Errorf("%s: %v, %v (-want +got):\n%s", d.Name, found, err, diff)
			}
		}
		c := b.customers[4]
		want := sales.Customer{
			ID: c.ID, Name: c.Contact, Email: c.Email, Company: c.Company, Industry: c.Industry, Phone: c.Phone,
			Address: sales.Address{Street: c.Street, City: c.City, State: c.State, Zip: c.Zip, Country: c.Country}, AccountOwner: c.Owner, Tier: c.Tier,
			AnnualRevenue: float64(c.Revenue), CreatedAt: c.Created, UpdatedAt: c.Created, OpenDeals: 2, Version: 1,
			OpenName: []string{"RetailMax Transformation", "RetailMax Integration"},
		}
		got, found, err := r.Customer(t.Context(), everything, c.ID)
		if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
			t.Errorf("%s: %v, %v (-want +got):\n%s", c.Company, found, err, diff)
		}
	})
}

// TestAnswersEqualTheOracle: whoever asks whatever, the pages together are
// exactly the rows that they may see, in the order they asked for.
func TestAnswersEqualTheOracle(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(400)
		fill(t, r, b)
		seed := uint64(time.Now().UnixNano())
		random := rand.New(rand.NewPCG(seed, 1))
		for range 120 {
			a := ask{anyone(random), anything(random, b)}
			page := 1 + random.IntN(60)
			got, want := a.walk(t, r, page, nil), a.want(b)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: %v asks %+v in pages of %d (-want +got):\n%s", seed, a.who.Roles(), a.q, page, diff)
			}
		}
	})
}

func TestSingleRowsStayWithinTheScope(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(60)
		fill(t, r, b)
		random := rand.New(rand.NewPCG(7, 7))
		for range 60 {
			who := anyone(random)
			d, c := b.deals[random.IntN(len(b.deals))], b.customers[random.IntN(len(b.customers))]
			if _, found, err := r.Deal(t.Context(), sales.ScopeOf(who), d.ID); found != sees(who, d.Owner, d.OwnerChain) || err != nil {
				t.Fatalf("%s %v and a deal of %s %v: found %v, %v", who.Email(), who.Roles(), d.Owner, d.OwnerChain, found, err)
			}
			got, found, err := r.Customer(t.Context(), sales.ScopeOf(who), c.ID)
			if found != sees(who, c.Owner, c.OwnerChain) || err != nil {
				t.Fatalf("%s %v and a customer of %s: found %v, %v", who.Email(), who.Roles(), c.Owner, found, err)
			}
			open := 0
			for _, d := range b.deals {
				if found && d.CustomerID == c.ID && !strings.HasPrefix(d.Stage, "CLOSED") && sees(who, d.Owner, d.OwnerChain) {
					open++
				}
			}
			if got.OpenDeals != open || len(got.OpenName) != min(open, 10) {
				t.Fatalf("%s sees %d open deals (%v), want %d", who.Email(), got.OpenDeals, got.OpenName, open)
			}
		}
	})
}

func TestSumsEqualTheOracle(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(200)
		fill(t, r, b)
		random := rand.New(rand.NewPCG(3, 3))
		for range 40 {
			who, q := anyone(random), sales.Quarter{Year: 2026, Number: 3 + random.IntN(2)}
			want := sales.Sums{Stages: map[string]sales.StageSum{}}
			for _, d := range b.deals {
				on := d.ExpectedClose
				if !d.ActualClose.IsZero() {
					on = d.ActualClose
				}
				if sees(who, d.Owner, d.OwnerChain) && !on.Before(q.From()) && on.Before(q.Until()) {
					s := want.Stages[d.Stage]
					want.Stages[d.Stage] = sales.StageSum{Count: s.Count + 1, Value: s.Value + float64(d.Value), Weighted: s.Weighted + float64(d.Value)*float64(d.Probability)/100}
				}
			}
			for _, quota := range b.quotas {
				if quota.Quarter == q.String() && sees(who, quota.Owner, quota.OwnerChain) {
					want.Target += float64(quota.Amount)
				}
			}
			got, err := r.Sums(t.Context(), sales.ScopeOf(who), q)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("%s %v, %s: %v (-want +got):\n%s", who.Email(), who.Roles(), q, err, diff)
			}
		}
	})
}

// TestPagesHoldWhileRowsComeAndGo: rows that are there all the time are met
// exactly once, whatever is inserted and deleted between the pages.
func TestPagesHoldWhileRowsComeAndGo(t *testing.T) {
	onSharedEngines(t, func(t *testing.T, r *rig) {
		for _, sort := range []sales.Sort{sales.Newest, sales.ValueDesc, sales.ByClosing} {
			b := tied(240)
			steady, coming := &book{customers: b.customers, deals: b.deals[:160]}, b.deals[160:]
			fill(t, r, steady)
			random := rand.New(rand.NewPCG(5, 5))
			gone := map[string]bool{}
			a := ask{testkit.Person("eve", access.Executive), sales.DealQuery{Sort: sort}}
			got := a.walk(t, r, 7, func([]string) {
				for range 3 {
					if len(coming) > 0 {
						fill(t, r, &book{deals: coming[:1]})
						coming = coming[1:]
					}
				}
				victim := steady.deals[random.IntN(len(steady.deals))].ID
				gone[victim] = true
				r.remove(victim)
			})
			met := map[string]int{}
			for _, id := range got {
				if met[id]++; met[id] > 1 {
					t.Fatalf("%s: %s came twice", sort, id)
				}
			}
			for _, d := range steady.deals {
				if !gone[d.ID] && met[d.ID] == 0 {
					t.Fatalf("%s: %s was there all the time and never came", sort, d.ID)
				}
			}
			for _, d := range b.deals {
				r.remove(d.ID)
			}
		}
	})
}

// hostile are texts that would be syntax if they were pasted anywhere.
var hostile = []string{
	`{"$ne": ""}`, `{"$gt":""}`, `$where`, `' or 1=1 --`, `"; drop table deals; --`, `*) OR _index:*`, `.*`, `^`, `%`, `_`, `\`, "\x00", "a\x00b",
	`$owner`, `$$ROOT`, `owner@example.org' union select * from deals --`, strings.Repeat("(", 500), strings.Repeat("[", 500), "ﬀ", "\u202e", "' or ''='",
}

func TestWhatPeopleTypeIsNeverSyntax(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		fill(t, r, bookOf(company.At(day).Sales()))
		nobody := func(text string) sales.Scope {
			return sales.ScopeOf(access.NewPrincipal(access.Claims{Email: text, EmailVerified: true, Roles: []string{"sales-read"}}))
		}
		for _, text := range hostile {
			for name, q := range map[string]sales.DealQuery{"owner": {Owner: text}, "stage": {Stage: text}, "customer": {CustomerID: text}, "cursor": {After: &sales.DealKey{Created: 1 << 50, ID: text}}} {
				q.Limit, q.Sort = 51, sales.Newest
				rows, err := r.Deals(t.Context(), everything, q)
				if err != nil || name != "cursor" && len(rows) != 0 {
					t.Errorf("%s %q: %d rows, %v", name, text, len(rows), err)
				}
			}
			if _, found, err := r.Deal(t.Context(), everything, text); found || err != nil {
				t.Errorf("deal %q: %v, %v", text, found, err)
			}
			if _, found, err := r.Customer(t.Context(), everything, text); found || err != nil {
				t.Errorf("customer %q: %v, %v", text, found, err)
			}
			if rows, err := r.Deals(t.Context(), nobody(text), sales.DealQuery{Limit: 51, Sort: sales.Newest}); len(rows) != 0 || err != nil {
				t.Errorf("somebody called %q: %d rows, %v", text, len(rows), err)
			}
			if _, found, err := r.Find(t.Context(), access.Owner{Issuer: text, Subject: text}, confirm.ID(text)); found || err != nil {
				t.Errorf("receipt %q: %v, %v", text, found, err)
			}
		}
	})
}
