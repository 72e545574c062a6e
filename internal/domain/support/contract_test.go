package support_test

import (
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/fault"
)

func TestEmptyStoreIsNotReadyByName(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		named := func(err error, names ...string) bool {
			return fault.Is(err, fault.ServiceDown) && slices.ContainsFunc(names, func(n string) bool { return strings.Contains(err.Error(), n) })
		}
		if err := r.Ready(t.Context()); !named(err, "tickets") {
			t.Fatalf("got %v, want a table or index that is not there", err)
		}
		b := sample()
		b.articles = nil
		fill(t, r, b)
		if err := r.Ready(t.Context()); !named(err, "articles", "knowledge_base") {
			t.Fatalf("got %v, want the articles named", err)
		}
		fill(t, r, sample())
		if err := r.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r.foreign != nil {
			if err := r.foreign(t).Ready(t.Context()); !named(err, "foreign") {
				t.Errorf("another application's index: got %v, want it named", err)
			}
		}
	})
}

func TestBestMatchesComeFirst(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		b := tied(300)
		fill(t, r, b)
		q := support.TicketQuery{Find: support.ParseQuery("export"), Limit: 300}
		rows, err := r.Tickets(t.Context(), everything, q)
		if err != nil || len(rows) < 3 {
			t.Fatal(len(rows), err)
		}
		for i := 1; i < len(rows); i++ {
			x, y := rows[i-1], rows[i]
			if x.Score < y.Score || x.Score == y.Score && (x.CreatedAt.Before(y.CreatedAt) || x.CreatedAt.Equal(y.CreatedAt) && x.ID <= y.ID) {
				t.Fatalf("%s (%v) comes before %s (%v)", x.ID, x.Score, y.ID, y.Score)
			}
		}
		fill(t, r, &fixture{tickets: []company.Ticket{
			{ID: "T-BODY", Subject: "Zeppelins", Description: "A quokka was seen.", Status: "open", Priority: "low", Created: day, Updated: day},
			{ID: "T-HEAD", Subject: "A quokka was seen", Description: "Zeppelins.", Status: "open", Priority: "low", Created: day, Updated: day},
		}})
		rows, err = r.Tickets(t.Context(), everything, support.TicketQuery{Find: support.ParseQuery("quokka"), Limit: 5})
		if err != nil || len(rows) != 2 || rows[0].ID != "T-HEAD" {
			t.Errorf("a word in the subject counts no more than elsewhere: %+v, %v", rows, err)
		}
		for query, want := range map[string]float64{"quokka": 3, "zeppelin*": 1, `"a quokka" seen`: 6, "quokka -log": 3, "t-head": 1} {
			rows, err := r.Tickets(t.Context(), everything, support.TicketQuery{Find: support.ParseQuery(query), Limit: 5})
			i := slices.IndexFunc(rows, func(t support.Ticket) bool { return t.ID == "T-HEAD" })
			if err != nil || i < 0 || rows[i].Score != want {
				t.Errorf("%s: got %+v, %v; want T-HEAD with the score %v", query, rows, err, want)
			}
		}
	})
}
