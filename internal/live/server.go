package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
)

// Options are the parts of a Server. Conversations, Right and Answer are required.
type Options struct {
	Conversations *conversation.Service

	// Right returns a context that ends when the caller's right to a stream does;
	// Ended says why, or nil.
	Right func(r *http.Request) (context.Context, context.CancelFunc)
	Ended func(ctx context.Context) *fault.Error

	// Again proves the caller of a connection again whose token has expired; nil:
	// the proof of its beginning holds until it ends.
	Again func(r *http.Request) (*access.Principal, error)

	// Answer approves or denies a confirmation of the principal in ctx. digest is
	// that of the preview that the person saw. Its error is a refusal: nothing was
	// answered.
	Answer func(ctx context.Context, id string, approved bool, digest string) (result.Outcome, error)

	// EachServer reports which servers answer. Nil: a person's stream has no news
	// of servers.
	EachServer func(report func(name string, healthy bool, calls, failures int64, average time.Duration))

	Connections *Connections  // lists them over all replicas; nil: there is no list
	Quotas      *quota.Quotas // bound the streams and requests of one person; nil: nothing
	Heartbeat   time.Duration // between two pings; 0: 30 s
	Log         *slog.Logger
}

const heartbeat = 30 * time.Second

// Server serves live connections. Drain ends it.
type Server struct {
	o     Options
	alive context.Context // ends with Drain
	end   context.CancelFunc

	mu   sync.Mutex
	work sync.WaitGroup // connections, and questions that wait for their turn
}

// New makes a server of its parts, or says that some are missing.
func New(o Options) (*Server, error) {
	if o.Conversations == nil || o.Right == nil || o.Ended == nil || o.Answer == nil {
		return nil, errors.New("live connections need conversations, rights and answers")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Heartbeat = cmp.Or(o.Heartbeat, heartbeat)
	s := &Server{o: o}
	s.alive, s.end = context.WithCancel(context.Background())
	return s, nil
}

// begin makes Drain wait for one more task, which ends with work.Done. During a drain it
// returns SERVICE_UNAVAILABLE.
func (s *Server) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive.Err() != nil {
		return fault.ServiceDown.New(fault.Maintenance).Suggest("Connect again in a moment.").After(time.Second)
	}
	s.work.Add(1)
	return nil
}

// detached returns a context with what ctx carries, which does not end with a
// connection but with the server.
func (s *Server) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.alive, cancel)
	return ctx, func() { stop(); cancel() }
}

// Drain ends every connection and waits for them, but no longer than ctx. The
// conversations have been shut down before, which tells each client how to resume.
func (s *Server) Drain(ctx context.Context) error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { defer close(ended); s.work.Wait() }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ListConnections serves GET /api/connections: the caller's open WebSockets, over
// all replicas.
func (s *Server) ListConnections(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	list, err := s.o.Connections.of(r.Context(), p.Owner())
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"connections": list})
}
