package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/testkit"
)

// frame is a message of the server on a WebSocket.
type frame struct {
	Type    string
	Seq     int64
	Payload struct {
		State, Message, SessionID, ClientID, Text, Model, Content, Source, Tool, Code, Status, ConfirmationID, Reason, ReplyTo, RequestID string

		Gap    bool
		Resume *struct {
			SessionID string
			After     int64
		}
		Data             json.RawMessage
		ConfirmationData struct{ Digest string }
		Usage            *struct{ Input_tokens int }
	}
}

// socket is a client of /ws.
type socket struct {
	t    testing.TB
	ws   *websocket.Conn
	ctx  context.Context
	id   string      // of its conversation
	last int64       // seq of the last frame that has one
	mute atomic.Bool // it answers no ping
}

// dial connects, and returns the response when that is refused.
func (r *rig) dial(token, query string, headers ...string) (*socket, *http.Response) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	r.t.Cleanup(cancel)
	h := http.Header{}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	s := &socket{t: r.t, ctx: ctx}
	ws, resp, err := websocket.Dial(ctx, r.url+"/ws"+query, &websocket.DialOptions{ //nolint:bodyclose // Dial replaces the body
		HTTPHeader: h, OnPingReceived: func(context.Context, []byte) bool { return !s.mute.Load() },
	})
	if err != nil {
		if resp == nil {
			r.t.Fatal(err)
		}
		return nil, resp
	}
	r.t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	s.ws = ws
	return s, resp
}

// connect connects and reads the greeting, whose state must be the given one.
func (r *rig) connect(token, query, state string, headers ...string) *socket {
	r.t.Helper()
	s, resp := r.dial(token, query, headers...)
	if s == nil {
		_, body := r.read(resp)
		r.t.Fatalf("got %d %s, want a WebSocket", resp.StatusCode, body)
		return nil
	}
	f := s.next()
	greeted := state != "connected" || f.Payload.Message == fault.Welcome
	if f.Type != "connection" || f.Payload.State != state || f.Payload.SessionID == "" || f.Seq != 0 || !greeted {
		r.t.Fatalf("got %+v, want to be %s", f, state)
	}
	s.id = f.Payload.SessionID
	return s
}

func (s *socket) read() (f frame, err error) {
	_, body, err := s.ws.Read(s.ctx)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(body, &f); err != nil {
		s.t.Fatalf("%v in %s", err, body)
	}
	if f.Seq != 0 {
		if f.Seq <= s.last {
			s.t.Errorf("seq %d follows %d", f.Seq, s.last)
		}
		s.last = f.Seq
	}
	return f, nil
}

func (s *socket) next() frame {
	s.t.Helper()
	f, err := s.read()
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

// until reads up to the first frame of a type, which it includes.
func (s *socket) until(kind string) (all []frame) {
	s.t.Helper()
	for {
		f := s.next()
		if all = append(all, f); f.Type == kind {
			return all
		}
	}
}

func (s *socket) send(message string) {
	s.t.Helper()
	if err := s.ws.Write(s.ctx, websocket.MessageText, []byte(message)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *socket) ask(text string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"type":"message","payload":{"text":%q}}`, text))
}

func contentIn(frames []frame) string {
	var b strings.Builder
	for _, f := range frames {
		if f.Type == "text" && f.Payload.Source == "" {
			b.WriteString(f.Payload.Content)
		}
	}
	return b.String()
}

func kindsIn(frames []frame) string {
	var kinds []string
	for _, f := range frames {
		kinds = append(kinds, strings.TrimSuffix(f.Type+":"+f.Payload.State, ":"))
	}
	return strings.Join(kinds, " ")
}

func TestChatOverAWebSocket(t *testing.T) {
	r := newRig(t)
	r.model.script["Who works here?"] = []step{calls("list_employees"), says("Nina and Frank.")}
	s := r.connect(alice, "", "connected")
	var list struct{ Conversations []struct{ ID string } }
	if r.get("/api/conversations", alice, &list); len(list.Conversations) != 0 {
		t.Errorf("a conversation without a question is listed: %v", list)
	}
	s.ask("Who works here?")
	frames := s.until("end")
	if got, want := kindsIn(frames), "start status:processing status:complete status:complete text text end"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if f := frames[0]; f.Payload.Text != "Who works here?" || f.Payload.Model != "script" {
		t.Errorf("got %+v, want the question and its model", f)
	}
	if f := frames[2]; f.Payload.Tool != "list_employees" || !strings.Contains(string(f.Payload.Data), "Nina Patel") {
		t.Errorf("got %+v, want the rows", f)
	}
	if end := frames[len(frames)-1]; end.Payload.Usage == nil || end.Payload.Usage.Input_tokens != 7 {
		t.Errorf("got %+v, want the tokens", end)
	}
	if r.get("/api/conversations", alice, &list); len(list.Conversations) != 1 || list.Conversations[0].ID != s.id {
		t.Errorf("got %v, want the conversation %s", list, s.id)
	}
	s.send(`{"type":"ping"}`)
	if f := s.next(); f.Type != "pong" || f.Seq != 0 {
		t.Errorf("got %+v, want a pong", f)
	}
}

func TestDevicesOfAConversationAreInStep(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.mini)
	first := one.connect(alice, "", "connected")
	second := two.connect(alice, "?sessionId="+first.id, "reconnected") // before the first question
	first.ask("hello")
	for name, s := range map[string]*socket{"asking": first, "watching": second} {
		if frames := s.until("end"); contentIn(frames) != "You said: hello" || frames[0].Payload.Text != "hello" {
			t.Errorf("%s: got %+v", name, frames)
		}
	}
	second.ask("again")
	if got := contentIn(first.until("end")); got != "You said: again" {
		t.Errorf("got %q on the first device", got)
	}
	events := one.stream(one.send("GET", "/api/conversations/"+first.id+"/events?after=0-0", alice, ""))
	sse := append(events.rest(), events.rest()...)
	third := one.connect(alice, "?sessionId="+first.id+"&after=0", "reconnected")
	frames := append(third.until("end"), third.until("end")...)
	ids := map[string]bool{}
	for _, e := range sse {
		ids[e.id] = true
	}
	for _, f := range frames {
		if !ids[strconv.FormatInt(f.Seq, 10)+"-0"] {
			t.Errorf("%s has seq %d, which is no id of the event stream", f.Type, f.Seq)
		}
	}
	if contentIn(frames) != textIn(sse) {
		t.Errorf("the WebSocket has %q, the event stream %q", contentIn(frames), textIn(sse))
	}
}

func TestMessagesWaitAndCancelDropsThem(t *testing.T) {
	r := newRig(t, limited(quota.Limits{Turns: 10}))
	r.model.script["long"] = []step{waits}
	s := r.connect(alice, "", "connected")
	s.ask("long")
	s.until("text")
	for _, q := range []string{"one", "two", "three", "four"} {
		s.send(fmt.Sprintf(`{"type":"message","id":%q,"payload":{"text":%q}}`, q, q))
	}
	if f := s.until("error"); f[0].Payload.Code != "BUSY" || f[0].Payload.ReplyTo != "four" || f[0].Seq != 0 {
		t.Errorf("got %+v, want BUSY for the fourth that waits", f)
	}
	s.send(`{"type":"cancel"}`)
	dropped, reason := 0, ""
	for dropped < 3 || reason == "" {
		switch f := s.next(); {
		case f.Type == "error" && f.Payload.Code == "CANCELLED":
			dropped++
		case f.Type == "end":
			reason = f.Payload.Reason
		case f.Type == "start":
			t.Fatalf("a dropped question is answered: %+v", f)
		}
	}
	if reason != "cancelled" {
		t.Errorf("the running one ended with %q", reason)
	}
	s.ask("hello")
	if got := contentIn(s.until("end")); got != "You said: hello" {
		t.Errorf("afterwards: got %q", got)
	}
}

func TestApprovingOverAWebSocket(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete Frank"] = []step{calls("delete_employee")}
	s := r.connect(alice, "", "connected")
	s.ask("Delete Frank")
	waiting := s.until("end")
	var card frame
	for _, f := range waiting {
		if f.Type == "confirmation" {
			card = f
		}
	}
	id := card.Payload.ConfirmationID
	var shown struct{ ConfirmationData struct{ Digest string } }
	r.get("/api/confirmations/"+id, alice, &shown)
	for message, code := range map[string]string{
		`{"type":"confirm","payload":{"confirmationId":%q,"approved":true}}`:                                            "BAD_REQUEST",
		`{"type":"confirm","payload":{"confirmationId":%q,"digest":"d"}}`:                                               "BAD_REQUEST",
		`{"type":"confirm","payload":{"confirmationId":%q,"approved":true,"digest":"` + strings.Repeat("0", 64) + `"}}`: "CONFIRMATION_STALE",
	} {
		s.send(fmt.Sprintf(message, id))
		if f := s.next(); f.Type != "error" || f.Payload.Code != code {
			t.Errorf("%s: got %+v, want %s", message, f, code)
		}
	}
	elsewhere := r.connect(alice, "", "connected") // another conversation of the same person
	elsewhere.send(fmt.Sprintf(`{"type":"confirm","payload":{"confirmationId":%q,"approved":true,"digest":%q}}`, id, shown.ConfirmationData.Digest))
	if f := elsewhere.next(); f.Type != "outcome" || f.Seq != 0 || f.Payload.ConfirmationID != id || !strings.Contains(f.Payload.Message, "has been deleted.") {
		t.Errorf("where it was approved: got %+v", f)
	}
	if f := s.next(); f.Type != "outcome" || f.Seq == 0 || f.Payload.Message != "Frank Davis has been deleted." {
		t.Errorf("where it was asked for: got %+v", f)
	}
	s.send(fmt.Sprintf(`{"type":"confirm","id":"again","payload":{"confirmationId":%q,"approved":false,"digest":%q}}`, id, shown.ConfirmationData.Digest))
	if f := s.next(); f.Seq != 0 || f.Payload.ReplyTo != "again" || f.Type == "outcome" && f.Payload.Message != "Frank Davis has been deleted." {
		t.Errorf("answered once more, the other way: got %+v, want what has happened", f)
	}
	mallory := r.connect(frank, "", "connected")
	mallory.send(fmt.Sprintf(`{"type":"confirm","payload":{"confirmationId":%q,"approved":true,"digest":%q}}`, id, shown.ConfirmationData.Digest))
	if f := mallory.next(); f.Type != "error" || f.Payload.Code != "USER_MISMATCH" && f.Payload.Code != "CONFIRMATION_NOT_FOUND" {
		t.Errorf("another person: got %+v", f)
	}
}

func TestBadMessagesAreRejected(t *testing.T) {
	r := newRig(t)
	s := r.connect(alice, "", "connected")
	for _, message := range []string{
		``, `{`, `[]`, `"message"`, `null`, `{}`, `{"type":"shout"}`, `{"type":"message"}`, `{"type":"message","payload":{}}`, `{"type":"message","payload":{"text":" "}}`,
		`{"type":"message","payload":{"text":"a","text":"b"}}`, `{"type":"message","payload":{"text":"hello","extra":1}}`, `{"type":"message","payload":"hello"}`,
		`{"type":"message","payload":{"text":"` + strings.Repeat("x", 3000) + `"}}`, `{"type":"message","payload":{"text":"a\u0000b"}}`,
		`{"type":"message","payload":{"text":"hello","model":"none"}}`, `{"Type":"ping"}`,
	} {
		s.send(message)
		if f := s.next(); f.Type != "error" || f.Payload.Code != "BAD_REQUEST" || f.Payload.Message == "" || f.Seq != 0 {
			t.Errorf("%.60s: got %+v, want BAD_REQUEST", message, f)
		}
	}
	s.ask("hello")
	if got := contentIn(s.until("end")); got != "You said: hello" {
		t.Errorf("afterwards: got %q", got)
	}
	for name, row := range map[string]struct {
		kind websocket.MessageType
		body string
		want websocket.StatusCode
	}{
		"binary": {websocket.MessageBinary, `{"type":"ping"}`, websocket.StatusUnsupportedData},
		"large":  {websocket.MessageText, `{"type":"ping","payload":"` + strings.Repeat("x", 17<<10) + `"}`, websocket.StatusMessageTooBig},
	} {
		s := r.connect(alice, "", "connected")
		_ = s.ws.Write(s.ctx, row.kind, []byte(row.body))
		if _, err := s.read(); websocket.CloseStatus(err) != row.want {
			t.Errorf("%s: got %v, want to be disconnected with %v", name, err, row.want)
		}
	}
}

func TestFloodsAreDisconnected(t *testing.T) {
	r := newRig(t, limited(quota.Limits{Requests: 2}))
	s := r.connect(alice, "", "connected")
	go func() {
		for s.ws.Write(s.ctx, websocket.MessageText, []byte(`{"type":"ping"}`)) == nil {
		}
	}()
	limited := 0
	for {
		f, err := s.read()
		if err != nil {
			if limited == 0 || websocket.CloseStatus(err) != websocket.StatusPolicyViolation && !errors.Is(err, io.EOF) {
				t.Errorf("got %v after %d refusals, want refusals and then the end", err, limited)
			}
			return
		}
		if f.Type == "error" && f.Payload.Code == "RATE_LIMITED" {
			limited++
		}
	}
}

func TestSessionsOfOthersAreRefusedBeforeTheUpgrade(t *testing.T) {
	r := newRig(t)
	own := r.connect(alice, "", "connected") // without a question yet
	asked := conversationOf(t, r.ask(alice, "hello", ""))
	var bodies []string
	for name, id := range map[string]string{"reserved": own.id, "stored": asked, "unknown": strings.Repeat("0", 32), "malformed": "../x"} {
		s, resp := r.dial(frank, "?sessionId="+id)
		if s != nil {
			t.Fatalf("%s: connected", name)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 403 {
			t.Errorf("%s: got %d %s, want 403", name, resp.StatusCode, body)
		}
		bodies = append(bodies, string(body))
	}
	for _, body := range bodies {
		if body != bodies[0] || body == "" {
			t.Errorf("the refusals differ: %q", bodies)
		}
	}
	for query, want := range map[string]int{"?sessionId=" + own.id + "&after=x": 400, "?sessionId=" + own.id + "&after=-1": 400, "?sessionId=" + own.id + "&after=1-0": 400, "?access_token=" + alice: 401} {
		if s, resp := r.dial(alice, query); s != nil && want == 400 || resp.StatusCode != want && want == 400 {
			t.Errorf("%s: got %d, want %d", query, resp.StatusCode, want)
		}
	}
	if s, resp := r.dial("", ""); s != nil || resp.StatusCode != 401 {
		t.Error("connected without a token")
	}
	if s, resp := r.dial(alice, "", "Origin", "https://evil.test"); s != nil || resp.StatusCode != 403 {
		t.Error("a page of a foreign origin connected")
	}
	if status, body := r.read(r.send("GET", "/ws", alice, "")); status != 400 || !strings.Contains(body, "WebSocket") {
		t.Errorf("without an upgrade: got %d %s", status, body)
	}
}

// One question is answered and three may wait, never fewer: a client that keeps the
// line full, asking again as soon as it sees an end, is never BUSY, and is answered
// in its order.
func TestQuestionsOfOneSocketKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const inLine, all = 4, 8
	r := newRig(t, limited(quota.Limits{Turns: 10, Requests: 100_000}))
	for range 20 {
		s := r.connect(alice, "", "connected")
		var asked, started []string
		ask := func() { asked = append(asked, strconv.Itoa(len(asked))); s.ask(asked[len(asked)-1]) }
		for range inLine {
			ask()
		}
		requests := map[string]bool{}
		for ended := 0; ended < all; {
			switch f := s.next(); f.Type {
			case "error":
				t.Fatalf("got %+v after %d answers", f, ended)
			case "start":
				started = append(started, f.Payload.Text)
				requests[f.Payload.RequestID] = true
			case "end":
				if ended++; len(asked) < all {
					ask()
				}
			}
		}
		if len(requests) != len(asked) {
			t.Errorf("got request ids %v, want one for each question", requests)
		}
		if !slices.Equal(started, asked) {
			t.Fatalf("got answers to %q, want the order in which they were asked", started)
		}
		_ = s.ws.CloseNow()
	}
}

func TestCancelStopsTheQuestionBeforeIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, limited(quota.Limits{Turns: 50, Requests: 10_000}))
	r.model.script["long"] = []step{waits}
	for range 6 {
		s := r.connect(alice, "", "connected")
		s.send(`{"type":"message","id":"q1","payload":{"text":"long"}}`)
		s.send(`{"type":"cancel"}`)
		for f := s.next(); f.Payload.Reason != "cancelled"; f = s.next() { // a cancel that is lost ends the test's patience
			if f.Type == "error" {
				if f.Payload.Code != "CANCELLED" || f.Payload.ReplyTo != "q1" {
					t.Errorf("got %+v, want to learn that q1 was dropped", f)
				}
				break
			}
		}
		_ = s.ws.CloseNow()
	}
}
