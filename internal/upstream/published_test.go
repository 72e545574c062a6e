package upstream_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

// answering are tools of a connected server, each with what it says of its answers and what
// it answers.
var answering = map[string]struct {
	schema, answers string
	unsaid          bool // the host says nothing of its answers
	want            string
}{
	"wrapped":   {schema: `{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"],"x-fastmcp-wrap-result":true}`, answers: `{"result":3}`, want: `"data":{"result":3}`},
	"rows":      {schema: `{"$defs":{"Note":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}},"type":"object","properties":{"result":{"type":"array","items":{"$ref":"#/$defs/Note"}}},"required":["result"]}`, answers: `{"result":[{"id":1},{"id":2}]}`, want: `"data":[{"id":1},{"id":2}],"metadata"`},
	"named":     {schema: `{"definitions":{"a":{"type":"string","enum":["x","#/definitions/a"]}},"type":"object","properties":{"$ref":{"$ref":"#/definitions/a"}},"required":["$ref"],"additionalProperties":false}`, answers: `{"$ref":"#/definitions/a"}`, want: `"data":{"$ref":`},
	"pointer":   {schema: `{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}},"additionalProperties":false}`, answers: `{"a":"x","b":"y"}`, want: `"data":{"a":"x","b":"y"}`},
	"old":       {schema: `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://notes.example/note","definitions":{"a":{"type":"string"}},"type":"object","properties":{"a":{"$ref":"#/definitions/a"}},"required":["a"],"additionalProperties":false}`, answers: `{"a":"x"}`, want: `"data":{"a":"x"}`},
	"lying":     {schema: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, answers: `{"n":"three"}`, want: `"data":{"text":"{\"n\":\"three\"}"}`},
	"mimic":     {schema: `{"type":"object"}`, answers: `{"status":"error","code":"X","message":"y"}`, want: `"data":{"code":"X","message":"y","status":"error"}`},
	"tree":      {schema: `{"$defs":{"T":{"type":"object","properties":{"of":{"type":"array","items":{"$ref":"#/$defs/T"}}}}},"type":"object","properties":{"root":{"$ref":"#/$defs/T"}}}`, answers: `{"root":{"of":[{}]}}`, unsaid: true},
	"elsewhere": {schema: `{"type":"object","properties":{"a":{"$ref":"https://notes.example/a"}}}`, answers: `{"a":1}`, unsaid: true},
	"broken":    {schema: `{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":true}}}`, answers: `{"a":1}`, unsaid: true},
	"quoting":   {schema: `{"$defs":{"a":{"type":"string"}},"type":"object","properties":{"a":{"const":{"$ref":"#/$defs/a"}}}}`, answers: `{"a":{"$ref":"#/$defs/a"}}`, unsaid: true},
	"unspoken":  {answers: `{"a":1}`, unsaid: true},
}

// TestAnswersOfConnectedToolsFitTheirPublishedSchemas: a client that compares them, by Draft 7
// or by 2020-12, accepts the envelope around what the server says of its data, the errors, and
// the changes that wait.
func TestAnswersOfConnectedToolsFitTheirPublishedSchemas(t *testing.T) {
	n := newNotes(t, modern)
	object := map[string]any{"type": "object"}
	for name, c := range answering {
		tool := &mcp.Tool{Name: name, InputSchema: object, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
		if c.schema != "" {
			tool.OutputSchema = json.RawMessage(c.schema)
		}
		n.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: json.RawMessage(c.answers)}, nil
		})
		tool = &mcp.Tool{Name: "change_" + name, InputSchema: object, OutputSchema: tool.OutputSchema}
		n.AddTool(tool, text("changed"))
	}
	n.AddTool(&mcp.Tool{Name: "refusing", InputSchema: object, OutputSchema: json.RawMessage(`{"type":"object","required":["n"]}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such note"}}}, nil
		})
	client := atTheEdge(t, host(t, upstream.Options{}, n))
	schemas := map[string]any{}
	for tool, err := range client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Name] = tool.OutputSchema
	}
	call := func(name, want string, unsaid bool) {
		t.Helper()
		schema, listed := schemas[name]
		answer, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
		switch {
		case err != nil || !listed:
			t.Errorf("%s: %v, listed %v", name, err, listed)
		case unsaid:
			if schema != nil {
				t.Errorf("%s: is published with %v", name, schema)
			}
		case schema == nil:
			t.Errorf("%s: is published without a schema", name)
		default:
			said := answer.Content[0].(*mcp.TextContent).Text
			if !strings.Contains(said, want) {
				t.Errorf("%s: got %s, want %s", name, said, want)
			}
			if encoded, err := json.Marshal(schema); err != nil || strings.Contains(string(encoded), `"$schema"`) { // a reader of another draft stops there
				t.Errorf("%s: names a draft: %s %v", name, encoded, err)
			}
			accepted(t, name, schema, said)
		}
	}
	for name, c := range answering {
		call("notes."+name, c.want, c.unsaid)
		call("notes.change_"+name, `"pending_confirmation"`, c.unsaid)
	}
	call("notes.refusing", `"TOOL_FAILED"`, false)
}

// accepted compares an answer with a schema as readers of either draft do.
func accepted(t *testing.T, name string, schema any, answer string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
	if err != nil {
		t.Fatal(err)
	}
	for _, draft := range []*jsonschema.Draft{jsonschema.Draft7, jsonschema.Draft2020} {
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(draft)
		if err := compiler.AddResource("s.json", schema); err != nil {
			t.Fatal(err)
		}
		compiled, err := compiler.Compile("s.json")
		if err == nil {
			err = compiled.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: draft %v refuses %s: %v", name, draft, answer, err)
		}
	}
}

// bearing sends requests with a token.
var bearing = roundTripper(func(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer token")
	return testkit.Transport.RoundTrip(r)
})

// atTheEdge is a client of the host's own MCP endpoint, as a writer.
func atTheEdge(t *testing.T, u *upstream.Upstream) *mcp.ClientSession {
	t.Helper()
	edge, err := mcpserver.New(upstream.Catalogue{Upstream: u}, mcpserver.Options{Name: "gateway", Verify: func(context.Context, string) (*access.Principal, error) {
		return access.From(writer)
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(edge.Handler())
	t.Cleanup(server.Close)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: bearing}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}
