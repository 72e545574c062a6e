package mcpserver

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// readyPatience is how long the proof of data may take.
const readyPatience = 5 * time.Second

// listREST is GET /tools.
func (s *Server) listREST(w http.ResponseWriter, r *http.Request) error {
	r, err := s.gate.Enter(w, r, listing)
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

// callREST is POST /tools/{name}.
func (s *Server) callREST(w http.ResponseWriter, r *http.Request) error {
	r, body, err := s.gate.Pass(w, r, calling)
	if err != nil {
		return err
	}
	input, claimed, err := unwrap(body)
	if err != nil {
		return err
	}
	if err := s.consistent(r.Context(), claimed); err != nil {
		return err
	}
	name := r.PathValue("name")
	if input, err = s.respell(r.Context(), name, input); err != nil {
		return err
	}
	s.respond(w, s.service.Call(r.Context(), name, input))
	return nil
}

// execution is the body of POST /execute.
type execution struct {
	ConfirmationID string          `json:"confirmationId"`
	Approved       *bool           `json:"approved"`
	UserContext    json.RawMessage `json:"userContext"`
}

// executeREST is POST /execute: the owner's answer to a confirmation.
func (s *Server) executeREST(w http.ResponseWriter, r *http.Request) error {
	r, body, err := s.gate.Pass(w, r, executing)
	if err != nil {
		return err
	}
	e, err := httpx.Parse[execution](body)
	if err != nil {
		return err
	}
	if err := s.consistent(r.Context(), e.UserContext); err != nil {
		return err
	}
	if e.ConfirmationID == "" || len(e.ConfirmationID) > 100 {
		return fault.BadRequest.New("confirmationId must name a confirmation.")
	}
	if e.Approved == nil {
		return fault.BadRequest.New("approved must be true or false.")
	}
	s.respond(w, s.service.Answer(r.Context(), e.ConfirmationID, *e.Approved))
	return nil
}

func (s *Server) consistent(ctx context.Context, claimed json.RawMessage) error {
	who, err := access.From(ctx)
	if err != nil {
		return err
	}
	return contradiction(who, claimed)
}

// respond writes an outcome in the server's dialect.
func (s *Server) respond(w http.ResponseWriter, o result.Outcome) {
	status := http.StatusOK
	if f := o.Fault(); f != nil {
		status = statusOf(f)
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		}
	}
	httpx.Raw(w, status, s.service.Encode(o))
}

// statusOf is the code's status; a code of another server's may have none.
func statusOf(f *fault.Error) int {
	if f.Code.Status == 0 {
		return http.StatusOK
	}
	return f.Code.Status
}

// health is GET /health: the process answers.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "healthy", "server": s.opts.Name, "version": s.opts.Version})
}

// ready is GET /ready: the data answers.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Ready != nil {
		ctx, cancel := context.WithTimeout(r.Context(), readyPatience)
		defer cancel()
		if err := s.opts.Ready(ctx); err != nil {
			return fault.ServiceDown.New("This server cannot read its data.").Because(err)
		}
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": "ready", "server": s.opts.Name})
}
