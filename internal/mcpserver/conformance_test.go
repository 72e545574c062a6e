package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/rest"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/mcptest"
	"countersign.dev/internal/upstream"
)

// scored is a line of the suite's summary.
var scored = regexp.MustCompile(`(?m)^(✓|✗) (\S+): (\d+) passed, (\d+) failed`)

// TestOfficialConformance runs the official suite's server scenarios of both
// requirement sets against the fixture on one URL. Every scored one must pass: the
// suite's exit status counts them.
func TestOfficialConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a run of Node beside it says little about races: the long run has it")
	}
	suite := mcptest.Conformance(t)
	s := fixture(t)
	watched(t, s)
	inner := s.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer suite") // it cannot send one
		inner.ServeHTTP(w, r)
	}))
	defer func() { s.Close(); server.Close() }()
	for set, least := range map[string]int{"2026-07-28": 37, "2025-11-25": 30} {
		said, err := suite.Run(t, "server", "--url", server.URL+"/mcp", "--requirements", set, "-o", t.TempDir())
		if ran := len(scored.FindAllString(said, -1)); err != nil || ran < least {
			t.Errorf("%s: %v, %d scenarios, want %d at least\n%s", set, err, ran, least, failures(said))
		}
	}
}

// applicable are the suite's scored scenarios of what our own tools and the gateway
// do: they have neither prompts nor resources of their own, ask their client nothing in
// the middle of a call, and answer with an envelope and its text. Others, such as
// server-stateless and caching, ask for some of that too: the fixture above has it.
var applicable = map[string][]string{
	"2026-07-28": {"tools-list", "tools-call-simple-text", "tools-call-error", "dns-rebinding-protection", "http-header-validation", "server-sse-multiple-streams"},
	"2025-11-25": {"server-initialize", "server-session-lifecycle", "server-sse-multiple-streams", "logging-set-level", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "dns-rebinding-protection"},
}

// TestOfficialConformanceOnTheLane runs the official suite against tools of ours, which
// the lane calls, and against a gateway in front of them.
func TestOfficialConformanceOnTheLane(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a run of Node beside it says little about races: the long run has it")
	}
	suite := mcptest.Conformance(t)
	edge, url := ours(t, smallTools{})
	servers := upstream.New([]upstream.Server{{Name: "fixture", URL: url, Timeout: testkit.Patience}},
		upstream.Options{Mint: func(*access.Principal, string, access.Purpose) (string, error) { return "suite", nil }})
	t.Cleanup(servers.Close)
	gateway, gatewayURL := ours(t, upstream.Catalogue{Upstream: servers})
	for name, at := range map[string]struct {
		url  string
		lane *atomic.Int64
	}{"the tools": {url, edge}, "the gateway": {gatewayURL, gateway}} {
		for set, names := range applicable {
			before, toolsBefore := at.lane.Load(), edge.Load()
			said, _ := suite.Run(t, "server", "--url", at.url+"/mcp", "--requirements", set, "-o", t.TempDir()) // others than these fail
			passed := map[string]bool{}
			for _, m := range scored.FindAllStringSubmatch(said, -1) {
				passed[m[2]] = m[1] == "✓"
			}
			for _, scenario := range names {
				if !passed[scenario] {
					t.Errorf("%s, %s: %s does not pass; failures:\n%s", name, set, scenario, failures(said))
				}
			}
			if at.lane.Load() == before || edge.Load() == toolsBefore {
				t.Errorf("%s, %s: no call took the lane", name, set)
			}
		}
	}
}

// ours serves a toolbox for the suite, which cannot send a token. lane counts the calls
// that take the lane.
func ours(t *testing.T, tools rest.Toolbox) (lane *atomic.Int64, url string) {
	t.Helper()
	s, err := New(tools, Options{Name: "fixture", Version: "1", Verify: knownCaller})
	if err != nil {
		t.Fatal(err)
	}
	lane = new(atomic.Int64)
	run := s.lane.run
	s.lane.run = func(ctx context.Context, who *access.Principal, tool string, args json.RawMessage) result.Outcome {
		lane.Add(1)
		return run(ctx, who, tool, args)
	}
	inner := s.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer suite")
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.Close(); server.Close() })
	return lane, server.URL
}

// smallTools are two of the tools that the suite asks for, as ours answer.
type smallTools struct{}

func (smallTools) Tools(context.Context) (infos []result.ToolInfo, err error) {
	for _, name := range []string{"test_error_handling", "test_simple_text"} {
		infos = append(infos, result.ToolInfo{
			Name: name, Title: name, Description: "Does " + name + ".", Kind: result.Read, Roles: []string{"employee"}, Annotations: result.Annotations{ReadOnly: true},
			InputSchema: json.RawMessage(`{"type":"object","properties":{}}`), OutputSchema: json.RawMessage(`{"type":"object","required":["status"]}`),
		})
	}
	return infos, nil
}

func (smallTools) Call(_ context.Context, name string, _ json.RawMessage) result.Outcome {
	switch name {
	case "test_simple_text":
		return result.Success(json.RawMessage(`{"text":"This is a simple text response for testing."}`), nil, "")
	case "test_error_handling":
		return result.Failed(fault.InvalidInput.New("This tool always fails."))
	}
	return result.Failed(fault.UnknownTool.New("No tool is called %q.", name))
}

func (smallTools) Encode(o result.Outcome) json.RawMessage { return result.EncodeEnvelope(o) }

func failures(said string) (lines string) {
	for _, m := range scored.FindAllStringSubmatch(said, -1) {
		if m[1] == "✗" {
			lines += fmt.Sprintln(m[0])
		}
	}
	return lines
}
