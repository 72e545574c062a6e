package support_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

var ann = access.Owner{Issuer: testkit.Issuer, Subject: "ann"}

func receipt(id string) confirm.Receipt {
	return confirm.Receipt{ID: confirm.ID(id), Owner: ann, Tool: "close_ticket", Answer: json.RawMessage(`{"status":"success", "data":{"by":"` + id + `"}}`)}
}

// attempt is a closing and the receipt that is kept with it.
type attempt struct {
	support.Closing
	Receipt confirm.Receipt
}

// closing closes a ticket as it is now.
func closing(t testing.TB, s support.Store, ticket, id string) attempt {
	t.Helper()
	row, _, err := s.Ticket(t.Context(), everything, ticket)
	if err != nil {
		t.Fatal(err)
	}
	return attempt{support.Closing{
		ID: ticket, Version: row.Version, Resolution: "Repaired by " + id, ResolutionType: "workaround", CustomerNotified: new(true),
		By: "dan@tamshai.local", At: day.UTC(),
	}, receipt(id)}
}

// change applies one closing as the kernel does: the change and its receipt in
// one transaction. A stale one is not done.
func change(ctx context.Context, s support.Store, c attempt) (done bool, err error) {
	err = apply(ctx, s, everything, c)
	if fault.Is(err, fault.ConfirmationStale) {
		return false, nil
	}
	return err == nil, err
}

func apply(ctx context.Context, s support.Store, scope support.Scope, c attempt) error {
	return s.Change(ctx, func(ctx context.Context) error {
		if err := s.CloseTicket(ctx, scope, c.Closing); err != nil {
			return err
		}
		return s.Keep(ctx, c.Receipt)
	})
}

func TestClosedTicketSaysHow(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
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
			if err != nil || after.Status != "closed" || after.Resolution != "Repaired by says-"+id || after.Outcome != "workaround" ||
				after.ClosedBy != "dan@tamshai.local" || after.Notified == nil || !*after.Notified || !after.ResolvedAt.Equal(resolved) ||
				!after.UpdatedAt.Equal(day) || after.Version == before.Version || after.Subject != before.Subject {
				t.Errorf("%s: %+v, %v", id, after, err)
			}
			found := ask{testkit.Person("dan", "support-write"), "*", support.TicketQuery{Status: "closed"}}.walk(t, r, 50)
			if !slices.Contains(found, id) {
				t.Errorf("%s is not among the closed ones: %v", id, found)
			}
		}
	})
}

func TestClosingKeepsAndShowsWhatWasSaid(t *testing.T) {
	onEveryStore(t, func(t *testing.T, h *harness) {
		const earlier, more = "The dashboard has a dark appearance since the last release, under Preferences.", "The customer uses it now."
		in := args{"ticket_id": "TICK-009", "resolution": more, "resolution_type": "workaround", "customer_notified": false}
		asked := h.Pending(h.As("dan.williams"), "close_ticket", in)
		if want := "The earlier resolution is kept, and this one is added to it."; !strings.Contains(asked.Message, want) {
			t.Errorf("the card says %q, want %q in it", asked.Message, want)
		}
		h.Apply(h.As("dan.williams"), "close_ticket", in)
		found := domaintest.Decode[[]map[string]any](t, h.CallAs("dan.williams", "search_tickets", `{"query":"dark","status":"closed"}`))
		stored := args{
			"resolution": earlier + "\n" + more, "resolution_type": "workaround", "customer_notified": false,
			"closed_by": "dan@tamshai.local", "closed_at": day.UTC().Format(time.RFC3339Nano),
		}
		for field, want := range stored {
			if len(found) != 1 || found[0][field] != want {
				t.Errorf("%s: got %v, want %v", field, found, want)
			}
		}
	})
}

// TestTimeOfClosingIsThatOfTheClosing: what another process writes into a ticket does not
// move it, and a ticket that was closed elsewhere has none.
func TestTimeOfClosingIsThatOfTheClosing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, h *harness) {
		h.Apply(h.As("dan.williams"), "close_ticket", args{"ticket_id": "TICK-004", "resolution": solved})
		if h.store.touch != nil {
			h.store.touch("TICK-004")
			h.store.touch("TICK-008")
			h.store.settled()
		}
		got := map[string]any{}
		for _, row := range domaintest.Decode[[]map[string]any](t, h.CallAs("dan.williams", "search_tickets", `{"query":"*","status":"closed"}`)) {
			got[row["ticket_id"].(string)] = row["closed_at"]
		}
		want := map[string]any{"TICK-004": day.Format(time.RFC3339), "TICK-008": nil, "TICK-014": nil}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestStoreOfAnEarlierVersionTakesTheTimeOfClosing: its tickets have no place for it until
// the store is opened, or its indices are migrated.
func TestStoreOfAnEarlierVersionTakesTheTimeOfClosing(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) support.Store{"sqlite": earlierFile, "search": earlierIndex} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			if done, err := change(t.Context(), s, closing(t, s, "TICK-004", "x")); !done || err != nil {
				t.Fatal(done, err)
			}
			if row, _, err := s.Ticket(t.Context(), everything, "TICK-004"); err != nil || row.ClosedAt == nil || !row.ClosedAt.Equal(day) {
				t.Errorf("closed at %v, %v", row.ClosedAt, err)
			}
		})
	}
}

func TestStaleOrForeignChangeChangesNothing(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, sample())
		open, other := closing(t, r, "TICK-004", "x"), closing(t, r, "TICK-001", "x")
		with := func(c attempt, change func(*attempt)) attempt { change(&c); return c }
		for name, a := range map[string]struct {
			scope support.Scope
			c     attempt
		}{
			"stale version":  {everything, with(open, func(c *attempt) { c.Version.Number-- })},
			"future version": {everything, with(open, func(c *attempt) { c.Version.Number++ })},
			"another's":      {everything, with(other, func(c *attempt) { c.ID, c.Version.Number = "TICK-004", c.Version.Number+50 })},
			"closed before":  {everything, closing(t, r, "TICK-008", "x")},
			"no scope":       {support.Scope{}, open},
			"nothing there":  {everything, with(open, func(c *attempt) { c.ID = "TICK-999" })},
			"no id":          {everything, with(open, func(c *attempt) { c.ID = "" })},
		} {
			if err := apply(t.Context(), r, a.scope, a.c); !fault.Is(err, fault.ConfirmationStale) {
				t.Errorf("%s: got %v, want CONFIRMATION_STALE", name, err)
			}
		}
		if _, found, err := r.Ticket(t.Context(), support.Scope{}, "TICK-004"); found || err != nil {
			t.Errorf("without a scope: got found %v, %v", found, err)
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
				t.Errorf("another process wrote the ticket in between: %v, %v", done, err)
			}
		}
	})
}

func TestOneConfirmationMakesOneChange(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, sample())
		if done, err := change(t.Context(), r, closing(t, r, "TICK-003", "kept")); !done || err != nil {
			t.Fatal(done, err)
		}
		if _, found, err := r.Find(t.Context(), access.Owner{Issuer: ann.Issuer, Subject: "bob"}, "kept"); found || err != nil {
			t.Errorf("another person finds the receipt: %v, %v", found, err)
		}
		if done, err := change(t.Context(), r, closing(t, r, "TICK-003", "kept")); done || err != nil {
			t.Errorf("the change was made twice: %v, %v", done, err)
		}
		if done, err := change(t.Context(), r, closing(t, r, "TICK-006", "kept")); done && err == nil {
			t.Error("one confirmation made two changes")
		}
		if now, _, _ := r.Ticket(t.Context(), everything, "TICK-006"); now.Status != "open" {
			t.Errorf("the second change is there: %s", now.Status)
		}
	})
}

func TestRefusedStatementIsADatabaseError(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		if r.misread == nil {
			t.Skip("no other process can change this store")
		}
		fill(t, r, sample())
		err := r.misread(t, everything)
		if !fault.Is(err, fault.DatabaseError) || strings.Contains(err.Error(), "login") || strings.Contains(err.Error(), "ticket_id") {
			t.Errorf("got %v, want DATABASE_ERROR without internals", err)
		}
	})
}

func TestPassedDeadlineIsATimeout(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *engine) {
		fill(t, r, sample())
		c := closing(t, r, "TICK-004", "late")
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, _, err := r.Ticket(late, everything, "TICK-001")
		_, _, err1 := r.Article(late, everything, "KB-001")
		_, err2 := r.Tickets(late, everything, support.TicketQuery{Find: support.ParseQuery("*"), Limit: 5})
		_, err3 := r.Articles(late, everything, support.ArticleQuery{Find: support.ParseQuery("a"), Limit: 5})
		_, err4 := change(late, r, c)
		_, _, err5 := r.Find(late, ann, "x")
		for _, err := range []error{err, err1, err2, err3, err4, err5, r.Ready(late)} {
			if !fault.Is(err, fault.Timeout) {
				t.Errorf("got %v, want TIMEOUT", err)
			}
		}
	})
}
