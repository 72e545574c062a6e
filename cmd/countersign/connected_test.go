package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/mcptest"
)

// olderRevision passes requests on to a server, and knows nothing of the revision
// without sessions.
func olderRevision(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = target.Host }, FlushInterval: -1}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"server/discover"`)) {
			http.Error(w, "unknown method", http.StatusNotFound)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
	})
	return proxy.URL
}

// A demo is connected to a public server over stdio, and over HTTP to a server of
// ours as to another's, in both revisions of the protocol.
func TestDemoConnectsTheServersOfAFile(t *testing.T) {
	t.Parallel()
	command, script := mcptest.Servers(t).Node("everything")
	people := sharedDemo(t)
	token := people.token(t, "alice.chen", "hr")
	overHTTP := func(address string) string {
		return fmt.Sprintf(`{"url": %q, "allow_private": true, "headers": {"Authorization": "Bearer %s"}, "roles": ["manager"]}`, address+"/mcp", token)
	}
	payments := newPayments(t)
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := fmt.Sprintf(`{"mcpServers": {"everything": {"command": %q, "args": [%q], "roles": ["employee"]}, "people": %s, "archive": %s, "payments": {"url": %q, "allow_private": true, "roles": ["employee"]}}}`,
		command, script, overHTTP(people.Servers["hr"]), overHTTP(olderRevision(t, people.Servers["hr"])), payments.url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := demoFor(t, "--mcp", file)
	p.awaitTools(t, "nina.patel", "everything.echo", "people.list_employees", "archive.list_employees", "payments.pay")
	p.checkUnknown(t, payments)
	nina := p.token(t, "nina.patel", "gateway")
	if a := send(t, "POST", p.Gateway+"/api/mcp/everything/echo", nina, map[string]string{"message": "hello"}); a.status != 200 || !strings.Contains(a.body, "Echo: hello") {
		t.Errorf("everything.echo: got %d %s", a.status, a.body)
	}
	p.checkEndpoints(t)
	p.checkPrompts(t)
	for _, server := range []string{"people", "archive"} {
		a := send(t, "POST", p.Gateway+"/api/mcp/"+server+"/list_employees", nina, map[string]any{"limit": 1})
		if a.status != 200 || !strings.Contains(a.body, "employee_id") {
			t.Errorf("%s.list_employees: got %d %.300s", server, a.status, a.body)
		}
		a = send(t, "POST", p.Gateway+"/api/mcp/"+server+"/list_employees", p.token(t, "marcus.johnson", "gateway"), map[string]any{})
		if !strings.Contains(a.body, "INSUFFICIENT_PERMISSIONS") {
			t.Errorf("%s for a person without the role: got %d %.300s", server, a.status, a.body)
		}
	}
}

// awaitTools lists a person's tools until the named ones are there.
func (p *process) awaitTools(t *testing.T, person string, names ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	token := p.token(t, person, "gateway")
	for {
		var got struct{ Tools []struct{ Name string } }
		a := send(t, "GET", p.Gateway+"/api/tools", token, nil)
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatal(err)
		}
		missing := map[string]bool{}
		for _, name := range names {
			missing[name] = true
		}
		for _, tool := range got.Tools {
			delete(missing, tool.Name)
		}
		if len(missing) == 0 {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("%v are missing\n%s", missing, p.stderr)
		}
	}
}

func TestAFileOfServersWithFaultsStartsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte("{\n\"servers\": {\"hr\": {\"command\": \"x\"},\n\"a\": {}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := startDemo(nil, "--port", "0", "--mcp", file)
	if err == nil || !strings.Contains(err.Error(), "line 2: the name \"hr\"") || !strings.Contains(err.Error(), "line 3: server a needs") {
		t.Errorf("got %v", err)
	}
}

// checkEndpoints connects clients of both revisions to single servers: each has that
// server's tools under its own names, and no other's.
func (p *process) checkEndpoints(t *testing.T) {
	t.Helper()
	for server, tool := range map[string]string{"everything": "echo", "people": "get_employee", "hr": "get_time_off_balance"} {
		for _, version := range versions {
			c := p.connect(t, endpoint{server, "gateway", p.Gateway + "/mcp/" + server, ""}, version, "nina.patel")
			listed, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, one := range listed.Tools {
				names = append(names, one.Name)
			}
			if !slices.Contains(names, tool) || slices.Contains(names, "list_budgets") || strings.Contains(strings.Join(names, " "), server+".") {
				t.Errorf("%s, %s: got %v, want its own tools under their own names", server, version, names)
			}
			if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_tickets"}); err == nil {
				t.Errorf("%s, %s: a tool of another server was called", server, version)
			}
			if server == "everything" {
				if r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"message": "hello"}}); err != nil || !strings.Contains(string(structured(t, r).Data), "Echo: hello") {
					t.Errorf("%s: got %v, %v", version, r, err)
				}
			}
		}
	}
	about := send(t, "GET", p.Gateway+"/.well-known/oauth-protected-resource/mcp/hr", "", nil)
	if a := send(t, "POST", p.Gateway+"/mcp/hr", "", `{}`); a.status != 401 || !strings.Contains(about.body, p.Gateway+"/mcp/hr") {
		t.Errorf("without a token: got %d; the metadata: %s", a.status, about.body)
	}
	if a := send(t, "POST", p.Gateway+"/mcp/none", p.token(t, "nina.patel", "gateway"), `{}`); a.status != 404 || !strings.Contains(a.body, "SERVER_NOT_FOUND") {
		t.Errorf("an unknown server: got %d %s", a.status, a.body)
	}
}

// checkPrompts reads what a server offers as text: its prompts and its instructions,
// for those who have its role.
func (p *process) checkPrompts(t *testing.T) {
	t.Helper()
	nina, auditor := p.token(t, "nina.patel", "gateway"), p.token(t, "auditor.demo", "gateway")
	list := send(t, "GET", p.Gateway+"/api/prompts", nina, nil)
	var all struct {
		Prompts []struct {
			Name, Server string
			Arguments    []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(list.body), &all); err != nil || len(all.Prompts) < 2 {
		t.Fatalf("got %d %s\n%s", list.status, list.body, p.stderr)
	}
	texts := map[string]string{}
	for _, one := range all.Prompts {
		if one.Server == "everything" && len(one.Arguments) == 0 {
			texts[one.Name] = send(t, "GET", p.Gateway+"/api/prompts/everything/"+one.Name, nina, nil).body
		}
	}
	for name, text := range texts {
		if !strings.Contains(text, `"untrusted":true`) || strings.Contains(text, `"text":""`) {
			t.Errorf("%s: got %s", name, text)
		}
	}
	if texts["instructions"] == "" || len(texts) < 2 {
		t.Errorf("got %v, want its instructions and a prompt", texts)
	}
	if a := send(t, "GET", p.Gateway+"/api/prompts", auditor, nil); strings.Contains(a.body, "everything") {
		t.Errorf("without its role: got %s", a.body)
	}
	if a := send(t, "GET", p.Gateway+"/api/prompts/everything/instructions", auditor, nil); a.status != 404 {
		t.Errorf("without its role: got %d %s", a.status, a.body)
	}
}
