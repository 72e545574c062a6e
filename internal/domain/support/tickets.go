package support

import (
	"context"

	"countersign.dev/internal/tool"
)

// customerTexts are the untrusted fields of a ticket: people outside the company
// wrote most of them. closingTexts are those of its closing, where the resolution
// is the caller's own.
var (
	customerTexts = []string{"subject", "description", "customer_name", "customer_email", "tags", "resolution", "highlight"}
	closingTexts  = []string{"subject", "customerName", "customerEmail", "previousResolution"}
)

func (s *Server) ticketTools() []tool.Tool {
	return []tool.Tool{
		tool.List(tool.Spec{
			Name: "search_tickets", Title: "Search tickets", Ask: "Which tickets are open?", Allow: readers, Synonyms: []string{"issue", "problem", "complaint", "complain", "case", "bug", "incident"},
			Description: "Search support tickets by words, status, priority or customer. " + grammar,
			Lacks: []tool.Lack{{
				Said: `^(\w+ ){0,3}(open|create|file|raise|add|submit|report|log) (a|an|another|new)\b.*\b(ticket|issue|problem|bug)\b|\bnew ticket\b`,
				Tell: "Tickets can be read and closed here, not opened",
			}, {
				Said: `^(\w+ ){0,3}(delete|remove|escalate|assign|reassign|reopen|merge|update|change|rename|edit|modify|correct)\b.*\b(tickets?|issues?|bugs?|incidents?|tick-\d+)`,
				Tell: "Tickets can be read and closed here, not assigned, changed or deleted",
			}, {
				Said: `^((did|will|have|can) you )?(notify|notified|email|message|inform|informed|tell|told|answer|write to|reply to) (the |our |this |that )?(customers?|clients?|reporter)\b`,
				Tell: "Customers are not written to from here",
			}, {
				Said: `\bslas?\b|\b(response|resolution|reaction) times?\b|\bhow long\b.*\btickets?\b|\b(average|mean) age\b`,
				Tell: "Deadlines are not kept with tickets here, and how long they take is not worked out",
			}},
			Noun: "tickets", Narrow: "more words, status, priority or customer", Untrusted: customerTexts,
		}, s.searchTickets),
		tool.Write(tool.Spec{
			Name: "close_ticket", Title: "Close a ticket", Allow: writers, Synonyms: []string{"resolve", "solve", "mark", "issue", "case", "bug", "incident"},
			Description: "Close a support ticket. Needs a resolution of at least 10 characters, and " +
				"a ticket_id such as TICK-004; search_tickets finds it. A person must approve it first; it cannot be undone.",
			Untrusted: closingTexts,
		}, tool.Steps[closeTicket, closingPreview, ticketPrecondition, Closed]{Preview: s.previewClosing, Apply: s.closeTicket}),
	}
}

type searchTickets struct {
	Query      string `json:"query" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Words to search for; * for every ticket" field:"all=*,aka=about|mention"`
	Status     string `json:"status,omitempty" jsonschema:"enum=open,enum=in_progress,enum=pending,enum=resolved,enum=closed" jsonschema_description:"Filter by ticket status" field:"aka.open=unresolved|unsolved,aka.in_progress=unresolved|unsolved,aka.pending=unresolved|unsolved|waiting for the customer|waiting|on hold,aka.resolved=solved|fixed"`
	Priority   string `json:"priority,omitempty" jsonschema:"enum=low,enum=medium,enum=high,enum=critical" jsonschema_description:"Filter by priority" field:"aka=urgency,aka.critical=urgent,aka.high=urgent"`
	CustomerID string `json:"customer_id,omitempty" jsonschema_description:"Filter by customer"`
}

func (s *Server) searchTickets(ctx context.Context, in searchTickets, w tool.Window[Key]) ([]Ticket, error) {
	scope, _, err := scopeIn(ctx)
	if err != nil {
		return nil, err
	}
	rows, q, err := find(ctx, in.Query, w.After, func(q Query) ([]Ticket, error) {
		return s.store.Tickets(ctx, scope, TicketQuery{
			Find: q, Status: in.Status, Priority: in.Priority, CustomerID: in.CustomerID, After: w.After, Limit: w.Limit,
		})
	})
	for i := range rows {
		rows[i].Any = q.IsAny()
		rows[i].Highlight = q.highlight(rows[i].Subject, rows[i].Description)
	}
	return rows, err
}
