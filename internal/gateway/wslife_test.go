package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/coder/websocket"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/testkit"
)

// How connections begin again, end, and are listed, and what else is live.

func TestForgottenEventsAreAGap(t *testing.T) {
	r := newRig(t)
	s := r.connect(alice, "", "connected")
	s.ask("hello")
	s.until("end")
	r.released(s.id)
	back, resp := r.dial(alice, "?sessionId="+s.id+"&after=999")
	if back == nil {
		t.Fatalf("got %d", resp.StatusCode)
	}
	if f := back.next(); !f.Payload.Gap || f.Payload.State != "reconnected" {
		t.Errorf("got %+v, want to learn of the gap", f)
	}
	back.ask("again")
	if got := contentIn(back.until("end")); got != "You said: again" {
		t.Errorf("afterwards: got %q, want only what is new", got)
	}
}

func TestRestartTellsHowToResume(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.mini)
	s := one.connect(alice, "", "connected")
	s.ask("hello")
	s.until("end")
	done := make(chan error, 1)
	go func() { done <- errors.Join(one.conversations.Shutdown(s.ctx), one.gateway.Drain(s.ctx)) }()
	f := s.until("connection")
	last := f[len(f)-1].Payload
	if last.State != "reconnecting" || last.Resume == nil || last.Resume.SessionID != s.id || last.Resume.After < s.last {
		t.Errorf("got %+v, want how to resume after %d", last, s.last)
	}
	if _, err := s.read(); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("got %v, want a restart", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if s, resp := one.dial(alice, ""); s != nil || resp.StatusCode != 503 {
		t.Error("connected to a gateway that restarts")
	}
	again := two.connect(alice, fmt.Sprintf("?sessionId=%s&after=%d", last.Resume.SessionID, last.Resume.After), "reconnected")
	again.ask("more")
	if got := contentIn(again.until("end")); got != "You said: more" {
		t.Errorf("on the other replica: got %q", got)
	}
}

func TestConnectionEndsWithItsToken(t *testing.T) {
	t.Parallel()
	one := newRig(t)
	two := rigOn(t, one.mini)
	s := two.connect("alice.chen:hr-read:t-alice:1h", "", "connected")
	if status, body := one.read(one.send("POST", "/api/revoke", auditToken, `{"jti":"t-alice"}`)); status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	two.refresh()
	s.ends("SIGN_IN_REVOKED")
	short := two.connect("alice.chen:hr-read:t-short:1s", "", "connected")
	if f := short.next(); f.Type != "error" || f.Payload.Code != "UNAUTHENTICATED" {
		t.Errorf("an expired token: got %+v", f)
	}
}

// A sign-out, and the end of an account, end connections that another gateway holds.
func TestConnectionEndsWithItsSignInAndItsAccount(t *testing.T) {
	t.Parallel()
	one := newRig(t)
	two := rigOn(t, one.mini)
	c := one.signIn(aliceToken)
	cookie := []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}
	page, program := two.connect("", "", "connected", cookie...), two.connect(aliceSecond, "", "connected")
	if status, _ := one.read(one.send("POST", "/logout", "", "", cookie...)); status != 303 {
		t.Fatalf("logout: got %d", status)
	}
	two.refresh()
	page.ends("SIGN_IN_REVOKED")
	program.ask("hello")
	program.until("end")
	err := one.revocations.End(t.Context(), []access.Account{{Owner: access.Owner{Issuer: testkit.Issuer, Subject: "sub-alice.chen"}}})
	if err != nil {
		t.Fatal(err)
	}
	two.refresh()
	program.ends("ACCOUNT_ENDED")
}

// ends reads the reason of a connection's end, and the end.
func (s *socket) ends(code string) {
	s.t.Helper()
	if f := s.next(); f.Type != "error" || f.Payload.Code != code {
		s.t.Errorf("got %+v, want %s", f, code)
	}
	if _, err := s.read(); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		s.t.Errorf("got %v, want the end", err)
	}
}

func TestSilentClientsAreDisconnected(t *testing.T) {
	r := newRig(t, func(o *gateway.Options) { o.Heartbeat = 20 * time.Millisecond })
	s := r.connect(alice, "", "connected")
	ended := make(chan error, 1)
	go func() { // a client that reads answers pings
		_, err := s.read()
		ended <- err
	}()
	silent := r.connect(alice, "?sessionId="+s.id, "reconnected")
	silent.mute.Store(true)
	if _, err := silent.read(); err == nil || silent.ctx.Err() != nil {
		t.Errorf("the silent client is still connected: %v", err)
	}
	for list := []any{nil, nil}; len(list) > 1; { // an entry that is renewed late may be missing for a moment
		var body struct{ Connections []any }
		r.get("/api/connections", alice, &body)
		if list = body.Connections; s.ctx.Err() != nil {
			t.Fatal("a client that answers no ping stays in the list")
		}
	}
	select {
	case err := <-ended:
		t.Errorf("the other one was disconnected: %v", err)
	default:
	}
}

func TestReconnectingSocketsReplayEveryEvent(t *testing.T) {
	t.Parallel()
	one := newRig(t)
	replicas := []*rig{one, rigOn(t, one.mini)}
	pieces := make([]string, 60)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%03d", i) + strings.Repeat(" word", 60)
	}
	one.model.script["count"] = []step{calls("list_employees"), says(pieces...)}
	replicas[1].model.script = one.model.script
	for round := range 20 {
		random := rand.New(rand.NewPCG(2, uint64(round)))
		s := replicas[round%2].connect(alice, "", "connected")
		s.ask("count")
		frames := []frame{s.next()}
		for frames[len(frames)-1].Type != "end" {
			if random.IntN(3) == 0 {
				_ = s.ws.CloseNow()
				last := s.last
				s = replicas[random.IntN(2)].connect(alice, fmt.Sprintf("?sessionId=%s&after=%d", s.id, last), "reconnected")
				s.last = last
			}
			frames = append(frames, s.next())
		}
		_ = s.ws.CloseNow()
		if got := contentIn(frames); got != strings.Join(pieces, "") {
			t.Fatalf("round %d: got %d bytes of text, want every piece once and in order", round, len(got))
		}
	}
}

func TestConnectionsAreListed(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.mini)
	first := one.connect(alice, "", "connected")
	second, _ := two.dial(alice, "?sessionId="+first.id, "User-Agent", "pocket\u202e 1.0")
	second.next()
	one.connect(frank, "", "connected")
	type listed struct {
		Connections []struct {
			SessionID, ClientID, UserAgent string
			ConnectedAt, LastActiveAt      int64
		}
	}
	list := func() (l listed) { one.get("/api/connections", alice, &l); return l }
	got := list().Connections
	if len(got) != 2 || got[0].SessionID != first.id || got[1].SessionID != first.id || got[0].ClientID == got[1].ClientID || got[0].ConnectedAt == 0 || got[0].LastActiveAt < got[0].ConnectedAt {
		t.Fatalf("got %+v, want both of Alice's", got)
	}
	if agents := got[0].UserAgent + got[1].UserAgent; !strings.Contains(agents, "pocket") || strings.Contains(agents, "\u202e") {
		t.Errorf("got user agents %q", agents)
	}
	_ = second.ws.Close(websocket.StatusNormalClosure, "")
	for len(list().Connections) != 1 { // the replica learns of it in its own time
		if first.ctx.Err() != nil {
			t.Fatal("a closed connection stays listed")
		}
	}
	two.connect(alice, "?sessionId="+first.id, "reconnected")
	lost := list().Connections[1].ClientID
	one.mini.Del(keyWith(t, one.mini, lost)) // its replica died, and the first one's goes on
	if left := list().Connections; len(left) != 1 || strings.Contains(one.mini.Dump(), lost) {
		t.Errorf("got %+v, want that what ended leaves the list:\n%s", left, one.mini.Dump())
	}
	one.mini.FastForward(testkit.Patience * 10) // its replica died
	if left := list().Connections; len(left) != 0 {
		t.Errorf("got %+v, want none that was not renewed", left)
	}
}

// keyWith is the key of Redis with a text in its name.
func keyWith(t *testing.T, mini *miniredis.Miniredis, text string) string {
	t.Helper()
	for _, key := range mini.Keys() {
		if strings.Contains(key, text) {
			return key
		}
	}
	t.Fatalf("no key has %s", text)
	return ""
}

func TestTicketsOpenOneStream(t *testing.T) {
	r := newRig(t)
	ticket := func() string {
		var issued struct {
			Ticket    string
			ExpiresIn int
		}
		_, body := r.read(r.send("POST", "/api/ticket", alice, ""))
		if err := json.Unmarshal([]byte(body), &issued); err != nil || issued.Ticket == "" || issued.ExpiresIn != 30 {
			t.Fatalf("got %s (%v)", body, err)
		}
		return issued.Ticket
	}
	one := ticket()
	s := r.connect("", "?ticket="+one, "connected")
	s.ask("hello")
	if got := contentIn(s.until("end")); got != "You said: hello" {
		t.Errorf("got %q", got)
	}
	if s, resp := r.dial("", "?ticket="+one); s != nil || resp.StatusCode != 401 {
		t.Error("a used ticket connects")
	}
	path := "/api/conversations/" + s.id + "/events?after=0-0&ticket="
	if data := dataOf(r.stream(r.send("GET", path+ticket(), "", "")).rest()); !strings.Contains(data, "You said: hello") {
		t.Errorf("an event stream: got %s", data)
	}
	for _, other := range []string{"GET /api/user?ticket=", "GET /api/confirmations?ticket=", "POST /api/query?ticket="} {
		method, path, _ := strings.Cut(other, " ")
		body := ""
		if method == "POST" {
			body = askBody("hello", "")
		}
		if status, _ := r.read(r.send(method, path+ticket(), "", body)); status != 401 {
			t.Errorf("%s: got %d, want 401: a ticket is for streams", other, status)
		}
	}
	c := r.signIn(alice)
	if status, body := r.read(r.send("POST", "/api/ticket", "", "", "Cookie", c.Name+"="+c.Value, "Sec-Fetch-Site", "same-origin")); status != 400 || !strings.Contains(body, "bearer") {
		t.Errorf("our own page: got %d %s", status, body)
	}
}

func TestPersonsEvents(t *testing.T) {
	t.Parallel()
	one := newRig(t)
	two := rigOn(t, one.mini)
	one.model.script["Delete Frank"] = []step{calls("delete_employee")}
	s := two.stream(two.send("GET", "/api/events", alice, ""))
	seen := map[string]bool{}
	read := func(want ...string) {
		t.Helper()
		for _, w := range want {
			for !seen[w] {
				e, ok := s.next()
				if !ok {
					t.Fatalf("the stream ended before %s", w)
				}
				var n struct {
					Type, State, Title, Server string
					Healthy                    *bool
				}
				if err := json.Unmarshal([]byte(e.data), &n); err != nil {
					t.Fatal(err)
				}
				seen[strings.TrimSuffix(n.Type+":"+n.State, ":")] = true
			}
		}
	}
	read("server")
	events := one.ask(alice, "Delete Frank", "")
	read("conversation", "turn:running", "change:pending", "turn:ended")
	one.send("POST", "/api/confirm/"+confirmationsIn(events)[0], alice, `{"approved":false}`)
	read("change:denied")
	checkServerGoes(t, s, two)
	if status, _ := one.read(one.send("GET", "/api/events", alice, "", "Last-Event-ID", "nonsense")); status != 400 {
		t.Errorf("got %d for an id that is none", status)
	}
	again := one.stream(one.send("GET", "/api/events?after=0-0", alice, ""))
	for {
		e, ok := again.next()
		if !ok || strings.Contains(e.data, `"state":"denied"`) {
			break
		}
		if strings.Contains(e.data, "Frank") && !strings.Contains(e.data, `"title"`) {
			t.Errorf("the stream has a preview: %s", e.data)
		}
	}
	if e, _ := two.stream(two.send("GET", "/api/events?after=0-0", frank, "")).next(); !strings.Contains(e.data, `"server"`) {
		t.Errorf("another person reads %s", e.data)
	}
}

// TestPanicAboutServersEndsTheStreamAlone: the client connects again, and the process lives.
func TestPanicAboutServersEndsTheStreamAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.servers.mu.Lock()
	r.servers.broken = true
	r.servers.mu.Unlock()
	s := r.stream(r.send("GET", "/api/events", alice, ""))
	for {
		if _, more := s.next(); !more {
			break
		}
	}
	r.servers.mu.Lock()
	r.servers.broken = false
	r.servers.mu.Unlock()
	if e, _ := r.stream(r.send("GET", "/api/events", alice, "")).next(); !strings.Contains(e.data, `"server"`) {
		t.Errorf("after it: %s", e.data)
	}
}

// checkServerGoes reads that a server does not answer any more, and that it does
// again.
func checkServerGoes(t *testing.T, s *stream, r *rig) {
	t.Helper()
	for _, state := range []struct {
		down    []agent.Warning
		healthy bool
	}{{[]agent.Warning{{Server: "hr"}}, false}, {nil, true}} {
		r.servers.mu.Lock()
		r.servers.down = state.down
		r.servers.mu.Unlock()
		for {
			e, ok := s.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			if strings.Contains(e.data, `"type":"server"`) && strings.Contains(e.data, fmt.Sprintf(`"healthy":%v`, state.healthy)) {
				break
			}
		}
	}
}

func TestDeletedConversationEndsItsSockets(t *testing.T) {
	r := newRig(t)
	s := r.connect(alice, "", "connected")
	s.ask("hello")
	s.until("end")
	r.released(s.id)
	if status, body := r.read(r.send("DELETE", "/api/conversations/"+s.id, alice, "")); status != 204 {
		t.Fatalf("got %d %s", status, body)
	}
	if f := s.until("error"); f[len(f)-1].Payload.Code != "CONVERSATION_NOT_FOUND" {
		t.Errorf("got %+v", f)
	}
	if _, err := s.read(); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("got %v, want a normal end", err)
	}
}

// Half a message is no message: neither the first half of a frame nor a fragment
// whose rest does not come has any effect, and what is left of its connection is
// cleaned up.
func TestHalfAMessageHasNoEffect(t *testing.T) {
	r := newRig(t)
	body := []byte(`{"type":"message","payload":{"text":"hello"}}`)
	frame := func(first byte, length int) []byte { // with a mask of zeros
		return append([]byte{first, 0x80 | byte(length), 0, 0, 0, 0}, body...)
	}
	for name, sent := range map[string][]byte{
		"half a frame": frame(0x81, len(body))[:6+len(body)/2],
		"a fragment":   frame(0x01, len(body)), // without the bit that ends a message
	} {
		c, err := openSocket(strings.TrimPrefix(r.url, "http://"), "/ws", alice)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := c.Write(sent); err != nil {
			t.Fatal(name, err)
		}
		_ = c.Close()
	}
	s := r.connect(alice, "", "connected") // it is listed until it leaves
	var list struct{ Connections []struct{ SessionID string } }
	for until := time.Now().Add(testkit.Patience); len(list.Connections) != 1 || list.Connections[0].SessionID != s.id; runtime.Gosched() {
		if time.Now().After(until) {
			t.Fatalf("got %+v, want one connection", list)
		}
		r.get("/api/connections", alice, &list)
	}
	if len(r.model.asked) != 0 {
		t.Errorf("the model was asked %d times", len(r.model.asked))
	}
	// The limit is of a message, in however many fragments it comes.
	w, err := s.ws.Writer(s.ctx, websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, _ = w.Write([]byte(strings.Repeat("x", 8<<10)))
	}
	_ = w.Close()
	if _, err := s.read(); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("three fragments of 8 KiB: got %v, want to be disconnected", err)
	}
}

func TestAnswerGoesOnWithoutItsClient(t *testing.T) {
	r := newRig(t)
	r.model.script["long"] = []step{waits}
	s := r.connect(alice, "", "connected")
	s.ask("long")
	s.until("text")
	_ = s.ws.CloseNow()
	for list := []any{s}; len(list) > 0; { // until the gateway knows that it has no listener
		var open struct{ Connections []any }
		r.get("/api/connections", alice, &open)
		list = open.Connections
	}
	r.model.release()
	r.released(s.id)
	var whole struct {
		Messages []struct{ Role, Content string }
	}
	r.get("/api/conversations/"+s.id, alice, &whole)
	if n := len(whole.Messages); n != 2 || whole.Messages[1].Content != "One moment. Done." {
		t.Errorf("got %+v, want the whole answer", whole.Messages)
	}
}
