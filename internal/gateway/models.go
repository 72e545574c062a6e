package gateway

import (
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/httpx"
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
