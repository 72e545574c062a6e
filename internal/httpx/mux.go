package httpx

import (
	"net/http"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
)

// Mux is http.ServeMux with handlers that return errors. A request without a
// route is a fault: ROUTE_NOT_FOUND, or METHOD_NOT_ALLOWED with an Allow header.
// OPTIONS is answered with that header, for every path without a handler of its own for it.
type Mux struct {
	mux     *http.ServeMux
	errors  ErrorWriter
	methods map[string][]string     // of patterns without a method that take some
	paths   map[string]http.Handler // those of them without wildcards, to find a POST at once
}

// NewMux makes an empty one. The pattern "/" is its own.
func NewMux(s ErrorWriter) *Mux {
	m := &Mux{mux: http.NewServeMux(), errors: s, methods: make(map[string][]string), paths: make(map[string]http.Handler)}
	m.mux.Handle(notFoundPattern, s.Handle(m.notFound))
	return m
}

const notFoundPattern = "/"

// Handle serves a pattern, as http.ServeMux writes them.
func (m *Mux) Handle(pattern string, h http.Handler) { m.mux.Handle(pattern, h) }

// HandleFunc serves a pattern by a handler that may fail.
func (m *Mux) HandleFunc(pattern string, h Handler) { m.mux.Handle(pattern, m.errors.Handle(h)) }

// HandleMethods serves a path by a handler that takes these methods and rejects
// others itself.
func (m *Mux) HandleMethods(path string, methods []string, h http.Handler) {
	if m.methods[path] = methods; !strings.Contains(path, "{") {
		m.paths[path] = h
	}
	m.mux.Handle(path, h)
}

// ServeHTTP serves the most specific pattern.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions && !m.answersOptions(r) {
		m.errors.Handle(m.options).ServeHTTP(w, r)
		return
	}
	if h := m.paths[r.URL.Path]; h != nil && r.Method == http.MethodPost {
		r.Pattern = r.URL.Path
		h.ServeHTTP(w, r)
		return
	}
	m.mux.ServeHTTP(w, r)
}

// answersOptions reports whether the handler of a path says itself which methods it takes.
func (m *Mux) answersOptions(r *http.Request) bool {
	_, pattern := m.mux.Handler(r)
	return strings.HasPrefix(pattern, http.MethodOptions+" ")
}

// options says which methods a path takes. It needs no caller: that is no secret,
// and browsers send no token with it.
func (m *Mux) options(w http.ResponseWriter, r *http.Request) error {
	allowed := m.allowed(r)
	if len(allowed) == 0 {
		return fault.RouteNotFound.New("Nothing is served at this path.")
	}
	Options(w, r, allowed...)
	return nil
}

func (m *Mux) notFound(w http.ResponseWriter, r *http.Request) error {
	allowed := m.allowed(r)
	if len(allowed) == 0 {
		return fault.RouteNotFound.New("Nothing is served at this path.")
	}
	allow(w, r, allowed)
	return fault.MethodNotAllowed.New("This path does not take %s.", method(r.Method))
}

// allowed tries every method: http.ServeMux computes the list itself only when
// no pattern matches the other requests.
func (m *Mux) allowed(r *http.Request) []string {
	var found []string
	probe := *r
	for _, probe.Method = range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		_, pattern := m.mux.Handler(&probe)
		taken, some := m.methods[pattern]
		if pattern != notFoundPattern && pattern != "" && (!some || slices.Contains(taken, probe.Method)) {
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
