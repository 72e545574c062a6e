package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/fault"
)

func TestReconnectingClientsReplayEveryEvent(t *testing.T) {
	t.Parallel()
	one := newRig(t)
	replicas := []*rig{one, rigOn(t, one.mini)}
	pieces := make([]string, 60) // each long enough to be an event of its own
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%03d", i) + strings.Repeat(" word", 60)
	}
	one.model.script["count"] = []step{calls("list_employees"), says(pieces...)}
	for round := range 20 {
		random := rand.New(rand.NewPCG(1, uint64(round)))
		ctx, leave := context.WithCancel(context.Background())
		s := one.stream(one.sendCtx(ctx, "POST", "/api/query", alice, askBody("count", "")))
		first, _ := s.next()
		seen := []event{first}
		conversation := conversationOf(t, seen)
		for seen[len(seen)-1].data != "[DONE]" {
			if random.IntN(3) == 0 { // disconnects, and reconnects to any replica
				leave()
				ctx, leave = context.WithCancel(context.Background())
				r := replicas[random.IntN(2)]
				s = r.stream(r.sendCtx(ctx, "GET", "/api/conversations/"+conversation+"/events", alice, "", "Last-Event-ID", seen[len(seen)-1].id))
			}
			e, ok := s.next()
			if !ok {
				t.Fatal("the stream ended before [DONE]")
			}
			seen = append(seen, e)
		}
		leave()
		if got := textIn(seen); got != strings.Join(pieces, "") {
			t.Fatalf("round %d: got %d bytes of text, want every piece once and in order", round, len(got))
		}
	}
}

func textIn(events []event) string {
	var b strings.Builder
	for _, e := range events {
		var text struct{ Type, Text, Source string }
		if json.Unmarshal([]byte(e.data), &text) == nil && text.Type == "text" && text.Source == "" {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

func TestTextIsJoinedIntoFewFrames(t *testing.T) {
	r := newRig(t)
	text := strings.Repeat("word ", 2000)
	r.model.script["much"] = []step{says(strings.SplitAfter(text, " ")...)}
	resp := r.send("POST", "/api/query", alice, askBody("much", ""))
	_, body := r.read(resp)
	if len(body) > 3*len(text) {
		t.Errorf("got %d bytes on the wire for %d of text, want at most three times", len(body), len(text))
	}
}

func TestShutdownEndsStreamsWithAnErrorAndTurns(t *testing.T) {
	r := newRig(t)
	r.model.script["long"] = []step{waits}
	s := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := s.next()
	idle := r.stream(r.send("GET", "/api/conversations/"+conversationOf(t, []event{first})+"/events", alice, ""))
	if err := r.conversations.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*stream{"turn": s, "idle": idle} {
		if data := dataOf(s.rest()); !strings.Contains(data, fault.Maintenance) || !strings.HasSuffix(data, "[DONE]\n") {
			t.Errorf("%s: got %s, want an error and [DONE]", name, data)
		}
	}
	after := r.send("POST", "/api/query", alice, askBody("hello", ""))
	if status, body := r.read(after); status != 503 || !strings.Contains(body, fault.Maintenance) || after.Header.Get("Retry-After") != "5" {
		t.Errorf("a question after the end: got %d %s, want 503 and when to ask again", status, body)
	}
}

func TestTurnCutOffByACrashIsClosed(t *testing.T) {
	r := newRig(t)
	conversation := conversationOf(t, r.ask(alice, "hello", ""))
	r.released(conversation)
	last, err := r.redis.LastID(t.Context(), "events:"+conversation)
	if err != nil {
		t.Fatal(err)
	}
	// What a process that was killed leaves behind: a start, and no end.
	number, _, _ := strings.Cut(last, "-")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	seq++
	started := r.ring.SealBytes([]byte(`{"v":1,"type":"started"}`+"\n"), fmt.Appendf(nil, "event/1/events:%s/%d-0", conversation, seq))
	if _, done, err := r.redis.AppendNumbered(t.Context(), "events:"+conversation, seq, append([]byte("sealed."), started...), time.Hour); !done || err != nil {
		t.Fatal(done, err)
	}
	open := r.ring.SealBytes(fmt.Appendf(nil, `{"value":%q,"expires":"2999-01-01T00:00:00Z"}`, last), []byte("key/1/open:"+conversation))
	if err := r.redis.Set(t.Context(), "open:"+conversation, open, time.Hour); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds it closed
		s := r.stream(r.send("GET", "/api/conversations/"+conversation+"/events", alice, "", "Last-Event-ID", last))
		if data := dataOf(s.rest()); strings.Count(data, "interrupted") != 1 || !strings.HasSuffix(data, "[DONE]\n") {
			t.Errorf("got %s, want one error and the end", data)
		}
	}
}

func TestResumingAfterAnUnknownEventIsRejected(t *testing.T) {
	r := newRig(t)
	conversation := conversationOf(t, r.ask(alice, "hello", ""))
	path := "/api/conversations/" + conversation + "/events"
	for id, want := range map[string]int{
		"nonsense": 400, "1-1": 404, "1": 400, "1-": 400, "-1": 400, "-1-1": 400, "+1-1": 400, "1-1-1": 400, "$": 400, "1_0-0": 400, strings.Repeat("9", 9000) + "-0": 400,
		"99999999999999999999-0": 400, "18446744073709551616-0": 400, "0-18446744073709551616": 400, "18446744073709551615-18446744073709551615": 404,
	} {
		if status, body := r.read(r.send("GET", path, alice, "", "Last-Event-ID", id)); status != want {
			t.Errorf("%s: got %d %s, want %d", id, status, body, want)
		}
	}
	if data := dataOf(r.stream(r.send("GET", path+"?after=0-0", alice, "")).rest()); !strings.Contains(data, "You said: hello") {
		t.Errorf("from the beginning: got %s", data)
	}
}
