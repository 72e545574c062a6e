package mcpserver

import (
	"encoding/json"
	"net/http"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// listREST is GET /tools.
func (s *Server) listREST(w http.ResponseWriter, r *http.Request) error {
	r, err := s.gate.enter(w, r, listing)
	if err != nil {
		return err
	}
	infos, err := s.service.Tools(r.Context())
	if err != nil {
		return err
	}
	shown := make([]result.ToolInfo, 0, len(infos))
	for _, info := range infos {
		info.Roles, info.Untrusted, info.Fields = nil, nil, nil // _meta over MCP; no part of this contract
		shown = append(shown, info)
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"tools": shown})
}

// execution is the body of POST /execute.
type execution struct {
	ConfirmationID string          `json:"confirmationId"`
	Approved       *bool           `json:"approved"`
	Digest         string          `json:"digest"`
	UserContext    json.RawMessage `json:"userContext"`
}

// executeREST is POST /execute: the owner's answer to a confirmation.
func (s *Server) executeREST(w http.ResponseWriter, r *http.Request) error {
	r, body, err := s.gate.read(w, r, executing)
	if err != nil {
		return err
	}
	e, err := httpx.Parse[execution](body)
	if err != nil {
		return err
	}
	if err := s.gate.CheckUserContext(r.Context(), e.UserContext); err != nil {
		return err
	}
	if e.ConfirmationID == "" || len(e.ConfirmationID) > 100 {
		return fault.BadRequest.New("confirmationId must name a confirmation.")
	}
	if e.Approved == nil {
		return fault.BadRequest.New("approved must be true or false.")
	}
	return s.face.respond(w, s.opts.Confirmations.Answer(r.Context(), e.ConfirmationID, *e.Approved, e.Digest))
}

// confirmationREST is GET /confirmations/{id}: the record as its owner may see
// it, for the gateway, which cannot open it.
func (s *Server) confirmationREST(w http.ResponseWriter, r *http.Request) error {
	r, err := s.gate.enter(w, r, showing)
	if err != nil {
		return err
	}
	c, err := s.opts.Confirmations.Confirmation(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, c)
}

// health is GET /health: the process is alive.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "healthy"})
}

// ready is GET /ready: data can be read. The answer is yes or no, from a check
// at most 5 s old; an auditor gets the server's name and version too.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	return s.gate.Ready(w, r, &s.probe, "This server cannot read its data.", func() map[string]any {
		return map[string]any{"server": s.opts.Name, "version": s.opts.Version}
	})
}
