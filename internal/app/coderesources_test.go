package app

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/llm"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

// gateway starts one in front of the code search server.
func (x *codeRig) gateway(t *testing.T) *rig {
	t.Helper()
	models, err := llm.New(map[string]llm.Options{llm.Rehearsal: {Provider: llm.Rehearsal}}, llm.Policy{Default: llm.Rehearsal})
	must(t, err)
	listener := loopback(t)
	at := &rig{gateway: "http://" + listener.Addr().String(), issuer: x.issuer, pl: x.pl}
	must(t, x.pl.serveGateway(gatewayOptions{
		listener: listener, url: at.gateway, clientID: demoClient, models: models,
		servers: []upstream.Server{{Name: "codesearch", URL: x.url}, {Name: "hr", URL: "http://127.0.0.1:1"}},
		issuers: []auth.Config{{URL: x.issuer, Audiences: []string{gatewayAudience}, ConfirmClients: []string{demoClient}}},
	}))
	return at
}

// bearer adds a person's token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return testkit.Transport.RoundTrip(r)
}

// client connects to an MCP endpoint of the gateway.
func (x *rig) client(t *testing.T, path, username string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: x.gateway + path, HTTPClient: &http.Client{Transport: bearer(x.token(t, username))}}, nil)
	must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// The gateway's MCP endpoints link what search_code finds, and read such an address with
// the rights of its reader: one who may not see the repository is answered as if the file
// did not exist. The endpoints of other servers have no resources.
func TestCodeIsReadThroughTheGateway(t *testing.T) {
	x := newCodeRig(t, quota.Limits{}, nil, "executive").gateway(t)
	uri := ""
	for _, path := range []string{"/mcp", "/mcp/codesearch"} {
		eve := x.client(t, path, "eve.thompson")
		if eve.InitializeResult().Capabilities.Resources == nil {
			t.Errorf("%s declares no resources", path)
		}
		found, err := eve.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_code", Arguments: map[string]any{"query": "verify token"}})
		if err != nil || len(found.Content) < 2 {
			t.Fatalf("%s: got %+v, %v: no link", path, found, err)
		}
		link, ok := found.Content[1].(*mcp.ResourceLink)
		if !ok {
			t.Fatalf("%s: got %+v", path, found.Content[1])
		}
		uri = link.URI
		read, err := eve.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, "def verify") {
			t.Errorf("%s: %s: got %+v, %v", path, uri, read, err)
		}
	}
	nina := x.client(t, "/mcp", "nina.patel")
	_, hidden := nina.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	_, absent := nina.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: strings.Replace(uri, "code://", "code://no-", 1)})
	if hidden == nil || absent == nil || hidden.Error() != strings.ReplaceAll(absent.Error(), "no-", "") {
		t.Errorf("a repository of others: %v, but one that does not exist: %v", hidden, absent)
	}
	var none *jsonrpc.Error
	if !errors.As(absent, &none) || !strings.Contains(string(none.Data), "code://no-") {
		t.Errorf("what does not exist is not named: %v", absent)
	}
	if hr := x.client(t, "/mcp/hr", "eve.thompson"); hr.InitializeResult().Capabilities.Resources != nil {
		t.Error("the endpoint of another server declares resources")
	}
}
