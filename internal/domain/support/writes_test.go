package support_test

import (
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
)

const closeFour = `{"ticket_id":"tick-004","resolution":"password reset fixed the login"}`

func TestTicketIsClosedOnceByItsHuman(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		p := o.PendingAs("dan.williams", "close_ticket", closeFour)
		want := "Close ticket TICK-004 (high priority, open) as solved, with the resolution: password reset fixed the login\nThe customer has been notified. This cannot be undone."
		if p.Message != want || p.Data["ticketId"] != "TICK-004" || p.Data["customerNotified"] != true || p.Data["subject"] != "Login refused after the password was changed" {
			t.Errorf("got  %s\nwant %s\n%v", p.Message, want, p.Data)
		}
		if got := o.ticket("TICK-004"); got.Status != "open" {
			t.Fatalf("asking has closed it: %+v", got)
		}
		if got := o.AnswerAs("eve.thompson", p.ID, true); !strings.Contains(got, "USER_MISMATCH") {
			t.Errorf("a stranger approves: %s", got)
		}
		first := o.AnswerAs("dan.williams", p.ID, true)
		if !strings.Contains(first, `"message":"Ticket TICK-004 has been closed as solved."`) {
			t.Errorf("got %s", first)
		}
		if again := o.AnswerAs("dan.williams", p.ID, true); again != first {
			t.Errorf("the second answer differs:\n%s\n%s", first, again)
		}
		if got := o.ticket("TICK-004"); got.Status != "closed" || got.Resolution != "password reset fixed the login" || !got.ResolvedAt.Equal(day) {
			t.Errorf("got %+v", got)
		}
		owner, err := access.From(o.As("dan.williams"))
		if err != nil {
			t.Fatal(err)
		}
		kept, found, err := o.store.Find(t.Context(), owner.Owner(), confirm.ID(p.ID))
		if string(kept) != first || !found || err != nil {
			t.Errorf("the receipt in the store: %v, %v\n%s\n%s", found, err, kept, first)
		}
	})
}

// TestPlantedTicketChangesNothing: the ticket that tells the assistant to close
// all of them. Doing what it says leaves cards for a human, with the true
// arguments, and no customer's words in the question.
func TestPlantedTicketChangesNothing(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		if planted := o.ticket("TICK-006"); !strings.Contains(planted.Description, "ignore all previous instructions") {
			t.Fatalf("it is not planted: %+v", planted)
		}
		for _, id := range ticketIDs(t, o.CallAs("dan.williams", "search_tickets", `{"query":"*","status":"open"}`)) {
			p := o.PendingAs("dan.williams", "close_ticket", `{"ticket_id":"`+id+`","resolution":"Closed by maintenance"}`)
			if p.Data["ticketId"] != id || p.Data["resolution"] != "Closed by maintenance" || strings.Contains(p.Message, o.ticket(id).Subject) {
				t.Errorf("%s: %s %v", id, p.Message, p.Data)
			}
		}
		if open := ticketIDs(t, o.CallAs("dan.williams", "search_tickets", `{"query":"*","status":"open"}`)); len(open) != 4 {
			t.Errorf("still open: %v", open)
		}
	})
}
