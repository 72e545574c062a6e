package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

// TestProgressReachesTheClientBeforeTheAnswer in both versions: the tool answers
// only after its first report has arrived.
func TestProgressReachesTheClientBeforeTheAnswer(t *testing.T) {
	h := open(t, withSDK)
	arrived := make(chan mcp.ProgressNotificationParams, 10)
	h.service.tools["import"] = fakeTool{[]access.Role{access.Employee}, result.Read, func(ctx context.Context, _ *access.Principal, _ json.RawMessage) result.Outcome {
		report := result.ProgressOf(ctx)
		if report == nil {
			return result.Success(json.RawMessage(`"nothing was asked for"`), nil, "")
		}
		report(result.Progress{Done: 1, Total: 3, Message: strings.Repeat("half ", 100)})
		select {
		case p := <-arrived:
			if p.Progress != 1 || p.Total != 3 || len([]rune(p.Message)) > 200 || fmt.Sprint(p.ProgressToken) != "t1" {
				return result.Failed(fmt.Errorf("got %+v", p))
			}
		case <-time.After(testkit.Patience / 2):
			return result.Failed(fmt.Errorf("no report arrived"))
		}
		report(result.Progress{Done: 1}) // does not grow: not passed on
		report(result.Progress{Done: 2})
		return result.Success(json.RawMessage(`"imported"`), nil, "")
	}}
	for _, version := range versions {
		b := &bearer{}
		b.token.Store("alice")
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			Capabilities:                &mcp.ClientCapabilities{},
			ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { arrived <- *req.Params },
		})
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.URL + "/mcp", HTTPClient: &http.Client{Transport: b}}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]string{"t1": `"imported"`, "": `"nothing was asked for"`} {
			params := &mcp.CallToolParams{Name: "import", Arguments: map[string]any{}}
			if token != "" {
				params.SetProgressToken(token)
			}
			answer, err := session.CallTool(t.Context(), params)
			if err != nil {
				t.Fatal(version, err)
			}
			if got := string(structured(t, answer).Data); got != want {
				t.Errorf("%s: got %s, want %s", version, answer.Content[0].(*mcp.TextContent).Text, want)
			}
		}
		_ = session.Close()
		for len(arrived) > 0 {
			<-arrived
		}
	}
}

// TestReportsRightBeforeTheAnswerArrive: none is dropped because the call ends.
func TestReportsRightBeforeTheAnswerArrive(t *testing.T) {
	h := open(t, withSDK)
	const reports, rounds = 5, 20
	h.service.tools["import"] = fakeTool{[]access.Role{access.Employee}, result.Read, func(ctx context.Context, _ *access.Principal, _ json.RawMessage) result.Outcome {
		for i := range reports {
			result.ProgressOf(ctx)(result.Progress{Done: float64(i + 1)})
		}
		return result.Success(json.RawMessage(`"imported"`), nil, "")
	}}
	b := &bearer{}
	b.token.Store("alice")
	arrived := make(chan float64, reports*rounds)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { arrived <- req.Params.Progress },
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.URL + "/mcp", HTTPClient: &http.Client{Transport: b}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for round := range rounds {
		params := &mcp.CallToolParams{Name: "import", Arguments: map[string]any{}}
		params.SetProgressToken(fmt.Sprint(round))
		if _, err := session.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		for want := 1.0; want <= reports; want++ {
			select {
			case got := <-arrived:
				if got != want {
					t.Fatalf("round %d: got report %v, want %v", round, got, want)
				}
			case <-time.After(testkit.Patience / 4):
				t.Fatalf("round %d: report %v did not arrive", round, want)
			}
		}
	}
}
