package support_test

import (
	"encoding/json"
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

func TestClosingIsCheckedAtPreview(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		resolution := func(text string) string {
			in, _ := json.Marshal(map[string]string{"ticket_id": "TICK-004", "resolution": text})
			return string(in)
		}
		for input, want := range map[string]string{
			`{"ticket_id":"TICK-008","resolution":"closed once more"}`:                             "TICKET_ALREADY_CLOSED",
			`{"ticket_id":"TICK-099","resolution":"closed once more"}`:                             "TICKET_NOT_FOUND",
			`{"ticket_id":"../TICK-004","resolution":"closed once more"}`:                          "TICKET_NOT_FOUND",
			`{"ticket_id":"","resolution":"closed once more"}`:                                     "TICKET_NOT_FOUND",
			`{"ticket_id":"TICK-007","resolution":"closed once more"}`:                             "pending_confirmation",
			`{"ticket_id":"TICK-004","resolution":"it is solved","resolution_type":"wished_away"}`: "VALIDATION_ERROR",
			`{"ticket_id":"TICK-004"}`:                                                             "VALIDATION_ERROR",
			resolution("too short"):                                                                "VALIDATION_ERROR",
			resolution("éèéèéèéèé"):                                                                "VALIDATION_ERROR", // eighteen bytes, nine characters
			resolution("éèéèéèéèéè"):                                                               "pending_confirmation",
			resolution("            x"):                                                            "INVALID_INPUT",
			resolution(strings.Repeat("é", 2000)):                                                  "pending_confirmation",
			resolution(strings.Repeat("é", 2001)):                                                  "VALIDATION_ERROR",
		} {
			if out := o.CallAs("dan.williams", "close_ticket", input); out.Code() != want {
				t.Errorf("%.80s: got %s, want %s", input, out.Code(), want)
			}
		}
	})
}

func TestRulesHoldAgainAtApply(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		mine := o.PendingAs("dan.williams", "close_ticket", closeFour)
		hers := o.PendingAs("eve.thompson", "close_ticket", `{"ticket_id":"TICK-004","resolution":"The customer left us.","resolution_type":"wont_fix","customer_notified":false}`)
		if !strings.Contains(hers.Message, "as wont fix") || !strings.Contains(hers.Message, "has not been notified") {
			t.Errorf("got %s", hers.Message)
		}
		if got := o.AnswerAs("eve.thompson", hers.ID, true); !strings.Contains(got, "closed as wont fix") {
			t.Fatal(got)
		}
		if got := o.AnswerAs("dan.williams", mine.ID, true); !strings.Contains(got, "TICKET_ALREADY_CLOSED") {
			t.Errorf("the second closing: %s", got)
		}
		if got := o.ticket("TICK-004"); got.Resolution != "The customer left us." {
			t.Errorf("got %+v", got)
		}
		denied := o.PendingAs("dan.williams", "close_ticket", `{"ticket_id":"TICK-001","resolution":"It works again."}`)
		if got := o.AnswerAs("dan.williams", denied.ID, false); !strings.Contains(got, "cancelled") || o.ticket("TICK-001").Status != "open" {
			t.Errorf("denied: %s", got)
		}
	})
}

// TestChangedCardIsStale: somebody else wrote the ticket before its human
// answered.
func TestChangedCardIsStale(t *testing.T) {
	onSharedEngines(t, func(t *testing.T, r *rig) {
		o := newOffice(t, r.Store)
		p := o.PendingAs("dan.williams", "close_ticket", closeFour)
		r.touch("TICK-004")
		if got := o.AnswerAs("dan.williams", p.ID, true); !strings.Contains(got, "CONFIRMATION_STALE") {
			t.Errorf("got %s", got)
		}
		if got := o.ticket("TICK-004"); got.Status != "open" {
			t.Errorf("it was closed: %+v", got)
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
