package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

// mintFor returns the token of the person whom a principal is, or that of the
// gateway's catalogue.
func mintFor(p *access.Principal, _ string, purpose access.Purpose) (string, error) {
	if purpose == access.PurposeCatalogue {
		return "catalogue", nil
	}
	for _, token := range []string{"alice", "demoted", "bob", "no-roles"} {
		if who := people[token]; who.Username == p.Username() && slices.Equal(who.Roles, p.Roles()) {
			return token, nil
		}
	}
	return "", fmt.Errorf("no token for %s %v", p.Username(), p.Roles())
}

// through runs a gateway in front of a server, on one lane. Its endpoint has the
// server's name, so that the answers of both say the same of themselves.
func through(t testing.TB, server *harness, lane mcpserver.Lane, transport http.RoundTripper) *harness {
	t.Helper()
	servers := upstream.New([]upstream.Server{{Name: "office", URL: server.URL, Timeout: testkit.Patience}},
		upstream.Options{Mint: mintFor, HTTP: &http.Client{Transport: transport}})
	t.Cleanup(servers.Close)
	edge, err := mcpserver.New(upstream.Catalogue{Upstream: servers}, mcpserver.Options{Name: "office", Title: "The Office", Version: "1.2.3", Verify: verify, Lane: lane})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{server: edge, Server: httptest.NewServer(edge.Handler())}
	t.Cleanup(func() { edge.Close(); h.Server.Close() })
	return h
}

// inSessions makes a gateway call by the SDK's client: it refuses the version of the
// first direct call.
type inSessions struct{ refused atomic.Bool }

func (s *inSessions) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte(`"tools/call"`)) && s.refused.CompareAndSwap(false, true) {
		no := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}`, mcp.CodeUnsupportedProtocolVersion)
		return &http.Response{StatusCode: 400, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(no)), Request: r}, nil
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return testkit.Transport.RoundTrip(r)
}

// TestGatewayAnswersAsItsServer: through a gateway, on each lane of its own and of
// the server's, and by both clients of the gateway, an answer has the bytes that the
// server writes by the SDK.
func TestGatewayAnswersAsItsServer(t *testing.T) {
	reference, forced := open(t, onLane(mcpserver.LaneOff)), open(t, onLane(mcpserver.LaneForced))
	for _, h := range []*harness{reference, forced} {
		h.service.tools["list_desks"] = fakeTool{[]access.Role{access.Employee}, result.List, listDesks}
	}
	ways := map[string]*harness{"session of the SDK": through(t, reference, mcpserver.LaneForced, &inSessions{})}
	for _, lane := range []mcpserver.Lane{mcpserver.LaneOn, mcpserver.LaneOff, mcpserver.LaneForced} {
		ways[fmt.Sprint("lane ", lane, " to the lane")] = through(t, forced, lane, nil)
		ways[fmt.Sprint("lane ", lane, " to the SDK")] = through(t, reference, lane, nil)
		ways[fmt.Sprint("lane ", lane, " to the lane by http.Transport")] = through(t, forced, lane, testkit.Transport)
	}
	for _, who := range []string{"alice", "demoted", "bob", "no-roles"} {
		server := answersOf(t, reference, who)
		for way, gateway := range ways {
			for call, got := range answersOf(t, gateway, who) {
				if want := server[call]; got.status != want.status || got.body != want.body {
					t.Errorf("%s as %s, %s:\ngateway %d %s\nserver  %d %s", call, who, way, got.status, got.body, want.status, want.body)
				}
			}
		}
	}
}

func listDesks(_ context.Context, _ *access.Principal, args json.RawMessage) result.Outcome {
	page := &result.Page{Limit: 2, Returned: 2, More: true, Next: "c", Noun: "desks", Narrow: "floor"}
	return result.Success(json.RawMessage(`[{"desk":"D1","floor":"<2>"},`+string(args)+`]`), page, "")
}

// answersOf makes the same calls in both versions.
func answersOf(t *testing.T, h *harness, who string) map[string]reply {
	session, got := h.handshake(t, who), map[string]reply{}
	for _, tool := range []string{"who_am_i", "echo", "get_pay", "delete_desk", "forward", "list_desks"} {
		for _, args := range []string{`{}`, "{\"note\":\"\u2028<b>\\u2028 & \\\"quoted\\\" \\\\ \\n ö 😀 \\u0001\"}", `{"n":1.50,"big":12345678901234567890}`} {
			got["2026 "+tool+args] = h.callModern(t, who, tool, args, "X-Request-ID", "r")
			got["2025 "+tool+args] = h.send(t, "POST", "/mcp", who, `{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`,
				"Mcp-Session-Id", session, "Mcp-Protocol-Version", legacy, "X-Request-ID", "r")
		}
	}
	return got
}

// TestGatewayForwardsNoBrokenAnswer: an answer of a server that is not JSON, not one
// to the call, or no envelope is an error of the gateway, and none of it is passed on.
func TestGatewayForwardsNoBrokenAnswer(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","content":[],"structuredContent":{"status":"success","data":{"secret":1}}}}`
	for name, broken := range map[string]string{
		"another id":         strings.Replace(answer, "ID", "99", 1),
		"an id as text":      strings.Replace(answer, "ID", `"ID"`, 1),
		"half of the answer": answer[:len(answer)-20],
		"broken data":        strings.Replace(answer, `{"secret":1}`, `{"secret":1,}`, 1),
		"broken inside":      strings.Replace(answer, `{"secret":1}`, `{"secret":[}]}`, 1),
		"another status":     strings.Replace(answer, `"success"`, `"odd"`, 1),
		"input is required":  strings.Replace(answer, `"complete"`, `"input_required"`, 1),
		"no result":          `{"jsonrpc":"2.0","id":ID}`,
		"a result and error": strings.Replace(answer, `"result"`, `"error":{"code":1,"message":"secret"},"result"`, 1),
	} {
		server := open(t)
		inner := server.Config.Handler
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") != "tools/call" {
				inner.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(broken, "ID", "1"))
		})
		for _, transport := range []http.RoundTripper{nil, testkit.Transport} {
			got := through(t, server, mcpserver.LaneForced, transport).callModern(t, "alice", "echo", `{}`)
			if strings.Contains(got.body, "secret") || !strings.Contains(got.body, "INTERNAL_ERROR") {
				t.Errorf("%s: got %d %s", name, got.status, got.body)
			}
		}
	}
}
