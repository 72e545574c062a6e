package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// personal is a handler for somebody who is signed in.
type personal func(w http.ResponseWriter, r *http.Request, p *access.Principal) error

// person lets a request through that proves who calls: by a bearer token, or by
// a session cookie and our own page.
func (g *Gateway) person(h personal) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := g.caller(w, r)
		if err != nil {
			return err
		}
		return h(w, r.WithContext(access.With(r.Context(), p)), p)
	}
}

func (g *Gateway) caller(w http.ResponseWriter, r *http.Request) (*access.Principal, error) {
	cookie, err := r.Cookie(g.cookieName())
	if err != nil || r.Header.Get("Authorization") != "" || g.o.Login == nil {
		token, err := auth.Bearer(r)
		if err != nil {
			return nil, err
		}
		return g.o.Verify(r.Context(), token)
	}
	if err := g.sameOrigin(r); err != nil {
		return nil, err
	}
	return g.signedIn(w, r, cookie.Value)
}

// sameOrigin refuses what a foreign page sent: the browser adds the cookie to it
// all the same. It reads what browsers say of themselves, and refuses those that
// say nothing.
func (g *Gateway) sameOrigin(r *http.Request) error {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case site == "same-origin":
		return nil
	case site == "" && origin != "" && (origin == originOf(g.o.PublicURL) || origin == "http://"+r.Host || origin == "https://"+r.Host):
		return nil
	}
	return fault.ForbiddenRequest.New("This request did not come from our own page.")
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// signedIn finds the session and proves its token anew, so that what ends a
// token ends its sessions.
func (g *Gateway) signedIn(w http.ResponseWriter, r *http.Request, id string) (*access.Principal, error) {
	digest := digestOf(id)
	sealed, ok, err := g.o.Redis.Get(r.Context(), sessionKey(digest))
	if err != nil {
		return nil, err
	}
	if ok {
		token, err := g.o.Cookies.Open(string(sealed), []byte(digest))
		if err == nil {
			return g.o.Verify(r.Context(), string(token))
		}
		g.o.Log.WarnContext(r.Context(), "a session could not be opened", "error", err)
	}
	g.setCookie(w, g.cookieName(), "", -1, http.SameSiteStrictMode)
	return nil, fault.Unauthorized.New("Your session has ended. Please sign in again.")
}

// digestOf names a session in Redis: who reads the store there cannot use it.
func digestOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

func (g *Gateway) secure() bool { return strings.HasPrefix(g.o.PublicURL, "https://") }

// cookieName uses the prefix that binds a cookie to this very host, where
// browsers allow it.
func (g *Gateway) cookieName() string {
	if g.secure() {
		return "__Host-countersign"
	}
	return "countersign"
}

func (g *Gateway) flowName() string { return g.cookieName() + "-flow" }

// setCookie sets a cookie for so many seconds, or removes it when age is negative.
func (g *Gateway) setCookie(w http.ResponseWriter, name, value string, age int, site http.SameSite) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: g.secure(), SameSite: site})
}

// flowTime is how long a person may take at the issuer's page.
const flowTime = 10 * time.Minute

// flow is a sign-in under way, sealed in a cookie of the browser that began it.
type flow struct {
	auth.Flow
	Expires time.Time `json:"expires"`
}

// flowBinding keeps the cookie from being opened as anything else.
const flowBinding = "sign-in"

func (g *Gateway) login(w http.ResponseWriter, r *http.Request) error {
	if g.o.Login == nil {
		return fault.RouteNotFound.New("Signing in by a browser is not set up here.")
	}
	address, started, err := g.o.Login.Start(r.Context())
	if err != nil {
		return err
	}
	plain, err := json.Marshal(flow{started, g.o.Now().Add(flowTime)})
	if err != nil {
		return err
	}
	// Lax: the issuer sends the browser back from another site.
	g.setCookie(w, g.flowName(), g.o.Cookies.Seal(plain, []byte(flowBinding)), int(flowTime.Seconds()), http.SameSiteLaxMode)
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

func (g *Gateway) callback(w http.ResponseWriter, r *http.Request) error {
	if g.o.Login == nil {
		return fault.RouteNotFound.New("Signing in by a browser is not set up here.")
	}
	began, err := g.flowOf(r)
	if err != nil {
		return err
	}
	g.setCookie(w, g.flowName(), "", -1, http.SameSiteLaxMode)
	token, p, expires, err := g.o.Login.Finish(r.Context(), r.URL.Query(), began)
	if err != nil {
		return err
	}
	g.forget(r)
	if err := g.startSession(r.Context(), w, token, expires); err != nil {
		return err
	}
	g.noteSession(access.With(r.Context(), p), audit.SignedIn)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

func (g *Gateway) flowOf(r *http.Request) (auth.Flow, error) {
	lost := fault.Unauthorized.New("The sign-in took too long or was begun in another browser.").Suggest("Start again from the sign-in page.")
	cookie, err := r.Cookie(g.flowName())
	if err != nil {
		return auth.Flow{}, lost
	}
	plain, err := g.o.Cookies.Open(cookie.Value, []byte(flowBinding))
	if err != nil {
		return auth.Flow{}, lost.Because(err)
	}
	var f flow
	if err := json.Unmarshal(plain, &f); err != nil || g.o.Now().After(f.Expires) {
		return auth.Flow{}, lost
	}
	return f.Flow, nil
}

// startSession keeps the token, sealed, under a fresh random name that only the
// browser has. It ends with the token.
func (g *Gateway) startSession(ctx context.Context, w http.ResponseWriter, token string, expires time.Time) error {
	id := rand.Text()
	digest, life := digestOf(id), expires.Sub(g.o.Now())
	if life <= 0 {
		return fault.Unauthorized.New("The sign-in is already over.")
	}
	sealed := g.o.Cookies.Seal([]byte(token), []byte(digest))
	if err := g.o.Redis.Set(ctx, sessionKey(digest), []byte(sealed), life); err != nil {
		return err
	}
	// Strict: nothing but our own page, which needs no session to be shown, may use it.
	g.setCookie(w, g.cookieName(), id, int(life.Seconds()), http.SameSiteStrictMode)
	return nil
}

// forget ends the session that the browser had, if any, and whoever ends it puts
// it on record.
func (g *Gateway) forget(r *http.Request) {
	cookie, err := r.Cookie(g.cookieName())
	if err != nil {
		return
	}
	digest := digestOf(cookie.Value)
	sealed, ok, err := g.o.Redis.Take(r.Context(), sessionKey(digest))
	if err != nil {
		g.o.Log.WarnContext(r.Context(), "a session could not be ended", "error", err)
	}
	if !ok {
		return
	}
	token, err := g.o.Cookies.Open(string(sealed), []byte(digest))
	if err != nil {
		g.o.Log.WarnContext(r.Context(), "a session could not be opened", "error", err)
		return
	}
	if p, err := g.o.Verify(r.Context(), string(token)); err == nil { // else the token ended before its session
		g.noteSession(access.With(r.Context(), p), audit.SignedOut)
	}
}

// noteSession puts on record that a person came or went.
func (g *Gateway) noteSession(ctx context.Context, step string) {
	g.o.Log.InfoContext(ctx, step)
	if g.o.Audit == nil {
		return
	}
	if err := g.o.Audit.Append(ctx, audit.Event{Kind: audit.Session, Step: step, Outcome: result.StatusSuccess}); err != nil {
		g.o.Log.ErrorContext(ctx, "audit could not be written", "error", err)
	}
}

// logout ends the session here and, where the issuer has a page for it, there.
func (g *Gateway) logout(w http.ResponseWriter, r *http.Request) error {
	if _, err := r.Cookie(g.cookieName()); err == nil {
		if err := g.sameOrigin(r); err != nil {
			return err
		}
	}
	g.forget(r)
	g.setCookie(w, g.cookieName(), "", -1, http.SameSiteStrictMode)
	http.Redirect(w, r, g.farewell(r.Context()), http.StatusSeeOther)
	return nil
}

func (g *Gateway) farewell(ctx context.Context) string {
	if g.o.Login == nil {
		return "/"
	}
	address, err := g.o.Login.EndSessionURL(ctx, g.o.PublicURL+"/")
	if err != nil || address == "" {
		return "/"
	}
	return address
}
