package sales

import (
	"context"
	"fmt"
	"math"
	"time"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Pipeline is a quarter's deals added up by stage.
type Pipeline struct {
	Quarter           string          `json:"quarter" jsonschema_description:"The quarter, such as 2026-Q1."`
	Stages            []PipelineStage `json:"stages"`
	TotalPipeline     float64         `json:"total_pipeline" jsonschema_description:"Value of the open deals that are expected to close in the quarter, US dollars." field:"unit=USD,amount"`
	WeightedPipeline  float64         `json:"weighted_pipeline" jsonschema_description:"The same, each deal times its probability, US dollars." field:"unit=USD"`
	ClosedWon         float64         `json:"closed_won" jsonschema_description:"Value of the deals won in the quarter, US dollars." field:"unit=USD,aka=won|revenue"`
	Target            float64         `json:"target" jsonschema_description:"The quota of the quarter, US dollars; 0 when none is set." field:"unit=USD,aka=quota|goal"`
	AttainmentPercent int             `json:"attainment_percent" jsonschema_description:"closed_won in per cent of target." field:"label=Attainment,unit=percent,aka=quota"`
	OtherCurrencies   int             `json:"other_currencies,omitempty" jsonschema_description:"How many deals of the quarter are left out of all counts and amounts, because they are not in US dollars; absent when there are none." field:"label=Deals left out (other currencies)"`
	Scope             string          `json:"scope" jsonschema_description:"Whose deals were added up." field:"label=Covers"`
}

// PipelineStage is one stage of the pipeline.
type PipelineStage struct {
	Stage string  `json:"stage" jsonschema:"enum=PROSPECTING,enum=DISCOVERY,enum=QUALIFICATION,enum=PROPOSAL,enum=NEGOTIATION,enum=CLOSED_WON,enum=CLOSED_LOST"`
	Count int     `json:"count" field:"label=Deals"`
	Value float64 `json:"value" jsonschema_description:"Value of the deals in this stage, US dollars." field:"unit=USD,amount"`
}

func (s *Server) pipelineTools() []tool.Tool {
	return []tool.Tool{tool.Read(tool.Spec{
		Name: "get_pipeline", Title: "Get the sales pipeline", Ask: "How is the sales pipeline this quarter?", Allow: readers, Synonyms: []string{"forecast", "quota", "target", "revenue"},
		Description: "Show the sales pipeline of a quarter: deals by stage, totals and attainment of the target. " +
			"Without quarter: the current one. Adds up the deals of the caller and their team; for sales leadership and executives, all.",
	}, s.getPipeline)}
}

type getPipeline struct {
	Quarter string `json:"quarter,omitempty" jsonschema:"pattern=^([Qq][1-4] [0-9]{4}|[0-9]{4}-[Qq][1-4])$" jsonschema_description:"The quarter, \"Q1 2026\" or \"2026-Q1\"; the current one when left out" suggest:"Write it as Q1 2026 or 2026-Q1." tell:"Which quarter? Say it like Q1 2026."`
}

func (s *Server) getPipeline(ctx context.Context, in getPipeline) (Pipeline, error) {
	scope, err := s.scopeIn(ctx)
	if err != nil {
		return Pipeline{}, err
	}
	quarter := QuarterOf(s.now())
	if in.Quarter != "" {
		if quarter, err = parseQuarter(in.Quarter); err != nil {
			return Pipeline{}, err
		}
	}
	sums, err := s.store.Sums(ctx, scope, quarter)
	if err != nil {
		return Pipeline{}, err
	}
	return summary(sums, quarter, scope), nil
}

// summary makes the pipeline of a quarter's sums. Amounts are rounded to cents.
func summary(sums Sums, quarter Quarter, scope Scope) Pipeline {
	p := Pipeline{Quarter: quarter.String(), Target: cents(sums.Target), OtherCurrencies: sums.Others, Scope: scope.String()}
	if sums.Others > 0 {
		p.Scope += fmt.Sprintf(", without %d in other currencies", sums.Others)
	}
	for _, stage := range stages() {
		sum := sums.Stages[stage]
		p.Stages = append(p.Stages, PipelineStage{stage, sum.Count, cents(sum.Value)})
		if !isClosed(stage) {
			p.TotalPipeline += sum.Value
			p.WeightedPipeline += sum.Weighted
		}
	}
	p.TotalPipeline, p.WeightedPipeline = cents(p.TotalPipeline), cents(p.WeightedPipeline)
	p.ClosedWon = cents(sums.Stages[StageWon].Value)
	if p.Target > 0 {
		p.AttainmentPercent = int(math.Round(p.ClosedWon / p.Target * 100))
	}
	return p
}

func cents(amount float64) float64 { return math.Round(amount*100) / 100 }

// parseQuarter reads "Q1 2026" and "2026-Q1". What names no year is INVALID_INPUT.
func parseQuarter(text string) (Quarter, error) {
	none := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) // in whose year is what names none
	span, n := calendar.Read(text, none)
	if n < len(text) || span.Months != 3 || span.From.Year() < 1900 {
		return Quarter{}, fault.InvalidInput.New("This is not a quarter.").Suggest("Write it as Q1 2026 or 2026-Q1.").Fields("quarter")
	}
	return QuarterOf(span.From), nil
}
