package endpoint

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/telemetry"
)

// Caller is who asks: a principal, or without one a program on this machine or a
// page of another origin.
type Caller struct {
	Principal *access.Principal // nil: no token
	Page      bool              // the request names an origin
}

// Answer is what a search found.
type Answer struct {
	Results any    // a list
	N       int    // how many they are
	Note    string // what its reader must know: what was searched when nothing was found, or could not be; empty: nothing
}

// Options of the endpoint. Search and Enter are required.
type Options struct {
	// Search returns at most limit results. Its fault of kind Unavailable is
	// SEARCH_ERROR, every other error INTERNAL_ERROR.
	Search func(ctx context.Context, who Caller, query string, limit int) (Answer, error)
	// Enter lets a request in, before its body is read. The principal is in the
	// context of what it returns; a program of this machine may have none. Its faults
	// of the kinds Unauthenticated, Forbidden and RateLimited are 401, 403 and 429.
	Enter func(w http.ResponseWriter, r *http.Request) (*http.Request, error)
	// Services are the states of what a search needs, by name, and whether all
	// are good. Anyone may ask for them: they are looked up once in 5 s.
	Services func() (states map[string]string, healthy bool)

	CheckHost func(r *http.Request) error // of the paths that everyone may ask for; nil: any
	Loopback  bool                        // only this machine reaches the server: no token is needed
	Observer  httpx.Observer              // counts requests; nil: none
	Log       *slog.Logger                // nil: nothing is logged
	Now       func() time.Time
}

// The paths of the endpoint.
const (
	prefix     = "/mcp/"
	healthPath = "/health"
	mcpHealth  = "/mcp/health"
)

// handler serves the paths.
type handler struct {
	Options

	mu      sync.Mutex
	looked  time.Time // when the states were looked up; zero: never
	states  map[string]string
	healthy bool
}

// statesLife is how long the states of the services are reused.
const statesLife = 5 * time.Second

func (s *handler) servicesNow() (states map[string]string, healthy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); s.Services != nil && (s.looked.IsZero() || now.Sub(s.looked) >= statesLife) {
		s.states, s.healthy = s.Services()
		s.looked = now
	}
	return s.states, s.healthy
}

// Serves reports whether a path is one of document 004's.
func Serves(path string) bool { return path == healthPath || strings.HasPrefix(path, prefix) }

// Over serves the endpoint's paths by one handler and all others by another, whose
// answers have the endpoint's version and request id, too.
func Over(own, other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Serves(r.URL.Path) {
			own.ServeHTTP(w, r)
			return
		}
		w.Header().Set("X-MCP-Version", version)
		id := requestID(r)
		r = r.Clone(r.Context())
		r.Header.Set("X-Request-ID", id)
		other.ServeHTTP(w, r)
	})
}

// New returns a handler of the endpoint.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &handler{Options: o, states: map[string]string{}, healthy: true}
}

// ServeHTTP implements http.Handler.
func (s *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := requestID(r)
	r = r.WithContext(telemetry.WithRequest(r.Context(), telemetry.Request{ID: id, Trace: httpx.TraceID(r.Header.Get("Traceparent"))}))
	e := &exchange{handler: s, w: w, r: r, began: s.Now(), id: id, operation: "route"}
	e.headers()
	defer e.recovered()
	e.end(e.route())
}

// exchange is one request and its answer.
type exchange struct {
	*handler
	w     http.ResponseWriter
	r     *http.Request
	began time.Time
	id    string

	operation string
	query     string
	found     int           // results
	searched  time.Duration // of the search alone
	status    int
}

// route answers the request, or returns why it fails.
func (e *exchange) route() error {
	path, method := e.r.URL.Path, e.r.Method
	switch {
	case method == http.MethodOptions: // of every path, so that a page reads its 404
		return e.preflight()
	case path != searchPath && path != healthPath && path != mcpHealth:
		return &failure{http.StatusNotFound, "ROUTE_NOT_FOUND", "Nothing is served at this path", 0, nil}
	case path != searchPath && (method == http.MethodGet || method == http.MethodHead):
		return e.health()
	case path != searchPath:
		return e.wrongMethod("GET, OPTIONS")
	case method != http.MethodPost:
		return e.wrongMethod("POST, OPTIONS")
	}
	e.operation = "search"
	return e.search()
}

// preflight tells a browser what a page may send. It needs no token.
func (e *exchange) preflight() error {
	if err := e.checkHost(); err != nil {
		return err
	}
	e.status = http.StatusNoContent
	e.w.Header().Set("Content-Type", "application/json")
	e.w.WriteHeader(e.status)
	return nil
}

func (e *exchange) checkHost() error {
	if e.CheckHost == nil {
		return nil
	}
	return e.CheckHost(e.r)
}

func (e *exchange) wrongMethod(allowed string) error {
	e.w.Header().Set("Allow", allowed)
	return &failure{http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "Use one of these methods: " + allowed, 0, nil}
}

// search answers POST /mcp/search, in document 004's order of checks.
func (e *exchange) search() error {
	entered, err := e.Enter(e.w, e.r)
	if err != nil {
		return err
	}
	e.r = entered
	asked, err := e.validate()
	e.query = asked.query
	if err != nil {
		return err
	}
	before := e.Now()
	answer, err := e.Search(e.r.Context(), e.caller(), asked.query, asked.limit)
	e.searched, e.found = e.Now().Sub(before), answer.N
	if err != nil {
		return err
	}
	return e.write(http.StatusOK, struct {
		Results any    `json:"results"`
		Took    int64  `json:"took_ms"`
		Note    string `json:"note,omitempty"` // beyond document 004's shape, where there is one
	}{answer.Results, e.Now().Sub(e.began).Milliseconds(), answer.Note})
}

// caller is who asks, after the request was let in.
func (e *exchange) caller() Caller {
	who := Caller{Page: len(e.r.Header.Values("Origin")) > 0}
	if p, err := access.From(e.r.Context()); err == nil {
		who.Principal = p
	}
	return who
}

// health answers 200 whatever the state is: the process is alive.
func (e *exchange) health() error {
	e.operation = "health"
	if err := e.checkHost(); err != nil {
		return err
	}
	states, healthy := e.servicesNow()
	status := "healthy"
	if !healthy {
		status = "degraded"
	}
	return e.write(http.StatusOK, map[string]any{"status": status, "services": states})
}

// recovered turns a panic into INTERNAL_ERROR.
func (e *exchange) recovered() {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		e.end(fault.Panic(e.operation, p))
	}
}
