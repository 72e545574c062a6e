package sales

import (
	"context"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

func (s *Server) dealTools() []tool.Tool {
	return []tool.Tool{
		tool.List(tool.Spec{
			Name: "list_deals", Title: "List deals", Ask: "Which deals close this month?", Allow: readers, Synonyms: []string{"opportunity", "sale"},
			Description: "List sales deals with customer, value, stage and expected close date. " +
				"closing_from and closing_to bound the day on which a deal was won or lost, or, while it is open, its expected close date. Shows the deals of the caller and their team; sales leadership and executives see all.",
			Lacks: []tool.Lack{{
				Said: `^(\w+ ){0,3}(create|add|new|update|change|rename|edit|modify|correct|move|reassign|assign|delete|remove|cancel)\b.*\bdeals?\b`,
				Tell: "Deals can be read here and closed as won or lost, not added, moved, changed or deleted",
			}, {
				Said: `\b(win|winning|conversion|close|closing) rate\b`,
				Tell: "No rate of won deals is worked out here; you can ask how many deals were won, and how many were lost",
			}, {
				Said: `\b(top|best) (sellers?|salesperson|salespeople|sales ?rep|reps?)\b`,
				Tell: "Sellers are not ranked here; you can ask for won deals by owner",
			}},
			Noun: "deals", Narrow: "stage, owner, customer, value or closing date", Untrusted: []string{"deal_name", "customer_name", "notes", "loss_reason"},
		}, s.listDeals),
		tool.Write(tool.Spec{
			Name: "close_deal", Title: "Close a deal", Allow: writers, Synonyms: []string{"opportunity", "sale", "mark"},
			Description: "Close a deal as won or lost. " +
				"Needs the deal's id, which list_deals shows as _id. A lost deal needs loss_reason; a won one takes actual_value, or else the deal's value. A person must approve it first; it cannot be undone.",
			Untrusted: []string{"dealName", "customerName", "message"}, // a receipt and a refusal name the deal
		}, tool.Steps[closeDeal, closingPreview, dealPrecondition, Closed]{Preview: s.previewClosing, Apply: s.closeDeal}),
	}
}

type listDeals struct {
	Stage       string  `json:"stage,omitempty" jsonschema:"enum=PROSPECTING,enum=DISCOVERY,enum=QUALIFICATION,enum=PROPOSAL,enum=NEGOTIATION,enum=CLOSED_WON,enum=CLOSED_LOST" jsonschema_description:"Filter by sales stage (uppercase)" field:"aka.CLOSED_WON=won|closed|win|sold|sell|total sales|our sales|my sales|did we close|did i close|have we closed|have i closed|closed the most,aka.CLOSED_LOST=lost|closed|lose,aka.PROSPECTING=open,aka.DISCOVERY=open,aka.QUALIFICATION=open,aka.PROPOSAL=open,aka.NEGOTIATION=open"`
	Owner       string  `json:"owner,omitempty" jsonschema_description:"Filter by account owner email" field:"aka=seller|salesperson|rep"`
	MinValue    float64 `json:"min_value,omitempty" jsonschema:"minimum=0" jsonschema_description:"Minimum deal value in USD" field:"unit=USD,amount"`
	CustomerID  string  `json:"customer_id,omitempty" jsonschema:"pattern=^[0-9a-fA-F]{24}$" jsonschema_description:"Only the deals of this customer" suggest:"Use list_customers tool to find valid customer IDs." via:"list_customers" field:"from=list_customers:customer_id" tell:"I find no customer with that id."`
	ClosingFrom string  `json:"closing_from,omitempty" jsonschema:"format=date" jsonschema_description:"Closed, or expected to close, on this date or later (YYYY-MM-DD)" field:"aka=close|due"`
	ClosingTo   string  `json:"closing_to,omitempty" jsonschema:"format=date" jsonschema_description:"Closed, or expected to close, on this date or earlier (YYYY-MM-DD)" field:"aka=close|due"`
	Sort        Sort    `json:"sort,omitempty" jsonschema:"enum=newest,enum=value_desc,enum=closing,default=newest" jsonschema_description:"Order: newest first; value_desc for the top, highest, biggest or largest value first; closing for the soonest expected close date first" field:"aka.newest=newest|latest|most recent,aka.value_desc=sorted by value|sorted by value descending,aka.closing=soonest|sorted by closing date"`
}

func (s *Server) listDeals(ctx context.Context, in listDeals, w tool.Window[DealKey]) ([]Deal, error) {
	scope, err := s.scopeIn(ctx)
	if err != nil {
		return nil, err
	}
	if in.ClosingFrom != "" && in.ClosingTo != "" && in.ClosingFrom > in.ClosingTo {
		return nil, fault.InvalidInput.New("The period ends before it begins.").Instruct("Give closing_from as the earlier of the two dates.").Fields("closing_from", "closing_to")
	}
	q := DealQuery{
		Stage: in.Stage, Owner: strings.ToLower(in.Owner), CustomerID: strings.ToLower(in.CustomerID), MinValue: in.MinValue,
		ClosingFrom: in.ClosingFrom, ClosingTo: in.ClosingTo, Sort: in.Sort, After: w.After, Limit: w.Limit,
	}
	deals, err := s.store.Deals(ctx, scope, q)
	if err != nil || q.MinValue == 0 {
		return deals, err
	}
	q.MinValue, q.Others, q.Sort, q.After, q.Limit = 0, true, Newest, nil, 1
	others, err := s.store.Deals(ctx, scope, q)
	if len(others) > 0 {
		tool.OtherCurrencies(ctx)
	}
	return deals, err
}
