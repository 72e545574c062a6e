package issuer

import (
	"crypto/subtle"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/strictjson"
)

// token exchanges an authorization code or a refresh token for tokens.
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
	if kind := form.Get("grant_type"); kind != "authorization_code" && kind != "refresh_token" {
		oauthError(w, http.StatusBadRequest, "unsupported_grant_type", "Only authorization_code and refresh_token are supported.")
		return
	}
	g, refresh, ok := i.granted(client, form)
	if !ok {
		oauthError(w, http.StatusBadRequest, "invalid_grant", "The code or refresh token is unknown, used, expired, or not this client's.")
		return
	}
	i.writeTokens(w, client, g, refresh)
}

// granted returns what a code or a refresh token grants, and the next refresh
// token. Each sign-in can be refreshed, as with issuers that bind refresh tokens
// to their own session.
func (i *Issuer) granted(client Client, form url.Values) (g grant, refresh string, ok bool) {
	if form.Get("grant_type") == "authorization_code" {
		g, ok = i.codes.redeem(form.Get("code"))
		if !ok || !g.fits(client, form) {
			return grant{}, "", false
		}
		return g, i.families.begin(family{client: client.ID, username: g.person.Username, scope: g.scope}), true
	}
	of, next, ok := i.families.rotate(client.ID, form.Get("refresh_token"))
	person, known := i.person(of.username)
	return grant{person: person, scope: of.scope}, next, ok && known
}

func (i *Issuer) writeTokens(w http.ResponseWriter, client Client, g grant, refresh string) {
	access, err := i.accessToken(g.person, client.Audience, client.ID, g.scope)
	if err != nil {
		oauthError(w, http.StatusInternalServerError, "server_error", "The token could not be signed.")
		return
	}
	id, err := i.idToken(g.person, client.ID, g.nonce)
	if err != nil {
		oauthError(w, http.StatusInternalServerError, "server_error", "The token could not be signed.")
		return
	}
	answer := map[string]any{
		"access_token": access, "id_token": id, "token_type": "Bearer",
		"expires_in": int(i.life.Seconds()), "scope": g.scope,
	}
	if refresh != "" {
		answer["refresh_token"] = refresh
	}
	writeJSON(w, http.StatusOK, answer)
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
	var in struct {
		Username string `json:"username"`
		Audience string `json:"audience"`
		Scope    string `json:"scope"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = strictjson.Unmarshal(body, &in)
	}
	if err != nil {
		oauthError(w, http.StatusBadRequest, "invalid_request", "Send one JSON object with username, audience and scope.")
		return
	}
	if !audienceName.MatchString(in.Audience) {
		oauthError(w, http.StatusBadRequest, "invalid_request", "An audience is the name of a server, such as gateway or hr.")
		return
	}
	if len(i.servers) > 0 && !slices.Contains(i.servers, in.Audience) {
		oauthError(w, http.StatusBadRequest, "invalid_request", "No server has this name. An audience is one of: "+strings.Join(i.servers, ", ")+".")
		return
	}
	if scope := granted(in.Scope); scope == "" || scope != in.Scope {
		oauthError(w, http.StatusBadRequest, "invalid_scope", "A scope is one or more of: "+strings.Join(scopes, ", ")+".")
		return
	}
	person, known := i.person(in.Username)
	if !known {
		oauthError(w, http.StatusNotFound, "unknown_person", "No person has this user name.")
		return
	}
	token, err := i.accessToken(person, in.Audience, i.terminal, in.Scope)
	if err != nil {
		oauthError(w, http.StatusInternalServerError, "server_error", "The token could not be signed.")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(i.life.Seconds())})
}
