package support

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// minResolution is the least number of characters of a resolution, without the
// spaces around it.
const minResolution = 10

type closeTicket struct {
	TicketID         string `json:"ticket_id" jsonschema_description:"The ticket's id, such as TICK-004" suggest:"Use search_tickets tool to find valid ticket IDs." via:"search_tickets" field:"from=search_tickets:ticket_id,like=TICK-004"`
	Resolution       string `json:"resolution" jsonschema:"minLength=10,maxLength=2000" jsonschema_description:"Resolution summary for the ticket" text:"lines"`
	ResolutionType   string `json:"resolution_type,omitempty" jsonschema:"enum=solved,enum=workaround,enum=duplicate,enum=cannot_reproduce,enum=wont_fix,default=solved" field:"aka.workaround=work around,aka.cannot_reproduce=not reproducible|could not reproduce|cannot be reproduced|can't reproduce|couldn't reproduce|not be reproduced,aka.wont_fix=won't fix|will not fix|not going to fix|will not be fixed|won't be fixed"`
	CustomerNotified *bool  `json:"customer_notified,omitempty" jsonschema_description:"Whether the customer was informed; leave it out when that is not known"`
}

// solved is the type of a resolution for which a request names none.
const solved = "solved"

// closingPreview is shown before a ticket is closed.
type closingPreview struct {
	TicketID           string `json:"ticketId"`
	Subject            string `json:"subject" quote:"ticketId"`
	CustomerName       string `json:"customerName"`
	CustomerEmail      string `json:"customerEmail" jsonschema:"format=email" mask:"caller,mailbox"`
	Priority           string `json:"priority" jsonschema:"enum=low,enum=medium,enum=high,enum=critical"`
	CurrentStatus      string `json:"currentStatus" jsonschema:"enum=open,enum=in_progress,enum=pending,enum=resolved,enum=closed"`
	NewStatus          string `json:"newStatus" jsonschema:"enum=closed"`
	PreviousResolution string `json:"previousResolution,omitempty" quote:"ticketId"`
	Resolution         string `json:"resolution" quote:"assistant"`
	ResolutionType     string `json:"resolutionType" jsonschema:"enum=solved,enum=workaround,enum=duplicate,enum=cannot_reproduce,enum=wont_fix"`
	CustomerNotified   *bool  `json:"customerNotified,omitempty"` // absent: the request does not say

	Relation access.Relation `json:"-"`
}

// Message is the question that the card asks. It does not quote the customer: it
// is also shown where untrusted text is not marked. Of a notification that the request does
// not state it says nothing: the resolution may mention one.
func (c closingPreview) Message() tool.Sentence {
	notice := ""
	switch {
	case c.CustomerNotified != nil && *c.CustomerNotified:
		notice = "According to the request, the customer was notified. "
	case c.CustomerNotified != nil:
		notice = "According to the request, the customer was not notified. "
	}
	as := " as " + readable(c.ResolutionType)
	if c.ResolutionType == solved { // which the request need not say
		as, notice = "", "No other outcome is named, so it is recorded as solved. "+notice
	}
	if c.PreviousResolution != "" {
		notice = "The earlier resolution is kept, and this one is added to it. " + notice
	}
	return tool.Say("Close ticket %s (%s priority, %s)%s, with the resolution below?\n%sThis cannot be undone.",
		c.TicketID, c.Priority, tool.Plain(readable(c.CurrentStatus)), tool.Plain(as), tool.Plain(notice))
}

// readable writes a value of an enumeration for people.
func readable(value string) string { return strings.ReplaceAll(value, "_", " ") }

// ticketPrecondition is the ticket that the person saw.
type ticketPrecondition struct {
	Version Version
	Ticket  Ticket
}

// Closed is the result of closing a ticket.
type Closed struct {
	Closed           bool   `json:"closed"`
	TicketID         string `json:"ticketId"`
	Subject          string `json:"subject"`
	Status           string `json:"status" jsonschema:"enum=closed"`
	Resolution       string `json:"resolution"`
	ResolutionType   string `json:"resolutionType" jsonschema:"enum=solved,enum=workaround,enum=duplicate,enum=cannot_reproduce,enum=wont_fix"`
	CustomerNotified *bool  `json:"customerNotified,omitempty"` // absent: the request does not say
	Message          string `json:"message"`
}

func (s *Server) previewClosing(ctx context.Context, in closeTicket) (closingPreview, ticketPrecondition, error) {
	scope, _, err := scopeIn(ctx)
	if err != nil {
		return closingPreview{}, ticketPrecondition{}, err
	}
	t, err := s.ticket(ctx, scope, in.TicketID)
	switch {
	case err != nil:
		return closingPreview{}, ticketPrecondition{}, err
	case t.Status == TicketClosed:
		return closingPreview{}, ticketPrecondition{}, errTicketAlreadyClosed.New("Ticket %s was closed before.", t.ID)
	case utf8.RuneCountInString(strings.TrimSpace(in.Resolution)) < minResolution:
		return closingPreview{}, ticketPrecondition{}, fault.InvalidInput.New("The resolution says less than %d characters.", minResolution).Suggest("Say what was wrong and what was done.").Fields("resolution")
	}
	preview := closingPreview{
		TicketID: t.ID, Subject: t.Subject, CustomerName: t.CustomerName, CustomerEmail: t.CustomerEmail, Priority: t.Priority,
		CurrentStatus: t.Status, NewStatus: TicketClosed, PreviousResolution: t.Resolution,
		Resolution: in.Resolution, ResolutionType: in.ResolutionType, CustomerNotified: in.CustomerNotified,
	}
	return preview, ticketPrecondition{t.Version, t}, nil
}

func (s *Server) closeTicket(ctx context.Context, in closeTicket, seen ticketPrecondition) (Closed, error) {
	scope, who, err := scopeIn(ctx)
	if err != nil {
		return Closed{}, err
	}
	t := seen.Ticket
	out := Closed{
		Closed: true, TicketID: t.ID, Subject: t.Subject, Status: TicketClosed, Resolution: in.Resolution, ResolutionType: in.ResolutionType,
		CustomerNotified: in.CustomerNotified, Message: fmt.Sprintf("Ticket %s has been closed as %s.", t.ID, readable(in.ResolutionType)),
	}
	return out, s.store.CloseTicket(ctx, scope, Closing{
		ID: t.ID, Version: seen.Version, Resolution: strings.TrimPrefix(t.Resolution+"\n"+in.Resolution, "\n"), ResolutionType: in.ResolutionType, CustomerNotified: in.CustomerNotified,
		By: who.Signature(), At: s.now().UTC(),
	})
}

// ticket finds a ticket by its id, in capitals or not.
func (s *Server) ticket(ctx context.Context, scope Scope, id string) (Ticket, error) {
	t, found, err := s.store.Ticket(ctx, scope, id)
	if capital := strings.ToUpper(id); !found && err == nil && capital != id {
		t, found, err = s.store.Ticket(ctx, scope, capital)
	}
	if err == nil && !found {
		err = errTicketNotFound.New("Ticket not found. Verify the ticket ID is correct.").Tell("I find no ticket with that id.")
	}
	return t, err
}
