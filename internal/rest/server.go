package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// Confirmations are the changes that wait at a server for the principal in the
// context.
type Confirmations interface {
	// Confirmation returns one of the principal's, in whatever state.
	Confirmation(ctx context.Context, id string) (result.Confirmation, error)
	// Answer approves or denies one. digest is that of the preview that the
	// person saw, or empty.
	Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome
}

// Server is the REST face of one server: its tools, the changes that wait at it, and
// whether it works.
type Server struct {
	Name, Version string
	Face          *Face
	Confirmations Confirmations // serve POST /execute and GET /confirmations/{id}; nil: none
	Probe         *httpx.Probe  // whether data can be read
}

// Mount adds the routes.
func (s Server) Mount(m *httpx.Mux) {
	m.HandleFunc("GET /tools", s.list)
	m.HandleFunc("POST /tools/{name}", s.Face.Post(func(r *http.Request) (string, error) { return r.PathValue("name"), nil }))
	if s.Confirmations != nil {
		m.HandleFunc("POST /execute", s.execute)
		m.HandleFunc("GET /confirmations/{id}", s.confirmation)
	}
	m.HandleFunc("GET /health", s.health)
	m.HandleFunc("GET /ready", s.ready)
}

// OfConfirmations reports whether a path is of the routes of confirmations. They
// answer in envelopes at every server, whatever dialect its tools speak: the gateway
// reads them.
func OfConfirmations(path string) bool {
	return path == "/execute" || strings.HasPrefix(path, "/confirmations/")
}

// list is GET /tools.
func (s Server) list(w http.ResponseWriter, r *http.Request) error {
	r, err := s.Face.gate.EnterFor(w, r, gate.Listing)
	if err != nil {
		return err
	}
	infos, err := s.Face.tools.Tools(r.Context())
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

// execute is POST /execute: the owner's answer to a confirmation.
func (s Server) execute(w http.ResponseWriter, r *http.Request) error {
	r, body, err := s.Face.gate.ReadFor(w, r, gate.Executing)
	if err != nil {
		return err
	}
	e, err := httpx.Parse[execution](body)
	if err != nil {
		return err
	}
	if err := s.Face.gate.CheckUserContext(r.Context(), e.UserContext); err != nil {
		return err
	}
	if e.ConfirmationID == "" || len(e.ConfirmationID) > 100 {
		return fault.BadRequest.New("confirmationId must name a confirmation.")
	}
	if e.Approved == nil {
		return fault.BadRequest.New("approved must be true or false.")
	}
	return s.Face.respond(w, s.Confirmations.Answer(r.Context(), e.ConfirmationID, *e.Approved, e.Digest))
}

// confirmation is GET /confirmations/{id}: the record as its owner may see
// it, for the gateway, which cannot open it.
func (s Server) confirmation(w http.ResponseWriter, r *http.Request) error {
	r, err := s.Face.gate.EnterFor(w, r, gate.Showing)
	if err != nil {
		return err
	}
	c, err := s.Confirmations.Confirmation(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, c)
}

// health is GET /health: the process is alive.
func (s Server) health(w http.ResponseWriter, _ *http.Request) error {
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "healthy"})
}

// ready is GET /ready: calls can be answered. The answer is yes or no, from a check
// at most 5 s old; an auditor gets the server's name and version too.
func (s Server) ready(w http.ResponseWriter, r *http.Request) error {
	return s.Face.gate.Ready(w, r, s.Probe, "This server cannot answer calls at the moment.", func() map[string]any {
		return map[string]any{"server": s.Name, "version": s.Version}
	})
}
