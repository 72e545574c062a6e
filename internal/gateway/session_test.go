package gateway_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

// login is an issuer that signs in the person whom the code names.
type login struct {
	verify func(context.Context, string) (*access.Principal, error)
}

func (*login) Start(context.Context) (string, auth.Flow, error) {
	return "https://issuer.test/authorize?state=s1", auth.Flow{State: "s1", Nonce: "n1", Verifier: "v1"}, nil
}

func (l *login) Finish(ctx context.Context, q url.Values, f auth.Flow) (auth.Tokens, *access.Principal, error) {
	if q.Get("state") != f.State || f.Verifier != "v1" {
		return auth.Tokens{}, nil, fault.Unauthorized.New("The sign-in could not be completed.")
	}
	p, err := l.verify(ctx, q.Get("code"))
	return auth.Tokens{Access: q.Get("code"), Expires: time.Now().Add(time.Hour)}, p, err
}

func (*login) Refresh(context.Context, auth.Tokens) (auth.Tokens, error) {
	return auth.Tokens{}, fault.Unauthorized.New("There is no refresh token.")
}

func (*login) EndSessionURL(_ context.Context, returnTo string) (string, error) {
	return "https://issuer.test/end?to=" + url.QueryEscape(returnTo), nil
}

// signIn walks through the sign-in and returns the session cookie.
func (r *rig) signIn(token string) *http.Cookie {
	r.t.Helper()
	begun := r.send("GET", "/login", "", "")
	flow := cookieNamed(r.t, begun, "countersign-flow")
	if begun.StatusCode != 303 || !strings.HasPrefix(begun.Header.Get("Location"), "https://issuer.test/") {
		r.t.Fatalf("login: got %d to %s", begun.StatusCode, begun.Header.Get("Location"))
	}
	back := r.send("GET", "/callback?state=s1&code="+url.QueryEscape(token), "", "", "Cookie", flow.Name+"="+flow.Value)
	if back.StatusCode != 303 || back.Header.Get("Location") != "/" {
		_, body := r.read(back)
		r.t.Fatalf("callback: got %d %s", back.StatusCode, body)
	}
	return cookieNamed(r.t, back, "countersign")
}

func cookieNamed(t testing.TB, resp *http.Response, name string) *http.Cookie {
	t.Helper()
	for _, c := range resp.Cookies() {
		if c.Name == name && c.MaxAge >= 0 {
			return c
		}
	}
	t.Fatalf("got no cookie %s in %v", name, resp.Header)
	return nil
}

func TestSignOutEndsTheSession(t *testing.T) {
	r := newRig(t)
	c := r.signIn(alice)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" {
		t.Errorf("got cookie %+v, want HttpOnly and Strict", c)
	}
	own := []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}
	if status, body := r.read(r.send("GET", "/api/user", "", "", own...)); status != 200 || !strings.Contains(body, `"username":"alice.chen"`) {
		t.Fatalf("user: got %d %s", status, body)
	}
	for _, key := range r.mini.Keys() {
		if strings.Contains(key, c.Value) {
			t.Errorf("the session's id is in Redis: %s", key)
		}
	}
	out := r.send("POST", "/logout", "", "", append(own, "Origin", "null")...) // as from a form of a page without referrer
	if out.StatusCode != 303 || !strings.HasPrefix(out.Header.Get("Location"), "https://issuer.test/end") {
		t.Errorf("logout: got %d to %s", out.StatusCode, out.Header.Get("Location"))
	}
	if status, _ := r.read(r.send("GET", "/api/user", "", "", own...)); status != 401 {
		t.Errorf("after logout: got %d, want 401", status)
	}
}

func TestSignInAndOutAreAudited(t *testing.T) {
	r := newRig(t)
	c := r.signIn(alice)
	own := []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}
	for range 2 { // the second has no session to end
		r.send("POST", "/logout", "", "", own...)
	}
	r.send("POST", "/logout", "", "", "Cookie", "countersign=x", "Sec-Fetch-Site", "same-origin")
	want := []audit.Event{
		{Kind: audit.LoginSession, Step: "signed in", Username: "alice.chen", Outcome: "success", Roles: "hr-read hr-write"},
		{Kind: audit.LoginSession, Step: "signed out", Username: "alice.chen", Outcome: "success"},
	}
	if diff := cmp.Diff(want, r.audit.Events()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

// named fills in the principal, as the real log does.
type named struct{ audit.Sink }

func (n named) Append(ctx context.Context, e audit.Event) error {
	if p, err := access.From(ctx); err == nil {
		e.Username = p.Username()
	}
	return n.Sink.Append(ctx, e)
}

func TestForeignPagesCannotUseTheCookie(t *testing.T) {
	r := newRig(t)
	c := r.signIn(alice)
	cookie := []string{"Cookie", c.Name + "=" + c.Value}
	for _, row := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"own page", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"own page, older browser", []string{"Origin", "http://gateway.test"}, 200},
		{"another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://gateway.test"}, 403},
		{"a sister site", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"an address typed in", []string{"Sec-Fetch-Site", "none"}, 403},
		{"foreign origin", []string{"Origin", "https://evil.test"}, 403},
		{"null origin", []string{"Origin", "null"}, 403},
		{"a client that says nothing", nil, 403},
	} {
		for _, path := range []string{"/api/query?query=hello", "/api/user", "/api/conversations"} {
			if status, _ := r.read(r.send("GET", path, "", "", append(row.headers, cookie...)...)); status != row.want {
				t.Errorf("%s, GET %s: got %d, want %d", row.name, path, status, row.want)
			}
		}
	}
	if status, _ := r.read(r.send("POST", "/logout", "", "", append(cookie, "Sec-Fetch-Site", "cross-site")...)); status != 403 {
		t.Errorf("logout from another site: got %d, want 403", status)
	}
	if status, _ := r.read(r.send("GET", "/", "", "", append(cookie, "Sec-Fetch-Site", "cross-site")...)); status != 200 {
		t.Errorf("a link to the page: got %d, want 200", status)
	}
}

// TestForeignPagesApproveNothing: a page of another site lets the browser of a person who is
// signed in send an approval, by a request and over a WebSocket. It waits on, and no page
// of ours can be shown inside of another one.
func TestForeignPagesApproveNothing(t *testing.T) {
	r := newRig(t)
	r.model.script["Delete"] = []step{calls("delete_employee")}
	c := r.signIn(alice)
	cookie := []string{"Cookie", c.Name + "=" + c.Value}
	own := append([]string{"Sec-Fetch-Site", "same-origin"}, cookie...)
	id := confirmationsIn(r.ask(alice, "Delete", ""))[0]
	approve := func(headers ...string) (int, string) {
		return r.read(r.send("POST", "/api/confirm/"+id, "", `{"approved":true,"digest":"`+digestOfFrank+`"}`, append(headers, cookie...)...))
	}
	for name, headers := range map[string][]string{
		"another site": {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.test"}, "a sister site": {"Sec-Fetch-Site", "same-site", "Origin", "http://gateway.test"},
		"an older browser": {"Origin", "https://evil.test"}, "a sandboxed frame": {"Origin", "null"}, "no source": nil,
	} {
		if status, body := approve(headers...); status != 403 || !strings.Contains(body, `"code":"FORBIDDEN"`) {
			t.Errorf("%s: got %d %s, want 403", name, status, body)
		}
		if s, resp := r.dial("", "", append(headers, cookie...)...); s != nil || resp.StatusCode != 403 {
			t.Errorf("%s: a WebSocket: got %d, want 403", name, resp.StatusCode)
		}
	}
	for _, path := range []string{"/", "/login", "/api/user", "/api/confirmations/" + id} {
		h := r.send("GET", path, "", "", own...).Header
		if h.Get("X-Frame-Options") != "DENY" && !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s can be framed: %v", path, h)
		}
	}
	if status, body := approve("Sec-Fetch-Site", "same-origin"); status != 200 || !strings.Contains(body, "Frank Davis has been deleted.") {
		t.Errorf("our own page: got %d %s, want the receipt", status, body)
	}
}

func TestSignInBelongsToTheBrowserThatBeganIt(t *testing.T) {
	r := newRig(t)
	flow := cookieNamed(t, r.send("GET", "/login", "", ""), "countersign-flow")
	for name, headers := range map[string][]string{
		"no flow": nil, "forged flow": {"Cookie", flow.Name + "=AAAA" + flow.Value[4:]}, "another state": {"Cookie", flow.Name + "=" + flow.Value},
	} {
		state := "s1"
		if name == "another state" {
			state = "s2"
		}
		resp := r.send("GET", "/callback?state="+state+"&code="+url.QueryEscape(alice), "", "", headers...)
		if resp.StatusCode != 401 {
			t.Errorf("%s: got %d, want 401", name, resp.StatusCode)
		}
		for _, c := range resp.Cookies() {
			if c.Name == "countersign" {
				t.Errorf("%s: got a session", name)
			}
		}
	}
}

func TestUnauthenticatedClientsGetTheMetadata(t *testing.T) {
	r := newRig(t)
	for name, resp := range map[string]*http.Response{
		"no token": r.send("GET", "/api/user", "", ""), "junk": r.send("GET", "/api/user", "junk", ""),
		"token in the address": r.send("GET", "/api/user?token="+url.QueryEscape(alice), "", ""),
		"unknown session":      r.send("GET", "/api/user", "", "", "Cookie", "countersign=x", "Sec-Fetch-Site", "same-origin"),
	} {
		status, body := r.read(resp)
		if status != 401 || !strings.Contains(body, `"code":"UNAUTHENTICATED"`) || !strings.Contains(resp.Header.Get("WWW-Authenticate"), `scope="openid mcp", resource_metadata="http://gateway.test/.well-known/oauth-protected-resource"`) {
			t.Errorf("%s: got %d %s %s", name, status, resp.Header.Get("WWW-Authenticate"), body)
		}
	}
	var meta struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
	}
	if status := r.get("/.well-known/oauth-protected-resource/mcp", "", &meta); status != 200 || meta.Resource != "http://gateway.test/mcp" || len(meta.Servers) != 1 || len(meta.Scopes) != 2 {
		t.Errorf("metadata: got %d %+v", status, meta)
	}
}
