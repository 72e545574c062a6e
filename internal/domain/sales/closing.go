package sales

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

const maxLossReason = 1000 // characters

type closeDeal struct {
	DealID      string   `json:"deal_id" jsonschema:"pattern=^[0-9a-fA-F]{24}$" jsonschema_description:"MongoDB ObjectId as string" suggest:"Use list_deals tool to find valid deal IDs." via:"list_deals" field:"from=list_deals:_id" tell:"I find no deal with that id."`
	Outcome     string   `json:"outcome" jsonschema:"enum=won,enum=lost"`
	ActualValue *float64 `json:"actual_value,omitempty" jsonschema:"minimum=0" jsonschema_description:"Final deal value (for won deals)" field:"unit=USD,amount"`
	LossReason  string   `json:"loss_reason,omitempty" jsonschema_description:"Reason for lost deal" text:"lines"`
	Notes       string   `json:"notes,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"Added to the deal's notes" text:"lines"`
}

// check applies the business rules that need only the input.
func (in closeDeal) check() error {
	switch {
	case in.Outcome == "lost" && strings.TrimSpace(in.LossReason) == "":
		return fault.InvalidInput.New("Why was the deal lost?").Instruct("Call again with loss_reason.").Fields("loss_reason")
	case in.Outcome == "lost" && in.ActualValue != nil:
		return fault.InvalidInput.New("A deal that was lost has no final value.").Instruct("Call again without actual_value.").Fields("actual_value")
	case in.Outcome == "won" && in.LossReason != "":
		return fault.InvalidInput.New("A reason is kept of lost deals only: please ask again without one.").Instruct("Call again without loss_reason, or with outcome lost.").Fields("loss_reason")
	case utf8.RuneCountInString(in.LossReason) > maxLossReason:
		return fault.InvalidInput.New("The reason for the loss is longer than %d characters.", maxLossReason).Instruct("Shorten loss_reason.").Fields("loss_reason")
	case in.ActualValue != nil && *in.ActualValue > money.Max:
		return fault.InvalidInput.New("The final value is more than %s.", money.TextOf(money.Max, "USD")).Instruct("Check actual_value.").Fields("actual_value")
	case in.ActualValue != nil && !wholeCents(*in.ActualValue):
		return fault.InvalidInput.New("The final value has more than two decimals.").Instruct("Round actual_value to cents.").Fields("actual_value")
	}
	return nil
}

func wholeCents(amount float64) bool {
	_, whole := money.Cents(amount)
	return whole
}

// closingPreview is shown before a deal is closed.
type closingPreview struct {
	DealID       string  `json:"dealId" jsonschema:"pattern=^[0-9a-fA-F]{24}$" field:"show=detail"`
	DealName     string  `json:"dealName"`
	CustomerName string  `json:"customerName"`
	Owner        string  `json:"owner"`
	Outcome      string  `json:"outcome" jsonschema:"enum=won,enum=lost"`
	CurrentStage string  `json:"currentStage" jsonschema:"enum=PROSPECTING,enum=DISCOVERY,enum=QUALIFICATION,enum=PROPOSAL,enum=NEGOTIATION,enum=CLOSED_WON,enum=CLOSED_LOST"`
	NewStage     string  `json:"newStage" jsonschema:"enum=CLOSED_WON,enum=CLOSED_LOST"`
	Currency     string  `json:"currency" jsonschema:"default=USD"`
	CurrentValue float64 `json:"currentValue" jsonschema:"minimum=0" field:"unit=USD"`
	ActualValue  float64 `json:"actualValue,omitempty" jsonschema:"minimum=0" field:"unit=USD"`
	ValueAssumed bool    `json:"valueAssumed,omitempty"` // no actual value was given
	LossReason   string  `json:"lossReason,omitempty" quote:"assistant"`
	Notes        string  `json:"notes,omitempty" quote:"assistant"`
}

// Message is the question that the card asks. It says how far the amount is from
// the deal's value.
func (c closingPreview) Message() tool.Sentence {
	question := tool.Say("Close deal %s (%s, at the %s stage, valued at %s) as %s",
		c.DealName, c.CustomerName, strings.ToLower(c.CurrentStage), tool.Plain(money.TextOf(c.CurrentValue, c.Currency)), c.Outcome)
	amount := tool.Plain(money.TextOf(c.ActualValue, c.Currency))
	switch {
	case c.Outcome == "lost":
		question = question.Then("?")
	case c.ValueAssumed:
		question = question.Then(" for %s? (No actual value was given, so the deal's value is taken.)", amount)
	case c.ActualValue < c.CurrentValue:
		question = question.Then(" for %s? That is less than its value (%s).", amount, c.difference())
	case c.ActualValue > c.CurrentValue:
		question = question.Then(" for %s? That is more than its value (%s).", amount, c.difference())
	default:
		question = question.Then(" for %s?", amount)
	}
	return question.Then("\nThis cannot be undone.")
}

// difference is how far the amount is from the deal's value.
func (c closingPreview) difference() tool.Plain {
	if c.CurrentValue == 0 {
		return tool.Plain("valued at nothing")
	}
	return tool.Plain(fmt.Sprintf("%+.1f %%", (c.ActualValue-c.CurrentValue)/c.CurrentValue*100))
}

// dealPrecondition is the deal that the person saw.
type dealPrecondition struct {
	Version int64
	Deal    Deal
}

// Closed is the result of closing a deal.
type Closed struct {
	Closed   bool    `json:"closed"`
	DealID   string  `json:"dealId" jsonschema:"pattern=^[0-9a-fA-F]{24}$"`
	DealName string  `json:"dealName"`
	Outcome  string  `json:"outcome" jsonschema:"enum=won,enum=lost"`
	Stage    string  `json:"stage" jsonschema:"enum=CLOSED_WON,enum=CLOSED_LOST"`
	Value    float64 `json:"value" jsonschema:"minimum=0" jsonschema_description:"What the deal was closed for, in the deal's currency."`
	Message  string  `json:"message"`
}

func (s *Server) previewClosing(ctx context.Context, in closeDeal) (closingPreview, dealPrecondition, error) {
	scope, err := s.scopeIn(ctx)
	if err != nil {
		return closingPreview{}, dealPrecondition{}, err
	}
	d, found, err := s.store.Deal(ctx, scope, strings.ToLower(in.DealID))
	switch {
	case err != nil:
		return closingPreview{}, dealPrecondition{}, err
	case !found:
		return closingPreview{}, dealPrecondition{}, errDealNotFound.New("Deal not found. Verify the deal ID is correct.").Tell("I find no deal with that id.")
	case isClosed(d.Stage):
		return closingPreview{}, dealPrecondition{}, errDealAlreadyClosed.New("Deal %s was %s before.", d.DealName, outcomeOf(d.Stage)).With("stage", d.Stage)
	}
	if err := in.check(); err != nil {
		return closingPreview{}, dealPrecondition{}, err
	}
	stage, value := in.result(d)
	preview := closingPreview{
		DealID: d.ID, DealName: d.DealName, CustomerName: d.CustomerName, Owner: d.Owner, Outcome: in.Outcome, CurrentStage: d.Stage, NewStage: stage,
		Currency: d.Currency, CurrentValue: d.Value, LossReason: in.LossReason, Notes: in.Notes,
	}
	if stage == StageWon {
		preview.ActualValue, preview.ValueAssumed = value, in.ActualValue == nil
	}
	return preview, dealPrecondition{d.Version, d}, nil
}

// outcomeOf is how a closed deal ended, in a word.
func outcomeOf(stage string) string {
	if stage == StageWon {
		return "won"
	}
	return "lost"
}

// result is the stage and the value that a deal ends with.
func (in closeDeal) result(d Deal) (stage string, value float64) {
	if in.Outcome == "lost" {
		return StageLost, d.Value
	}
	if in.ActualValue != nil {
		return StageWon, *in.ActualValue
	}
	return StageWon, d.Value
}

func (s *Server) closeDeal(ctx context.Context, in closeDeal, seen dealPrecondition) (Closed, error) {
	scope, _, err := changeIn(ctx)
	if err != nil {
		return Closed{}, err
	}
	d := seen.Deal
	c := Closing{ID: d.ID, Version: seen.Version, LossReason: in.LossReason, Notes: joined(d.Notes, in.Notes), At: s.now().UTC()}
	c.Stage, c.Value = in.result(d)
	out := Closed{Closed: true, DealID: d.ID, DealName: d.DealName, Outcome: in.Outcome, Stage: c.Stage, Value: c.Value}
	out.Message = fmt.Sprintf("Deal %s has been closed as lost.", d.DealName)
	if c.Stage == StageWon {
		c.Probability = 100
		out.Message = fmt.Sprintf("Deal %s has been closed as won for %s.", d.DealName, money.TextOf(c.Value, d.Currency))
	}
	return out, s.store.CloseDeal(ctx, scope, c)
}

func joined(notes, more string) string {
	if notes == "" || more == "" {
		return notes + more
	}
	return notes + "\n" + more
}
