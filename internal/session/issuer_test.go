package session_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/session"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// issued is a browser that signs in at a real issuer over HTTP, whose access tokens last
// two minutes, at a page that says whose session it is. All of them have one clock.
type issued struct {
	clock
	t       *testing.T
	mini    *miniredis.Miniredis
	issuer  *issuer.Server
	roles   []string // of the person at the issuer, which reads them for each token
	page    string
	browser *http.Client
}

const shortLife = 2 * time.Minute

func newIssued(t *testing.T) *issued {
	t.Helper()
	b := &issued{t: t, mini: miniredis.RunT(t), roles: []string{"employee"}}
	b.at.Store(time.Now().UnixNano())
	mux := http.NewServeMux()
	page := httptest.NewServer(mux)
	t.Cleanup(page.Close)
	b.page = page.URL
	var err error
	b.issuer, err = issuer.Start("127.0.0.1:0", issuer.Options{
		People:  []issuer.Person{{Subject: "u-1", Username: "ann", Name: "Ann", Roles: b.roles}},
		Clients: []issuer.Client{{ID: "web", RedirectURIs: []string{b.page + "/callback"}, Audience: "gateway"}},
		Life:    shortLife, Now: b.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.issuer.Close(context.Background()) })
	verifier, err := auth.NewVerifier([]auth.Config{{URL: b.issuer.URL(), Audiences: []string{"gateway"}}}, &auth.Options{Now: b.now})
	if err != nil {
		t.Fatal(err)
	}
	login, err := auth.NewLogin(auth.LoginConfig{Issuer: b.issuer.URL(), ClientID: "web", RedirectURL: b.page + "/callback"}, verifier)
	if err != nil {
		t.Fatal(err)
	}
	redis, err := state.Open(t.Context(), "redis://"+b.mini.Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	sessions, err := session.New(session.Options{PublicURL: b.page, Issuer: login, Verify: verifier.VerifyBrowser, Ring: testkit.Ring("cookie"), Keys: redis, Now: b.now})
	if err != nil {
		t.Fatal(err)
	}
	serve(mux, sessions)
	b.signIn()
	return b
}

// serve is a page with its sign-in, and whom its session is of.
func serve(mux *http.ServeMux, sessions *session.Service) {
	answered := func(pattern string, h func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				http.Error(w, err.Error(), fault.From(err).Code.Status)
			}
		})
	}
	answered("GET /login", sessions.Login)
	answered("GET /callback", sessions.Callback)
	answered("GET /me", func(w http.ResponseWriter, r *http.Request) error {
		p, ok, err := sessions.Principal(w, r)
		if err == nil && !ok {
			err = fault.Unauthorized.New("There is no session.")
		}
		if err != nil {
			return err
		}
		return json.NewEncoder(w).Encode(map[string]any{"roles": p.Roles(), "token": p.TokenID(), "expires": p.Expires()})
	})
}

// signIn goes to the issuer's page, and picks the person there.
func (b *issued) signIn() {
	b.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := b.leadsTo(b.browser.Get(b.page + "/login")).Query()
	form.Set("username", "ann")
	back := b.leadsTo(b.browser.PostForm(b.issuer.URL()+"/authorize", form))
	b.leadsTo(b.browser.Get(back.String()))
}

func (b *issued) leadsTo(resp *http.Response, err error) *url.URL {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		b.t.Fatalf("got %s without an address to go to", resp.Status)
	}
	return to
}

// passes lets time pass, also for what Redis keeps.
func (b *issued) passes(d time.Duration) {
	b.pass(d)
	b.mini.FastForward(d)
}

// mine is whose session it is, as the page says it.
type mine struct {
	Roles   []string
	Token   string // of the sign-in
	Expires time.Time
}

// me asks the page whose session it is.
func (b *issued) me() (status int, got mine) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "GET", b.page+"/me", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := b.browser.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
			b.t.Fatal(err)
		}
		if !b.now().Before(got.Expires) {
			b.t.Errorf("at %v the page works with a token that ended at %v", b.now(), got.Expires)
		}
	}
	return resp.StatusCode, got
}

// TestSessionLastsWhileTheIssuerRefreshesIt: at a real issuer with access tokens of two
// minutes a session goes on, with the roles that its person has by then, as one sign-in.
func TestSessionLastsWhileTheIssuerRefreshesIt(t *testing.T) {
	b := newIssued(t)
	_, first := b.me()
	for n := range 40 { // an hour and more
		status, got := b.me()
		if status != http.StatusOK || !slices.Contains(got.Roles, "employee") || got.Token != first.Token {
			t.Fatalf("after %d tokens: got %d, %+v, want employee of the sign-in %s", n, status, got, first.Token)
		}
		b.passes(shortLife / 2)
		if _, again := b.me(); !again.Expires.Equal(got.Expires) {
			t.Fatalf("after half its life a token was replaced")
		}
		b.passes(shortLife / 2)
	}
	b.roles[0] = "auditor"
	b.passes(shortLife)
	if status, got := b.me(); status != http.StatusOK || slices.Contains(got.Roles, "employee") || !slices.Contains(got.Roles, "auditor") {
		t.Errorf("with another role at the issuer: got %d, %+v", status, got)
	}
}

// TestSessionEndsWhenTheIssuerRefusesToRefresh: an issuer's refresh tokens end when they
// are not used for a day, and then the person signs in again.
func TestSessionEndsWhenTheIssuerRefusesToRefresh(t *testing.T) {
	b := newIssued(t)
	b.passes(24*time.Hour + shortLife/2) // what is stored lasts longer
	if len(b.mini.Keys()) == 0 {
		t.Fatal("the session is gone before the issuer was asked")
	}
	for range 2 {
		if status, _ := b.me(); status != http.StatusUnauthorized {
			t.Fatalf("got %d, want the session ended", status)
		}
	}
	b.signIn()
	if status, _ := b.me(); status != http.StatusOK {
		t.Errorf("after signing in again: got %d", status)
	}
}
