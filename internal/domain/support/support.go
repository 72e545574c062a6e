package support

import (
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Server is the support domain over one store. It is safe for concurrent use.
type Server struct {
	store Store
	now   func() time.Time
}

// New makes the domain over a store, which it owns from then on. A nil now is
// time.Now; it decides when a ticket was closed.
func New(store Store, now func() time.Time) *Server {
	if now == nil {
		now = time.Now
	}
	return &Server{store: store, now: now}
}

// Policy declares the domain's roles and the classes of its sensitive fields.
func (s *Server) Policy() access.Policy {
	return access.Policy{
		Roles: []access.Role{roleRead, roleWrite},
		// caller: the e-mail address of the customer who opened a ticket
		Classes: []access.Class{{Name: "caller", Roles: []access.Role{roleWrite, access.Executive}}},
	}
}

// Who may call what. Both lists hold the executive: they may read and do everything.
var (
	readers = []access.Role{roleRead, access.Executive}
	writers = []access.Role{roleWrite, access.Executive}
)

// Codes lists the fault codes that this domain adds to the shared ones.
func (s *Server) Codes() []*fault.Code { return codes }

// Receipts is where the receipts of confirmed changes are kept: the store itself.
func (s *Server) Receipts() tool.ReceiptStores { return tool.OneStore(s.store) }

// Ready checks that there is data by searching it. A table or index that is
// empty, missing or not ours is SERVICE_UNAVAILABLE and named.
func (s *Server) Ready(ctx context.Context) error { return s.store.Ready(ctx) }

// Oversize returns a sentence for operators when the store holds more rows than
// it is meant for, and nothing otherwise.
func (s *Server) Oversize(ctx context.Context) (string, error) { return s.store.Oversize(ctx) }

// Seed fills in the sample company's tickets and articles. Rows that are there
// already stay as they are, so that seeding twice changes nothing.
func (s *Server) Seed(ctx context.Context, c *company.Company) error {
	return s.store.Fill(ctx, c.Support())
}

// Close releases the store.
func (s *Server) Close() error { return s.store.Close() }

// The domain's own faults.
var (
	errTicketNotFound = &fault.Code{Name: "TICKET_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "No ticket has this id, or the caller may not see it.", Instruct: "Use search_tickets tool to find valid ticket IDs.", Via: "search_tickets", Subject: []string{"ticket_id"}}
	errArticleNotFound = &fault.Code{Name: "ARTICLE_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "No article has this id, or the caller may not see it.", Instruct: "Use search_knowledge_base tool to find valid article IDs.", Via: "search_knowledge_base", Subject: []string{"article_id"}}
	errTicketAlreadyClosed = &fault.Code{Name: "TICKET_ALREADY_CLOSED", Kind: fault.Conflict, Status: 200,
		Meaning: "The ticket was closed before.", Instruct: "Use search_tickets with a status to find tickets that can still be closed.", Via: "search_tickets", Subject: []string{"ticket_id"}}

	codes = []*fault.Code{errTicketNotFound, errArticleNotFound, errTicketAlreadyClosed}
)

// grammar describes queries in the descriptions of both tools.
const grammar = `Query: words, found by their English stem; rows that have them all, or, where none has, rows that have any. "An exact phrase", -word to exclude, begin* for the start of a word, * alone for everything, newest first.`
