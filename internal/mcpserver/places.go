package mcpserver

import (
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/quota"
)

// place takes a place for what a request opens: a stream, until it ends; an MCP
// session, for as long as it lives. The gateway's own sessions and streams at a
// server, by internal tokens, are bounded by the gateway.
func (s *Server) place(w http.ResponseWriter, r *http.Request, modern bool) (release func(), err error) {
	who, err := access.From(r.Context())
	if err != nil {
		return nil, err
	}
	begins := !modern && r.Method == http.MethodPost && r.Header.Get(sessionHeader) == ""
	switch {
	case who.Purpose() != access.PurposeNone:
	case streams(r):
		return s.opts.Quotas.Hold(r.Context(), quota.Streams, who.Owner())
	case begins:
		free, err := s.opts.Quotas.Hold(r.Context(), quota.Sessions, who.Owner())
		return func() { s.keepSession(w.Header().Get(sessionHeader), free) }, err
	}
	return func() {}, nil
}

const sessionHeader = "Mcp-Session-Id"

// keepSession frees the place of a session when that has ended; at once when none
// began. Its goroutine ends with the session: by its client, after sessionIdle,
// or with Close.
func (s *Server) keepSession(id string, free func()) {
	if id != "" {
		for session := range s.mcp.Sessions() {
			if session.ID() == id {
				go func() { _ = session.Wait(); free() }()
				return
			}
		}
	}
	free()
}
