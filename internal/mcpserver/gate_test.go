package mcpserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/testkit"
)

const resource = "https://hr.example.com/mcp"

func published(o *mcpserver.Options) {
	o.Resource, o.AuthorizationServers = resource, []string{"https://issuer.example.com"}
	o.Scopes = []string{"openid", "mcp"}
}

func TestRequestsAreRejectedBeforeAnythingRuns(t *testing.T) {
	h := open(t, published)
	list := modernBody("tools/list", "")
	large := `{"note":"` + strings.Repeat("x", 10<<20) + `"}`
	for _, c := range []struct {
		name, token, body string
		headers           []string
		status            int
		code              string
	}{
		{"no token", "", list, nil, 401, "UNAUTHENTICATED"},
		{"junk token", "junk", list, nil, 401, "UNAUTHENTICATED"},
		{"other scheme", "", list, []string{"Authorization", "Basic YTpi"}, 401, "UNAUTHENTICATED"},
		{"two tokens", "alice", list, []string{"Authorization", "Bearer bob"}, 401, "UNAUTHENTICATED"},
		{"no keys to verify with", "keyless", list, nil, 503, "SERVICE_UNAVAILABLE"},
		{"foreign origin", "alice", list, []string{"Origin", "http://evil.example"}, 403, "FORBIDDEN"},
		{"null origin", "alice", list, []string{"Origin", "null"}, 403, "FORBIDDEN"},
		{"two origins", "alice", list, []string{"Origin", h.URL, "Origin", h.URL}, 403, "FORBIDDEN"},
		{"foreign host", "alice", list, []string{"Host", "evil.example"}, 403, "FORBIDDEN"},
		{"wrong type", "alice", list, []string{"Content-Type", "", "Content-Type", "text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"compressed", "alice", list, []string{"Content-Encoding", "gzip"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"10 MB, even without a token", "", large, nil, 413, "BODY_TOO_LARGE"},
		{"wrong purpose", "strange", list, nil, 403, "FORBIDDEN"},
	} {
		for _, path := range []string{"/mcp", "/tools/echo"} {
			headers := c.headers
			if path == "/mcp" {
				headers = append(modernHeaders("tools/list", ""), headers...)
			}
			got := h.send(t, "POST", path, c.token, c.body, headers...)
			if got.status != c.status || got.envelope(t).Code != c.code {
				t.Errorf("%s %s: got %d %.300s, want %d %s", path, c.name, got.status, got.body, c.status, c.code)
			}
			if challenge := got.header.Get("WWW-Authenticate"); (got.status == 401) != strings.Contains(challenge, `scope="openid mcp", resource_metadata="https://hr.example.com/.well-known/oauth-protected-resource/mcp"`) {
				t.Errorf("%s %s: got challenge %q", path, c.name, challenge)
			}
		}
	}
}

func TestMalformedMessages(t *testing.T) {
	h := open(t)
	for _, c := range []struct{ name, body, rpc string }{
		{"half", `{"jsonrpc":"2.0","id":1,"meth`, "-32700"},
		{"repeated key", `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list"}`, "-32700"},
		{"deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), "-32700"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "-32600"},
	} {
		if got := h.send(t, "POST", "/mcp", "alice", c.body); got.status != 400 || !strings.Contains(got.body, c.rpc) || !strings.Contains(got.body, `"id":null`) {
			t.Errorf("%s over MCP: got %d %s, want 400 %s", c.name, got.status, got.body, c.rpc)
		}
		if got := h.send(t, "POST", "/tools/echo", "alice", c.body); c.name != "batch" && (got.status != 400 || got.envelope(t).Code != "BAD_REQUEST") {
			t.Errorf("%s over REST: got %d %s, want 400 BAD_REQUEST", c.name, got.status, got.body)
		}
	}
}

func TestBodyOfUnknownLengthIsLimited(t *testing.T) {
	h := open(t, func(o *mcpserver.Options) { o.MaxBody = 1000 })
	body := io.MultiReader(strings.NewReader(`{"note":"`), strings.NewReader(strings.Repeat("x", 2000)+`"}`))
	r, err := http.NewRequest("POST", h.URL+"/tools/echo", body) // chunked
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer alice")
	r.Header.Set("Content-Type", "application/json")
	resp, err := testkit.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("got %d, want 413", resp.StatusCode)
	}
}

func TestTokenServesItsPurposeOnly(t *testing.T) {
	h := open(t)
	const approve = `{"confirmationId":"c1","approved":true}`
	for _, c := range []struct {
		token                     string
		list, call, execute, show bool
	}{
		{"alice", true, true, true, false},
		{"call", true, true, false, true},
		{"catalogue", true, false, false, false},
		{"execute", false, false, true, false},
		{"strange", false, false, false, false},
	} {
		allowed := map[string]bool{
			"GET /tools":         h.send(t, "GET", "/tools", c.token, "").status == 200,
			"POST /tools/echo":   h.send(t, "POST", "/tools/echo", c.token, `{}`).status == 200,
			"POST /execute":      h.send(t, "POST", "/execute", c.token, approve).status == 200,
			"GET /confirmations": h.send(t, "GET", "/confirmations/c1", c.token, "").status != 403,
			"tools/list":         strings.Contains(h.send(t, "POST", "/mcp", c.token, modernBody("tools/list", ""), modernHeaders("tools/list", "")...).body, `"tools":[`),
			"tools/call":         strings.Contains(h.callModern(t, c.token, "echo", `{}`).body, `"status":"success"`),
		}
		for what, want := range map[string]bool{"GET /tools": c.list, "tools/list": c.list, "POST /tools/echo": c.call, "tools/call": c.call, "POST /execute": c.execute, "GET /confirmations": c.show} {
			if allowed[what] != want {
				t.Errorf("%s with a token of %q: got allowed %v, want %v", what, c.token, allowed[what], want)
			}
		}
	}
	if got := h.callModern(t, "catalogue", "echo", `{}`); !strings.Contains(got.body, `"isError":true`) || !strings.Contains(got.body, "FORBIDDEN") {
		t.Errorf("got %s, want a tool error", got.body)
	}
	if got := h.send(t, "GET", "/tools", "catalogue", ""); !strings.Contains(got.body, "delete_desk") {
		t.Errorf("got %s, want every tool in the catalogue", got.body)
	}
}

func TestMetadataNamesTheIssuers(t *testing.T) {
	h := open(t, published)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		got := h.send(t, "GET", path, "", "")
		want := `{"resource":"https://hr.example.com/mcp","resource_name":"The Office","authorization_servers":["https://issuer.example.com"],"scopes_supported":["openid","mcp"],"bearer_methods_supported":["header"]}`
		if got.status != 200 || got.body != want {
			t.Errorf("got %d %s, want %s", got.status, got.body, want)
		}
	}
	if got := h.send(t, "POST", "/mcp", "alice", modernBody("tools/list", ""), append(modernHeaders("tools/list", ""), "Host", "hr.example.com")...); got.status != 200 {
		t.Errorf("got %d %s, want the resource's own host accepted", got.status, got.body)
	}
}

func TestServerWithoutAVerifierIsRejected(t *testing.T) {
	for name, o := range map[string]mcpserver.Options{
		"no verifier":  {Name: "x"},
		"no name":      {Verify: verify},
		"bad resource": {Name: "x", Verify: verify, Resource: "hr.example.com/mcp"},
	} {
		if _, err := mcpserver.New(newFakeService(), o); err == nil {
			t.Errorf("%s: got a server, want an error", name)
		}
	}
}

func TestExtraRoutesSayWhetherTheyNeedAToken(t *testing.T) {
	hello := func(w http.ResponseWriter, _ *http.Request) error {
		return httpx.JSON(w, http.StatusOK, "hello")
	}
	h := open(t, func(o *mcpserver.Options) {
		o.Extra = func(r *mcpserver.Routes) {
			r.Public("POST /mcp/search", hello)
			r.Authenticated("POST /mcp/private", hello)
		}
	})
	for _, c := range []struct {
		path, token string
		headers     []string
		status      int
	}{
		{"/mcp/search", "", nil, 200},
		{"/mcp/search", "", []string{"Origin", "http://evil.example"}, 403},
		{"/mcp/private", "", nil, 401},
		{"/mcp/private", "alice", nil, 200},
		{"/mcp/other", "alice", nil, 404},
	} {
		if got := h.send(t, "POST", c.path, c.token, `{}`, c.headers...); got.status != c.status {
			t.Errorf("%s %q: got %d %s, want %d", c.path, c.token, got.status, got.body, c.status)
		}
	}
}

func TestReadyProvesData(t *testing.T) {
	var checks atomic.Int32
	whole := open(t, func(o *mcpserver.Options) { o.Ready = func(context.Context) error { checks.Add(1); return nil } })
	for range 50 {
		if got := whole.send(t, "GET", "/ready", "", "", "Host", "10.0.0.7:3101"); got.status != 200 || got.body != `{"status":"ready"}` {
			t.Fatalf("got %d %s, want yes and nothing else for a probe by address", got.status, got.body)
		}
	}
	if checks.Load() != 1 {
		t.Errorf("50 callers read the store %d times, want once", checks.Load())
	}
	if got := whole.send(t, "GET", "/health", "", ""); got.status != 200 || got.body != `{"status":"healthy"}` {
		t.Errorf("got %d %s, want the process alive, without a token's details", got.status, got.body)
	}
	broken := open(t, func(o *mcpserver.Options) {
		o.Ready = func(context.Context) error { return errors.New("dial tcp 10.1.2.3: refused") }
	})
	for range 2 {
		got := broken.send(t, "GET", "/ready", "", "")
		if got.status != 503 || got.envelope(t).Code != "SERVICE_UNAVAILABLE" || strings.Contains(got.body, "10.1.2.3") {
			t.Errorf("got %d %s, want 503 without the address", got.status, got.body)
		}
	}
}

func TestReadyShowsDetailsToAuditorsOnly(t *testing.T) {
	h := open(t)
	for token, want := range map[string]string{
		"alice": `{"status":"ready"}`, "auditor": `{"server":"office","status":"ready","version":"1.2.3"}`, "junk": `{"status":"ready"}`,
	} {
		if got := h.send(t, "GET", "/ready", token, ""); !strings.Contains(got.body, want) {
			t.Errorf("%s: got %d %s, want %s", token, got.status, got.body, want)
		}
	}
}

func TestUnknownRoutesAreEnvelopes(t *testing.T) {
	h := open(t)
	for _, c := range []struct {
		method, path, code, allow string
		status                    int
	}{
		{"GET", "/nowhere", "ROUTE_NOT_FOUND", "", 404},
		{"GET", "/tools/echo", "METHOD_NOT_ALLOWED", "POST", 405},
		{"DELETE", "/execute", "METHOD_NOT_ALLOWED", "POST", 405},
		{"PUT", "/mcp", "METHOD_NOT_ALLOWED", "GET, POST, DELETE", 405},
	} {
		got := h.send(t, c.method, c.path, "alice", "")
		if got.status != c.status || got.envelope(t).Code != c.code || got.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: got %d %s Allow %q", c.method, c.path, got.status, got.body, got.header.Get("Allow"))
		}
	}
}
