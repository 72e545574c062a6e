package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

func onLane(l mcpserver.Lane) func(*mcpserver.Options) {
	return func(o *mcpserver.Options) { o.Lane = l }
}

// TestLaneAnswersAsTheSDK: the same calls, answered by the lane and by the SDK,
// have the same bytes.
func TestLaneAnswersAsTheSDK(t *testing.T) {
	lane, sdk := open(t, onLane(mcpserver.LaneForced)), open(t, onLane(mcpserver.LaneOff))
	for _, who := range []string{"alice", "demoted", "bob", "no-roles", "call", "execute", "strange", "catalogue"} {
		calls := map[*harness]func(tool, args string) [2]reply{}
		for _, h := range []*harness{lane, sdk} {
			session := ""
			if who != "execute" && who != "strange" {
				session = h.handshake(t, who)
			}
			calls[h] = func(tool, args string) (got [2]reply) {
				got[0] = h.callModern(t, who, tool, args, "X-Request-ID", "r")
				if session != "" {
					got[1] = h.send(t, "POST", "/mcp", who, `{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`,
						"Mcp-Session-Id", session, "Mcp-Protocol-Version", legacy, "X-Request-ID", "r")
				}
				return got
			}
		}
		for _, tool := range []string{"who_am_i", "echo", "get_pay", "delete_desk", "forward", "no_such"} {
			for _, args := range []string{`{}`, "{\"note\":\"\u2028<b>\\u2028 & \\\"quoted\\\" \\\\ \\n ö 😀\"}", `{"n":1.50,"big":12345678901234567890}`} {
				ours, theirs := calls[lane](tool, args), calls[sdk](tool, args)
				for i, version := range versions {
					if ours[i].status != theirs[i].status || ours[i].body != theirs[i].body {
						t.Errorf("%s %s %s %s:\nlane %d %s\nSDK  %d %s", version, who, tool, args, ours[i].status, ours[i].body, theirs[i].status, theirs[i].body)
					}
				}
			}
		}
	}
}

// TestLaneLeavesTheRestToTheSDK: calls that the lane must not answer, each as the
// SDK answers it.
func TestLaneLeavesTheRestToTheSDK(t *testing.T) {
	lane, forced, sdk := open(t, withSDK), open(t, onLane(mcpserver.LaneForced)), open(t, onLane(mcpserver.LaneOff))
	call := modernBody("tools/call", `"name":"echo","arguments":{}`)
	headers := modernHeaders("tools/call", "echo")
	for name, c := range map[string]struct {
		body    string
		headers []string
	}{
		"another name in the header":   {call, modernHeaders("tools/call", "get_pay")},
		"another method in the header": {call, modernHeaders("tools/list", "echo")},
		"no version in the header":     {call, headers[2:]},
		"the name twice":               {call, append(headers, "Mcp-Name", "echo")},
		"progress":                     {strings.Replace(call, `"_meta":{`, `"_meta":{"progressToken":1,`, 1), headers},
		"another version":              {strings.Replace(call, modern, "2099-01-01", 1), headers},
		"no capabilities":              {strings.Replace(call, `,"io.modelcontextprotocol/clientCapabilities":{}`, "", 1), headers},
		"a fraction as id":             {strings.Replace(call, `"id":7`, `"id":1.5`, 1), headers},
		"a state of an earlier call":   {strings.Replace(call, `"name"`, `"requestState":"x","name"`, 1), headers},
		"a session":                    {call, append(headers, "Mcp-Session-Id", "made-up")},
		"JSON alone":                   {call, append(headers, "Accept", "", "Accept", "application/json")},
		"no session":                   {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`, []string{"Mcp-Protocol-Version", legacy}},
		"an unknown session":           {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`, []string{"Mcp-Session-Id", "made-up"}},
	} {
		ours, theirs := lane.send(t, "POST", "/mcp", "alice", c.body, c.headers...), sdk.send(t, "POST", "/mcp", "alice", c.body, c.headers...)
		if ours.status != theirs.status || ours.body != theirs.body {
			t.Errorf("%s:\nlane %d %s\nSDK  %d %s", name, ours.status, ours.body, theirs.status, theirs.body)
		}
		if got := forced.send(t, "POST", "/mcp", "alice", c.body, c.headers...); got.status != 500 {
			t.Errorf("%s: a lane that must answer: got %d %s, want 500", name, got.status, got.body)
		}
	}
}

// TestEveryTestOnEachLane runs all tests of this package again, the official suite's
// aside, which has runs of its own: by the SDK alone, and by the lane alone.
func TestEveryTestOnEachLane(t *testing.T) {
	if testing.Short() || os.Getenv(laneVariable) != "" {
		t.Skip("the long run has it, once")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for lane := range lanes {
		again := exec.CommandContext(t.Context(), program, "-test.short", "-test.v")
		again.Env = append(os.Environ(), laneVariable+"="+lane)
		said, err := again.CombinedOutput()
		if ran := bytes.Count(said, []byte("\n--- PASS: ")); err != nil || ran < 60 {
			t.Errorf("%s: %v, %d tests passed, want 60 at least; failures:\n%s", lane, err, ran, regexp.MustCompile(`(?m)^ *--- FAIL.*(\n.*_test.go.*)*`).FindAll(said, -1))
		}
	}
}

// TestSmuggledCallsAreReadOnce: a call that two readers could read differently is answered
// on both lanes with the same bytes, and never runs the tool that it hides.
func TestSmuggledCallsAreReadOnce(t *testing.T) {
	lane, sdk := open(t, withSDK), open(t, onLane(mcpserver.LaneOff))
	var hidden atomic.Int64
	sessions := map[*harness]string{}
	for _, h := range []*harness{lane, sdk} {
		h.service.tools["get_pay"] = fakeTool{[]access.Role{access.Employee}, result.Read, func(ctx context.Context, who *access.Principal, args json.RawMessage) result.Outcome {
			hidden.Add(1)
			return echo(ctx, who, args)
		}}
		sessions[h] = h.handshake(t, "alice")
	}
	called, frame := `"name":"echo","arguments":{"note":"x"}`, map[string]string{
		modern: modernBody("tools/call", `@`),
		legacy: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{@}}`,
	}
	headers := map[string]func(h *harness) []string{
		modern: func(*harness) []string { return modernHeaders("tools/call", "echo") },
		legacy: func(h *harness) []string {
			return []string{"Mcp-Session-Id", sessions[h], "Mcp-Protocol-Version", legacy}
		},
	}
	for name, c := range map[string]struct {
		old, new string   // in the body
		headers  []string // besides
	}{
		"the name twice":                 {called, `"name":"get_pay",` + called, nil},
		"the name twice, then":           {called, called + `,"name":"get_pay"`, nil},
		"the name in capitals":           {called, `"Name":"get_pay",` + called, nil},
		"the name in capitals, then":     {called, called + `,"NAME":"get_pay"`, nil},
		"the name with an escape":        {called, called + `,"n\u0061me":"get_pay"`, nil},
		"only a name with an escape":     {`"name"`, `"n\u0061me"`, nil},
		"a name's value with an escape":  {`"echo"`, `"\u0065cho"`, nil},
		"a value with a zero":            {`"echo"`, `"echo\u0000"`, nil},
		"the arguments twice":            {called, called + `,"arguments":{"note":"y"}`, nil},
		"arguments in capitals":          {called, called + `,"Arguments":{"note":"y"}`, nil},
		"a key of the arguments twice":   {`"note":"x"`, `"note":"x","n\u006fte":"y"`, nil},
		"the params twice":               {`"params"`, `"params":{"name":"get_pay"},"params"`, nil},
		"params in capitals":             {`"params"`, `"Params":{"name":"get_pay"},"params"`, nil},
		"the method twice":               {`"method"`, `"method":"tools/list","method"`, nil},
		"a method in capitals":           {`"method"`, `"Method":"tools/list","method"`, nil},
		"the id twice":                   {`"id":7`, `"id":7,"id":8`, nil},
		"an id of minus zero":            {`"id":7`, `"id":-0`, nil},
		"an id with a fraction":          {`"id":7`, `"id":7.0`, nil},
		"half of the body":               {`}}`, ``, nil},
		"a call after the call":          {`"jsonrpc"`, `"a":1}{"jsonrpc"`, nil},
		"another name in a header":       {``, ``, []string{"Mcp-Name", "", "Mcp-Name", "get_pay"}},
		"another method in a header":     {``, ``, []string{"Mcp-Method", "", "Mcp-Method", "tools/list"}},
		"an older version in a header":   {``, ``, []string{"Mcp-Protocol-Version", "", "Mcp-Protocol-Version", "2025-06-18"}},
		"an unknown version in a header": {``, ``, []string{"Mcp-Protocol-Version", "", "Mcp-Protocol-Version", "2001-01-01"}},
	} {
		for _, version := range versions {
			body := strings.Replace(strings.Replace(frame[version], "@", called, 1), c.old, c.new, 1)
			var got [2]reply
			for i, h := range []*harness{lane, sdk} {
				got[i] = h.send(t, "POST", "/mcp", "alice", body, append(headers[version](h), c.headers...)...)
			}
			if got[0].status != got[1].status || got[0].body != got[1].body {
				t.Errorf("%s, %s:\nlane %d %s\nSDK  %d %s", name, version, got[0].status, got[0].body, got[1].status, got[1].body)
			}
			if n := hidden.Swap(0); n > 0 {
				t.Errorf("%s, %s: the hidden tool was run: %s", name, version, got[0].body)
			}
		}
	}
}

// TestRepeatedHeadersAreRefused: a proxy between a client and us may have read the
// other one of two.
func TestRepeatedHeadersAreRefused(t *testing.T) {
	h := open(t, withSDK)
	session := h.handshake(t, "alice")
	for _, repeated := range []string{"Mcp-Name", "Mcp-Method", "Mcp-Protocol-Version"} {
		if got := h.callModern(t, "alice", "echo", `{}`, repeated, "tools/list"); got.status != 400 || !strings.Contains(got.body, `"code":-32020`) || !strings.Contains(got.body, `"id":7`) {
			t.Errorf("%s: got %d %s, want HeaderMismatch", repeated, got.status, got.body)
		}
	}
	for _, repeated := range []string{"Mcp-Session-Id", "Mcp-Protocol-Version"} {
		if got := h.callLegacy(t, "alice", session, "echo", `{}`, repeated, "other"); got.status != 400 || !strings.Contains(got.body, `"code":-32020`) {
			t.Errorf("%s: got %d %s, want HeaderMismatch", repeated, got.status, got.body)
		}
	}
}
