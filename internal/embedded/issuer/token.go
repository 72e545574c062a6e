package issuer

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"time"
)

const (
	codeLife = 60 * time.Second
	maxCodes = 10_000 // sign-ins under way at once
)

// grant is what an authorization code grants.
type grant struct {
	client, redirect, nonce, challenge string
	person                             Person
	expires                            time.Time
}

// codes are the authorization codes that wait to be exchanged.
type codes struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]grant
}

func newCodes(now func() time.Time) *codes {
	return &codes{now: now, open: make(map[string]grant)}
}

// issue makes a code, unless too many are waiting.
func (c *codes) issue(g grant) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for code, waiting := range c.open {
		if now.After(waiting.expires) {
			delete(c.open, code)
		}
	}
	if len(c.open) >= maxCodes {
		return "", false
	}
	code := rand.Text()
	g.expires = now.Add(codeLife)
	c.open[code] = g
	return code, true
}

// redeem removes and returns a code: a code works once, even after a failure.
func (c *codes) redeem(code string) (grant, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.open[code]
	delete(c.open, code)
	return g, ok && !c.now().After(g.expires)
}

// token exchanges an authorization code for an ID token and an access token.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		oauthError(w, http.StatusBadRequest, "invalid_request", "The form cannot be read.")
		return
	}
	form := r.PostForm
	client, ok := i.authenticate(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="development issuer"`)
		oauthError(w, http.StatusUnauthorized, "invalid_client", "The client is unknown or its secret is wrong.")
		return
	}
	if form.Get("grant_type") != "authorization_code" {
		oauthError(w, http.StatusBadRequest, "unsupported_grant_type", "Only authorization_code is supported.")
		return
	}
	g, ok := i.codes.redeem(form.Get("code"))
	if !ok || !g.fits(client, form) {
		oauthError(w, http.StatusBadRequest, "invalid_grant", "The code is unknown, used, expired, or not this client's.")
		return
	}
	i.writeTokens(w, client, g)
}

// fits verifies PKCE: the client that started the sign-in also finishes it.
func (g grant) fits(client Client, form url.Values) bool {
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	proof := base64.RawURLEncoding.EncodeToString(sum[:])
	return g.client == client.ID && g.redirect == form.Get("redirect_uri") &&
		subtle.ConstantTimeCompare([]byte(proof), []byte(g.challenge)) == 1
}

func (i *Issuer) writeTokens(w http.ResponseWriter, client Client, g grant) {
	access, err := i.accessToken(g.person, client.Audience, client.ID)
	if err != nil {
		oauthError(w, http.StatusInternalServerError, "server_error", "The token could not be signed.")
		return
	}
	id, err := i.idToken(g.person, client.ID, g.nonce)
	if err != nil {
		oauthError(w, http.StatusInternalServerError, "server_error", "The token could not be signed.")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": access, "id_token": id, "token_type": "Bearer",
		"expires_in": int(TokenLife.Seconds()), "scope": "openid profile email",
	})
}

// authenticate finds the client of a token request. A public client has no
// secret and must send none.
func (i *Issuer) authenticate(r *http.Request) (Client, bool) {
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, basic := r.BasicAuth(); basic {
		id, secret = unescape(user), unescape(password)
	}
	client, known := i.client(id)
	return client, known && subtle.ConstantTimeCompare([]byte(secret), []byte(client.Secret)) == 1
}

// unescape reverts the form encoding of OAuth's Basic credentials.
func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// audienceName restricts the audiences that can be requested.
var audienceName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// devToken returns a person's access token to a terminal. Browsers cannot use it
// from another site: the cross-origin protection refuses them, and a form cannot
// send JSON.
func (i *Issuer) devToken(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		oauthError(w, http.StatusUnsupportedMediaType, "invalid_request", "Send Content-Type: application/json.")
		return
	}
	var in struct{ Username, Audience string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		oauthError(w, http.StatusBadRequest, "invalid_request", "Send one JSON object with username and audience.")
		return
	}
	if !audienceName.MatchString(in.Audience) {
		oauthError(w, http.StatusBadRequest, "invalid_request", "An audience is the name of a server, such as gateway or hr.")
		return
	}
	person, known := i.person(in.Username)
	if !known {
		oauthError(w, http.StatusNotFound, "unknown_person", "Nobody here has this user name.")
		return
	}
	token, err := i.accessToken(person, in.Audience, "")
	if err != nil {
		oauthError(w, http.StatusInternalServerError, "server_error", "The token could not be signed.")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(TokenLife.Seconds())})
}
