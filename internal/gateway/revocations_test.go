package gateway_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/testkit"
)

// Tokens with an id, and the auditor who may revoke them.
const (
	aliceToken  = "alice.chen:hr-read:t-alice:1h"
	aliceSecond = "alice.chen:hr-read:t-second:1h"
	auditToken  = "ann.audit:auditor:t-audit:1h"
)

func TestAuditorRevokesATokenEverywhere(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.mini)
	status, body := one.read(one.send("POST", "/api/revoke", auditToken, `{"jti":"t-alice"}`))
	if status != 200 || body != `{"revoked":"token","status":"success"}` {
		t.Fatalf("got %d %s", status, body)
	}
	two.refresh()
	for name, r := range map[string]*rig{"here": one, "at another replica": two} {
		if status, body := r.read(r.send("GET", "/api/user", aliceToken, "")); status != 401 || !strings.Contains(body, "SIGN_IN_REVOKED") {
			t.Errorf("%s: got %d %s", name, status, body)
		}
		if status, body := r.read(r.send("GET", "/api/user", aliceSecond, "")); status != 200 {
			t.Errorf("her other token, %s: got %d %s", name, status, body)
		}
	}
	want := []audit.Event{
		{Kind: audit.Intent, Step: "token", Note: "t-alice", Username: "ann.audit"},
		{Kind: audit.Revocation, Step: "token", Note: "t-alice", Username: "ann.audit", Outcome: "success"},
	}
	if diff := cmp.Diff(want, one.audit.Events()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

// A revoked person loses every token, login session, stream and running turn, on
// each replica.
func TestAuditorRevokesAPersonEverywhere(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.mini)
	cookie := two.signIn(aliceSecond)
	own := []string{"Cookie", cookie.Name + "=" + cookie.Value, "Sec-Fetch-Site", "same-origin"}
	two.model.script["long"] = []step{waits}
	turn := two.stream(two.send("POST", "/api/query", "", askBody("long", ""), own...))
	first, _ := turn.next()
	conversation := conversationOf(t, []event{first})
	following := one.stream(one.send("GET", "/api/conversations/"+conversation+"/events", aliceToken, ""))

	body := `{"issuer":"` + testkit.Issuer + `","sub":"sub-alice.chen"}`
	if status, got := one.read(one.send("POST", "/api/revoke", auditToken, body)); status != 200 {
		t.Fatalf("got %d %s", status, got)
	}
	two.refresh()
	for name, s := range map[string]*stream{"of the turn": turn, "of another replica": following} {
		if data := dataOf(s.rest()); !strings.Contains(data, `"code":"SIGN_IN_REVOKED"`) || !strings.HasSuffix(data, "[DONE]\n") {
			t.Errorf("the stream %s: got %s, want the reason and the end", name, data)
		}
	}
	two.released(conversation) // the turn has ended
	for name, resp := range map[string]*http.Response{
		"a token": two.send("GET", "/api/user", aliceToken, ""), "a login session": two.send("GET", "/api/user", "", "", own...),
	} {
		if status, body := two.read(resp); status != 401 || !strings.Contains(body, "SIGN_IN_REVOKED") {
			t.Errorf("%s: got %d %s", name, status, body)
		}
	}
	for _, e := range two.audit.Events() {
		if e.Kind == audit.Turn && e.Outcome != "SIGN_IN_REVOKED" {
			t.Errorf("the turn is recorded as %q", e.Outcome)
		}
	}
	if status, _ := two.read(two.send("GET", "/api/user", frank, "")); status != 200 {
		t.Errorf("somebody else: got %d", status)
	}
}

func TestOnlyAuditorsRevoke(t *testing.T) {
	r := newRig(t)
	for name, row := range map[string]struct {
		token, body string
		status      int
		code        string
	}{
		"no token":           {"", `{"jti":"x"}`, 401, "UNAUTHENTICATED"},
		"another role":       {alice, `{"jti":"t-audit"}`, 403, `"requiredRoles":["auditor"]`},
		"nothing":            {auditToken, `{}`, 400, "BAD_REQUEST"},
		"half a person":      {auditToken, `{"issuer":"https://i"}`, 400, "BAD_REQUEST"},
		"both":               {auditToken, `{"jti":"x","issuer":"i","sub":"s"}`, 400, "BAD_REQUEST"},
		"a token and a half": {auditToken, `{"jti":"x","sub":"s"}`, 400, "BAD_REQUEST"},
		"unknown issuer":     {auditToken, `{"issuer":"` + testkit.Issuer + `/","sub":"sub-alice.chen"}`, 400, "as it is configured: " + testkit.Issuer + " or https://partner.test."},
		"too long":           {auditToken, `{"jti":"` + strings.Repeat("x", 513) + `"}`, 400, "BAD_REQUEST"},
	} {
		if status, body := r.read(r.send("POST", "/api/revoke", row.token, row.body)); status != row.status || !strings.Contains(body, row.code) {
			t.Errorf("%s: got %d %s", name, status, body)
		}
	}
	want := []audit.Event{{Kind: audit.Revocation, Username: "alice.chen", Outcome: "INSUFFICIENT_PERMISSIONS"}}
	if diff := cmp.Diff(want, r.audit.Events()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestRevocationThatCannotBeRecordedIsNotMade(t *testing.T) {
	r := newRig(t)
	r.audit.Break(http.ErrServerClosed)
	if status, _ := r.read(r.send("POST", "/api/revoke", auditToken, `{"jti":"t-alice"}`)); status != 500 {
		t.Errorf("got %d", status)
	}
	if status, _ := r.read(r.send("GET", "/api/user", aliceToken, "")); status != 200 {
		t.Errorf("the token was revoked: %d", status)
	}
}

func TestRevocationThatFailsIsRecordedAsFailed(t *testing.T) {
	r := newRig(t)
	r.mini.SetError("no space")
	status, _ := r.read(r.send("POST", "/api/revoke", auditToken, `{"jti":"t-alice"}`))
	r.mini.SetError("")
	if status != 500 {
		t.Errorf("got %d", status)
	}
	want := []audit.Event{
		{Kind: audit.Intent, Step: "token", Note: "t-alice", Username: "ann.audit"},
		{Kind: audit.Revocation, Step: "token", Note: "t-alice", Username: "ann.audit", Outcome: "INTERNAL_ERROR"},
	}
	if diff := cmp.Diff(want, r.audit.Events()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

// Signing out ends what the login session has open, on every replica, and its
// token; other sessions of the same person go on.
func TestSignOutEndsTheStreamsOfItsSessionEverywhere(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.mini)
	conversation := conversationOf(t, one.ask(aliceToken, "hello", ""))
	events := "/api/conversations/" + conversation + "/events"
	follow := func(r *rig, c *http.Cookie) *stream {
		return r.stream(r.send("GET", events, "", "", "Cookie", c.Name+"="+c.Value, "Sec-Fetch-Site", "same-origin"))
	}
	first, second := one.signIn(aliceToken), one.signIn(aliceSecond)
	ends, stays := follow(two, first), follow(two, second)
	out := one.send("POST", "/logout", "", "", "Cookie", first.Name+"="+first.Value, "Sec-Fetch-Site", "same-origin")
	if out.StatusCode != 303 {
		t.Fatalf("logout: got %d", out.StatusCode)
	}
	two.refresh()
	if data := dataOf(ends.rest()); !strings.Contains(data, `"code":"SIGN_IN_REVOKED"`) || !strings.HasSuffix(data, "[DONE]\n") {
		t.Errorf("got %s, want the reason and the end", data)
	}
	if status, _ := two.read(two.send("GET", "/api/user", aliceToken, "")); status != 401 {
		t.Errorf("the session's token: got %d", status)
	}
	one.released(conversation)
	one.ask(aliceSecond, "hello", conversation)
	if e, ok := stays.next(); !ok || strings.Contains(e.data, "SIGN_IN_REVOKED") {
		t.Errorf("the other session: got %s", e.data)
	}
}

func TestStreamEndsWhenItsTokenExpires(t *testing.T) {
	r := newRig(t)
	conversation := conversationOf(t, r.ask(aliceToken, "hello", ""))
	s := r.stream(r.send("GET", "/api/conversations/"+conversation+"/events", "alice.chen:hr-read:t-brief:300ms", ""))
	if data := dataOf(s.rest()); !strings.Contains(data, `"code":"UNAUTHENTICATED"`) || !strings.Contains(data, "expired") || !strings.HasSuffix(data, "[DONE]\n") {
		t.Errorf("got %s, want the reason and the end", data)
	}
}

func TestSigningOutIsAPost(t *testing.T) {
	r := newRig(t)
	c := r.signIn(alice)
	own := []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}
	resp := r.send("GET", "/logout", "", "", own...)
	if status, _ := r.read(resp); status != 405 || resp.Header.Get("Allow") != "POST" {
		t.Errorf("got %d, Allow %q", status, resp.Header.Get("Allow"))
	}
	if status, _ := r.read(r.send("GET", "/api/user", "", "", own...)); status != 200 {
		t.Errorf("the session has ended: %d", status)
	}
}

// An account that has ended reads so at sign-in, as a page; a bearer reads it as
// an envelope.
func TestEndedAccountReadsSoAtSignIn(t *testing.T) {
	r := newRig(t)
	err := r.revocations.End(t.Context(), []access.Account{{Owner: access.Owner{Issuer: testkit.Issuer, Subject: "sub-alice.chen"}}})
	if err != nil {
		t.Fatal(err)
	}
	flow := cookieNamed(t, r.send("GET", "/login", "", ""), "countersign-flow")
	back := r.send("GET", "/callback?state=s1&code="+url.QueryEscape(aliceToken), "", "", "Cookie", flow.Name+"="+flow.Value, "Accept", "text/html")
	status, body := r.read(back)
	if status != 401 || !strings.HasPrefix(back.Header.Get("Content-Type"), "text/html") || !strings.Contains(body, "This account has ended.") {
		t.Errorf("got %d %s %s", status, back.Header.Get("Content-Type"), body)
	}
	for _, c := range back.Cookies() {
		if c.Name == "countersign" && c.MaxAge >= 0 {
			t.Error("got a session")
		}
	}
	if status, body := r.read(r.send("GET", "/api/user", aliceToken, "")); status != 401 || !strings.Contains(body, `"code":"ACCOUNT_ENDED"`) {
		t.Errorf("bearer: got %d %s", status, body)
	}
}
