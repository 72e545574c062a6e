package sales

import (
	"context"
	"fmt"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/tool"
)

func (s *Server) customerTools() []tool.Tool {
	return []tool.Tool{
		tool.Read(tool.Spec{
			Name: "get_customer", Title: "Get a customer", AskOf: "Show customer %s", Allow: readers, Synonyms: []string{"client", "account"},
			Lacks: []tool.Lack{{
				Said: `^(\w+ ){0,3}(create|add|new|update|change|rename|edit|modify|correct)\b.*\b(customer|client|account)s?\b`,
				Tell: "Customers can be read and deleted here, not added or changed",
			}, {
				Said: `\b(our|the company.s|company) (total |annual |yearly |overall )?(revenue|turnover|profits?|income|margins?|earnings)( (this|last) year| so far| in total)?$|^(what is |what was |show |how much is )?(the )?(total|annual|yearly|overall) (revenue|turnover|profits?|income|margins?|earnings)( (this|last) year)?$|\brevenue (did|have|do) we (make|made|close|closed|book|booked|earn|earned|have|had|get)\b`,
				Tell: "The company's own revenue and profit are not kept here, only deals, budgets, invoices and expenses",
			}, {
				Said: `\bcustomers?\b.*\b(at risk|unhappy|happy|satisfied|churn\w*)\b|\bhow (satisfied|happy) (are|is)\b.*\bcustomers?\b|\bcustomer satisfaction\b|\bchurn( rate)?\b`,
				Tell: "How satisfied customers are is not kept here",
			}, {
				Said: `\b(our|new|many|my|show|list) leads\b|\bleads (do|by|from)\b`,
				Tell: "Leads are not kept here, only deals and customers",
			}},
			Description: "Show one customer with contact, account owner, tier and annual revenue. Needs a customer_id; list_customers has it.",
			Untrusted:   []string{"name", "email", "phone", "company", "industry", "street", "city", "state", "zip", "country"},
		}, s.getCustomer),
		tool.List(tool.Spec{
			Name: "list_customers", Title: "List customers", Ask: "Who are our customers?", Allow: readers, Synonyms: []string{"client", "account"},
			Description: "List customers with tier, industry, place, annual revenue, account owner and open deals, by company name. " +
				"Shows the customers of the caller and their team; sales leadership and executives see all. get_customer has the contact's address and phone.",
			Noun: "customers", Narrow: "name, tier or owner", Untrusted: []string{"customer_name", "contact", "industry", "city", "state", "country"},
		}, s.listCustomers),
		tool.Write(tool.Spec{
			Name: "delete_customer", Title: "Delete a customer", Allow: writers, Synonyms: []string{"remove", "client", "account"},
			Description: "Delete a customer that has no open deals. Needs a customer_id; list_customers has it. A person must approve it first; it cannot be undone.",
			Untrusted:   []string{"customerName", "contact", "message"}, // a refusal names the open deals
		}, tool.Steps[deleteCustomer, deletionPreview, customerPrecondition, Deleted]{Preview: s.previewDeletion, Apply: s.deleteCustomer}),
	}
}

type getCustomer struct {
	CustomerID string `json:"customer_id" jsonschema:"pattern=^[0-9a-fA-F]{24}$" jsonschema_description:"MongoDB ObjectId as string" suggest:"Use list_customers tool to find valid customer IDs." via:"list_customers" field:"from=list_customers:customer_id" tell:"I find no customer with that id."`
}

func (s *Server) getCustomer(ctx context.Context, in getCustomer) (Customer, error) {
	scope, err := s.scopeIn(ctx)
	if err != nil {
		return Customer{}, err
	}
	return s.customer(ctx, scope, in.CustomerID)
}

type listCustomers struct {
	Name  string `json:"name,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Part of the customer's company name" field:"aka=company"`
	Tier  string `json:"tier,omitempty" jsonschema:"enum=enterprise,enum=business,enum=startup,enum=free" jsonschema_description:"Filter by tier"`
	Owner string `json:"owner,omitempty" jsonschema_description:"Filter by account owner email" field:"aka=seller|salesperson|rep"`
}

func (s *Server) listCustomers(ctx context.Context, in listCustomers, w tool.Window[CustomerKey]) ([]CustomerRow, error) {
	scope, err := s.scopeIn(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.store.Customers(ctx, scope, CustomerQuery{Name: strings.Fields(in.Name), Tier: in.Tier, Owner: strings.ToLower(in.Owner), After: w.After, Limit: w.Limit})
	rows := make([]CustomerRow, len(found))
	for i, c := range found {
		rows[i] = CustomerRow{
			CustomerID: c.ID, CustomerName: c.Company, Contact: c.Name, Industry: c.Industry, City: c.Address.City, State: c.Address.State, Country: c.Address.Country,
			Tier: c.Tier, AnnualRevenue: c.AnnualRevenue, AccountOwner: c.AccountOwner, OpenDeals: c.OpenDeals,
		}
	}
	return rows, err
}

// customer finds a customer and sets its relation to the principal, who
// needs one only in a scope of their own.
func (s *Server) customer(ctx context.Context, scope Scope, id string) (Customer, error) {
	c, found, err := s.store.Customer(ctx, scope, strings.ToLower(id))
	if err != nil {
		return Customer{}, err
	}
	if !found {
		return Customer{}, errCustomerNotFound.New("Customer not found. Verify the customer ID is correct.").Tell("I find no customer with that id.")
	}
	if c.AccountOwner == scope.Email() {
		c.Relation = access.Own
	}
	return c, nil
}

type deleteCustomer struct {
	CustomerID string `json:"customer_id" jsonschema:"pattern=^[0-9a-fA-F]{24}$" jsonschema_description:"MongoDB ObjectId as string" suggest:"Use list_customers tool to find valid customer IDs." via:"list_customers" field:"from=list_customers:customer_id" tell:"I find no customer with that id."`
	Reason     string `json:"reason,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Why the customer is deleted; kept in the audit." text:"lines"`
}

// deletionPreview is shown before a customer is deleted.
type deletionPreview struct {
	CustomerID   string `json:"customerId" jsonschema:"pattern=^[0-9a-fA-F]{24}$" field:"show=detail"`
	CustomerName string `json:"customerName"`
	Contact      string `json:"contact"`
	AccountOwner string `json:"accountOwner"`
	Tier         string `json:"tier" jsonschema:"enum=enterprise,enum=business,enum=startup,enum=free"`
	Reason       string `json:"reason" quote:"assistant" empty:"No reason provided"`
}

// Message is the question that the card asks.
func (c deletionPreview) Message() tool.Sentence {
	return tool.Say("Delete customer %s (contact %s, account owner %s)?\nThe customer is no longer listed or found; closed deals and tickets keep the name. This cannot be undone.", c.CustomerName, c.Contact, c.AccountOwner)
}

// customerPrecondition is the customer that the person saw.
type customerPrecondition struct {
	Version  int64
	Customer Customer
}

// Deleted is the result of a deletion.
type Deleted struct {
	Deleted      bool   `json:"deleted"`
	CustomerID   string `json:"customerId" jsonschema:"pattern=^[0-9a-fA-F]{24}$"`
	CustomerName string `json:"customerName"`
	Message      string `json:"message"`
}

func (s *Server) previewDeletion(ctx context.Context, in deleteCustomer) (deletionPreview, customerPrecondition, error) {
	scope, err := s.scopeIn(ctx)
	if err != nil {
		return deletionPreview{}, customerPrecondition{}, err
	}
	c, err := s.customer(ctx, scope, in.CustomerID)
	if err != nil {
		return deletionPreview{}, customerPrecondition{}, err
	}
	if c.OpenDeals > 0 {
		return deletionPreview{}, customerPrecondition{}, openDeals(c)
	}
	preview := deletionPreview{CustomerID: c.ID, CustomerName: c.Company, Contact: c.Name, AccountOwner: c.AccountOwner, Tier: c.Tier, Reason: in.Reason}
	return preview, customerPrecondition{c.Version, c}, nil
}

func openDeals(c Customer) error {
	names := strings.Join(c.OpenName, ", ")
	if more := c.OpenDeals - len(c.OpenName); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	deals := "deals"
	if c.OpenDeals == 1 {
		deals = "deal"
	}
	return errCustomerHasOpenDeals.New("%s cannot be deleted: it has %d open %s (%s).", c.Company, c.OpenDeals, deals, names).
		With("openDeals", c.OpenDeals)
}

func (s *Server) deleteCustomer(ctx context.Context, _ deleteCustomer, seen customerPrecondition) (Deleted, error) {
	scope, who, err := changeIn(ctx)
	if err != nil {
		return Deleted{}, err
	}
	c := seen.Customer
	out := Deleted{Deleted: true, CustomerID: c.ID, CustomerName: c.Company, Message: fmt.Sprintf("Customer %s has been deleted.", c.Company)}
	return out, s.store.DeleteCustomer(ctx, scope, Tombstone{ID: c.ID, Version: seen.Version, By: who.Signature(), At: s.now().UTC()})
}
