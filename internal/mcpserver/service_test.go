package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/testkit"
)

// The two versions, by the revision that a client pins.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// fakeService is a small Service: every tool is declared by its roles and a
// function.
type fakeService struct {
	tools   map[string]fakeTool
	answers sync.Map // confirmation id → approved
	entered chan context.Context
	encode  func(result.Outcome) json.RawMessage // nil: the envelope
}

type fakeTool struct {
	roles []access.Role
	kind  result.Kind
	do    func(ctx context.Context, who *access.Principal, args json.RawMessage) result.Outcome
}

func newFakeService() *fakeService {
	o := &fakeService{entered: make(chan context.Context, 1)}
	o.tools = map[string]fakeTool{
		"who_am_i":    {[]access.Role{access.Employee, "hr-read"}, result.Read, whoAmI},
		"echo":        {[]access.Role{access.Employee}, result.Read, echo},
		"get_pay":     {[]access.Role{"hr-read"}, result.Read, echo},
		"delete_desk": {[]access.Role{"hr-write"}, result.Write, ask},
		"stumble":     {[]access.Role{access.Employee}, result.Read, stumble},
		"forward":     {[]access.Role{access.Employee}, result.Read, forward},
		"wait":        {[]access.Role{access.Employee}, result.Read, o.wait},
	}
	return o
}

func (o *fakeService) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	var infos []result.ToolInfo
	for _, name := range slices.Sorted(maps.Keys(o.tools)) {
		if d := o.tools[name]; who.Purpose() == access.PurposeCatalogue || who.HasAny(d.roles...) {
			infos = append(infos, d.info(name))
		}
	}
	return infos, nil
}

func (d fakeTool) info(name string) result.ToolInfo {
	info := result.ToolInfo{
		Name: name, Title: "Title of " + name, Description: "Does " + name + ".", Kind: d.kind,
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"employee_id":{"type":"string"},"note":{"type":"string"}},"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","required":["status"]}`),
		Annotations:  result.Annotations{ReadOnly: d.kind != result.Write, Destructive: d.kind == result.Write, Idempotent: true},
		Untrusted:    []string{"note"},
		Fields:       &result.Fields{Synonyms: []string{"note"}},
	}
	for _, r := range d.roles {
		info.Roles = append(info.Roles, string(r))
	}
	return info
}

func (o *fakeService) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	d, known := o.tools[name]
	switch {
	case !known:
		return result.Failed(fault.UnknownTool.New("There is no tool named %q here.", name))
	case !who.HasAny(d.roles...):
		return result.Failed(fault.Insufficient.New("You may not use %s.", name))
	}
	return d.do(ctx, who, args)
}

func (o *fakeService) Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	who, err := access.From(ctx)
	switch {
	case err != nil:
		return result.Failed(err)
	case id == "unknown":
		return result.Failed(fault.ConfirmationNotFound.New("Confirmation not found or expired."))
	case who.Username() != "alice":
		return result.Failed(fault.UserMismatch.New("You can only approve your own confirmations."))
	}
	if digest != "" {
		return result.Failed(fault.ConfirmationOther.New("You were shown something else."))
	}
	o.answers.Store(id, approved)
	if !approved {
		return result.Cancelled("Action cancelled by user")
	}
	return result.Success(json.RawMessage(`{"message":"done"}`), nil, "")
}

func (o *fakeService) Confirmation(ctx context.Context, id string) (result.Confirmation, error) {
	who, err := access.From(ctx)
	switch {
	case err != nil:
		return result.Confirmation{}, err
	case id == "unknown":
		return result.Confirmation{}, fault.ConfirmationNotFound.New("Confirmation not found or expired.")
	}
	return result.Confirmation{ID: id, State: "pending", Message: "for " + who.Username()}, nil
}

func (o *fakeService) Encode(out result.Outcome) json.RawMessage {
	if o.encode != nil {
		return o.encode(out)
	}
	return result.EncodeEnvelope(out)
}

func whoAmI(ctx context.Context, who *access.Principal, _ json.RawMessage) result.Outcome {
	data, _ := json.Marshal(map[string]any{"username": who.Username(), "roles": who.Roles(), "request": telemetry.RequestOf(ctx).ID, "trace": telemetry.RequestOf(ctx).Trace})
	return result.Success(data, nil, "")
}

func echo(_ context.Context, _ *access.Principal, args json.RawMessage) result.Outcome {
	return result.Success(args, nil, "")
}

func ask(context.Context, *access.Principal, json.RawMessage) result.Outcome {
	return result.Waiting(result.Pending{ID: "c1", Message: "Delete the desk?", Data: map[string]any{"deskName": "D1"}})
}

func stumble(context.Context, *access.Principal, json.RawMessage) result.Outcome {
	panic("salary is 95000")
}

const foreign = `{"status":"success","data":{"z":1,"a":"<b>","n":1.50}}`

func forward(context.Context, *access.Principal, json.RawMessage) result.Outcome {
	o, err := result.DecodeEnvelope(json.RawMessage(foreign))
	if err != nil {
		panic(err)
	}
	return o
}

// wait hands its context to the test and lasts until that ends.
func (o *fakeService) wait(ctx context.Context, _ *access.Principal, _ json.RawMessage) result.Outcome {
	o.entered <- ctx
	<-ctx.Done()
	return result.Failed(ctx.Err())
}

// crossing are the tools with one more: its calls are over, and recorded, before their clients
// cancel them.
func crossing(o *fakeService) *fakeService {
	o.tools["crossed"] = fakeTool{[]access.Role{access.Employee}, result.Read, o.cross}
	return o
}

func (o *fakeService) cross(ctx context.Context, _ *access.Principal, _ json.RawMessage) result.Outcome {
	o.entered <- ctx
	<-ctx.Done()
	return result.Success(json.RawMessage(`"over before"`), nil, "")
}

// people are the tokens of the tests.
var people = map[string]access.Claims{
	"alice":     {Username: "alice", Email: "Alice@Example.com", EmailVerified: true, Roles: []string{"employee", "hr-read", "hr-write"}},
	"demoted":   {Username: "alice", Email: "alice@example.com", EmailVerified: true, Roles: []string{"employee"}},
	"bob":       {Username: "bob", Email: "bob@example.com", Roles: []string{"employee"}},
	"no-roles":  {Username: "no-roles"},
	"call":      {Username: "alice", Roles: []string{"employee"}, Purpose: access.PurposeCall},
	"execute":   {Username: "alice", Roles: []string{"employee"}, Purpose: access.PurposeExecute},
	"catalogue": {Username: "gateway", Purpose: access.PurposeCatalogue},
	"strange":   {Username: "alice", Roles: []string{"employee"}, Purpose: "other"},
	"auditor":   {Username: "audrey", Roles: []string{"auditor"}},
	"brief":     {Username: "brief", Roles: []string{"employee"}},
}

func verify(_ context.Context, token string) (*access.Principal, error) {
	claims, ok := people[token]
	switch {
	case token == "keyless":
		return nil, fault.ServiceDown.New("The keys cannot be reached.")
	case !ok:
		return nil, fault.Unauthorized.New("The token is not valid.")
	}
	claims.Issuer, claims.Subject = "https://issuer.example.com", "sub-"+claims.Username
	if token == "brief" {
		claims.Expires = time.Now().Add(time.Second)
	}
	return access.NewPrincipal(claims), nil
}

// harness is a running server.
type harness struct {
	*httptest.Server
	service *fakeService
	server  *mcpserver.Server
}

// laneVariable names the lane of servers whose test names none: off has all tests run by
// the SDK alone, and forced by the lane alone.
const laneVariable = "COUNTERSIGN_TEST_LANE"

var (
	lanes    = map[string]mcpserver.Lane{"off": mcpserver.LaneOff, "forced": mcpserver.LaneForced}
	testLane = lanes[os.Getenv(laneVariable)] // LaneOn
)

// withSDK is for tests of calls that the lane leaves to the SDK: it may, also where all
// others are forced.
func withSDK(o *mcpserver.Options) {
	if o.Lane == mcpserver.LaneForced {
		o.Lane = mcpserver.LaneOn
	}
}

func open(t testing.TB, change ...func(*mcpserver.Options)) *harness {
	t.Helper()
	o := mcpserver.Options{Name: "office", Title: "The Office", Version: "1.2.3", Instructions: "Be kind.", Verify: verify, Lane: testLane}
	h := &harness{service: newFakeService()}
	o.Confirmations = h.service
	for _, c := range change {
		c(&o)
	}
	var err error
	if h.server, err = mcpserver.New(h.service, o); err != nil {
		t.Fatal(err)
	}
	h.Server = httptest.NewServer(h.server.Handler())
	t.Cleanup(func() { h.server.Close(); h.Server.Close() })
	return h
}

// bearer adds a token, which may change between requests, and remembers
// nothing else.
type bearer struct{ token atomic.Value }

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token.Load().(string))
	return testkit.Transport.RoundTrip(r)
}

// connect opens a session of the SDK's client in one version.
func (h *harness) connect(t testing.TB, version, token string) (*mcp.ClientSession, *bearer) {
	t.Helper()
	b := &bearer{}
	b.token.Store(token)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint: h.URL + "/mcp", HTTPClient: &http.Client{Transport: b},
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session, b
}

// reply is a raw answer.
type reply struct {
	status int
	header http.Header
	body   string
}

// envelope reads an answer's envelope; over MCP it is the structured content.
func (r reply) envelope(t testing.TB) result.Envelope {
	t.Helper()
	var e result.Envelope
	if err := json.Unmarshal([]byte(r.body), &e); err != nil {
		t.Fatalf("got %d %q, want an envelope: %v", r.status, r.body, err)
	}
	return e
}

// send makes one raw request. Headers come in pairs; a pair with the name Host
// sets the host, an empty value removes the header.
func (h *harness) send(t testing.TB, method, path, token, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequest(method, h.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Add(name, value)
		}
	}
	resp, err := testkit.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(unframe(b))}
}

// unframe takes the message out of an event stream of one.
func unframe(b []byte) []byte {
	if _, data, ok := bytes.Cut(b, []byte("data: ")); ok && !bytes.HasPrefix(b, []byte("{")) {
		return bytes.TrimSpace(data)
	}
	return b
}

// modernHeaders are what a modern message must have beside its body.
func modernHeaders(method, name string) []string {
	h := []string{"Mcp-Protocol-Version", modern, "Mcp-Method", method}
	if name != "" {
		h = append(h, "Mcp-Name", name)
	}
	return h
}

// modernBody is a message of the modern version.
func modernBody(method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

// callModern makes one raw modern call.
func (h *harness) callModern(t testing.TB, token, tool, args string, headers ...string) reply {
	t.Helper()
	return h.send(t, "POST", "/mcp", token, modernBody("tools/call", `"name":"`+tool+`","arguments":`+args), append(modernHeaders("tools/call", tool), headers...)...)
}

// handshake begins a raw legacy session and returns its id.
func (h *harness) handshake(t testing.TB, token string) string {
	t.Helper()
	r := h.send(t, "POST", "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	id := r.header.Get("Mcp-Session-Id")
	if r.status != 200 || id == "" {
		t.Fatalf("got %d %q, want a session", r.status, r.body)
	}
	h.send(t, "POST", "/mcp", token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id, "Mcp-Protocol-Version", legacy)
	return id
}

// callLegacy makes one raw call in a session.
func (h *harness) callLegacy(t testing.TB, token, session, tool, args string, headers ...string) reply {
	t.Helper()
	return h.send(t, "POST", "/mcp", token, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`,
		append([]string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", legacy}, headers...)...)
}
