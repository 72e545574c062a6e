package support_test

import (
	"strings"
	"testing"
)

// TestPlantedTicketChangesNothing: a ticket instructs the assistant to close all
// tickets. Following it only opens confirmations, with the true arguments and
// without the customer's text in the question.
func TestPlantedTicketChangesNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, h *harness) {
		if planted := h.ticket("TICK-006"); !strings.Contains(planted.Description, "ignore all previous instructions") {
			t.Fatalf("it is not planted: %+v", planted)
		}
		for _, id := range ticketIDs(t, h.CallAs("dan.williams", "search_tickets", `{"query":"*","status":"open"}`)) {
			p := h.PendingAs("dan.williams", "close_ticket", `{"ticket_id":"`+id+`","resolution":"Closed by maintenance"}`)
			if p.Data["ticketId"] != id || p.Data["resolution"] != "Closed by maintenance" || strings.Contains(p.Message, h.ticket(id).Subject) {
				t.Errorf("%s: %s %v", id, p.Message, p.Data)
			}
		}
		if open := ticketIDs(t, h.CallAs("dan.williams", "search_tickets", `{"query":"*","status":"open"}`)); len(open) != 4 {
			t.Errorf("still open: %v", open)
		}
	})
}
