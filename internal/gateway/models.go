package gateway

import (
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/httpx"
)

// modelView is a configured model.
type modelView struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Default  bool   `json:"default"`
}

// listModels lists the models that a conversation can choose.
func (g *Gateway) listModels(w http.ResponseWriter, _ *http.Request, _ *access.Principal) error {
	views := []modelView{}
	for _, m := range g.o.Models.List() {
		views = append(views, modelView{m.Name(), m.Provider, m.Default})
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"models": views})
}
