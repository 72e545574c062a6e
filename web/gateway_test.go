package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/static"
	"countersign.dev/internal/testkit"
	"countersign.dev/web"
)

// policy is the gateway's: nothing inline, and no string may become markup
// anywhere (trusted types). In addition it reports what breaks it.
const policy = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types countersign; form-action 'self'; report-uri /csp-report"

// object is one JSON object.
type object = map[string]any

// gateway serves the page and answers as scripted. A test replaces a route's
// answer before it opens the page.
type gateway struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	routes   map[string]http.HandlerFunc
	received []string      // method, path and body of each request that changes something
	arrived  chan struct{} // has a value when one was received since it was last read
	written  []string      // what the API answered, piece by piece
	end      chan struct{}
}

func newGateway(t testing.TB) *gateway {
	t.Helper()
	g := &gateway{t: t, routes: map[string]http.HandlerFunc{}, arrived: make(chan struct{}, 1), end: make(chan struct{})}
	mux := http.NewServeMux()
	for pattern, answer := range g.defaults() {
		g.routes[pattern] = answer
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/api/") {
				w = &noted{w, g}
			}
			g.route(pattern)(w, r)
		})
	}
	g.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		close(g.end)
		_ = g.Config.Close() // not of the test server, which waits for handlers, also those that a failed test keeps waiting
	})
	return g
}

func (g *gateway) defaults() map[string]http.HandlerFunc {
	files := http.FileServerFS(web.Files)
	return map[string]http.HandlerFunc{
		"GET /": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			files.ServeHTTP(w, r)
		},
		"POST /csp-report":                    func(http.ResponseWriter, *http.Request) { g.t.Error("the page broke its content policy") },
		"POST /logout":                        redirect("/"),
		"GET /login":                          answer(http.StatusOK, object{"login": true}),
		"GET /api/user":                       answer(http.StatusOK, object{"userId": "u1", "issuer": "https://issuer.test", "username": "alice.chen", "name": "Alice Chen", "email": "alice@tamshai.local", "roles": []string{"hr-write", "hr-read"}}),
		"GET /api/tools":                      answer(http.StatusOK, object{"tools": tools(), "servers": []object{{"name": "hr", "healthy": true}}, "model": "rehearsal"}),
		"GET /api/models":                     answer(http.StatusOK, object{"models": []object{{"name": "rehearsal", "provider": "rehearsal", "default": true}}}),
		"GET /api/prompts":                    answer(http.StatusOK, object{"prompts": []object{}}),
		"GET /api/prompts/{server}/{prompt}":  notFound,
		"GET /api/confirmations":              answer(http.StatusOK, object{"confirmations": []object{}}),
		"GET /api/confirmations/{id}":         notFound,
		"GET /api/events":                     g.quiet,
		"GET /api/usage":                      answer(http.StatusOK, object{"days": []object{}, "conversations": []object{}}),
		"GET /api/audit":                      answer(http.StatusOK, object{"events": []object{}}),
		"GET /api/audit/verify":               answer(http.StatusOK, object{"whole": true, "unread": []object{}, "logs": []object{{"name": "gateway", "whole": true, "status": "whole", "events": 0, "head": "0/0"}}}),
		"GET /api/admin":                      answer(http.StatusOK, object{"servers": []object{}, "tools": []object{}, "held": []object{}, "people": []object{}, "expired": []object{}}),
		"POST /api/revoke":                    answer(http.StatusOK, object{"status": "success"}),
		"PATCH /api/conversations/{id}":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"GET /api/conversations":              answer(http.StatusOK, object{"conversations": []object{}}),
		"GET /api/conversations/{id}":         notFound,
		"DELETE /api/conversations/{id}":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"GET /api/conversations/{id}/events":  g.quiet,
		"POST /api/conversations/{id}/cancel": answer(http.StatusOK, object{"cancelled": true}),
		"POST /api/confirm/{id}":              notFound,
		"POST /api/mcp/{server}/{tool}":       notFound,
		"POST /api/query":                     turn(object{"type": "text", "text": "Hello."}),
	}
}

func tools() []object {
	schema := func(required ...string) object { return object{"type": "object", "required": required} }
	return []object{
		{"name": "list_employees", "title": "List employees", "description": "Lists the people you may see. More.", "kind": "list", "server": "hr", "inputSchema": schema(), "fields": object{"ask": "Who works here?"}},
		{"name": "get_time_off_balance", "title": "Time off balance", "description": "Says how many days are left.", "kind": "read", "server": "hr", "inputSchema": schema()},
		{"name": "delete_employee", "title": "Delete employee", "description": "Ends an employee's employment.", "kind": "write", "server": "hr", "inputSchema": schema("employee_id")},
	}
}

func (g *gateway) on(pattern string, answer http.HandlerFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.routes[pattern]; !known {
		g.t.Fatalf("no route %q", pattern)
	}
	g.routes[pattern] = answer
}

// serveGiven serves the page as the gateway does: its files under addresses that are
// kept, and its answers with it where that is wanted.
func (g *gateway) serveGiven(with bool) {
	g.t.Helper()
	files, err := static.New(web.Files)
	if err != nil {
		g.t.Fatal(err)
	}
	g.on("GET /", func(w http.ResponseWriter, r *http.Request) {
		if name, kept := strings.CutPrefix(r.URL.Path, files.Prefix()); kept {
			files.Serve(w, r, name, true)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		paths := []string{"/api/user", "/api/tools", "/api/models", "/api/confirmations", "/api/conversations"}
		if !with {
			paths = nil
		} else if place, err := r.Cookie("countersign-place"); err == nil {
			paths = append(paths, "/api/conversations/"+place.Value)
		}
		files.ServeWith(w, r, static.Ahead{API: g.Config.Handler, Paths: paths, Patience: testkit.Patience})
	})
}

func (g *gateway) route(pattern string) http.HandlerFunc {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.routes[pattern]
}

// hears notes what was sent, then answers.
func (g *gateway) hears(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body)
		g.mu.Lock()
		g.received = append(g.received, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body))
		g.mu.Unlock()
		select {
		case g.arrived <- struct{}{}:
		default: // it has one already
		}
		next(w, r)
	}
}

func (g *gateway) said() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.received...)
}

// noted keeps what is written of an answer.
type noted struct {
	http.ResponseWriter
	g *gateway
}

func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n *noted) Write(text []byte) (int, error) {
	n.g.mu.Lock()
	n.g.written = append(n.g.written, string(text))
	n.g.mu.Unlock()
	return n.ResponseWriter.Write(text)
}

// wrote is all that the API has answered.
func (g *gateway) wrote() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.written)
}

// waits until what was sent fits.
func (g *gateway) waits(fits func(said []string) bool) {
	g.t.Helper()
	late := time.After(testkit.Patience)
	for !fits(g.said()) {
		select {
		case <-g.arrived:
		case <-late:
			g.t.Fatalf("sent %q", g.said())
		}
	}
}

// happens is a person's event stream of these events.
func (g *gateway) happens(events <-chan object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := newStream(w)
		for {
			select {
			case e := <-events:
				s.last++
				s.write(fmt.Sprintf("id: %d-0\ndata: %s\n\n", s.last, quoted(e)))
			case <-r.Context().Done():
				return
			case <-g.end:
				return
			}
		}
	}
}

// quiet is an event stream on which nothing happens.
func (g *gateway) quiet(w http.ResponseWriter, r *http.Request) {
	newStream(w)
	g.idle(r)
}

func (g *gateway) idle(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-g.end:
	}
}

// ---- answers

func answer(status int, body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusSeeOther) }
}

func notFound(w http.ResponseWriter, r *http.Request) {
	answer(http.StatusNotFound, object{"status": "error", "code": "ROUTE_NOT_FOUND", "message": "There is nothing here."})(w, r)
}

// turn answers a question with the events, between start and the end.
func turn(events ...object) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := begun(w)
		for _, event := range events {
			s.send(event)
		}
		s.done()
	}
}

// stream writes server-sent events.
type stream struct {
	w    http.ResponseWriter
	last int
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{w: w}
	s.write(": heartbeat\n\n")
	return s
}

// begun opens the stream of a turn in conversation c1.
func begun(w http.ResponseWriter) *stream {
	s := newStream(w)
	s.send(object{"type": "start", "conversationId": "c1", "model": "rehearsal"})
	return s
}

func (s *stream) send(event any) {
	s.last++
	s.write(fmt.Sprintf("id: %d\ndata: %s\n\n", s.last, quoted(event)))
}

func (s *stream) done() {
	s.send(object{"type": "stop"})
	s.last++
	s.write(fmt.Sprintf("id: %d\ndata: [DONE]\n\n", s.last))
}

func (s *stream) write(text string) {
	fmt.Fprint(s.w, text)
	_ = http.NewResponseController(s.w).Flush()
}
