package mcpserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
)

// TestBusySessionReachesTheSDK: the SDK ends a session of which it has seen no
// request for 15 minutes, so that a busy one sends it a call in time.
func TestBusySessionReachesTheSDK(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := &sessions{now: func() time.Time { return now }, open: make(map[string]*openSession)}
	alice := access.NewPrincipal(access.Claims{Issuer: "https://issuer.test", Subject: "alice"})
	s.add("one", alice.Owner(), "2025-11-25")
	call := func(id string) bool {
		begun, ok := s.begin(httptest.NewRequest("POST", "/mcp", nil), "one", id, alice)
		if ok {
			s.end(begun.call)
		}
		return ok
	}
	seen := now // by the SDK
	for range 60 {
		now = now.Add(time.Minute)
		if !call("1") {
			s.reach("one")
			seen = now
		}
		if idle := now.Sub(seen); idle >= sessionIdle {
			t.Fatalf("the SDK saw no request for %s", idle)
		}
	}
	if !call("1") {
		t.Error("no call takes the lane any more")
	}
	begun, _ := s.begin(httptest.NewRequest("POST", "/mcp", nil), "one", "2", alice)
	if call("2") {
		t.Error("two calls of one id at a time")
	}
	s.end(begun.call)
	if s.remove("one"); call("1") {
		t.Error("a call of a session that has ended")
	}
}

// TestCallEndsByItsOwnerOnly: not by the client's leaving, which a legacy client may
// do and come back, nor by another person who names its session.
func TestCallEndsByItsOwnerOnly(t *testing.T) {
	s := &sessions{now: time.Now, open: make(map[string]*openSession)}
	alice := access.NewPrincipal(access.Claims{Issuer: "https://issuer.test", Subject: "alice"})
	bob := access.NewPrincipal(access.Claims{Issuer: "https://issuer.test", Subject: "bob"})
	s.add("one", alice.Owner(), "2025-11-25")
	request, leave := context.WithCancel(t.Context())
	call, ok := s.begin(httptest.NewRequestWithContext(request, "POST", "/mcp", nil), "one", "1", alice)
	if !ok {
		t.Fatal("the call does not begin")
	}
	defer s.end(call.call)
	if leave(); call.Err() != nil {
		t.Error("the client's leaving ended the call")
	}
	if s.cancel("one", "1", bob) || s.cancel("other", "1", alice) || s.cancel("one", "2", alice) || call.Err() != nil {
		t.Error("another's notification ended the call")
	}
	if !s.cancel("one", "1", alice) || call.Err() == nil {
		t.Error("the owner's notification did not end the call")
	}
}

// TestEndedSessionIsForgotten: at once when its client ends it, and otherwise soon
// after it was idle for too long. Nothing sweeps while there are none.
func TestEndedSessionIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(unasked{}, Options{Name: "fixture", Version: "1", Verify: knownCaller})
		if err != nil {
			t.Fatal(err)
		}
		handler := s.Handler()
		send := func(method, session, body string) *httptest.ResponseRecorder {
			w, r := httptest.NewRecorder(), httptest.NewRequest(method, "http://localhost/mcp", strings.NewReader(body))
			r.Header = http.Header{"Authorization": {"Bearer x"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
			}
			handler.ServeHTTP(w, r)
			return w
		}
		begin := func() (id string, freed *atomic.Bool) {
			w := send("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
			id, freed = w.Header().Get("Mcp-Session-Id"), new(atomic.Bool)
			if known, sweeping := s.lane.sessions.hold(id, func() { freed.Store(true) }); !known || !sweeping {
				t.Fatalf("got %d %s; the session is known: %v, its end is looked for: %v", w.Code, w.Body, known, sweeping)
			}
			return id, freed
		}
		left, ended := begin()
		if w := send("DELETE", left, ""); w.Code != 204 || !ended.Load() {
			t.Errorf("ended by its client: got %d, its slot is free: %v", w.Code, ended.Load())
		}
		idle, ended := begin()
		if time.Sleep(sessionIdle - time.Second); ended.Load() {
			t.Error("a session was forgotten before it ended")
		}
		time.Sleep(time.Second + sweepPeriod)
		synctest.Wait()
		if known, sweeping := s.lane.sessions.hold(idle, nil); !ended.Load() || known || sweeping {
			t.Errorf("after its end: its slot is free: %v, it is known: %v, ends are looked for: %v", ended.Load(), known, sweeping)
		}
	})
}

// TestSessionKeepsNothingOfItsFirstRequest: the SDK keeps the context of the request
// that began a session.
func TestSessionKeepsNothingOfItsFirstRequest(t *testing.T) {
	type key struct{}
	request, end := context.WithCancel(context.WithValue(t.Context(), key{}, "a large response"))
	alice := access.NewPrincipal(access.Claims{Issuer: "https://issuer.test", Subject: "alice"})
	lasting, done := detached(access.With(request, alice))
	defer done()
	if who, err := access.From(lasting); err != nil || who != alice {
		t.Errorf("its caller: got %v (%v)", who, err)
	}
	if lasting.Value(key{}) != nil {
		t.Error("it keeps a value of the request")
	}
	if end(); true {
		<-lasting.Done() // it ends with the request
	}
}

// TestSessionKeepsNoToken: the SDK keeps the header with which a session begins, which
// has what the SDK reads, and neither the caller's token nor the memory of the request.
func TestSessionKeepsNoToken(t *testing.T) {
	s, err := New(unasked{}, Options{Name: "fixture", Version: "1", Verify: knownCaller})
	if err != nil {
		t.Fatal(err)
	}
	var seen []http.Header
	sdk := s.legacy
	s.legacy = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		sdk.ServeHTTP(w, r)
	})
	handler := s.Handler()
	send := func(session, body string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer a-secret"}, "Cookie": {"c=a-secret"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
		if session != "" {
			r.Header.Set(sessionHeader, session)
		}
		handler.ServeHTTP(w, r)
		return w
	}
	begun := send("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	session := begun.Header().Get(sessionHeader)
	if begun.Code != 200 || session == "" || len(seen) != 1 {
		t.Fatalf("got %d %s, the SDK saw %v", begun.Code, begun.Body, seen)
	}
	want := http.Header{"Authorization": {"Bearer proven"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
	if diff := cmp.Diff(want, seen[0]); diff != "" {
		t.Errorf("the header that is kept (-want +got):\n%s", diff)
	}
	if listed := send(session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); listed.Code != 200 || len(seen) != 2 || seen[1].Get("Authorization") != "Bearer a-secret" {
		t.Errorf("a later message, which is not kept: got %d %s, the SDK saw %v", listed.Code, listed.Body, seen)
	}
}
