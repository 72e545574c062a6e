package sales

import (
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Server is the sales domain over one store. It is safe for concurrent use.
type Server struct {
	// Links remembers who the callers are. It is set before the first call. Nil: the
	// store is asked for each.
	Links *access.Links

	store Store
	now   func() time.Time
}

// New makes the domain over a store, which it owns from then on. A nil now is
// time.Now; it decides which quarter is the current one and when a deal closed.
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
		// contact: the e-mail address and phone number of a customer's main contact
		Classes: []access.Class{{Name: "contact", Roles: []access.Role{roleWrite, access.Executive}, Relations: []access.Relation{access.Own}}},
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

// Ready checks that there is data by reading it. An empty or misnamed
// collection is SERVICE_UNAVAILABLE and named.
func (s *Server) Ready(ctx context.Context) error { return s.store.Ready(ctx) }

// Oversize returns a sentence for operators when the store holds more rows than
// it is meant for, and nothing otherwise.
func (s *Server) Oversize(ctx context.Context) (string, error) { return s.store.Oversize(ctx) }

// Seed fills in the sample company's customers, deals and quotas. Rows that are
// there already stay as they are, so that seeding twice changes nothing.
func (s *Server) Seed(ctx context.Context, c *company.Company) error {
	return s.store.Fill(ctx, c.Sales())
}

// Close releases the store.
func (s *Server) Close() error { return s.store.Close() }

// The domain's own faults.
var (
	errCustomerNotFound = &fault.Code{Name: "CUSTOMER_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "No customer has this id, or the caller may not see it.", Instruct: "Use list_customers tool to find valid customer IDs.", Via: "list_customers", Subject: []string{"customer_id"}}
	errDealNotFound = &fault.Code{Name: "DEAL_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "No deal has this id, or the caller may not see it.", Instruct: "Use list_deals tool to find valid deal IDs.", Via: "list_deals", Subject: []string{"deal_id"}}
	errDealAlreadyClosed = &fault.Code{Name: "DEAL_ALREADY_CLOSED", Kind: fault.Conflict, Status: 200,
		Meaning: "The deal was won or lost before.", Instruct: "Use list_deals with a stage to find deals that are still open.", Via: "list_deals", Subject: []string{"deal_id"}, Details: []string{"stage"}}
	errCustomerHasOpenDeals = &fault.Code{Name: "CUSTOMER_HAS_OPEN_DEALS", Kind: fault.Conflict, Status: 200,
		Meaning: "The customer has deals that are neither won nor lost.", Suggest: "Close these deals first.", Instruct: "Close the customer's open deals with close_deal first.", Via: "close_deal", Subject: []string{"customer_id"}, Details: []string{"openDeals"}}

	codes = []*fault.Code{errCustomerNotFound, errDealNotFound, errDealAlreadyClosed, errCustomerHasOpenDeals}
)
