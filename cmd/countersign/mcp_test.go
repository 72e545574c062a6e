package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// The two protocol versions that clients use.
var versions = []string{"2026-07-28", "2025-11-25"}

// bearerTransport sends a token with every request.
type bearerTransport string

// RoundTrip adds the token.
func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return testkit.Transport.RoundTrip(r)
}

// endpoint is one MCP address of a demo, and its list of tools over plain HTTP.
type endpoint struct {
	name, audience string
	url, listing   string // base address, path of the list of tools
}

func (p *process) endpoints() []endpoint {
	return []endpoint{
		{"the gateway", "gateway", p.Gateway, "/api/tools"},
		{"the HR server", "hr", p.Servers["hr"], "/tools"},
	}
}

// address is that of MCP: the base's own, unless it is one of a server.
func (e endpoint) address() string {
	if strings.Contains(e.url, "/mcp/") {
		return e.url
	}
	return e.url + "/mcp"
}

// connect connects an MCP client of a protocol version as a person.
func (p *process) connect(t testing.TB, e endpoint, version, person string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(context.WithoutCancel(t.Context()), &mcp.StreamableClientTransport{
		Endpoint: e.address(), HTTPClient: &http.Client{Transport: bearerTransport(p.token(t, person, e.audience))},
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("%s as %s, %s: %v", e.name, person, version, err)
	}
	t.Cleanup(func() { _ = session.Close() })
	about := session.InitializeResult()
	if about.ProtocolVersion != version {
		t.Errorf("%s: got revision %s, want %s", e.name, about.ProtocolVersion, version)
	}
	if i := about.ServerInfo; !strings.HasPrefix(i.Name, "countersign") || !strings.HasPrefix(i.Title, "Countersign") || i.Version == "" || i.WebsiteURL != "https://countersign.dev/" {
		t.Errorf("%s: it does not say what it is: %+v", e.name, i)
	}
	return session
}

// everyClient runs a test with clients of both versions at both endpoints.
func everyClient(t *testing.T, do func(t *testing.T, p *process, e endpoint, version string)) {
	p := sharedDemo(t)
	for _, e := range p.endpoints() {
		for _, version := range versions {
			t.Run(e.audience+" "+version, func(t *testing.T) { do(t, p, e, version) })
		}
	}
}

// listed returns the names of a person's tools over plain HTTP.
func (p *process) listed(t testing.TB, e endpoint, person string) (names []string) {
	t.Helper()
	a := send(t, http.MethodGet, e.url+e.listing, p.token(t, person, e.audience), nil)
	var list struct{ Tools []result.ToolInfo }
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: %d %v %s", e.listing, a.status, err, a.body)
	}
	for _, info := range list.Tools {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	return names
}

func TestClientsOfBothVersionsListWhatThePersonMayCall(t *testing.T) {
	t.Parallel()
	everyClient(t, func(t *testing.T, p *process, e endpoint, version string) {
		for person, want := range map[string]string{
			"alice.chen": "update_salary", "nina.patel": "list_employees", "frank.davis": "get_time_off_balance", "auditor.demo": "",
		} {
			list, err := p.connect(t, e, version, person).ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				if tool.Annotations == nil || tool.InputSchema == nil || tool.OutputSchema == nil {
					t.Errorf("%s: %s comes without annotations or schemas", person, tool.Name)
				}
			}
			slices.Sort(names)
			edge := slices.Index(names, "get_confirmation") // of the MCP endpoint itself, for everyone
			if edge < 0 {
				t.Fatalf("%s: got %v, want get_confirmation among them", person, names)
			}
			names = slices.Delete(names, edge, edge+1)
			if rest := p.listed(t, e, person); !slices.Equal(names, rest) {
				t.Errorf("%s: got %v, want %v", person, names, rest)
			}
			if want == "" && len(names) > 0 || want != "" && !slices.Contains(names, want) {
				t.Errorf("%s: got %v, want %q among them", person, names, want)
			}
		}
	})
}

// published describes the tools that a client was offered.
func published(t testing.TB, session *mcp.ClientSession) (infos []result.ToolInfo) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		input, _ := json.Marshal(tool.InputSchema) // of plain data
		output, _ := json.Marshal(tool.OutputSchema)
		infos = append(infos, result.ToolInfo{Name: tool.Name, InputSchema: input, OutputSchema: output})
	}
	return infos
}

// checkSchema compares an answer, as it came over the wire, with the schema that its
// tool was offered with.
func checkSchema(t testing.TB, session *mcp.ClientSession, name string, r *mcp.CallToolResult) {
	t.Helper()
	encoded, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range published(t, session) {
		if info.Name == name {
			domaintest.CheckAnswer(t, info, encoded)
		}
	}
}

func TestPublishedSchemasAreValid(t *testing.T) {
	t.Parallel()
	p := sharedDemo(t)
	at := []endpoint{{"the gateway", "gateway", p.Gateway, ""}}
	for name, url := range p.Servers {
		at = append(at, endpoint{name, name, url, ""})
	}
	for _, e := range at {
		for _, person := range []string{"eve.thompson", "frank.davis"} {
			infos := published(t, p.connect(t, e, versions[0], person))
			for _, info := range infos {
				domaintest.CheckSchemas(t, info)
			}
			if len(infos) == 0 {
				t.Errorf("%s offers %s nothing", e.name, person)
			}
		}
	}
}

// structured returns the envelope of a call's structured content, which must
// equal the text content.
func structured(t testing.TB, r *mcp.CallToolResult) (e result.Envelope) {
	t.Helper()
	encoded, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &e); err != nil {
		t.Fatalf("%v in %s", err, encoded)
	}
	var copied result.Envelope
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok || json.Unmarshal([]byte(text.Text), &copied) != nil || copied.Status != e.Status {
		t.Errorf("the text copy differs from %s: %+v", encoded, r.Content[0])
	}
	if r.IsError != (e.Status == result.StatusError) {
		t.Errorf("isError is %v on %s", r.IsError, encoded)
	}
	return e
}

func TestClientsOfBothVersionsGetAnswers(t *testing.T) {
	t.Parallel()
	frank := employee(t, "Frank Davis").ID
	for _, c := range []struct {
		person, tool string
		in           map[string]any
		status, code string
		want         string // somewhere in the answer
	}{
		{"alice.chen", "list_employees", map[string]any{"limit": 3}, result.StatusSuccess, "", `"returnedCount":3`},
		{"alice.chen", "delete_employee", map[string]any{"employee_id": frank}, result.StatusPending, "", `"action":"delete_employee"`},
		{"nina.patel", "list_employees", map[string]any{"name": "Marcus"}, result.StatusSuccess, "", `*** (Hidden)`},
		{"nina.patel", "get_employee", map[string]any{"employee_id": frank}, result.StatusError, "EMPLOYEE_NOT_FOUND", "list_employees"},
		{"frank.davis", "get_employee", map[string]any{"employee_id": frank}, result.StatusSuccess, "", `"salary":45000`},
		{"frank.davis", "get_employee", map[string]any{"employee_id": "ABC123"}, result.StatusError, fault.ValidationError.Name, "employee_id"},
		{"frank.davis", "update_salary", map[string]any{"employee_id": frank, "new_salary": 9}, result.StatusError, fault.Insufficient.Name, "hr-write"},
		{"auditor.demo", "list_employees", map[string]any{}, result.StatusError, fault.Insufficient.Name, "executive"},
	} {
		t.Run(c.person+" "+c.tool, func(t *testing.T) {
			everyClient(t, func(t *testing.T, p *process, at endpoint, version string) {
				session := p.connect(t, at, version, c.person)
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.in})
				if err != nil {
					t.Fatal(err)
				}
				e := structured(t, r)
				checkSchema(t, session, c.tool, r)
				checkFollowed(t, session, e.ConfirmationID)
				encoded, _ := json.Marshal(r.StructuredContent)
				if e.Status != c.status || e.Code != c.code || !strings.Contains(string(encoded), c.want) {
					t.Errorf("got %s, want %s %s with %s", encoded, c.status, c.code, c.want)
				}
				if e.Status == result.StatusPending && (e.ConfirmationID == "" || e.ConfirmationData["userId"] == nil) {
					t.Errorf("the answer names no way to approve: %s", encoded)
				}
				if page := p.Gateway + "/#/approve/" + e.ConfirmationID; e.Status == result.StatusPending && (e.ConfirmationData["approvalUrl"] != page || !strings.Contains(e.Message, page)) {
					t.Errorf("the page of the approval is %v, want %s in the message, too: %q", e.ConfirmationData["approvalUrl"], page, e.Message)
				}
			})
		})
	}
}

// checkFollowed looks a change that waits up, as an MCP client does.
func checkFollowed(t testing.TB, session *mcp.ClientSession, id string) {
	t.Helper()
	if id == "" {
		return
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_confirmation", Arguments: map[string]any{"confirmation_id": id}})
	if err != nil || r.IsError {
		t.Fatalf("get_confirmation: %v, %v", r, err)
	}
	checkSchema(t, session, "get_confirmation", r)
}

func TestUnknownToolIsAnInvalidParameter(t *testing.T) {
	t.Parallel()
	everyClient(t, func(t *testing.T, p *process, at endpoint, version string) {
		_, err := p.connect(t, at, version, "alice.chen").CallTool(t.Context(), &mcp.CallToolParams{Name: "drop_database", Arguments: map[string]any{}})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("got %v, want -32602", err)
		}
	})
}

// TestMissingTokenNamesTheMetadata: a client without a token receives the address
// of metadata that names this endpoint and an issuer that answers.
func TestMissingTokenNamesTheMetadata(t *testing.T) {
	t.Parallel()
	p := sharedDemo(t)
	named := regexp.MustCompile(`resource_metadata="([^"]+)"`)
	for _, at := range p.endpoints() {
		for _, version := range versions {
			a := send(t, http.MethodPost, at.url+"/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
				"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", version)
			link := named.FindStringSubmatch(a.header.Get("WWW-Authenticate"))
			if a.status != http.StatusUnauthorized || link == nil {
				t.Errorf("%s, %s: got %d %q %s", at.name, version, a.status, a.header.Get("WWW-Authenticate"), a.body)
				continue
			}
			meta := send(t, http.MethodGet, link[1], "", nil)
			var found struct {
				Resource string   `json:"resource"`
				Issuers  []string `json:"authorization_servers"`
			}
			if err := json.Unmarshal([]byte(meta.body), &found); err != nil || found.Resource != at.url+"/mcp" || len(found.Issuers) == 0 {
				t.Fatalf("%s: %v in %s: %s", at.name, err, link[1], meta.body)
			}
			if issuer := send(t, http.MethodGet, found.Issuers[0]+"/.well-known/openid-configuration", "", nil); issuer.status != http.StatusOK {
				t.Errorf("%s sends people to %s, which answers %d", at.name, found.Issuers[0], issuer.status)
			}
		}
	}
}

// TestMetadataOfFieldsIsForThePageAlone: GET /api/tools has it; a server's list
// and MCP clients, whose tools a model reads, do not.
func TestMetadataOfFieldsIsForThePageAlone(t *testing.T) {
	everyClient(t, func(t *testing.T, p *process, e endpoint, version string) {
		list := send(t, http.MethodGet, e.url+e.listing, p.token(t, "alice.chen", e.audience), nil)
		page := strings.Contains(list.body, `"fields":{"synonyms":`)
		if want := e.listing == "/api/tools"; page != want {
			t.Errorf("%s has metadata of fields: got %v, want %v", e.listing, page, want)
		}
		tools, err := p.connect(t, e, version, "alice.chen").ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) == 0 {
			t.Fatalf("got %v, %v", tools, err)
		}
		for _, tool := range tools.Tools {
			if _, has := tool.Meta["countersign/fields"]; has {
				t.Errorf("MCP clients get metadata of the fields of %s", tool.Name)
			}
		}
	})
}
