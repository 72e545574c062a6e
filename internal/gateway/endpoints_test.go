package gateway_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/gateway"
)

// TestOpenAPIDescribesEveryRoute compares the description with the routes as they are
// declared. A server's and a page's files are not routes of the API.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	source, err := os.ReadFile("routes.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`m\.Handle(?:Func|Methods)?\("(?:([A-Z]+) )?(/[^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		if m[1] != "" {
			declared[m[1]+" "+m[2]] = true
			continue
		}
		for _, method := range []string{"GET", "POST", "DELETE"} { // of MCP
			declared[method+" "+m[2]] = true
		}
	}
	r := newRig(t)
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	if status := r.get("/openapi.json", "", &described); status != 200 {
		t.Fatalf("got status %d", status)
	}
	found := map[string]bool{}
	for path, methods := range described.Paths {
		for method := range methods {
			found[strings.ToUpper(method)+" "+path] = true
		}
	}
	if diff := cmp.Diff(declared, found); diff != "" || len(found) < 30 {
		t.Errorf("routes that are declared, and those that are described (-declared +described):\n%s", diff)
	}
}

// counted is an endpoint that counts how often it was closed.
type counted struct {
	http.Handler
	closed *int
}

func (c counted) Close() { *c.closed++ }

// TestDrainEndsMCPSessions: their streams would keep a shutdown waiting.
func TestDrainEndsMCPSessions(t *testing.T) {
	made, closed := 0, 0
	r := newRig(t, func(o *gateway.Options) {
		o.MCP = func(string) (gateway.Endpoint, error) {
			made++
			return counted{http.NotFoundHandler(), &closed}, nil
		}
	})
	for range 2 {
		_, _ = r.read(r.send("POST", "/mcp", alice, "{}"))
	}
	if err := r.gateway.Drain(t.Context()); err != nil || made != 1 || closed != 1 {
		t.Errorf("got %v; %d endpoints were made and %d closed, want one", err, made, closed)
	}
	if status, _ := r.read(r.send("POST", "/mcp", alice, "{}")); status != http.StatusServiceUnavailable || made != 1 {
		t.Errorf("after it: got status %d, %d endpoints", status, made)
	}
}
