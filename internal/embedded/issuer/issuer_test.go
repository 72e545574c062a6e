package issuer_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/testkit"
)

const callback = "http://localhost:3100/callback"

func options() issuer.Options {
	return issuer.Options{
		People: []issuer.Person{
			{Subject: "u-1", Username: "alice.chen", Name: "Alice Chen", Email: "alice@example.com", Title: "VP of HR", Roles: []string{"employee", "hr-read"}, Groups: []string{"/HR-Department"}},
			{Subject: "u-2", Username: "bob", Name: `Bob <script>alert(1)</script>`},
		},
		Clients: []issuer.Client{
			{ID: "web", RedirectURIs: []string{callback}, LogoutURIs: []string{"http://localhost:3100/"}, Audience: "gateway"},
			{ID: "secretive", Secret: "s3cret", RedirectURIs: []string{callback}},
		},
	}
}

func start(t *testing.T, o issuer.Options) *issuer.Server {
	t.Helper()
	s, err := issuer.Start("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// client is a browser that shows redirects instead of following them.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func do(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func form(t *testing.T, target string, values url.Values) *http.Request {
	t.Helper()
	req, err := http.NewRequest("POST", target, strings.NewReader(values.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return req
}

func get(t *testing.T, target string) *http.Request {
	t.Helper()
	req, err := http.NewRequest("GET", target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// asking is a valid authorization request.
func asking(verifier string) url.Values {
	return url.Values{
		"client_id": {"web"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"openid profile"},
		"state": {"st+te &"}, "nonce": {"n1"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}
}

// pick chooses alice on the page and returns the redirect.
func pick(t *testing.T, s *issuer.Server, asked url.Values) url.Values {
	t.Helper()
	asked.Set("username", "alice.chen")
	resp, body := do(t, form(t, s.URL()+"/authorize", asked))
	if resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("sign-in answered %d: %s", resp.StatusCode, body)
	}
	to, err := resp.Location()
	if err != nil || !strings.HasPrefix(to.String(), callback+"?") {
		t.Fatalf("sent to %v, %v", to, err)
	}
	return to.Query()
}

func exchange(code, verifier string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {"web"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}
}

func TestOrdinaryClientSignsIn(t *testing.T) {
	s := start(t, options())
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	conf := oauth2.Config{ClientID: "web", RedirectURL: callback, Endpoint: provider.Endpoint(), Scopes: []string{"openid"}}
	verifier := oauth2.GenerateVerifier()
	asked, err := url.Parse(conf.AuthCodeURL("st", oauth2.S256ChallengeOption(verifier), oidc.Nonce("n1")))
	if err != nil {
		t.Fatal(err)
	}
	back := pick(t, s, asked.Query())
	if back.Get("state") != "st" || back.Get("iss") != s.URL() {
		t.Errorf("answer carries state %q and iss %q", back.Get("state"), back.Get("iss"))
	}
	tokens, err := conf.Exchange(ctx, back.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	id, err := provider.Verifier(&oidc.Config{ClientID: "web", SupportedSigningAlgs: []string{"ES256"}}).Verify(ctx, tokens.Extra("id_token").(string))
	if err != nil {
		t.Fatal(err)
	}
	if id.Subject != "u-1" || id.Nonce != "n1" {
		t.Errorf("got sub %q nonce %q", id.Subject, id.Nonce)
	}
	checkAccessToken(t, ctx, provider, tokens)
}

func checkAccessToken(t *testing.T, ctx context.Context, provider *oidc.Provider, tokens *oauth2.Token) {
	t.Helper()
	access, err := provider.Verifier(&oidc.Config{ClientID: "gateway", SupportedSigningAlgs: []string{"ES256"}}).Verify(ctx, tokens.AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Email    string
		Verified bool   `json:"email_verified"`
		Username string `json:"preferred_username"`
	}
	if err := access.Claims(&claims); err != nil {
		t.Fatal(err)
	}
	if claims.Email != "alice@example.com" || !claims.Verified || claims.Username != "alice.chen" {
		t.Errorf("got %+v", claims)
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil || info.Subject != "u-1" {
		t.Errorf("userinfo: %v, %v", info, err)
	}
	wrong := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: tokens.Extra("id_token").(string)})
	if _, err := provider.UserInfo(ctx, wrong); err == nil {
		t.Error("userinfo took an ID token for an access token")
	}
}

func TestPageListsPeopleAndIsMarkedForDevelopment(t *testing.T) {
	s := start(t, options())
	resp, body := do(t, get(t, s.URL()+"/authorize?"+asking("v").Encode()))
	for _, want := range []string{"not for production", "Alice Chen", "VP of HR", "employee, hr-read", "no roles", "autofocus", "&lt;script&gt;"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	csp := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "form-action 'self' http://localhost:3100") || resp.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("headers %v", resp.Header)
	}
}

func TestWrongClientOrAddressIsNeverRedirected(t *testing.T) {
	s := start(t, options())
	for name, change := range map[string]func(url.Values){
		"unknown client":        func(q url.Values) { q.Set("client_id", "other") },
		"other address":         func(q url.Values) { q.Set("redirect_uri", "http://localhost:3100/callback2") },
		"address with a suffix": func(q url.Values) { q.Set("redirect_uri", callback+"/") },
		"address with a query":  func(q url.Values) { q.Set("redirect_uri", callback+"?a=b") },
		"evil address":          func(q url.Values) { q.Set("redirect_uri", "https://evil.example/callback") },
		"two addresses":         func(q url.Values) { q.Add("redirect_uri", "https://evil.example/callback") },
	} {
		asked := asking("v")
		change(asked)
		resp, _ := do(t, get(t, s.URL()+"/authorize?"+asked.Encode()))
		if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Location") != "" {
			t.Errorf("%s: got %d to %q", name, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
}

func TestWrongRequestIsReportedToItsClient(t *testing.T) {
	s := start(t, options())
	for name, c := range map[string]struct {
		change func(url.Values)
		want   string
	}{
		"no PKCE":        {func(q url.Values) { q.Del("code_challenge") }, "invalid_request"},
		"plain PKCE":     {func(q url.Values) { q.Set("code_challenge_method", "plain") }, "invalid_request"},
		"implicit":       {func(q url.Values) { q.Set("response_type", "token") }, "unsupported_response_type"},
		"no openid":      {func(q url.Values) { q.Set("scope", "profile openidx") }, "invalid_scope"},
		"state twice":    {func(q url.Values) { q.Add("state", "b") }, "invalid_request"},
		"request object": {func(q url.Values) { q.Set("request_uri", "http://localhost/x") }, "request_not_supported"},
		"silent":         {func(q url.Values) { q.Set("prompt", "none") }, "login_required"},
	} {
		asked := asking("v")
		c.change(asked)
		resp, _ := do(t, get(t, s.URL()+"/authorize?"+asked.Encode()))
		to, err := resp.Location()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if to.Query().Get("error") != c.want || to.Query().Get("state") != "st+te &" || to.Query().Get("iss") != s.URL() {
			t.Errorf("%s: sent to %s", name, to)
		}
	}
}

func TestCodeWorksOnceForItsClientAndProof(t *testing.T) {
	s := start(t, options())
	verifier := oauth2.GenerateVerifier()
	for name, change := range map[string]func(url.Values){
		"other proof":   func(q url.Values) { q.Set("code_verifier", oauth2.GenerateVerifier()) },
		"no proof":      func(q url.Values) { q.Del("code_verifier") },
		"other address": func(q url.Values) { q.Set("redirect_uri", "http://localhost:3100/x") },
		"other client":  func(q url.Values) { q.Set("client_id", "secretive"); q.Set("client_secret", "s3cret") },
	} {
		code := pick(t, s, asking(verifier)).Get("code")
		wrong := exchange(code, verifier)
		change(wrong)
		if resp, body := do(t, form(t, s.URL()+"/token", wrong)); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
		if resp, _ := do(t, form(t, s.URL()+"/token", exchange(code, verifier))); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: the code survived a wrong attempt", name)
		}
	}
	code := pick(t, s, asking(verifier)).Get("code")
	if resp, body := do(t, form(t, s.URL()+"/token", exchange(code, verifier))); resp.StatusCode != http.StatusOK {
		t.Errorf("right exchange: %d %s", resp.StatusCode, body)
	}
	if resp, _ := do(t, form(t, s.URL()+"/token", exchange(code, verifier))); resp.StatusCode != http.StatusBadRequest {
		t.Error("the code worked twice")
	}
}

func TestCodeEndsAfterAMinute(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := options()
	o.Now = func() time.Time { return now }
	s := start(t, o)
	verifier := oauth2.GenerateVerifier()
	code := pick(t, s, asking(verifier)).Get("code")
	now = now.Add(61 * time.Second)
	if resp, _ := do(t, form(t, s.URL()+"/token", exchange(code, verifier))); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a code of 61 s answered %d", resp.StatusCode)
	}
}

func TestClientSecretIsChecked(t *testing.T) {
	s := start(t, options())
	for secret, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, "s3cret": http.StatusOK} {
		verifier := oauth2.GenerateVerifier()
		asked := asking(verifier)
		asked.Set("client_id", "secretive")
		in := exchange(pick(t, s, asked).Get("code"), verifier)
		in.Del("client_id")
		req := form(t, s.URL()+"/token", in)
		req.SetBasicAuth("secretive", secret)
		if resp, body := do(t, req); resp.StatusCode != want {
			t.Errorf("secret %q: got %d, want %d: %s", secret, resp.StatusCode, want, body)
		}
	}
}

func devToken(t *testing.T, s *issuer.Server, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest("POST", s.URL()+"/dev/token", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

func TestTerminalGetsATokenAndOtherSitesDoNot(t *testing.T) {
	s := start(t, options())
	const right = `{"username":"alice.chen","audience":"hr","scope":"mcp confirm"}`
	if resp, body := do(t, devToken(t, s, right)); resp.StatusCode != http.StatusOK || !strings.Contains(body, "access_token") {
		t.Errorf("terminal: %d %s", resp.StatusCode, body)
	}
	for name, change := range map[string]func(*http.Request){
		"cross-site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"same-site":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"foreign origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"null origin":    func(r *http.Request) { r.Header.Set("Origin", "null") },
		"rebound name":   func(r *http.Request) { r.Host = "evil.example:3180" },
		"a form":         func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
	} {
		req := devToken(t, s, right)
		change(req)
		if resp, body := do(t, req); resp.StatusCode < 400 || strings.Contains(body, "access_token") {
			t.Errorf("%s: got %d %s", name, resp.StatusCode, body)
		}
	}
	for _, wrong := range []string{`{"username":"nobody","audience":"hr"}`, `{"username":"alice.chen"}`, `{"username":"alice.chen","audience":"../x"}`, `{`, ``,
		`{"username":"bob.martinez","username":"alice.chen","audience":"hr"}`, right + `{}`, `{"username":"alice.chen","audience":"hr","admin":true}`} {
		if resp, _ := do(t, devToken(t, s, wrong)); resp.StatusCode < 400 {
			t.Errorf("%s: got %d", wrong, resp.StatusCode)
		}
	}
}

func TestTokenForAServerThatIsNotThere(t *testing.T) {
	o := options()
	o.Audiences = []string{"gateway", "hr"}
	s := start(t, o)
	for audience, want := range map[string]int{"gateway": http.StatusOK, "hr": http.StatusOK, "h": http.StatusBadRequest, "finance": http.StatusBadRequest} {
		resp, body := do(t, devToken(t, s, `{"username":"alice.chen","audience":"`+audience+`","scope":"mcp"}`))
		if resp.StatusCode != want || want != http.StatusOK && !strings.Contains(body, "gateway, hr") {
			t.Errorf("%s: %d %s", audience, resp.StatusCode, body)
		}
	}
}

func TestForeignPageCannotSignSomeoneIn(t *testing.T) {
	s := start(t, options())
	asked := asking("v")
	asked.Set("username", "alice.chen")
	req := form(t, s.URL()+"/authorize", asked)
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	if resp, _ := do(t, req); resp.StatusCode != http.StatusForbidden {
		t.Errorf("got %d", resp.StatusCode)
	}
}

func TestSigningOutReturnsOnlyToRegisteredAddresses(t *testing.T) {
	s := start(t, options())
	q := url.Values{"client_id": {"web"}, "post_logout_redirect_uri": {"http://localhost:3100/"}, "state": {"x"}}
	resp, _ := do(t, get(t, s.URL()+"/logout?"+q.Encode()))
	if got := resp.Header.Get("Location"); got != "http://localhost:3100/?state=x" {
		t.Errorf("sent to %q", got)
	}
	q.Set("post_logout_redirect_uri", "https://evil.example/")
	if resp, _ := do(t, get(t, s.URL()+"/logout?"+q.Encode())); resp.Header.Get("Location") != "" || resp.StatusCode != http.StatusOK {
		t.Errorf("got %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
}

func TestKeySurvivesARestart(t *testing.T) {
	o := options()
	o.KeyFile = filepath.Join(t.TempDir(), "issuer.pem")
	_, first := do(t, get(t, start(t, o).URL()+"/jwks"))
	_, second := do(t, get(t, start(t, o).URL()+"/jwks"))
	if first != second {
		t.Errorf("keys changed:\n%s\n%s", first, second)
	}
	if strings.Contains(first, `"d"`) {
		t.Error("the private key is published")
	}
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "nonsense"} {
		if s, err := issuer.Start(addr, options()); err == nil {
			_ = s.Close(t.Context())
			t.Errorf("it listened on %q", addr)
		}
	}
	for _, uri := range []string{"https://example.com/cb", "http://localhost.evil.example/cb", "http://user@localhost/cb", "javascript:alert(1)", "http://localhost/cb#x"} {
		if err := start(t, options()).Register(issuer.Client{ID: "x", RedirectURIs: []string{uri}}); err == nil {
			t.Errorf("%q was registered", uri)
		}
	}
}

func TestPeopleMustBeDistinct(t *testing.T) {
	for _, twin := range []issuer.Person{{Subject: "u-1", Username: "x"}, {Subject: "u-9", Username: "bob"}, {Username: "x"}, {Subject: "x"}} {
		o := options()
		o.People = append(o.People, twin)
		if _, err := issuer.New("http://localhost:1", o); err == nil {
			t.Errorf("%+v was accepted", twin)
		}
	}
}
