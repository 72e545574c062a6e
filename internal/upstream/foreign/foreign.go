// Package foreign reaches an MCP server that is not one of ours. Its results are
// no envelopes, it knows none of our roles, and nothing that it says about
// itself gives a right: what its tools may do is decided by the host.
//
// All people share one session, opened with the host's own credential.
package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
)

// maxTools is how many tools one server may list.
const maxTools = 1000

// Options of a server. Name and Connection are required.
type Options struct {
	Name       string
	Connection Connection
	Timeout    time.Duration // for opening a session; 30 s when zero, because a program may be installed first
	Changed    func()        // the server's tools have changed, or its process has ended; may be nil
	Log        *slog.Logger
}

// Connection opens connections to a server: over HTTP, or to a child process.
type Connection interface {
	// Transport returns a transport for one session.
	Transport() mcp.Transport
	// Traced reports whether requests are sent through mcpsession.RoundTrip.
	Traced() bool
}

// Server is the adapter of one foreign server. Close ends it.
type Server struct {
	o      Options
	client *mcpsession.Client
	pool   *mcpsession.Pool
	starts restarts // of a process
	life   context.Context
	stop   context.CancelFunc
}

// New makes the adapter. The server is not asked before the first call.
func New(o Options) *Server {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, client: mcpsession.NewClient(o.Changed), starts: restarts{now: time.Now}}
	s.life, s.stop = context.WithCancel(context.Background())
	s.pool = mcpsession.NewPool(mcpsession.Options{Client: s.client, Connect: s.connect, Traced: o.Connection.Traced(), Ended: s.ended, Max: 1})
	return s
}

// shared is the key of the one session.
const shared = "shared"

// connect opens a session that carries nothing of the caller who needs it
// first.
func (s *Server) connect(context.Context) (*mcp.ClientSession, error) {
	if err := s.starts.begin(); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(s.life, s.o.Timeout)
	defer cancel()
	transport := s.o.Connection.Transport()
	session, err := s.client.Connect(bounded, transport, nil)
	if err != nil && !s.o.Connection.Traced() {
		s.starts.ended()
	}
	if process, ok := transport.(*child); ok && err != nil {
		err = process.explain(bounded, err)
	}
	return session, err
}

// ended follows the end of a process that was not asked to end.
func (s *Server) ended() {
	s.starts.ended()
	s.o.Log.Warn("the process of a connected server ended", "server", s.o.Name)
	if s.o.Changed != nil {
		s.o.Changed()
	}
}

// Tools lists the server's tools.
func (s *Server) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	listed, err := s.pool.Tools(ctx, shared, maxTools)
	if err != nil {
		return nil, err
	}
	tools := make([]result.ToolInfo, 0, len(listed))
	twice := map[string]int{}
	for _, t := range listed {
		twice[t.Name]++
	}
	for _, t := range listed {
		if twice[t.Name] > 1 { // which of them is called is not known
			s.o.Log.WarnContext(ctx, "tool left out", "server", s.o.Name, "tool", t.Name, "error", "it is listed twice")
			continue
		}
		info, err := infoOf(t)
		if err != nil {
			s.o.Log.WarnContext(ctx, "tool left out", "server", s.o.Name, "tool", t.Name, "error", err)
			continue
		}
		tools = append(tools, info)
	}
	return tools, nil
}

// infoOf reads what MCP says about a tool. Of the hints only readOnlyHint
// matters to the host; one that is missing counts as false.
func infoOf(t *mcp.Tool) (info result.ToolInfo, err error) {
	info = result.ToolInfo{Name: t.Name, Title: t.Title, Description: t.Description}
	info.Annotations = result.Annotations{Destructive: true, OpenWorld: true}
	if a := t.Annotations; a != nil {
		info.Annotations = result.Annotations{
			ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint,
			Destructive: a.DestructiveHint == nil || *a.DestructiveHint,
			OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint,
		}
	}
	if info.InputSchema, err = json.Marshal(t.InputSchema); err != nil {
		return info, fmt.Errorf("reading its input schema: %w", err)
	}
	if t.OutputSchema != nil {
		if info.OutputSchema, err = json.Marshal(t.OutputSchema); err != nil {
			return info, fmt.Errorf("reading its output schema: %w", err)
		}
	}
	return info, nil
}

// Call runs a tool, at most once. Progress that the server reports reaches
// result.ProgressOf the context. An error means that the server gave no answer.
func (s *Server) Call(ctx context.Context, tool string, args json.RawMessage) (result.Outcome, error) {
	answer, err := s.pool.Call(ctx, shared, tool, args)
	if e := mcpsession.ServerError(err); e != nil {
		return result.Failed(s.failed(e.Message)), nil
	}
	if err != nil {
		return result.Outcome{}, err
	}
	return s.wrap(answer), nil
}

// Close closes the session. Calls in flight must have ended.
func (s *Server) Close() {
	s.stop()
	s.pool.Close()
}
