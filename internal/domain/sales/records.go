package sales

import (
	"fmt"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/calendar"
)

// Customer is a company that buys, with its main contact.
type Customer struct {
	ID            string    `json:"_id" jsonschema_description:"MongoDB ObjectId as string."`
	Name          string    `json:"name" jsonschema_description:"The main contact's name." field:"label=Contact"`
	Email         string    `json:"email" mask:"contact,mailbox" jsonschema:"format=email" jsonschema_description:"The main contact's e-mail address; only its domain for those who neither own the account nor may change sales data."`
	Company       string    `json:"company" jsonschema_description:"The customer's company name."`
	Industry      string    `json:"industry"`
	Phone         string    `json:"phone" mask:"contact,last4" jsonschema_description:"The main contact's phone number; its last four digits for those who neither own the account nor may change sales data."`
	Address       Address   `json:"address"`
	AccountOwner  string    `json:"account_owner" jsonschema_description:"E-mail address of the employee who owns the account." field:"aka=owner|seller"`
	Tier          string    `json:"tier" jsonschema:"enum=enterprise,enum=business,enum=startup,enum=free"`
	AnnualRevenue float64   `json:"annual_revenue" jsonschema_description:"US dollars a year." field:"unit=USD,amount,aka=sales|turnover"`
	CreatedAt     time.Time `json:"created_at" field:"show=detail"`
	UpdatedAt     time.Time `json:"updated_at" field:"show=detail"`
	OpenDeals     int       `json:"open_deals" jsonschema_description:"How many of the customer's deals that you may see are still open." field:"aka.zero=no open deals|without open deals|without an open deal|no open deal"`

	Relation access.Relation `json:"-"`
	Version  int64           `json:"-"`
	OpenName []string        `json:"-"` // the first open deals' names
}

// CustomerRow is a customer in a list: whose it is and how large, and nothing by
// which its contact can be reached.
type CustomerRow struct {
	CustomerID    string  `json:"customer_id" jsonschema_description:"MongoDB ObjectId as string."`
	CustomerName  string  `json:"customer_name" jsonschema_description:"The customer's company name." field:"label=Customer,aka=account|client|company"`
	Contact       string  `json:"contact" jsonschema_description:"The main contact's name."`
	Industry      string  `json:"industry"`
	City          string  `json:"city"`
	State         string  `json:"state"`
	Country       string  `json:"country"`
	Tier          string  `json:"tier" jsonschema:"enum=enterprise,enum=business,enum=startup,enum=free"`
	AnnualRevenue float64 `json:"annual_revenue" jsonschema_description:"US dollars a year." field:"unit=USD,amount,aka=sales|turnover"`
	AccountOwner  string  `json:"account_owner" jsonschema_description:"E-mail address of the employee who owns the account." field:"aka=owner|seller|salesperson|rep"`
	OpenDeals     int     `json:"open_deals" jsonschema_description:"How many of the customer's deals that you may see are still open." field:"aka.zero=no open deals|without open deals|without an open deal|no open deal"`
}

// Key is the row's sort key.
func (c CustomerRow) Key() CustomerKey { return CustomerKey{Company: c.CustomerName, ID: c.CustomerID} }

// CustomerKey is a customer's sort key.
type CustomerKey struct {
	Company string `json:"c"`
	ID      string `json:"i"`
}

// Address is a postal address.
type Address struct {
	Street  string `json:"street"`
	City    string `json:"city"`
	State   string `json:"state"`
	Zip     string `json:"zip"`
	Country string `json:"country"`
}

// The stages of a deal, in the order of a pipeline.
const (
	StageWon  = "CLOSED_WON"
	StageLost = "CLOSED_LOST"
)

// stages lists every stage; the last two are the closed ones.
func stages() []string {
	return []string{"PROSPECTING", "DISCOVERY", "QUALIFICATION", "PROPOSAL", "NEGOTIATION", StageWon, StageLost}
}

func isClosed(stage string) bool { return stage == StageWon || stage == StageLost }

// Deal is a sale that is expected, won or lost.
type Deal struct {
	ID                string    `json:"_id" jsonschema_description:"MongoDB ObjectId as string."`
	CustomerID        string    `json:"customer_id"`
	CustomerName      string    `json:"customer_name" field:"label=Customer,aka=account|client"`
	DealName          string    `json:"deal_name" field:"label=Deal"`
	Value             float64   `json:"value" jsonschema:"minimum=0" jsonschema_description:"US dollars, unless currency is another." field:"unit=USD,amount,aka=worth|size|amount|price"`
	Currency          string    `json:"currency" jsonschema:"default=USD" field:"show=detail"`
	Stage             string    `json:"stage" jsonschema:"enum=PROSPECTING,enum=DISCOVERY,enum=QUALIFICATION,enum=PROPOSAL,enum=NEGOTIATION,enum=CLOSED_WON,enum=CLOSED_LOST"`
	Probability       float64   `json:"probability" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Per cent." field:"unit=percent,aka=chance|likelihood"`
	ExpectedCloseDate string    `json:"expected_close_date" jsonschema:"format=date" field:"label=Closing,aka=closing|close"`
	ActualCloseDate   string    `json:"actual_close_date,omitempty" jsonschema:"format=date" jsonschema_description:"When it was won or lost." field:"label=Closed,show=detail"`
	Owner             string    `json:"owner" jsonschema_description:"E-mail address of the employee who owns the deal." field:"aka=seller|salesperson|rep"`
	Notes             string    `json:"notes"`
	LossReason        string    `json:"loss_reason,omitempty" jsonschema_description:"Why it was lost." field:"aka=why"`
	CreatedAt         time.Time `json:"created_at" field:"show=detail"`
	UpdatedAt         time.Time `json:"updated_at" field:"show=detail"`

	Version int64 `json:"-"`
}

// Key is the deal's sort key in every order.
func (d Deal) Key() DealKey {
	return DealKey{Created: d.CreatedAt.UnixMilli(), Value: d.Value, Closing: d.ExpectedCloseDate, ID: d.ID}
}

// Quarter is a quarter of a calendar year.
type Quarter struct{ span calendar.Span }

// QuarterOf is the quarter around an instant, in UTC.
func QuarterOf(t time.Time) Quarter { return Quarter{calendar.Period(t.UTC(), 3, 0)} }

// String writes it as 2026-Q1.
func (q Quarter) String() string {
	return fmt.Sprintf("%04d-%s", q.span.From.Year(), q.span.Quarter())
}

// From is the first day.
func (q Quarter) From() time.Time { return q.span.From }

// Until is the day after the last.
func (q Quarter) Until() time.Time { return q.span.To }

// DealKey is a deal's sort key in every order.
type DealKey struct {
	Created int64   `json:"c"` // Unix milliseconds
	Value   float64 `json:"v"`
	Closing string  `json:"d"`
	ID      string  `json:"i"`
}
