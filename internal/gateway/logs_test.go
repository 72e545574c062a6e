package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/testkit"
)

// TestNoLevelLogsWhatWasSaid: a question, what a model calls and says, and what a
// tool answers are in no line, at any level. A line of the turn says whose it is.
func TestNoLevelLogsWhatWasSaid(t *testing.T) {
	const canary = "XyzzyCanary"
	logs := &testkit.Logs{}
	log := slog.New(telemetry.Handler{Handler: slog.NewTextHandler(logs, &slog.HandlerOptions{Level: telemetry.LevelTrace - 100})})
	r := newRig(t, func(o *conversation.Options) { o.Log = log }, func(o *gateway.Options) { o.Log = log })
	r.servers.call["list_employees"] = func(context.Context, json.RawMessage) result.Outcome {
		return result.Success(json.RawMessage(`[{"name":"`+canary+`"}]`), &result.Page{Limit: 1, Returned: 1}, "")
	}
	r.model.script["Who is "+canary+"?"] = []step{func(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
		_ = yield(agent.Delta{Call: &agent.Call{ID: "c1", Tool: "list_employees", Args: json.RawMessage(`{"name":"` + canary + `"}`)}}, nil) && yield(agent.Delta{Stop: agent.StopCalls}, nil)
	}, says(canary, " works here.")}
	answered := false
	for _, e := range r.ask(alice, "Who is "+canary+"?", "") {
		answered = answered || strings.Contains(e.data, canary)
	}
	if !answered {
		t.Fatal("the question was not answered")
	}
	r.send("GET", "/api/query?q="+canary, alice, "").Body.Close()
	socket := r.connect(alice, "", "connected")
	socket.ask("Who is " + canary + "?")
	socket.until("end")
	text := logs.String()
	if strings.Contains(text, canary) || strings.Contains(text, strings.ToLower(canary)) {
		t.Errorf("the log has the canary:\n%s", text)
	}
	for _, message := range []string{"turn started", "turn ended"} {
		line := lineWith(text, message)
		for _, name := range []string{" request_id=", " conversation=", " principal=", " component=conversation action=turn attempt=1"} {
			if !strings.Contains(line, name) {
				t.Errorf("%s: the line has no%s: %s", message, name, line)
			}
		}
	}
	if line := lineWith(text, "message received"); !strings.Contains(line, " component=live ") || !strings.Contains(line, " conversation="+socket.id+" ") || !strings.Contains(line, " parent_request_id=") {
		t.Errorf("got %s, want the connection, its conversation and its request", line)
	}
	if line := lineWith(text, "turn started"); !strings.Contains(line, "question_sha256="+telemetry.Digest("Who is "+canary+"?")) || !strings.Contains(line, "question_tokens=") {
		t.Errorf("got %s, want digest and tokens of the question", line)
	}
}

func lineWith(text, message string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, `msg="`+message+`"`) {
			return line
		}
	}
	return ""
}
