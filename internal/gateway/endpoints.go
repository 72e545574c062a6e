package gateway

import (
	_ "embed"
	"net/http"
	"slices"
	"strings"
	"sync"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// endpoints are the MCP endpoints that were asked for: one for all servers, and one
// for each.
type endpoints struct {
	make  func(server string) (http.Handler, error)
	names func() []string                 // of the servers
	about func(path string) httpx.Handler // serves the RFC 9728 metadata of a path

	mu   sync.Mutex
	made map[string]http.Handler
}

// of returns a server's endpoint. It is kept when its server goes: it has no tools
// then, and its sessions may end.
func (e *endpoints) of(server string) (http.Handler, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h, known := e.made[server]
	if known {
		return h, nil
	}
	h, err := e.make(server)
	if err != nil {
		return nil, err
	}
	if e.made == nil {
		e.made = map[string]http.Handler{}
	}
	e.made[server] = h
	return h, nil
}

// serve passes a message to the endpoint that its path names.
func (e *endpoints) serve(w http.ResponseWriter, r *http.Request) error {
	server := r.PathValue("server")
	if err := e.known(server); err != nil {
		return err
	}
	h, err := e.of(server)
	if err == nil {
		h.ServeHTTP(w, r)
	}
	return err
}

func (e *endpoints) known(server string) error {
	names := e.names()
	if server != "" && !slices.Contains(names, server) {
		return fault.ServerNotFound.New("No server is called %q.", fault.Clip(server, 64)).Suggest("Use one of: %s.", strings.Join(names, ", "))
	}
	return nil
}

// metadata serves the RFC 9728 metadata of a server's endpoint.
func (e *endpoints) metadata(w http.ResponseWriter, r *http.Request) error {
	server := r.PathValue("server")
	if err := e.known(server); err != nil {
		return err
	}
	return e.about("/mcp/"+server)(w, r)
}

// openAPI describes every route. A test compares it with them.
//
//go:embed openapi.json
var openAPI []byte

func describe(w http.ResponseWriter, _ *http.Request) error {
	httpx.Raw(w, http.StatusOK, openAPI)
	return nil
}
