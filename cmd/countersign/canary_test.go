package main

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// canaries are texts that a demo receives and that no log and no audit may hold,
// by the way they are sent.
var canaries = map[string]string{
	"a question":                   "canary-question-71c0",
	"a question in an address":     "canary-address-40ab",
	"a message of a WebSocket":     "canary-message-77f1",
	"an argument":                  "canary-argument-93fe",
	"an argument of a wrong type":  "canary-type-1b2c",
	"an unknown argument":          "canary-unknown-5d5d",
	"a cursor":                     "canary-cursor-8e81",
	"half a body":                  "canary-half-02dd",
	"a search":                     "canary-search-6f70",
	"an MCP argument":              "canary-mcp-c3c3",
	"a forged token":               "canary-token-aa10",
	"a cookie":                     "canary-cookie-bb20",
	"a context of another person":  "canary-context-cc30",
	"a sign-in that was not asked": "canary-code-dd40",
}

// TestSecretsReachNoRecord sends texts that could be secrets on every way that a
// caller has, and looks for them, for the tokens and for the pay that was shown in
// the log (at its most talkative) and in the audit.
func TestSecretsReachNoRecord(t *testing.T) {
	t.Parallel()
	p := demoWith(t, []string{"LOG_LEVEL=trace"})
	gateway, hr := p.token(t, "eve.thompson", "gateway"), p.token(t, "eve.thompson", "hr")
	post := func(address, token string, body any, headers ...string) answer {
		return send(t, http.MethodPost, address, token, body, headers...)
	}
	tools := p.Gateway + "/api/mcp/hr/"

	p.ask(t, "eve.thompson", "My password is "+canaries["a question"]+", list all employees")
	send(t, http.MethodGet, p.Gateway+"/api/query?query="+url.QueryEscape("Find "+canaries["a question in an address"]), gateway, nil)
	socket := &chatClient{t: t, token: gateway}
	_ = socket.dial(p.Gateway)
	socket.ask("My password is " + canaries["a message of a WebSocket"] + ", list all employees")
	socket.until("end")
	post(tools+"list_employees", gateway, map[string]any{"name": canaries["an argument"]})
	post(tools+"get_employee", gateway, map[string]any{"employee_id": canaries["an argument of a wrong type"]})
	post(tools+"list_employees", gateway, map[string]any{"password": canaries["an unknown argument"]})
	post(tools+"list_employees", gateway, map[string]any{"cursor": canaries["a cursor"]})
	post(tools+"list_employees", gateway, `{"name":"`+canaries["half a body"])
	post(p.Gateway+"/api/mcp/support/search_tickets", gateway, map[string]any{"query": canaries["a search"]})
	post(p.Gateway+"/mcp", gateway, map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "list_employees", "arguments": map[string]any{"name": canaries["an MCP argument"]}},
	}, "Accept", "application/json, text/event-stream")
	post(tools+"list_employees", "e30."+canaries["a forged token"]+".e30", map[string]any{})
	post(p.Servers["hr"]+"/tools/list_employees", hr, map[string]any{"input": map[string]any{}, "userContext": map[string]any{"email": canaries["a context of another person"]}})
	send(t, http.MethodGet, p.Gateway+"/api/user", "", nil, "Cookie", "countersign_session="+canaries["a cookie"])
	send(t, http.MethodGet, p.Gateway+"/callback?state=x&code="+canaries["a sign-in that was not asked"], "", nil)
	send(t, http.MethodGet, p.Gateway+"/api/user?access_token="+gateway, "", nil)
	shown := post(tools+"list_employees", gateway, map[string]any{"name": "Marcus Johnson"})
	if shown.status != http.StatusOK || !strings.Contains(shown.body, "145000") {
		t.Fatalf("got %d %s, want a salary", shown.status, shown.body)
	}

	audit, err := os.ReadFile(p.Audit)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{"the token for the gateway": signatureOf(gateway), "the token for HR": signatureOf(hr), "a bearer token": "eyJ", "pay": "145000", "a social security number": "933-01-0001"}
	for name, text := range canaries {
		secrets[name] = text
	}
	for where, text := range map[string]string{"the audit": string(audit), "the log": p.stderr.String()} {
		if len(text) < 500 || where == "the log" && !strings.Contains(text, "level=TRACE") {
			t.Errorf("%s has %d bytes only", where, len(text))
		}
		for name, secret := range secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, name, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

// signatureOf is the part of a token that proves it.
func signatureOf(token string) string { return token[strings.LastIndex(token, ".")+1:] }
