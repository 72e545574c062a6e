package mcpserver

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

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
		_, end, ok := s.begin(httptest.NewRequest("POST", "/mcp", nil), "one", id, alice)
		if ok {
			end()
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
	_, end, _ := s.begin(httptest.NewRequest("POST", "/mcp", nil), "one", "2", alice)
	if call("2") {
		t.Error("two calls of one id at a time")
	}
	end()
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
	call, end, ok := s.begin(httptest.NewRequestWithContext(request, "POST", "/mcp", nil), "one", "1", alice)
	if !ok {
		t.Fatal("the call does not begin")
	}
	defer end()
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
