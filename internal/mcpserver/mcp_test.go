package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

var versions = []string{modern, legacy}

// structured reads the envelope of a call by the SDK's client.
func structured(t testing.TB, r *mcp.CallToolResult) result.Envelope {
	t.Helper()
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var e result.Envelope
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatalf("got %s, want an envelope: %v", b, err)
	}
	return e
}

func TestBothVersionsOnOneURL(t *testing.T) {
	h := open(t)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			session, _ := h.connect(t, version, "alice")
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("got revision %s, want %s", got, version)
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if diff := cmp.Diff([]string{"delete_desk", "echo", "forward", "get_pay", "stumble", "wait", "who_am_i"}, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"note": "hi"}})
			if err != nil {
				t.Fatal(err)
			}
			e := structured(t, called)
			if called.IsError || e.Status != "success" || string(e.Data) != `{"note":"hi"}` {
				t.Errorf("got %+v %s", e, e.Data)
			}
			if copied := called.Content[0].(*mcp.TextContent).Text; copied != `{"status":"success","data":{"note":"hi"}}` {
				t.Errorf("got text copy %s", copied)
			}
		})
	}
}

func TestToolIsDescribedInFull(t *testing.T) {
	h := open(t)
	for _, version := range versions {
		session, _ := h.connect(t, version, "alice")
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(list.Tools[0])
		if err != nil {
			t.Fatal(err)
		}
		want := `{"_meta":{"countersign/kind":"write","countersign/roles":["hr-write"],"countersign/untrusted":["note"]},` +
			`"annotations":{"destructiveHint":true,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":false,"title":"Title of delete_desk"},` +
			`"description":"Does delete_desk.","inputSchema":{"additionalProperties":false,"properties":{"employee_id":{"type":"string"},"note":{"type":"string"}},"type":"object"},` +
			`"name":"delete_desk","outputSchema":{"required":["status"],"type":"object"},"title":"Title of delete_desk"}`
		if diff := cmp.Diff(asMap(t, []byte(want)), asMap(t, b)); diff != "" {
			t.Errorf("%s: tool (-want +got):\n%s", version, diff)
		}
	}
}

// TestFieldMetadataIsForTheCatalogue: models never see synonyms and units, so
// that people's tokens get none; the gateway's catalogue token gets them.
func TestFieldMetadataIsForTheCatalogue(t *testing.T) {
	h := open(t)
	for who, want := range map[string]bool{"alice": false, "catalogue": true} {
		got := h.send(t, "POST", "/mcp", who, modernBody("tools/list", ""), modernHeaders("tools/list", "")...)
		if has := strings.Contains(got.body, `"countersign/fields":{"synonyms":["note"]}`); has != want {
			t.Errorf("%s: got %s", who, got.body)
		}
		if rest := h.send(t, "GET", "/tools", who, ""); strings.Contains(rest.body, "synonyms") {
			t.Errorf("%s: the REST list has metadata: %s", who, rest.body)
		}
	}
}

func asMap(t testing.TB, b []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("got %s: %v", b, err)
	}
	return m
}

func TestModernAnswersOnTheWire(t *testing.T) {
	h := open(t)
	list := asMap(t, []byte(h.send(t, "POST", "/mcp", "alice", modernBody("tools/list", ""), modernHeaders("tools/list", "")...).body))["result"].(map[string]any)
	if list["ttlMs"] != 5000.0 || list["cacheScope"] != "private" || list["resultType"] != "complete" {
		t.Errorf("got ttlMs %v, cacheScope %v, resultType %v", list["ttlMs"], list["cacheScope"], list["resultType"])
	}
	called := h.callModern(t, "alice", "who_am_i", `{}`, "X-Request-ID", "req-1", "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	got := asMap(t, []byte(called.body))["result"].(map[string]any)
	if got["resultType"] != "complete" || got["isError"] != nil || got["_meta"].(map[string]any)["io.modelcontextprotocol/serverInfo"] == nil {
		t.Errorf("got %s", called.body)
	}
	want := `{"status":"success","data":{"request":"req-1","roles":["employee","hr-read","hr-write"],"trace":"4bf92f3577b34da6a3ce929d0e0e4736","username":"alice"}}`
	if b, _ := json.Marshal(got["structuredContent"]); !strings.Contains(called.body, `"structuredContent":`+want) {
		t.Errorf("got %s, want %s", b, want)
	}
	if called.header.Get("X-Request-ID") != "req-1" {
		t.Errorf("got headers %v", called.header)
	}
	discovered := h.send(t, "POST", "/mcp", "alice", modernBody("server/discover", ""), modernHeaders("server/discover", "")...)
	capabilities := asMap(t, []byte(discovered.body))["result"].(map[string]any)["capabilities"]
	if diff := cmp.Diff(map[string]any{"tools": map[string]any{}}, capabilities); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
}

// TestStreamsPassProxies: nginx sends a stream on as it comes.
func TestStreamsPassProxies(t *testing.T) {
	h := open(t, withSDK)
	body := strings.Replace(modernBody("tools/call", `"name":"who_am_i","arguments":{}`), `"_meta":{`, `"_meta":{"progressToken":1,`, 1)
	got := h.send(t, "POST", "/mcp", "alice", body, modernHeaders("tools/call", "who_am_i")...)
	if got.header.Get("X-Accel-Buffering") != "no" || !strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("got headers %v", got.header)
	}
}

// TestServerNamesItself: the product, its version and its website, in the answer of
// each version, and nothing that it does not have.
func TestServerNamesItself(t *testing.T) {
	h := open(t, func(o *mcpserver.Options) { o.Website = "https://example.com/" })
	for _, version := range versions {
		session, _ := h.connect(t, version, "alice")
		got := session.InitializeResult()
		want := &mcp.Implementation{Name: "office", Title: "The Office", Version: "1.2.3", WebsiteURL: "https://example.com/"}
		if diff := cmp.Diff(want, got.ServerInfo); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
		if c := got.Capabilities; c.Tools == nil || c.Prompts != nil || c.Resources != nil || c.Completions != nil {
			t.Errorf("%s: got capabilities %+v, want tools alone", version, c)
		}
		var refused *jsonrpc.Error
		if _, err := session.ListPrompts(t.Context(), nil); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: prompts/list: got %v, want no such method", version, err)
		}
	}
}

// texts are what another server offers: one text, to Alice alone.
type texts struct{}

func (texts) Prompts(ctx context.Context) ([]result.Prompt, error) {
	if who, err := access.From(ctx); err != nil || who.Username() != "alice" {
		return nil, err
	}
	return []result.Prompt{{Name: "greet.all", Title: "Greet", Server: "notes", Arguments: []result.PromptArgument{{Name: "whom", Required: true}}}}, nil
}

func (texts) Prompt(ctx context.Context, server, name string, args map[string]string) (string, error) {
	if who, err := access.From(ctx); err != nil || who.Username() != "alice" || server != "notes" {
		return "", fault.ServerNotFound.New("No connected server %q offers you texts.", server)
	}
	return name + " " + args["whom"], nil
}

// TestPromptsOfOtherServersAreOffered as server.prompt, to their people alone.
func TestPromptsOfOtherServersAreOffered(t *testing.T) {
	h := open(t, func(o *mcpserver.Options) { o.Prompts = texts{} })
	for _, version := range versions {
		session, _ := h.connect(t, version, "alice")
		if session.InitializeResult().Capabilities.Prompts == nil {
			t.Errorf("%s: no prompts are declared", version)
		}
		list, err := session.ListPrompts(t.Context(), nil)
		if err != nil || len(list.Prompts) != 1 || list.Prompts[0].Name != "notes.greet.all" || !list.Prompts[0].Arguments[0].Required {
			t.Fatalf("%s: got %+v, %v", version, list, err)
		}
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "notes.greet.all", Arguments: map[string]string{"whom": "Bob"}})
		if err != nil || got.Messages[0].Content.(*mcp.TextContent).Text != "greet.all Bob" || got.Meta["countersign/untrusted"] != true {
			t.Errorf("%s: got %+v, %v", version, got, err)
		}
		var refused *jsonrpc.Error
		if _, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "other.greet"}); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: of an unknown server: got %v", version, err)
		}
		other, _ := h.connect(t, version, "bob")
		if other.InitializeResult().Capabilities.Prompts != nil {
			t.Errorf("%s: prompts are declared to a person who has none", version)
		}
		if list, err := other.ListPrompts(t.Context(), nil); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: to another person: got %+v, %v", version, list, err)
		}
		if got, err := other.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "notes.greet.all"}); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: to another person: got %+v, %v", version, got, err)
		}
	}
}

func TestTraceMayComeInTheMessage(t *testing.T) {
	h := open(t)
	body := strings.Replace(modernBody("tools/call", `"name":"who_am_i"`), `"_meta":{`, `"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",`, 1)
	if got := h.send(t, "POST", "/mcp", "alice", body, modernHeaders("tools/call", "who_am_i")...); !strings.Contains(got.body, `"trace":"4bf92f3577b34da6a3ce929d0e0e4736"`) {
		t.Errorf("got %s, want the trace", got.body)
	}
}

func TestListEqualsCall(t *testing.T) {
	h := open(t)
	for _, token := range []string{"alice", "demoted", "bob", "no-roles"} {
		for _, version := range versions {
			session, _ := h.connect(t, version, token)
			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			listed := map[string]bool{}
			for _, tool := range list.Tools {
				listed[tool.Name] = true
			}
			for name := range h.service.tools {
				if name == "wait" {
					continue
				}
				overREST := h.send(t, "POST", "/tools/"+name, token, `{}`).envelope(t).Code
				called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
				if err != nil {
					t.Fatal(err)
				}
				overMCP := structured(t, called).Code
				if refused := overMCP == "INSUFFICIENT_PERMISSIONS"; refused == listed[name] || refused != called.IsError && name != "stumble" || overREST != overMCP {
					t.Errorf("%s %s %s: listed %v, MCP says %q, REST says %q", token, version, name, listed[name], overMCP, overREST)
				}
			}
		}
	}
}

func TestUnknownToolIsAProtocolErrorOverMCP(t *testing.T) {
	h := open(t)
	for _, version := range versions {
		session, _ := h.connect(t, version, "alice")
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_such"})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != -32602 {
			t.Errorf("%s: got %v, want -32602", version, err)
		}
	}
	if got := h.send(t, "POST", "/tools/no_such", "alice", `{}`); got.status != 200 || got.envelope(t).Code != "UNKNOWN_TOOL" {
		t.Errorf("got %d %s, want 200 UNKNOWN_TOOL", got.status, got.body)
	}
}

func TestPendingIsAnEnvelope(t *testing.T) {
	h := open(t)
	for _, version := range versions {
		session, _ := h.connect(t, version, "alice")
		called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "delete_desk"})
		if err != nil {
			t.Fatal(err)
		}
		if e := structured(t, called); called.IsError || e.Status != "pending_confirmation" || e.ConfirmationID != "c1" || e.ConfirmationData["deskName"] != "D1" {
			t.Errorf("%s: got %+v", version, e)
		}
	}
}

func TestPanicOfAToolFailsOnlyItsCall(t *testing.T) {
	h := open(t)
	for _, version := range versions {
		session, _ := h.connect(t, version, "alice")
		called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "stumble"})
		if err != nil {
			t.Fatal(err)
		}
		if e := structured(t, called); !called.IsError || e.Code != "INTERNAL_ERROR" || strings.Contains(e.Message, "95000") {
			t.Errorf("%s: got %+v, want INTERNAL_ERROR and nothing internal", version, e)
		}
	}
	if got := h.send(t, "POST", "/tools/stumble", "alice", `{}`); got.status != 500 || got.envelope(t).Code != "INTERNAL_ERROR" || strings.Contains(got.body, "95000") {
		t.Errorf("got %d %s, want 500 INTERNAL_ERROR", got.status, got.body)
	}
}

func TestForeignAnswerPassesUnchanged(t *testing.T) {
	h := open(t)
	if got := h.send(t, "POST", "/tools/forward", "alice", `{}`); got.body != foreign {
		t.Errorf("got %s, want %s", got.body, foreign)
	}
	session, _ := h.connect(t, modern, "alice")
	called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "forward"})
	if err != nil {
		t.Fatal(err)
	}
	if got := called.Content[0].(*mcp.TextContent).Text; got != foreign {
		t.Errorf("got %s, want %s", got, foreign)
	}
}

func TestMessageWithoutParamsIsSafe(t *testing.T) {
	h := open(t, withSDK)
	id := h.handshake(t, "alice")
	for method, want := range map[string]string{"tools/list": `"tools":[`, "tools/call": `"code":-32602`, "prompts/list": `"code":-32601`} {
		r := h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","id":3,"method":"`+method+`"}`, "Mcp-Session-Id", id, "Mcp-Protocol-Version", legacy)
		if !strings.Contains(r.body, want) {
			t.Errorf("%s: got %d %s, want %s", method, r.status, r.body, want)
		}
	}
	if got := h.send(t, "GET", "/health", "", ""); got.status != 200 {
		t.Errorf("got %d, want the server alive", got.status)
	}
}

func TestNameInAnotherCaseIsIgnored(t *testing.T) {
	h := open(t, withSDK)
	id := h.handshake(t, "alice")
	for _, params := range []string{`"name":"who_am_i","Name":"echo"`, `"Name":"echo","name":"who_am_i"`} {
		overLegacy := h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{`+params+`}}`, "Mcp-Session-Id", id, "Mcp-Protocol-Version", legacy)
		overModern := h.send(t, "POST", "/mcp", "alice", modernBody("tools/call", params), modernHeaders("tools/call", "who_am_i")...)
		for version, got := range map[string]reply{legacy: overLegacy, modern: overModern} {
			if !strings.Contains(got.body, `"username":"alice"`) {
				t.Errorf("%s %s: got %d %s, want who_am_i called", version, params, got.status, got.body)
			}
		}
	}
}

func TestForeignCursorIsRejected(t *testing.T) {
	h := open(t)
	got := h.send(t, "POST", "/mcp", "alice", modernBody("tools/list", `"cursor":"x"`), modernHeaders("tools/list", "")...)
	if !strings.Contains(got.body, "-32602") {
		t.Errorf("got %s, want -32602", got.body)
	}
}

func TestProtocolErrorsOfTheModernVersion(t *testing.T) {
	h := open(t, withSDK)
	bare := `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}`
	for _, c := range []struct {
		name, body string
		headers    []string
		status     int
		code       string
	}{
		{"unknown method", modernBody("tools/nope", ""), modernHeaders("tools/nope", ""), 404, "-32601"},
		{"missing metadata", bare, modernHeaders("tools/list", ""), 400, "-32602"},
		{"unknown revision", strings.ReplaceAll(modernBody("tools/list", ""), modern, "2099-01-01"), []string{"Mcp-Protocol-Version", "2099-01-01", "Mcp-Method", "tools/list"}, 400, "-32022"},
		{"header against body", modernBody("tools/call", `"name":"get_pay"`), modernHeaders("tools/call", "echo"), 400, "-32020"},
		{"no version header", modernBody("tools/list", ""), nil, 400, "-32020"},
		{"no header, unknown method", modernBody("tools/nope", ""), nil, 400, `"id":7,"jsonrpc"`},
		{"removed method", modernBody("ping", ""), modernHeaders("ping", ""), 404, "-32601"},
	} {
		if got := h.send(t, "POST", "/mcp", "alice", c.body, c.headers...); got.status != c.status || !strings.Contains(got.body, c.code) {
			t.Errorf("%s: got %d %s, want %d %s", c.name, got.status, got.body, c.status, c.code)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if got := h.send(t, method, "/mcp", "alice", "", "Mcp-Protocol-Version", modern); got.status != 405 || got.header.Get("Allow") != "POST" {
			t.Errorf("%s: got %d Allow %q, want 405 POST", method, got.status, got.header.Get("Allow"))
		}
	}
}
