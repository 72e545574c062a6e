package gateway

import (
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/usage"
)

// modelView is a configured model.
type modelView struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Default  bool   `json:"default"`

	Price *agent.Price `json:"price,omitempty"` // per million tokens; none: not known
}

// listModels lists the models that a conversation can choose.
func (g *Gateway) listModels(w http.ResponseWriter, _ *http.Request, _ *access.Principal) error {
	views := []modelView{}
	for _, m := range g.o.Models.List() {
		view := modelView{Name: m.Name(), Provider: m.Provider, Default: m.Default}
		if m.Price.Currency != "" {
			view.Price = &m.Price
		}
		views = append(views, view)
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"models": views})
}

// The shapes of a person's own usage on the wire.
type (
	usageReport struct {
		Days          []dayUsage          `json:"days"`          // newest first
		Conversations []conversationUsage `json:"conversations"` // newest first
		Budget        *budgetView         `json:"budget,omitempty"`
	}
	dayUsage struct {
		Day string `json:"day"`
		*agent.UsageView
	}
	conversationUsage struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		*agent.UsageView
	}
	budgetView struct { // of one day
		Tokens int           `json:"tokens,omitempty"`
		Price  *agent.Amount `json:"price,omitempty"`
		Renews time.Time     `json:"renews"`
	}
)

// spending shows what people have used.
type spending struct {
	usage         *usage.Service
	conversations *conversation.Service
}

// show shows what the caller has used.
func (s spending) show(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	days, err := s.usage.Days(r.Context(), p.Owner())
	if err != nil {
		return err
	}
	list, err := s.conversations.List(r.Context(), p.Owner())
	if err != nil {
		return err
	}
	report := usageReport{Days: []dayUsage{}, Conversations: []conversationUsage{}, Budget: s.budget()}
	for _, d := range days {
		report.Days = append(report.Days, dayUsage{d.Day, d.Usage.View()})
	}
	for _, c := range list {
		if c.Unreadable == "" && c.Usage != (agent.Usage{}) {
			report.Conversations = append(report.Conversations, conversationUsage{c.ID, c.Title, c.Usage.View()})
		}
	}
	return httpx.JSON(w, http.StatusOK, report)
}

func (s spending) budget() *budgetView {
	b, renews := s.usage.Limit()
	if b.Tokens == 0 && b.Price == 0 {
		return nil
	}
	view := &budgetView{Tokens: b.Tokens, Renews: renews}
	if b.Price > 0 {
		view.Price = &agent.Amount{Amount: b.Price.Units(), Currency: b.Currency}
	}
	return view
}
