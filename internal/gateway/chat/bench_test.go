package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http/httptest"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/gateway/chat"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
	"countersign.dev/internal/upstream"
)

// The question: what does one list answer of 50 rows cost on its way to a
// person? It starts at the domain's handler and ends as the events of a stream:
// masked and encoded by the server, read by upstream, run through the agent
// (with one untrusted field in "untrusted"), drawn by the gateway. "codec"
// leaves the transport out; "http" has MCP over loopback in; "way" leaves the agent out, too. Allocations are
// the figure; times on a shared machine are not.

type benchRow struct {
	EmployeeID string                    `json:"employee_id"`
	FirstName  string                    `json:"first_name"`
	LastName   string                    `json:"last_name"`
	Email      string                    `json:"email" mask:"contact,mailbox"`
	Salary     access.Sensitive[float64] `json:"salary" mask:"pay"`
	Notes      string                    `json:"notes"`
	HireDate   string                    `json:"hire_date"`
	Relation   access.Relation           `json:"-"`
}

func (r benchRow) Key() string { return r.EmployeeID }

func listBenchRows(_ context.Context, _ struct{}, w tool.Window[string]) ([]benchRow, error) {
	rows := make([]benchRow, w.Limit)
	for i := range rows {
		rows[i] = benchRow{
			EmployeeID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i), FirstName: "Ada", LastName: "Lovelace", Email: "ada@example.com",
			Salary: access.NewSensitive(145_000.0), Notes: "Wrote the first program, and said so.", HireDate: "2020-02-29",
		}
	}
	return rows, nil
}

type noAudit struct{}

func (noAudit) Append(context.Context, audit.Event) error { return nil }

// benchService is a server with one list.
type benchService struct{ *tool.Runner }

func (s benchService) Tools(ctx context.Context) ([]result.ToolInfo, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	return s.Visible(who), nil
}

func newBenchService(b *testing.B, untrusted ...string) benchService {
	b.Helper()
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		b.Fatal(err)
	}
	r, err := tool.NewRunner([]tool.Tool{tool.List(tool.Spec{
		Name: "list_rows", Title: "List", Description: "Lists rows.", Allow: []access.Role{access.Employee},
		Noun: "rows", Narrow: "name", Untrusted: untrusted,
	}, listBenchRows)}, tool.Options{Server: "bench", Policy: access.Policy{Classes: []access.Class{{Name: "contact"}, {Name: "pay", Roles: []access.Role{access.Executive}}}}, Cursors: ring, Audit: noAudit{}})
	if err != nil {
		b.Fatal(err)
	}
	return benchService{r}
}

// inProcess is the same way without a transport: the server's bytes, read as
// upstream reads them.
type inProcess struct{ benchService }

func (p inProcess) Tools(ctx context.Context) agent.Toolset {
	infos, err := p.benchService.Tools(ctx)
	if err != nil {
		panic(err)
	}
	var set agent.Toolset
	for _, info := range infos {
		set.Open = append(set.Open, agent.Tool{ToolInfo: info, Server: "bench"})
	}
	return set
}

func (p inProcess) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	o, err := result.DecodeEnvelope(p.Encode(p.benchService.Call(ctx, name, args)))
	if err != nil {
		panic(err)
	}
	return o
}

// askOnce is a model that calls the list and then stops.
type askOnce struct{}

func (askOnce) Name() string { return "bench" }

func (askOnce) Stream(_ context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		if len(r.Messages) == 1 {
			yield(agent.Delta{Call: &agent.Call{ID: "1", Tool: "list_rows", Args: json.RawMessage(`{}`)}, Stop: agent.StopCalls}, nil)
			return
		}
		yield(agent.Delta{Text: "These are the first 50 rows; there are more.", Stop: agent.StopEnd}, nil)
	}
}

func BenchmarkListAnswer(b *testing.B) {
	for _, c := range []struct {
		name      string
		untrusted []string
	}{{"trusted", nil}, {"untrusted", []string{"notes"}}} {
		b.Run("codec/"+c.name, func(b *testing.B) { benchTurn(b, inProcess{newBenchService(b, c.untrusted...)}) })
		b.Run("http/"+c.name, func(b *testing.B) { benchTurn(b, overHTTP(b, newBenchService(b, c.untrusted...))) })
		b.Run("way/"+c.name, func(b *testing.B) { benchWay(b, inProcess{newBenchService(b, c.untrusted...)}) })
	}
}

// benchWay leaves out the agent, which also writes the rows for its model and compares
// what that one says with them.
func benchWay(b *testing.B, box agent.Toolbox) {
	ctx, call := testkit.As(b, "ann", access.Employee), agent.Call{ID: "1", Tool: "list_rows", Args: json.RawMessage(`{}`)}
	b.ReportAllocs()
	for b.Loop() {
		o := box.Call(ctx, call.Tool, call.Args)
		if size := len(chat.Draw(agent.ToolFinished{Call: call, Server: "bench", Outcome: o})); size < 10_000 {
			b.Fatalf("the event has %d bytes", size)
		}
	}
}

func benchTurn(b *testing.B, box agent.Toolbox) {
	ctx := testkit.As(b, "ann", access.Employee)
	b.ReportAllocs()
	for b.Loop() {
		size := 0
		for e, err := range agent.Run(ctx, agent.Turn{Model: askOnce{}, Toolbox: box, Question: "Which rows are there?"}) {
			if err != nil {
				b.Fatal(err)
			}
			size += len(chat.Draw(e))
		}
		if size < 10_000 {
			b.Fatalf("the stream has %d bytes", size)
		}
	}
}

func overHTTP(b *testing.B, s benchService) agent.Toolbox {
	b.Helper()
	who, err := access.From(testkit.As(b, "ann", access.Employee))
	if err != nil {
		b.Fatal(err)
	}
	catalogue := access.NewPrincipal(access.Claims{Issuer: "countersign", Subject: "gateway", Purpose: access.PurposeCatalogue})
	server, err := mcpserver.New(s, mcpserver.Options{Name: "bench", Verify: func(_ context.Context, token string) (*access.Principal, error) {
		if token == string(access.PurposeCatalogue) {
			return catalogue, nil
		}
		return who, nil
	}})
	if err != nil {
		b.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	b.Cleanup(listener.Close)
	b.Cleanup(server.Close)
	box := upstream.New([]upstream.Server{{Name: "bench", URL: listener.URL}}, upstream.Options{
		Mint: func(_ *access.Principal, _ string, purpose access.Purpose) (string, error) {
			return string(purpose), nil
		},
	})
	b.Cleanup(box.Close)
	return box
}
