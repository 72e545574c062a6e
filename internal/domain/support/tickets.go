package support

import (
	"context"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/tool"
)

// Ticket is a customer's question or complaint.
type Ticket struct {
	ID            string     `json:"ticket_id"`
	Subject       string     `json:"subject"`
	Description   string     `json:"description"`
	Status        string     `json:"status" jsonschema:"enum=open,enum=in_progress,enum=pending,enum=resolved,enum=closed"`
	Priority      string     `json:"priority" jsonschema:"enum=low,enum=medium,enum=high,enum=critical"`
	CustomerID    string     `json:"customer_id" field:"show=detail"`
	CustomerName  string     `json:"customer_name" field:"label=Customer,aka=client"`
	CustomerEmail string     `json:"customer_email" mask:"caller,mailbox" jsonschema:"format=email" jsonschema_description:"Who opened the ticket; only the domain for those who may not change tickets."`
	AssignedTo    *string    `json:"assigned_to" jsonschema:"oneof_type=string;null" jsonschema_description:"E-mail address of the employee who works on it." field:"aka=owner|assignee|agent"`
	Category      string     `json:"category"`
	Tags          []string   `json:"tags"`
	CreatedAt     time.Time  `json:"created_at" field:"show=detail,aka=opened"`
	UpdatedAt     time.Time  `json:"updated_at" field:"show=detail"`
	ResolvedAt    *time.Time `json:"resolved_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
	Resolution    string     `json:"resolution,omitempty" jsonschema_description:"What solved it."`
	Score         float64    `json:"_score,omitempty" jsonschema_description:"Relevance; comparable within one answer only." field:"show=detail"`
	Highlight     []string   `json:"highlight,omitempty" jsonschema_description:"Excerpts around the words that were found, which stand between ** and **." field:"show=detail"`

	Relation access.Relation `json:"-"`
	Version  Version         `json:"-"`
}

// Key is the ticket's sort key in both orders.
func (t Ticket) Key() Key {
	return Key{Score: t.Score, Created: t.CreatedAt.UnixMilli(), ID: t.ID}
}

// customerTexts are the untrusted fields of a ticket: people outside the company
// wrote most of them. closingTexts are those of its closing, where the resolution
// is the caller's own.
var (
	customerTexts = []string{"subject", "description", "customer_name", "tags", "resolution", "highlight"}
	closingTexts  = []string{"subject", "customerName", "previousResolution"}
)

func (s *Server) ticketTools() []tool.Tool {
	return []tool.Tool{
		tool.List(tool.Spec{
			Name: "search_tickets", Title: "Search tickets", Allow: readers, Synonyms: []string{"issue", "problem", "complaint", "case"},
			Description: "Search support tickets by words, status, priority or customer. " + grammar,
			Noun:        "tickets", Narrow: "more words, status, priority or customer", Untrusted: customerTexts,
		}, s.searchTickets),
		tool.Write(tool.Spec{
			Name: "close_ticket", Title: "Close a ticket", Allow: writers, Synonyms: []string{"resolve", "solve", "issue", "case"},
			Description: "Close a support ticket with a resolution of at least 10 characters. " +
				"Needs a ticket_id such as TICK-004; search_tickets finds it. A person must approve it first; it cannot be undone.",
			Untrusted: closingTexts,
		}, tool.Steps[closeTicket, closingPreview, ticketPrecondition, Closed]{Preview: s.previewClosing, Apply: s.closeTicket}),
	}
}

type searchTickets struct {
	Query      string `json:"query" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Words to search for; * for every ticket" field:"aka=about|mention"`
	Status     string `json:"status,omitempty" jsonschema:"enum=open,enum=in_progress,enum=pending,enum=resolved,enum=closed" jsonschema_description:"Filter by ticket status" field:"aka.open=unresolved|unsolved"`
	Priority   string `json:"priority,omitempty" jsonschema:"enum=low,enum=medium,enum=high,enum=critical" jsonschema_description:"Filter by priority" field:"aka=urgency,aka.critical=urgent"`
	CustomerID string `json:"customer_id,omitempty" jsonschema_description:"Filter by customer"`
}

func (s *Server) searchTickets(ctx context.Context, in searchTickets, w tool.Window[Key]) ([]Ticket, error) {
	scope, _, err := scopeIn(ctx)
	if err != nil {
		return nil, err
	}
	find := ParseQuery(in.Query)
	rows, err := s.store.Tickets(ctx, scope, TicketQuery{
		Find: find, Status: in.Status, Priority: in.Priority, CustomerID: in.CustomerID, After: w.After, Limit: w.Limit,
	})
	for i := range rows {
		rows[i].Highlight = find.highlight(rows[i].Subject, rows[i].Description)
	}
	return rows, err
}

// ticket finds a ticket by its id, in capitals or not.
func (s *Server) ticket(ctx context.Context, scope Scope, id string) (Ticket, error) {
	t, found, err := s.store.Ticket(ctx, scope, id)
	if capital := strings.ToUpper(id); !found && err == nil && capital != id {
		t, found, err = s.store.Ticket(ctx, scope, capital)
	}
	if err == nil && !found {
		err = errTicketNotFound.New("Ticket not found. Verify the ticket ID is correct.")
	}
	return t, err
}
