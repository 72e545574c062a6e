package support_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

func TestEmptyStoreIsNotReadyByName(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
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
				t.Errorf("somebody else's index: got %v, want it named", err)
			}
		}
	})
}

func TestFillingTwiceChangesNothing(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := sample()
		fill(t, r, b)
		if won, err := change(t.Context(), r, closing(t, r, "TICK-004", "c1")); !won || err != nil {
			t.Fatal(won, err)
		}
		fill(t, r, b)
		everyone := ask{testkit.Person("dan", access.SupportWrite), "*", support.TicketQuery{}}
		if all := everyone.walk(t, r, 50, nil); len(all) != 10 {
			t.Errorf("got %d tickets, want 10", len(all))
		}
		if all := walkArticles(t, r, everyone.who, "*", "", 50); len(all) != 12 {
			t.Errorf("got %d articles, want 12", len(all))
		}
		if got, _, _ := r.Ticket(t.Context(), everything, "TICK-004"); got.Status != "closed" {
			t.Errorf("filling again reopened a ticket: %s", got.Status)
		}
	})
}

func TestRowsComeBackAsTheyWereFilledIn(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := sample()
		fill(t, r, b)
		for _, row := range b.tickets {
			want := support.Ticket{
				ID: row.ID, Subject: row.Subject, Description: row.Description, Status: row.Status, Priority: row.Priority, CustomerID: row.CustomerID,
				CustomerName: row.CustomerName, CustomerEmail: row.CustomerEmail, Category: row.Category, Tags: row.Tags, CreatedAt: row.Created, UpdatedAt: row.Updated, Resolution: row.Resolution,
			}
			if row.AssignedTo != "" {
				want.AssignedTo = &row.AssignedTo
			}
			if !row.Resolved.IsZero() {
				want.ResolvedAt = &row.Resolved
			}
			got, found, err := r.Ticket(t.Context(), everything, row.ID)
			got.Version = support.Version{}
			if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
				t.Errorf("%s: %v, %v (-want +got):\n%s", row.ID, found, err, diff)
			}
			rows, err := r.Tickets(t.Context(), everything, support.TicketQuery{Find: support.ParseQuery(row.ID), Limit: 2})
			if len(rows) != 1 || rows[0].Score <= 0 || err != nil {
				t.Fatalf("%s by its id: %+v, %v", row.ID, rows, err)
			}
			rows[0].Score, rows[0].Version = 0, support.Version{}
			if diff := cmp.Diff(want, rows[0]); diff != "" {
				t.Errorf("%s in a list (-want +got):\n%s", row.ID, diff)
			}
		}
		for _, row := range b.articles {
			want := support.Article{
				ID: row.ID, Title: row.Title, Content: row.Content, Summary: row.Summary, Category: row.Category, Tags: row.Tags, Author: row.Author,
				Status: row.Status, Views: row.Views, Votes: row.Votes, CreatedAt: row.Created, UpdatedAt: row.Updated,
			}
			got, found, err := r.Article(t.Context(), everything, row.ID)
			if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
				t.Errorf("%s: %v, %v (-want +got):\n%s", row.ID, found, err, diff)
			}
		}
	})
}

// TestAnswersEqualTheOracle: whoever asks whatever, the pages together are
// exactly the rows that they may see and asked for.
func TestAnswersEqualTheOracle(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(300)
		fill(t, r, b)
		seed := uint64(time.Now().UnixNano())
		random := rand.New(rand.NewPCG(seed, 1))
		for range 80 {
			a := anything(random, b)
			page := 5 + random.IntN(60)
			got, want := a.walk(t, r, page, nil), a.want(b)
			if a.query != "*" { // the order is by score, which is the store's own
				slices.Sort(got)
				slices.Sort(want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: %v asks %q %+v in pages of %d (-want +got):\n%s", seed, a.who.Roles(), a.query, a.q, page, diff)
			}
		}
	})
}

func TestArticlesEqualTheOracle(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(20)
		fill(t, r, b)
		random := rand.New(rand.NewPCG(9, 9))
		for range 40 {
			who, category := anyone(random), []string{"", "security", "sales", "none"}[random.IntN(4)]
			query := []string{"*", "export", "again -import", `"the log"`, "archi*", "number 7"}[random.IntN(6)]
			var want []string
			for _, a := range b.articles {
				if seesArticle(who, a.Status) && matches(query, articleTexts(a)...) && (category == "" || a.Category == category) {
					want = append(want, a.ID)
				}
			}
			got := walkArticles(t, r, who, query, category, 7)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v asks %q in %q (-want +got):\n%s", who.Roles(), query, category, diff)
			}
		}
	})
}

func TestBestMatchesComeFirst(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(300)
		fill(t, r, b)
		q := support.TicketQuery{Find: support.ParseQuery("export"), Limit: 300}
		rows, err := r.Tickets(t.Context(), everything, q)
		if err != nil || len(rows) < 3 {
			t.Fatal(len(rows), err)
		}
		for i := 1; i < len(rows); i++ {
			x, y := rows[i-1], rows[i]
			if x.Score < y.Score || x.Score == y.Score && x.ID <= y.ID {
				t.Fatalf("%s (%v) stands before %s (%v)", x.ID, x.Score, y.ID, y.Score)
			}
		}
		fill(t, r, &book{tickets: []company.Ticket{
			{ID: "T-BODY", Subject: "Zeppelins", Description: "A quokka was seen.", Status: "open", Priority: "low", Created: day, Updated: day},
			{ID: "T-HEAD", Subject: "A quokka was seen", Description: "Zeppelins.", Status: "open", Priority: "low", Created: day, Updated: day},
		}})
		rows, err = r.Tickets(t.Context(), everything, support.TicketQuery{Find: support.ParseQuery("quokka"), Limit: 5})
		if err != nil || len(rows) != 2 || rows[0].ID != "T-HEAD" {
			t.Errorf("a word in the subject counts no more than elsewhere: %+v, %v", rows, err)
		}
	})
}

func TestSingleRowsStayWithinTheScope(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := sample()
		fill(t, r, b)
		random := rand.New(rand.NewPCG(7, 7))
		for range 40 {
			who := anyone(random)
			row, a := b.tickets[random.IntN(len(b.tickets))], b.articles[random.IntN(len(b.articles))]
			if _, found, err := r.Ticket(t.Context(), support.ScopeOf(who), row.ID); found != seesTickets(who) || err != nil {
				t.Fatalf("%v and a ticket: found %v, %v", who.Roles(), found, err)
			}
			if _, found, err := r.Article(t.Context(), support.ScopeOf(who), a.ID); found != seesArticle(who, a.Status) || err != nil {
				t.Fatalf("%v and an article %s: found %v, %v", who.Roles(), a.Status, found, err)
			}
		}
	})
}

// TestPagesHoldWhileRowsComeAndGo: rows that are there all the time are met
// exactly once, whatever is inserted and deleted between the pages.
func TestPagesHoldWhileRowsComeAndGo(t *testing.T) {
	onSharedEngines(t, func(t *testing.T, r *rig) {
		b := tied(240)
		steady, coming := b.tickets[:160], b.tickets[160:]
		fill(t, r, &book{tickets: steady})
		for _, filter := range []support.TicketQuery{{}, {Status: "closed"}, {Priority: "low", CustomerID: b.tickets[1].CustomerID}} {
			random := rand.New(rand.NewPCG(5, 5))
			gone := map[string]bool{}
			a := ask{testkit.Person("eve", access.Executive), "*", filter}
			next := 0
			got := a.walk(t, r, 9, func([]string) {
				if next+3 <= len(coming) {
					fill(t, r, &book{tickets: coming[next : next+3]})
					next += 3
				}
				victim := steady[random.IntN(len(steady))].ID
				gone[victim] = true
				r.remove(victim)
				r.settled()
			})
			met := map[string]int{}
			for _, id := range got {
				if met[id]++; met[id] > 1 {
					t.Fatalf("%+v: %s came twice", filter, id)
				}
			}
			for _, row := range steady {
				if a.wants(row) && !gone[row.ID] && met[row.ID] == 0 {
					t.Fatalf("%+v: %s was there all the time and never came", filter, row.ID)
				}
			}
			r.remove(idsOf(coming)...)
			fill(t, r, &book{tickets: steady})
		}
	})
}

func idsOf(rows []company.Ticket) (ids []string) {
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}
