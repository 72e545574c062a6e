package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
// do: they have neither prompts nor resources of their own, log nothing to their client, ask
// it nothing in the middle of a call, and answer with an envelope and its text. Others, such as
// server-stateless and caching, ask for some of that too: the fixture above has it.
var applicable = map[string][]string{
	"2026-07-28": {"tools-list", "tools-call-simple-text", "tools-call-error", "dns-rebinding-protection", "http-header-validation", "server-sse-multiple-streams"},
	"2025-11-25": {"server-initialize", "server-session-lifecycle", "server-sse-multiple-streams", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "dns-rebinding-protection"},
}

// refusedByForce are those of them with a call that the lane leaves to the SDK, which
// fails where it must answer: headers that do not equal the message.
var refusedByForce = []string{"http-header-validation"}

// TestOfficialConformanceOnTheLane runs the official suite against tools of ours and
// against a gateway in front of them: where the lane answers what it understands, nothing,
// and all calls. A call has the same bytes as answer in each, ids aside.
func TestOfficialConformanceOnTheLane(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a run of Node beside it says little about races: the long run has it")
	}
	suite, said := mcptest.Conformance(t), map[Lane]*sync.Map{}
	for _, mode := range []Lane{LaneOn, LaneOff, LaneForced} {
		said[mode] = new(sync.Map)
		tools, url := ours(t, smallTools{}, mode)
		servers := upstream.New([]upstream.Server{{Name: "fixture", URL: url, Timeout: testkit.Patience}},
			upstream.Options{Mint: func(*access.Principal, string, access.Purpose) (string, error) { return "suite", nil }})
		t.Cleanup(servers.Close)
		gateway, inFront := ours(t, upstream.Catalogue{Upstream: servers}, mode)
		gatewayURL := recorded(t, inFront, said[mode])
		at := map[string]string{"the gateway": gatewayURL}
		if mode == LaneOn {
			at["the tools"] = url // of the others by the gateway alone, which calls them
		}
		for name, address := range at {
			for set, names := range applicable {
				before, toolsBefore := gateway.Load(), tools.Load()
				printed, _ := suite.Run(t, "server", "--url", address+"/mcp", "--requirements", set, "-o", t.TempDir()) // others than these fail
				for _, scenario := range names {
					if !passed(printed)[scenario] && !(mode == LaneForced && slices.Contains(refusedByForce, scenario)) {
						t.Errorf("lane %d, %s, %s: %s does not pass; failures:\n%s", mode, name, set, scenario, failures(printed))
					}
				}
				if called, byGateway := tools.Load() > toolsBefore, gateway.Load() > before; called != (mode != LaneOff) || byGateway != (mode != LaneOff && name == "the gateway") {
					t.Errorf("lane %d, %s, %s: the tools' lane was taken: %t, the gateway's: %t", mode, name, set, called, byGateway)
				}
			}
		}
	}
	sameAnswers(t, said[LaneOff], said[LaneOn], 0)
	sameAnswers(t, said[LaneOff], said[LaneForced], http.StatusInternalServerError)
}

// spoken is an answer, without what differs between two runs.
type spoken struct {
	status int
	text   string
}

// changing is what differs between two runs: ids of messages and of requests.
var changing = regexp.MustCompile(`"(id|progressToken)":("[^"]*"|-?[0-9.]+),?`)

// recorded is a proxy that keeps the answer to each call of a tool, by the call.
func recorded(t *testing.T, target string, said *sync.Map) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(asked))
		answer := &tee{ResponseWriter: w, status: http.StatusOK}
		address, err := neturl.Parse(target)
		if err != nil {
			panic(err)
		}
		httputil.NewSingleHostReverseProxy(address).ServeHTTP(answer, r)
		if bytes.Contains(asked, []byte(`"tools/call"`)) {
			var headers []string
			for _, name := range []string{"Accept", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version"} {
				headers = append(headers, r.Header.Get(name))
			}
			_, text, framed := bytes.Cut(answer.text.Bytes(), []byte("data: "))
			if !framed {
				text = answer.text.Bytes()
			}
			said.Store(changing.ReplaceAllString(string(asked), "")+strings.Join(headers, "|"), spoken{answer.status, changing.ReplaceAllString(strings.TrimSpace(string(text)), "")})
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// tee keeps what is written.
type tee struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

func (w *tee) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *tee) Write(b []byte) (int, error) {
	w.text.Write(b)
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *tee) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// sameAnswers compares what two runs of the suite were answered, byte by byte. refused is
// the status of calls that the second one does not take; 0: it takes all.
func sameAnswers(t *testing.T, one, other *sync.Map, refused int) {
	t.Helper()
	compared := 0
	one.Range(func(call, want any) bool {
		got, asked := other.Load(call)
		if !asked || refused != 0 && got.(spoken).status == refused {
			return true
		}
		if compared++; got != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", call, got, want)
		}
		return true
	})
	if compared < 4 { // two tools in two eras
		t.Errorf("%d calls were compared, want 4 at least", compared)
	}
}

// furnished are the scored scenarios of what a gateway offers besides tools: texts of
// connected servers, and resources that a tool of a server reads. Others ask for pictures,
// bytes, subscriptions or completions, or for prompts by names without a server.
var furnished = map[string][]string{
	"2026-07-28": {"prompts-list", "resources-list", "resources-templates-read", "resources-read-text", "sep-2164-resource-not-found"},
	"2025-11-25": {"prompts-list", "resources-list", "resources-templates-read", "resources-read-text"},
}

// TestOfficialConformanceOfTextsAndResources runs the official suite against a gateway
// that offers both, in front of the server that has them.
func TestOfficialConformanceOfTextsAndResources(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a run of Node beside it says little about races: the long run has it")
	}
	suite := mcptest.Conformance(t)
	tools, url := ours(t, smallTools{}, LaneOn)
	servers := upstream.New([]upstream.Server{{Name: "fixture", URL: url, Timeout: testkit.Patience}},
		upstream.Options{Mint: func(*access.Principal, string, access.Purpose) (string, error) { return "suite", nil }})
	t.Cleanup(servers.Close)
	_, address := ours(t, upstream.Catalogue{Upstream: servers}, LaneOn, func(o *Options) { o.Prompts, o.Resources = smallTexts{}, smallResources{} })
	for set, names := range furnished {
		before := tools.Load()
		said, _ := suite.Run(t, "server", "--url", address+"/mcp", "--requirements", set, "-o", t.TempDir()) // others than these fail
		for _, scenario := range names {
			if !passed(said)[scenario] {
				t.Errorf("%s: %s does not pass; failures:\n%s", set, scenario, failures(said))
			}
		}
		if tools.Load() == before {
			t.Errorf("%s: no resource was read at the server", set)
		}
	}
}

// smallTexts are a connected server's one text.
type smallTexts struct{}

func (smallTexts) Prompts(context.Context) ([]result.Prompt, error) {
	return []result.Prompt{{Name: "greeting", Title: "Greeting", Description: "Greets.", Server: "notes"}}, nil
}

func (smallTexts) Prompt(context.Context, string, string, map[string]string) (string, error) {
	return "Hello.", nil
}

// smallResources are what the suite reads, by a tool of the server.
type smallResources struct{}

func (smallResources) Links(string, json.RawMessage) []result.Resource { return nil }

func (smallResources) Template() result.Resource {
	return result.Resource{URI: "test://template/{id}/data", Name: "template", MIMEType: "text/plain"}
}

func (smallResources) Tool() string { return "read_resource" }

func (smallResources) Reader(uri string) (tool string, args json.RawMessage, ok bool) {
	if !strings.HasPrefix(uri, "test://template/") && uri != "test://static-text" {
		return "", nil, false
	}
	args, err := json.Marshal(map[string]string{"uri": uri})
	return "read_resource", args, err == nil
}

func (smallResources) Content(uri string, answer json.RawMessage) (string, string, error) {
	var read struct{ Data struct{ Text string } }
	err := json.Unmarshal(answer, &read)
	return uri, read.Data.Text, err
}

// passed are the scenarios without a failure.
func passed(said string) map[string]bool {
	all := map[string]bool{}
	for _, m := range scored.FindAllStringSubmatch(said, -1) {
		all[m[2]] = m[1] == "✓"
	}
	return all
}

// ours serves a toolbox for the suite, which cannot send a token. lane counts the calls
// that take the lane.
func ours(t *testing.T, tools rest.Toolbox, mode Lane, more ...func(*Options)) (lane *atomic.Int64, url string) {
	t.Helper()
	o := Options{Name: "fixture", Version: "1", Verify: knownCaller, Lane: mode}
	for _, add := range more {
		add(&o)
	}
	s, err := New(tools, o)
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

// smallTools are two of the tools that the suite asks for, as ours answer, and one that
// reads a resource.
type smallTools struct{}

func (smallTools) Tools(context.Context) (infos []result.ToolInfo, err error) {
	for _, name := range []string{"read_resource", "test_error_handling", "test_simple_text"} {
		infos = append(infos, result.ToolInfo{
			Name: name, Title: name, Description: "Does " + name + ".", Kind: result.Read, Roles: []string{"employee"}, Annotations: result.Annotations{ReadOnly: true},
			InputSchema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string"}}}`), OutputSchema: json.RawMessage(`{"type":"object","required":["status"]}`),
		})
	}
	return infos, nil
}

func (smallTools) Call(_ context.Context, name string, args json.RawMessage) result.Outcome {
	switch name {
	case "read_resource":
		return result.Success(json.RawMessage(`{"text":`+strconv.Quote("What is at "+string(args))+`}`), nil, "")
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
