package auth_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/fault"
)

const callback = "http://localhost:3100/callback"

// loginHarness is the development issuer and a gateway's login at it.
type loginHarness struct {
	t        *testing.T
	issuer   *issuer.Server
	verifier *auth.Verifier
	login    *auth.Login
}

func newLoginHarness(t *testing.T, secret string) *loginHarness {
	t.Helper()
	s, err := issuer.Start("127.0.0.1:0", issuer.Options{
		People:  []issuer.Person{{Subject: "u-1", Username: "alice.chen", Name: "Alice Chen", Email: "alice@example.com", Roles: []string{"hr-read"}}},
		Clients: []issuer.Client{{ID: "web", Secret: secret, RedirectURIs: []string{callback}, LogoutURIs: []string{"http://localhost:3100/"}, Audience: "gateway"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	v, err := auth.NewVerifier([]auth.Config{{URL: s.URL(), Audiences: []string{"gateway"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := auth.NewLogin(auth.LoginConfig{Issuer: s.URL(), ClientID: "web", ClientSecret: secret, RedirectURL: callback}, v)
	if err != nil {
		t.Fatal(err)
	}
	return &loginHarness{t, s, v, l}
}

// browse picks alice on the sign-in page and returns the query of the browser's
// return, and the flow.
func (d *loginHarness) browse() (url.Values, auth.Flow) {
	d.t.Helper()
	address, flow, err := d.login.Start(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	asked, err := url.Parse(address)
	if err != nil {
		d.t.Fatal(err)
	}
	form := asked.Query()
	form.Set("username", "alice.chen")
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.PostForm(d.issuer.URL()+"/authorize", form)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		d.t.Fatal(err)
	}
	return to.Query(), flow
}

func TestPersonSignsIn(t *testing.T) {
	for _, secret := range []string{"", "s3cret / with + signs"} {
		d := newLoginHarness(t, secret)
		back, flow := d.browse()
		tokens, p, err := d.login.Finish(t.Context(), back, flow)
		if err != nil {
			t.Fatalf("secret %q: %v (%v)", secret, err, fault.From(err).Unwrap())
		}
		if p.Username() != "alice.chen" || !p.HasAny("hr-read") || p.Email() != "alice@example.com" {
			t.Errorf("got %s %v %s", p.Username(), p.Roles(), p.Email())
		}
		if tokens.Access == "" || tokens.Refresh == "" || time.Until(tokens.Expires) < 59*time.Minute {
			t.Errorf("tokens of %d and %d bytes until %v", len(tokens.Access), len(tokens.Refresh), tokens.Expires)
		}
	}
}

func TestAnswerOfAnotherFlowIsRefused(t *testing.T) {
	d := newLoginHarness(t, "")
	for name, change := range map[string]func(url.Values, *auth.Flow){
		"other state":     func(q url.Values, _ *auth.Flow) { q.Set("state", "x") },
		"no state":        func(q url.Values, _ *auth.Flow) { q.Del("state") },
		"no flow at all":  func(q url.Values, f *auth.Flow) { q.Del("state"); *f = auth.Flow{} },
		"other nonce":     func(_ url.Values, f *auth.Flow) { f.Nonce = "x" },
		"no nonce":        func(_ url.Values, f *auth.Flow) { f.Nonce = "" },
		"other proof":     func(_ url.Values, f *auth.Flow) { f.Verifier += "x" },
		"other issuer":    func(q url.Values, _ *auth.Flow) { q.Set("iss", "https://evil.example") },
		"nameless issuer": func(q url.Values, _ *auth.Flow) { q.Del("iss") },
		"other code":      func(q url.Values, _ *auth.Flow) { q.Set("code", "x") },
		"no code":         func(q url.Values, _ *auth.Flow) { q.Del("code") },
		"an error":        func(q url.Values, _ *auth.Flow) { q.Set("error", "access_denied") },
	} {
		back, flow := d.browse()
		change(back, &flow)
		_, p, err := d.login.Finish(t.Context(), back, flow)
		if p != nil || !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: got %v, %v", name, p, err)
		}
	}
	back, flow := d.browse()
	if _, _, err := d.login.Finish(t.Context(), back, flow); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.login.Finish(t.Context(), back, flow); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("the same answer twice: %v", err)
	}
}

func TestSigningOutLeadsToTheIssuer(t *testing.T) {
	d := newLoginHarness(t, "")
	got, err := d.login.EndSessionURL(t.Context(), "http://localhost:3100/")
	if err != nil || !strings.HasPrefix(got, d.issuer.URL()+"/logout?client_id=web&post_logout_redirect_uri=") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSignInSaysThatTheIssuerIsDown(t *testing.T) {
	v, err := auth.NewVerifier([]auth.Config{{URL: "http://127.0.0.1:1", Audiences: []string{"gateway"}}}, &auth.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := auth.NewLogin(auth.LoginConfig{Issuer: "http://127.0.0.1:1", ClientID: "web", RedirectURL: callback}, v)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Start(t.Context()); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("got %v", err)
	}
	if _, err := auth.NewLogin(auth.LoginConfig{Issuer: "https://other.example", ClientID: "web", RedirectURL: callback}, v); err == nil {
		t.Error("a login at an issuer that is not configured was made")
	}
}

// TestBothTokensMustMatch uses an issuer that answers the exchange with the
// tokens of each case.
func TestBothTokensMustMatch(t *testing.T) {
	r := newHarness(t)
	l, err := auth.NewLogin(auth.LoginConfig{Issuer: r.server.URL, ClientID: "web", RedirectURL: callback}, r.verifier)
	if err != nil {
		t.Fatal(err)
	}
	_, flow, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := func(change ...func(map[string]any)) string {
		return r.token(append([]func(map[string]any){set("aud", "web"), set("nonce", flow.Nonce)}, change...)...)
	}
	finish := func(access, id string) error {
		r.mu.Lock()
		r.tokens = map[string]any{"access_token": access, "id_token": id, "token_type": "Bearer"}
		r.mu.Unlock()
		_, _, err := l.Finish(t.Context(), url.Values{"state": {flow.State}, "code": {"c"}}, flow)
		return err
	}
	if err := finish(r.token(), id()); err != nil {
		t.Fatalf("right tokens: %v (%v)", err, fault.From(err).Unwrap())
	}
	if err := finish(r.token(), id(set("aud", []string{"web", "x"}), set("azp", "web"))); err != nil {
		t.Errorf("a shared ID token made for us: %v", err)
	}
	for name, tokens := range map[string][2]string{
		"no ID token":               {r.token(), ""},
		"ID token of other issuer":  {r.token(), id(set("iss", "https://other.example"))},
		"ID token of other client":  {r.token(), id(set("aud", "gateway"))},
		"shared, made for another":  {r.token(), id(set("aud", []string{"web", "x"}), set("azp", "x"))},
		"ID token expired":          {r.token(), id(set("exp", r.now().Unix()-60))},
		"ID token by another key":   {r.token(), sign(t, newKey(t, "k1"), r.claims(set("aud", "web"), set("nonce", flow.Nonce)))},
		"ID token of other flow":    {r.token(), id(set("nonce", "x"))},
		"two different people":      {r.token(set("sub", "u-2")), id()},
		"access token is elsewhere": {r.token(set("aud", "hr")), id()},
		"access token is no JWT":    {"opaque", id()},
	} {
		if err := finish(tokens[0], tokens[1]); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestIDTokenIsNoAccessToken(t *testing.T) {
	r := newHarness(t)
	r.refuses("an ID token", r.token(set("aud", "web"), set("nonce", "n")))
}

func TestSignInNamesScopesAndResource(t *testing.T) {
	for _, row := range []struct {
		scopes   []string
		resource string
		want     string
	}{
		{nil, "", "openid profile email"},
		{[]string{"email", "api://countersign/mcp"}, "https://countersign.example.com", "openid email api://countersign/mcp"},
	} {
		r := newHarness(t)
		l, err := auth.NewLogin(auth.LoginConfig{Issuer: r.server.URL, ClientID: "web", RedirectURL: callback, Scopes: row.scopes, Resource: row.resource}, r.verifier)
		if err != nil {
			t.Fatal(err)
		}
		address, flow, err := l.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.Query(); got.Get("scope") != row.want || got.Get("resource") != row.resource {
			t.Errorf("got %v, want scope %q and resource %q", got, row.want, row.resource)
		}
		_, _, _ = l.Finish(t.Context(), url.Values{"state": {flow.State}, "code": {"c"}, "iss": {r.server.URL}}, flow) // no tokens: what was asked is of interest
		if got := r.exchange; got.Get("code") != "c" || got.Get("resource") != row.resource {
			t.Errorf("the code was exchanged with %v, want resource %q", got, row.resource)
		}
	}
}
