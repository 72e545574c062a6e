package support_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
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
			if x.Score < y.Score || x.Score == y.Score && x.ID >= y.ID {
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
	onEveryEngine(t, func(t *testing.T, r *rig) {
		if r.remove == nil {
			t.Skip("another connection is needed to delete rows; the file leg has one")
		}
		b := tied(240)
		steady, coming := b.tickets[:160], b.tickets[160:]
		fill(t, r, &book{tickets: steady})
		for _, filter := range []support.TicketQuery{{}, {Status: "closed"}, {Priority: "low"}, {Status: "closed", CustomerID: b.tickets[1].CustomerID}} {
			random := rand.New(rand.NewPCG(5, 5))
			gone := map[string]bool{}
			a := ask{testkit.Person("eve", access.Executive), "*", filter}
			next := 0
			got := a.walk(t, r, 7, func([]string) {
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

var ann = access.Owner{Issuer: testkit.Issuer, Subject: "ann"}

func receipt(id string) confirm.Receipt {
	return confirm.Receipt{ID: confirm.ID(id), Owner: ann, Tool: "close_ticket", Answer: json.RawMessage(`{"status":"success", "data":{"by":"` + id + `"}}`)}
}

// closing closes a ticket as it is now.
func closing(t testing.TB, s support.Store, ticket, id string) support.Closing {
	t.Helper()
	row, _, err := s.Ticket(t.Context(), everything, ticket)
	if err != nil {
		t.Fatal(err)
	}
	return support.Closing{
		ID: ticket, Version: row.Version, Resolution: "Repaired by " + id, ResolutionType: "workaround", CustomerNotified: true,
		By: "dan@tamshai.local", At: day.UTC(), Receipt: receipt(id),
	}
}

// change applies one closing as the kernel does: the change and its receipt in
// one Change. A change that does not happen is undone.
func change(ctx context.Context, s support.Store, c support.Closing) (done bool, err error) {
	lost := errors.New("somebody else was first")
	err = s.Change(ctx, func(ctx context.Context) error {
		if done, err = s.CloseTicket(ctx, everything, c); err != nil {
			return err
		}
		if !done {
			return lost
		}
		return s.Keep(ctx, c.Receipt)
	})
	if errors.Is(err, lost) {
		return false, nil
	}
	return done, err
}

func TestClosedTicketSaysHow(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		fill(t, r, sample())
		for _, id := range []string{"TICK-004", "TICK-007"} { // open, and resolved before
			before, _, _ := r.Ticket(t.Context(), everything, id)
			if done, err := change(t.Context(), r, closing(t, r, id, "says-"+id)); !done || err != nil {
				t.Fatal(done, err)
			}
			after, _, err := r.Ticket(t.Context(), everything, id)
			resolved := day
			if before.ResolvedAt != nil {
				resolved = *before.ResolvedAt
			}
			if err != nil || after.Status != "closed" || after.Resolution != "Repaired by says-"+id || !after.ResolvedAt.Equal(resolved) ||
				!after.UpdatedAt.Equal(day) || after.Version == before.Version || after.Subject != before.Subject {
				t.Errorf("%s: %+v, %v", id, after, err)
			}
			found := ask{testkit.Person("dan", access.SupportWrite), "*", support.TicketQuery{Status: "closed"}}.walk(t, r, 50, nil)
			if !slices.Contains(found, id) {
				t.Errorf("%s is not among the closed ones: %v", id, found)
			}
		}
	})
}

func TestOneOfManyClaimantsWins(t *testing.T) {
	const rounds, claimants = 12, 32
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(rounds)
		for i := range b.tickets {
			b.tickets[i].Status = "open"
		}
		fill(t, r, b)
		for round, row := range b.tickets {
			claims := make([]support.Closing, claimants)
			for i := range claims {
				claims[i] = closing(t, r, row.ID, fmt.Sprintf("r%d-c%d", round, i))
			}
			won := make([]bool, claimants)
			var group sync.WaitGroup
			for i, c := range claims {
				group.Go(func() {
					var err error
					if won[i], err = change(soon(t, 20*time.Second), r, c); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			winner := slices.Index(won, true)
			if winner < 0 || slices.Contains(won[winner+1:], true) {
				t.Fatalf("round %d: winners %v, want one", round, won)
			}
			for i, c := range claims {
				if i%8 != 0 && i != winner { // looking at a sample of the losers is enough
					continue
				}
				answer, found, err := r.Find(t.Context(), ann, c.Receipt.ID)
				if err != nil || found != (i == winner) || found && string(answer) != string(c.Receipt.Answer) {
					t.Fatalf("round %d: %d won and %d has a receipt: %v, %v", round, winner, i, found, err)
				}
			}
		}
	})
}

func TestStaleOrForeignChangeChangesNothing(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		fill(t, r, sample())
		open, other := closing(t, r, "TICK-004", "x"), closing(t, r, "TICK-001", "x")
		with := func(c support.Closing, change func(*support.Closing)) support.Closing { change(&c); return c }
		for name, a := range map[string]struct {
			scope support.Scope
			c     support.Closing
		}{
			"stale version":  {everything, with(open, func(c *support.Closing) { c.Version.Number-- })},
			"future version": {everything, with(open, func(c *support.Closing) { c.Version.Number++ })},
			"another's":      {everything, with(other, func(c *support.Closing) { c.ID, c.Version.Number = "TICK-004", c.Version.Number+50 })},
			"closed before":  {everything, closing(t, r, "TICK-008", "x")},
			"no scope":       {support.Scope{}, open},
			"nothing there":  {everything, with(open, func(c *support.Closing) { c.ID = "TICK-999" })},
			"no id":          {everything, with(open, func(c *support.Closing) { c.ID = "" })},
		} {
			err := r.Change(t.Context(), func(ctx context.Context) error {
				done, err := r.CloseTicket(ctx, a.scope, a.c)
				if done {
					t.Errorf("%s: it was done", name)
				}
				return err
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if now, _, _ := r.Ticket(t.Context(), everything, "TICK-004"); now.Version != open.Version || now.Status != "open" {
			t.Errorf("the ticket has changed: %+v", now)
		}
		if _, found, _ := r.Find(t.Context(), ann, "x"); found {
			t.Error("a change that was not made has a receipt")
		}
		if r.touch != nil {
			r.touch("TICK-004")
			if done, err := change(t.Context(), r, open); done || err != nil {
				t.Errorf("somebody else wrote the ticket in between: %v, %v", done, err)
			}
		}
	})
}

func TestReceiptOutlivesTheProcess(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		if r.again == nil {
			t.Skip("a store in memory lives in one process; the file leg is the proof")
		}
		fill(t, r, sample())
		c := closing(t, r, "TICK-003", "left-behind")
		if done, err := change(t.Context(), r, c); !done || err != nil {
			t.Fatal(done, err)
		}
		after := r.again() // nobody has told the desk yet
		answer, found, err := after.Find(t.Context(), ann, c.Receipt.ID)
		if err != nil || !found || string(answer) != string(c.Receipt.Answer) {
			t.Fatalf("got %s, %v, %v, want the receipt byte for byte", answer, found, err)
		}
		if _, found, err := after.Find(t.Context(), access.Owner{Issuer: ann.Issuer, Subject: "bob"}, c.Receipt.ID); found || err != nil {
			t.Errorf("a stranger finds it: %v, %v", found, err)
		}
		if done, err := change(t.Context(), after, closing(t, r, "TICK-003", "left-behind")); done || err != nil {
			t.Errorf("the change was made twice: %v, %v", done, err)
		}
		if done, err := change(t.Context(), after, closing(t, r, "TICK-006", "left-behind")); done && err == nil {
			t.Error("one confirmation made two changes")
		}
		if now, _, _ := after.Ticket(t.Context(), everything, "TICK-006"); now.Status != "open" {
			t.Errorf("the second change is there: %s", now.Status)
		}
	})
}

// TestChangeAndReceiptAreThereTogether: whatever fails after the change, there
// is a receipt exactly when there is a change.
func TestChangeAndReceiptAreThereTogether(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		fill(t, r, sample())
		for i, broken := range []error{errors.New("the process is gone"), context.Canceled} {
			id := []string{"TICK-001", "TICK-004"}[i]
			c := closing(t, r, id, fmt.Sprintf("broken-%d", i))
			err := r.Change(t.Context(), func(ctx context.Context) error {
				if _, err := r.CloseTicket(ctx, everything, c); err != nil {
					t.Fatal(err)
				}
				return broken
			})
			if !errors.Is(err, broken) {
				t.Errorf("got %v, want what went wrong", err)
			}
			now, _, _ := r.Ticket(t.Context(), everything, id)
			answer, found, err := r.Find(t.Context(), ann, c.Receipt.ID)
			if changed := now.Status == "closed"; err != nil || changed != found || found && string(answer) != string(c.Receipt.Answer) {
				t.Errorf("changed %v, receipt %v %s, %v", changed, found, answer, err)
			}
		}
	})
}

func TestStoreAwayAndBack(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		if r.cut == nil {
			t.Skip("a store in memory cannot be away")
		}
		fill(t, r, sample())
		c := closing(t, r, "TICK-003", "away")
		r.cut()
		done, err := change(soon(t, 3*time.Second), r, c)
		if done || err == nil || fault.From(err).Kind() != fault.Unavailable {
			t.Fatalf("away: %v, %v, want a fault that says so", done, err)
		}
		for _, word := range []string{"127.0.0.1", "SQLITE", "http", "index", "TICK"} {
			if strings.Contains(fault.From(err).Message, word) {
				t.Errorf("the message gives away %q: %s", word, fault.From(err).Message)
			}
		}
		r.mend()
		if done, err := change(soon(t, 10*time.Second), r, c); !done || err != nil {
			t.Errorf("back: %v, %v", done, err)
		}
	})
}

func TestRefusedStatementIsADatabaseError(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		if r.misread == nil {
			t.Skip("another connection is needed to break something; the file leg has one")
		}
		fill(t, r, sample())
		err := r.misread(t, everything)
		if !fault.Is(err, fault.DatabaseError) || strings.Contains(err.Error(), "login") || strings.Contains(err.Error(), "ticket_id") {
			t.Errorf("got %v, want DATABASE_ERROR without internals", err)
		}
	})
}

func TestPassedDeadlineIsATimeout(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		fill(t, r, sample())
		c := closing(t, r, "TICK-004", "late")
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, _, err := r.Ticket(late, everything, "TICK-001")
		_, _, err1 := r.Article(late, everything, "KB-001")
		_, err2 := r.Tickets(late, everything, support.TicketQuery{Find: support.ParseQuery("*"), Limit: 5})
		_, err3 := r.Articles(late, everything, support.ArticleQuery{Find: support.ParseQuery("a"), Limit: 5})
		err4 := r.Change(late, func(ctx context.Context) error {
			_, err := r.CloseTicket(ctx, everything, c)
			return err
		})
		_, _, err5 := r.Find(late, ann, "x")
		for _, err := range []error{err, err1, err2, err3, err4, err5, r.Ready(late)} {
			if !fault.Is(err, fault.Timeout) {
				t.Errorf("got %v, want TIMEOUT", err)
			}
		}
	})
}
