package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// readyTimeout bounds the check that data can be read.
const readyTimeout = 5 * time.Second

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
	if err := CheckUserContext(r.Context(), e.UserContext); err != nil {
		return err
	}
	if e.ConfirmationID == "" || len(e.ConfirmationID) > 100 {
		return fault.BadRequest.New("confirmationId must name a confirmation.")
	}
	if e.Approved == nil {
		return fault.BadRequest.New("approved must be true or false.")
	}
	return s.face.respond(w, s.service.Answer(r.Context(), e.ConfirmationID, *e.Approved))
}

// health is GET /health: the process is alive.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "healthy", "server": s.opts.Name, "version": s.opts.Version})
}

// ready is GET /ready: data can be read.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Ready != nil {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := s.opts.Ready(ctx); err != nil {
			return fault.ServiceDown.New("This server cannot read its data.").Because(err)
		}
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "ready", "server": s.opts.Name})
}
