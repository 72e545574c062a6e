package mcpserver

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/quota"
)

// takeSlot takes a slot for what a request opens: a stream, until it ends; an MCP
// session, for as long as it lives. The gateway's own sessions and streams at a
// server, by internal tokens, are bounded by the gateway.
func (s *Server) takeSlot(w http.ResponseWriter, r *http.Request, modern bool) (release func(), err error) {
	who, err := access.From(r.Context())
	if err != nil {
		return nil, err
	}
	counted := who.Purpose() == access.PurposeNone
	switch {
	case counted && streams(r):
		return s.opts.Quotas.Hold(r.Context(), quota.Streams, who.Owner())
	case modern || r.Method != http.MethodPost || r.Header.Get(sessionHeader) != "":
		return func() {}, nil
	}
	free := func() {}
	if counted {
		free, err = s.opts.Quotas.Hold(r.Context(), quota.Sessions, who.Owner())
	}
	return func() { s.keepSession(w.Header().Get(sessionHeader), free) }, err
}

// keepSession frees the slot of a session when that has ended, and forgets the
// session; at once when none began. Its goroutine ends with the session: by its
// client, after sessionIdle, or with Close.
func (s *Server) keepSession(id string, free func()) {
	session := s.session(id)
	if session == nil {
		s.lane.sessions.remove(id)
		free()
		return
	}
	go func() {
		_ = session.Wait()
		s.lane.sessions.remove(id)
		free()
	}()
}

// session returns an open session, or nil.
func (s *Server) session(id string) *mcp.ServerSession {
	if id == "" {
		return nil
	}
	for session := range s.mcp.Sessions() {
		if session.ID() == id {
			return session
		}
	}
	return nil
}
