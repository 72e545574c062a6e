package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// Caller is who asks: a principal, or without one a program on this machine or a
// page of another origin.
type Caller struct {
	Principal *access.Principal // nil: no token
	Page      bool              // the request names an origin
}

// Options of the surface. Search, Verify, Guard and Next are required.
type Options struct {
	// Search returns at most limit results. n is their number. Its fault of kind
	// Unavailable is SEARCH_ERROR, every other error INTERNAL_ERROR.
	Search func(ctx context.Context, who Caller, query string, limit int) (results any, n int, err error)
	// Verify proves a bearer token.
	Verify func(ctx context.Context, token string) (*access.Principal, error)
	// Limit counts a request for its caller: RATE_LIMITED, or nil. Nil: no limit.
	Limit func(r *http.Request, who *access.Principal) error
	// Services are the states of what a search needs, by name, and whether all
	// are good.
	Services func() (states map[string]string, healthy bool)

	Guard     *httpx.Guard // whose hosts are accepted
	Loopback  bool         // only this machine reaches the server: no token is needed
	Challenge string       // of a 401
	Next      http.Handler // everything else that the server serves
	Log       *slog.Logger // nil: nothing is logged
	Now       func() time.Time
}

// The paths of the surface.
const (
	searchPath = "/mcp/search"
	prefix     = "/mcp/"
	healthPath = "/health"
	mcpHealth  = "/mcp/health"
)

// version is the protocol version of document 004.
const version = "2"

// surface serves the paths.
type surface struct{ Options }

// New returns a handler that serves document 004's paths, and all others with
// Next.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &surface{o}
}

// ServeHTTP implements http.Handler.
func (s *surface) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != healthPath && !strings.HasPrefix(r.URL.Path, prefix) {
		s.Next.ServeHTTP(w, r)
		return
	}
	e := &exchange{surface: s, w: w, r: r, began: s.Now(), id: requestID(r), operation: "route"}
	e.headers()
	defer e.recovered()
	e.end(e.route())
}

// exchange is one request and its answer.
type exchange struct {
	*surface
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
	if err := e.Guard.CheckHost(e.r); err != nil {
		return &failure{http.StatusForbidden, "FORBIDDEN", "This host name is not served here", 0, nil}
	}
	switch {
	case path != searchPath && path != healthPath && path != mcpHealth:
		return &failure{http.StatusNotFound, "ROUTE_NOT_FOUND", "Nothing is served at this path", 0, nil}
	case method == http.MethodOptions:
		e.status = http.StatusNoContent
		e.w.Header().Set("Content-Type", "application/json")
		e.w.WriteHeader(e.status)
		return nil
	case path != searchPath && method == http.MethodGet:
		return e.health()
	case path != searchPath:
		return e.wrongMethod("GET, OPTIONS")
	case method != http.MethodPost:
		return e.wrongMethod("POST, OPTIONS")
	}
	e.operation = "search"
	return e.search()
}

func (e *exchange) wrongMethod(allowed string) error {
	e.w.Header().Set("Allow", allowed)
	return &failure{http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "Use one of these methods: " + allowed, 0, nil}
}

// search answers POST /mcp/search, in document 004's order of checks.
func (e *exchange) search() error {
	if e.r.Header.Get("X-MCP-Version") != version {
		e.Log.DebugContext(e.r.Context(), "MCP version mismatch or missing", "operation", e.operation, "request_id", e.id, "expected", version, "received", clip(e.r.Header.Get("X-MCP-Version"), 20))
	}
	who, err := e.caller()
	if err != nil {
		return err
	}
	asked, err := e.validate()
	if err != nil {
		return err
	}
	e.query = asked.query
	before := e.Now()
	results, n, err := e.Search(e.r.Context(), who, asked.query, asked.limit)
	e.searched, e.found = e.Now().Sub(before), n
	if err != nil {
		return err
	}
	return e.write(http.StatusOK, struct {
		Results any   `json:"results"`
		Took    int64 `json:"took_ms"`
	}{results, e.Now().Sub(e.began).Milliseconds()})
}

// caller proves who asks. Without a token only requests from this machine are
// answered, where only this machine can reach the server.
func (e *exchange) caller() (Caller, error) {
	who := Caller{Page: len(e.r.Header.Values("Origin")) > 0}
	given := e.r.Header.Values("Authorization")
	if len(given) == 0 {
		if !e.Loopback || !loopback(e.r.RemoteAddr) {
			return who, e.unauthenticated("A bearer token is required", nil)
		}
		return who, e.limited(nil)
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if len(given) > 1 || !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) == "" {
		return who, e.unauthenticated("The Authorization header must be one bearer token", nil)
	}
	principal, err := e.Verify(e.r.Context(), strings.TrimSpace(token))
	if err != nil {
		if fault.From(err).Kind() == fault.Unavailable {
			return who, err
		}
		return who, e.unauthenticated("The bearer token is not valid", err)
	}
	who.Principal = principal
	return who, e.limited(principal)
}

func (e *exchange) limited(who *access.Principal) error {
	if e.Limit == nil {
		return nil
	}
	return e.Limit(e.r, who)
}

func (e *exchange) unauthenticated(message string, cause error) error {
	challenge := e.Challenge
	if challenge == "" {
		challenge = "Bearer"
	}
	e.w.Header().Set("WWW-Authenticate", challenge)
	return &failure{http.StatusUnauthorized, "UNAUTHENTICATED", message, 0, cause}
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && net.ParseIP(host).IsLoopback()
}

// health answers 200 whatever the state is: the process is alive.
func (e *exchange) health() error {
	e.operation = "health"
	states, healthy := map[string]string{}, true
	if e.Services != nil {
		states, healthy = e.Services()
	}
	status := "healthy"
	if !healthy {
		status = "degraded"
	}
	return e.write(http.StatusOK, map[string]any{"status": status, "services": states})
}

func (e *exchange) write(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	e.status = status
	e.w.Header().Set("Content-Type", "application/json")
	e.w.WriteHeader(status)
	_, _ = e.w.Write(body) // the client has gone
	return nil
}

// recovered turns a panic into INTERNAL_ERROR.
func (e *exchange) recovered() {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		e.end(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}
