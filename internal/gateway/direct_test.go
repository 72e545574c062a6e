package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

func TestDirectCalls(t *testing.T) {
	r := newRig(t)
	r.servers.call["get_employee"] = func(_ context.Context, args json.RawMessage) result.Outcome { return result.Success(args, nil, "") }
	for _, row := range []struct {
		name, method, path, body string
		want                     int
		says                     string
	}{
		{"bare", "POST", "/api/mcp/hr/get_employee", `{"employee_id":"007"}`, 200, `"data":{"employee_id":"007"}`},
		{"wrapped", "POST", "/api/mcp/hr/get_employee", `{"input":{"employee_id":"007"},"userContext":{"userId":"x","roles":["executive"]}}`, 200, `"data":{"employee_id":"007"}`},
		{"someone else's context", "POST", "/api/mcp/hr/get_employee", `{"input":{},"userContext":{"email":"eve@tamshai.local"}}`, 403, "USER_MISMATCH"},
		{"by GET", "GET", "/api/mcp/hr/get_employee?employee_id=007&deep=true&tags=5&limit=20&x=1&x=a", "", 200, `"data":{"deep":true,"employee_id":"007","limit":20,"tags":[5],"x":[1,"a"]}`},
		{"in camel case", "POST", "/api/mcp/hr/get_employee", `{"employeeId":"007"}`, 200, `"data":{"employee_id":"007"}`},
		{"in camel case by GET", "GET", "/api/mcp/hr/get_employee?employeeId=007", "", 200, `"data":{"employee_id":"007"}`},
		{"a write by GET", "GET", "/api/mcp/hr/delete_employee?n=1", "", 405, "METHOD_NOT_ALLOWED"},
		{"a write", "POST", "/api/mcp/hr/delete_employee", `{}`, 200, `"approvalUrl":"http://gateway.test/#/approve/`},
		{"a write says where to approve it", "POST", "/api/mcp/hr/delete_employee", `{}`, 200, `Nothing has changed yet. Open http://gateway.test/#/approve/`},
		{"bad parameter", "GET", "/api/mcp/hr/get_employee?__proto__=1", "", 400, "BAD_REQUEST"},
		{"unknown server", "POST", "/api/mcp/payroll/get_pay", `{}`, 404, "SERVER_NOT_FOUND"},
		{"unknown tool", "POST", "/api/mcp/hr/get_pay", `{}`, 200, `There is no tool called \"get_pay\"`},
		{"no object", "POST", "/api/mcp/hr/get_employee", `[1]`, 400, "BAD_REQUEST"},
	} {
		status, body := r.read(r.send(row.method, row.path, alice, row.body))
		if status != row.want || !strings.Contains(body, row.says) {
			t.Errorf("%s: got %d %s, want %d %s", row.name, status, body, row.want, row.says)
		}
	}
	if status, body := r.read(r.send("POST", "/api/mcp/hr/get_employee", frank, `{}`)); status != 200 || !strings.Contains(body, "INSUFFICIENT_PERMISSIONS") {
		t.Errorf("not one's own tool: got %d %s", status, body)
	}
}

// TestOptionsOfAToolNameItsMethods: only what reads is called by GET.
func TestOptionsOfAToolNameItsMethods(t *testing.T) {
	r := newRig(t)
	for path, want := range map[string]string{
		"/api/mcp/hr/delete_employee": "POST, OPTIONS", "/api/mcp/hr/get_employee": "GET, HEAD, POST, OPTIONS", "/api/mcp/hr/none": "GET, HEAD, POST, OPTIONS", "/api/user": "GET, HEAD, OPTIONS",
	} {
		if got := r.send("OPTIONS", path, "", ""); got.StatusCode != 204 || got.Header.Get("Allow") != want {
			t.Errorf("%s: got %d %q, want %q", path, got.StatusCode, got.Header.Get("Allow"), want)
		}
	}
}

func TestDirectCallOfAConnectedServersTool(t *testing.T) {
	r := newRig(t)
	r.servers.foreign = true
	r.servers.call["notes.search"] = func(_ context.Context, args json.RawMessage) result.Outcome { return result.Success(args, nil, "") }
	for _, row := range []struct{ method, path, person, says string }{
		{"POST", "/api/mcp/notes/search", alice, `"data":{}`},
		{"POST", "/api/mcp/notes/notes.search", alice, `"data":{}`},
		{"GET", "/api/mcp/notes/search", alice, `"data":{}`},
		{"GET", "/api/mcp/notes/notes.search", alice, `"data":{}`},
		{"POST", "/api/mcp/notes/search", frank, "INSUFFICIENT_PERMISSIONS"},
		{"POST", "/api/mcp/hr/notes.search", alice, "BAD_REQUEST"},
		{"POST", "/api/mcp/hr/search", alice, "UNKNOWN_TOOL"},
		{"POST", "/api/mcp/notes/list_employees", alice, `not one of the server notes.","suggestedAction":"Call it on the server hr."`},
		{"POST", "/api/mcp/notes/list_employees", frank, `not one of the server notes.","suggestedAction":"Call it on the server hr."`},
		{"POST", "/api/mcp/hr/list_employees", frank, "INSUFFICIENT_PERMISSIONS"},
	} {
		body := ""
		if row.method == "POST" {
			body = "{}"
		}
		if _, got := r.read(r.send(row.method, row.path, row.person, body)); !strings.Contains(got, row.says) {
			t.Errorf("%s %s: got %s, want %s", row.method, row.path, got, row.says)
		}
	}
}

func TestNoToolIsDeniedForAServerThatIsDown(t *testing.T) {
	r := newRig(t)
	r.servers.down = []agent.Warning{{Server: "sales"}}
	if _, body := r.read(r.send("POST", "/api/mcp/hr/get_pay", alice, "{}")); !strings.Contains(body, `The server hr has no tool called \"get_pay\"`) {
		t.Errorf("got %s", body)
	}
	r.servers.down = []agent.Warning{{Server: "hr"}}
	if status, body := r.read(r.send("POST", "/api/mcp/hr/get_pay", alice, "{}")); status != 503 || !strings.Contains(body, `"details":{"server":"hr"}`) {
		t.Errorf("of the server itself: got %d %s, want 503 and its name", status, body)
	}
}

// TestWidestRoleIsListedFirst: the page names one role of a person, and knows no ranking.
func TestWidestRoleIsListedFirst(t *testing.T) {
	r := newRig(t, func(o *gateway.Options) { o.Roles = []access.Role{"hr-write", "hr-read"} })
	if _, body := r.read(r.send("GET", "/api/user", alice, "")); !strings.Contains(body, `"roles":["hr-write","hr-read"]`) {
		t.Errorf("got %s, want the widest role first", body)
	}
}

func TestWhoAndWhat(t *testing.T) {
	r := newRig(t)
	if _, body := r.read(r.send("GET", "/api/user", alice, "")); body != `{"email":"alice.chen@tamshai.local","issuer":"`+testkit.Issuer+`","name":"alice.chen","roles":["hr-read","hr-write"],"userId":"sub-alice.chen","username":"alice.chen"}` {
		t.Errorf("user: got %s", body)
	}
	var tools struct {
		Model   string
		Tools   []struct{ Name, Server string }
		Servers []struct {
			Name      string
			Healthy   bool
			AverageMs float64
		}
	}
	r.get("/api/tools", alice, &tools)
	if len(tools.Tools) != 4 || tools.Model != "script" || tools.Tools[0].Server != "hr" || len(tools.Servers) != 1 || tools.Servers[0].AverageMs != 1.5 {
		t.Errorf("tools: got %+v", tools)
	}
	_, listed := r.read(r.send("GET", "/api/tools", alice, ""))
	for _, want := range []string{`"transport":"http","calls":3,"failures":1,"averageMs":1.5,"lastUsed":1767323045678,"breaker":"open"`, `"calls":0,"failures":0,"averageMs":0,"breaker":""`} {
		if !strings.Contains(listed, want) {
			t.Errorf("reliability: got %s, want %s", listed, want)
		}
	}
	if r.get("/api/tools", frank, &tools); len(tools.Tools) != 0 {
		t.Errorf("another person's tools: got %+v", tools.Tools)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 200, "/app.js": 200, "/index.html": 404, "/openapi.json": 200} {
		if status, _ := r.read(r.send("GET", path, "", "")); status != want {
			t.Errorf("%s: got %d, want %d", path, status, want)
		}
	}
	for person, want := range map[string]string{"": `{"status":"ready"}`, alice: `{"status":"ready"}`, auditor: `"servers":[{"name":"hr"`} {
		if _, body := r.read(r.send("GET", "/readyz", person, "")); !strings.Contains(body, want) {
			t.Errorf("/readyz for %q: got %s, want %s", person, body, want)
		}
	}
	page := r.send("GET", "/", "", "")
	if got := page.Header.Get("Content-Security-Policy"); got != "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types countersign; form-action 'self' https://issuer.test" || !strings.Contains(page.Header.Get("Content-Type"), "text/html") {
		t.Errorf("page: got policy %q", got)
	}
}
