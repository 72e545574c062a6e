package gateway

import (
	"context"
	_ "embed"
	"net/http"
	"slices"
	"sync"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// Endpoint is an MCP endpoint. Close ends its sessions, whose streams would otherwise
// outlast a shutdown.
type Endpoint interface {
	http.Handler
	Close()
}

// endpoints are the MCP endpoints that were asked for: one for all servers, and one
// for each.
type endpoints struct {
	make  func(server string) (Endpoint, error)
	names func() []string                 // of the servers
	about func(path string) httpx.Handler // serves the RFC 9728 metadata of a path

	mu     sync.Mutex
	made   map[string]Endpoint
	closed bool
}

// of returns a server's endpoint. It is kept when its server goes: it has no tools
// then, and its sessions may end.
func (e *endpoints) of(server string) (Endpoint, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fault.ServiceDown.New(fault.Maintenance)
	}
	h, known := e.made[server]
	if known {
		return h, nil
	}
	h, err := e.make(server)
	if err != nil {
		return nil, err
	}
	if e.made == nil {
		e.made = map[string]Endpoint{}
	}
	e.made[server] = h
	return h, nil
}

// close ends the sessions of all, and lets no other begin.
func (e *endpoints) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for _, one := range e.made {
		one.Close()
	}
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

// known rejects a name that no server has. Its caller is not known yet, so it names no server.
func (e *endpoints) known(server string) error {
	if server == "" || slices.Contains(e.names(), server) {
		return nil
	}
	return fault.ServerNotFound.New("No server is called %q.", fault.Clip(server, 64)).With("server", server).
		Suggest("With a token, GET /api/tools names the servers.")
}

// metadata serves the RFC 9728 metadata of a server's endpoint.
func (e *endpoints) metadata(w http.ResponseWriter, r *http.Request) error {
	server := r.PathValue("server")
	if err := e.known(server); err != nil {
		return err
	}
	return e.about("/mcp/"+server)(w, r)
}

// openAPI describes every route; a test compares both.
//
//go:embed openapi.json
var openAPI []byte

func describe(w http.ResponseWriter, _ *http.Request) error {
	httpx.Raw(w, http.StatusOK, openAPI)
	return nil
}

// Prompts are the texts that connected servers offer to the principal in the context.
// Package upstream has them.
type Prompts interface {
	Prompts(ctx context.Context) ([]result.Prompt, error)
	Prompt(ctx context.Context, server, name string, args map[string]string) (string, error)
}

// prompts serves them to people, and to no model: a person asks in their own question
// for what a prompt says.
type prompts struct{ Prompts }

func (p prompts) list(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	all, err := p.Prompts.Prompts(r.Context())
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"prompts": all})
}

// show returns one; its arguments are the query.
func (p prompts) show(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	args := map[string]string{}
	for name, values := range r.URL.Query() {
		args[name] = values[0]
	}
	server, name := r.PathValue("server"), r.PathValue("prompt")
	text, err := p.Prompt(r.Context(), server, name, args)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"server": server, "name": name, "text": text, "untrusted": true})
}
