package mcpserver

import (
	"net/http"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/quota"
)

// takeSlot takes a slot for what a request opens: a stream, until it ends; an MCP
// session, for as long as it lives. The gateway's own sessions and streams at a
// server, by internal tokens, are bounded by the gateway.
func (s *Server) takeSlot(w http.ResponseWriter, r *http.Request, m message, modern bool) (release func(), err error) {
	who, err := access.From(r.Context())
	if err != nil {
		return nil, err
	}
	counted := who.Purpose() == access.PurposeNone
	switch {
	case counted && streams(r, m, modern):
		return s.opts.Quotas.Hold(r.Context(), quota.Streams, who.Owner())
	case r.Method == http.MethodDelete:
		return s.forgetEnded, nil
	case !beginsSession(r, modern):
		return func() {}, nil
	}
	s.forgetEnded() // their slots are free
	free := func() {}
	if counted {
		free, err = s.opts.Quotas.Hold(r.Context(), quota.Sessions, who.Owner())
	}
	return func() {
		switch known, sweeping := s.lane.sessions.hold(w.Header().Get(sessionHeader), free); {
		case !known: // none began
			free()
		case !sweeping:
			time.AfterFunc(sweepPeriod, s.sweep)
		}
	}, err
}

// sweepPeriod is how often sessions are looked for that ended on their own.
const sweepPeriod = time.Minute

// sweep forgets the sessions that have ended, as long as there are any.
func (s *Server) sweep() {
	if s.forgetEnded(); s.lane.sessions.sweepAgain() {
		time.AfterFunc(sweepPeriod, s.sweep)
	}
}

// forgetEnded frees the slots of sessions that have ended: by their client, after
// sessionIdle, or with Close. A goroutine that waits for the end of each would cost as
// much as the session.
func (s *Server) forgetEnded() {
	known := s.lane.sessions.ids() // first: the SDK has a session before we do
	for session := range s.mcp.Sessions() {
		delete(known, session.ID())
	}
	for id := range known {
		s.lane.sessions.remove(id)
	}
}

// beginsSession reports whether a request begins a session of a handshake version.
func beginsSession(r *http.Request, modern bool) bool {
	return !modern && r.Method == http.MethodPost && r.Header.Get(sessionHeader) == ""
}

// streams reports whether the response is a long-lived stream: that of an MCP
// session, or a modern subscription.
func streams(r *http.Request, m message, modern bool) bool {
	return r.Method == http.MethodGet || modern && m.method == "subscriptions/listen"
}
