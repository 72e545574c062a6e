package httpx

import (
	"net/http"
	"strings"

	"countersign.dev/internal/fault"
)

// Mux is http.ServeMux with handlers that return errors. A request without a
// route is a fault: ROUTE_NOT_FOUND, or METHOD_NOT_ALLOWED with an Allow header.
type Mux struct {
	mux    *http.ServeMux
	errors ErrorWriter
}

// NewMux makes an empty one. The pattern "/" is its own.
func NewMux(s ErrorWriter) *Mux {
	m := &Mux{mux: http.NewServeMux(), errors: s}
	m.mux.Handle(notFoundPattern, s.Handle(m.notFound))
	return m
}

const notFoundPattern = "/"

// Handle serves a pattern, as http.ServeMux writes them.
func (m *Mux) Handle(pattern string, h http.Handler) { m.mux.Handle(pattern, h) }

// HandleFunc serves a pattern by a handler that may fail.
func (m *Mux) HandleFunc(pattern string, h Handler) { m.mux.Handle(pattern, m.errors.Handle(h)) }

// ServeHTTP serves the most specific pattern.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }

func (m *Mux) notFound(w http.ResponseWriter, r *http.Request) error {
	allowed := m.allowed(r)
	if len(allowed) == 0 {
		return fault.RouteNotFound.New("Nothing is served at this path.")
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return fault.MethodNotAllowed.New("This path does not take %s.", method(r.Method))
}

// allowed tries every method: http.ServeMux computes the list itself only when
// no pattern matches the other requests.
func (m *Mux) allowed(r *http.Request) []string {
	var found []string
	probe := *r
	for _, probe.Method = range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		if _, pattern := m.mux.Handler(&probe); pattern != notFoundPattern && pattern != "" {
			found = append(found, probe.Method)
		}
	}
	return found
}

// method quotes a method only if it is a plain word.
func method(name string) string {
	if len(name) > 20 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "this method"
	}
	return name
}
