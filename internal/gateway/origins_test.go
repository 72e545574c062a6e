package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// TestForeignHostsAndOriginsAreRefused asks every kind of route, as a page whose
// name was rebound to our address does, and as a page of another origin does.
func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	r := newRig(t)
	for route, open := range map[string]string{ // open: what is served to other hosts ("host"), origins ("origin"), both ("all")
		"GET /": "", "GET /app.js": "", "GET /login": "", "GET /callback": "origin",
		"GET /api/user": "", "GET /api/query?query=hello": "", "POST /api/query": "", "GET /api/confirmations": "", "POST /api/confirm/x": "",
		"GET /api/mcp/hr/list_employees": "", "POST /api/mcp/hr/list_employees": "", "DELETE /api/conversations/x": "",
		"GET /healthz": "all", "GET /readyz": "all", "GET /.well-known/oauth-protected-resource": "all",
	} {
		for attack, headers := range map[string][2]string{
			"host": {"evil.test", ""}, "origin": {"", "https://evil.test"}, "null origin": {"", "null"}, "its own origin": {"evil.test", "http://evil.test"},
		} {
			refused := r.from(t, route, headers[0], headers[1]) == http.StatusForbidden
			served := open == "all" || open != "" && headers[0] == ""
			if refused == served {
				t.Errorf("%s, %s: refused %v, want %v", route, attack, refused, !served)
			}
		}
		for name, headers := range map[string][2]string{"public name": {"gateway.test", ""}, "own origin": {"", "http://gateway.test"}, "allowed origin": {"", "https://portal.test"}} {
			if r.from(t, route, headers[0], headers[1]) == http.StatusForbidden {
				t.Errorf("%s, %s: refused", route, name)
			}
		}
	}
}

// from sends a request with Alice's token under a host name and an origin, each
// unless empty, and returns the status.
func (r *rig) from(t *testing.T, route, host, origin string) int {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(`{"query":"hello","approved":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Authorization", "Bearer "+alice)
	req.Header.Set("Content-Type", "application/json")
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	resp, err := testkit.Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func TestAllowedOriginsCannotUseTheCookie(t *testing.T) {
	r := newRig(t)
	c := r.signIn(alice)
	if status, _ := r.read(r.send("GET", "/api/user", "", "", "Cookie", c.Name+"="+c.Value, "Origin", "https://portal.test")); status != http.StatusForbidden {
		t.Errorf("got %d, want 403", status)
	}
}

// Pages of configured origins may call the gateway and read its answers, errors too; the
// page of another origin may not.
func TestAllowedOriginsReadTheGatewaysAnswers(t *testing.T) {
	r := newRig(t)
	for origin, want := range map[string]string{"https://portal.test": "https://portal.test", "https://evil.test": ""} {
		for _, path := range []string{"/mcp", "/api/query", "/api/mcp/hr/get_employee", "/.well-known/oauth-protected-resource"} {
			asked := r.send("OPTIONS", path, "", "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
			r.read(asked)
			refused := r.send("POST", path, "", "{}", "Origin", origin)
			r.read(refused)
			if got := asked.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %s: the preflight allows %q, want %q", path, origin, got, want)
			}
			if got := refused.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %s: an error may be read by %q, want %q", path, origin, got, want)
			}
		}
	}
}
