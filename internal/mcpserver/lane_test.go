package mcpserver_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"countersign.dev/internal/mcpserver"
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
