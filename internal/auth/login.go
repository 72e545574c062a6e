package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// LoginConfig registers the gateway as a client of an identity issuer.
type LoginConfig struct {
	Issuer       string // one of the verifier's issuers
	ClientID     string
	ClientSecret string   // empty: a public client, proven by PKCE alone
	RedirectURL  string   // the gateway's /callback, as registered
	Scopes       []string // empty: openid profile email; openid is always asked for
	Resource     string   // of RFC 8707, for issuers whose tokens are for one resource; empty: none
}

// Flow is one sign-in in progress. The caller stores it secretly until the
// browser returns.
type Flow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // PKCE
}

// Tokens are what the issuer gave for a sign-in. The caller stores them secretly.
type Tokens struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"` // empty: the issuer gave none
	Expires time.Time `json:"expires"`           // of the access token
}

// Login signs people in: the OpenID Connect code flow with PKCE, state, nonce
// and the issuer check of RFC 9207. It keeps nothing between its calls.
type Login struct {
	config   LoginConfig
	verifier *Verifier
	issuer   *issuer
}

// NewLogin makes a login whose access tokens the verifier verifies. It does not
// connect. It fails when the issuer is not one of the verifier's.
func NewLogin(c LoginConfig, v *Verifier) (*Login, error) {
	from, known := v.issuers[c.Issuer]
	if !known || from.endpoint == nil {
		return nil, fmt.Errorf("login: the issuer %q is not configured", c.Issuer)
	}
	if c.ClientID == "" || c.RedirectURL == "" {
		return nil, errors.New("login: a client ID and a redirect address are required")
	}
	if len(c.Scopes) == 0 {
		c.Scopes = []string{oidc.ScopeOpenID, oidc.ScopeProfile, oidc.ScopeEmail}
	}
	if !slices.Contains(c.Scopes, oidc.ScopeOpenID) {
		c.Scopes = append([]string{oidc.ScopeOpenID}, c.Scopes...)
	}
	return &Login{config: c, verifier: v, issuer: from}, nil
}

// Start returns where to send the browser, and the flow to keep. It fails with
// SERVICE_UNAVAILABLE while the issuer cannot be reached.
func (l *Login) Start(ctx context.Context) (string, Flow, error) {
	provider, err := l.provider(ctx)
	if err != nil {
		return "", Flow{}, err
	}
	flow := Flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	address := l.oauth(provider).AuthCodeURL(flow.State, l.with(oidc.Nonce(flow.Nonce), oauth2.S256ChallengeOption(flow.Verifier))...)
	return address, flow, nil
}

// with adds the resource, which both requests to the issuer name.
func (l *Login) with(options ...oauth2.AuthCodeOption) []oauth2.AuthCodeOption {
	if l.config.Resource != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", l.config.Resource))
	}
	return options
}

// Finish takes the query of the browser's return and returns the tokens and their
// principal.
func (l *Login) Finish(ctx context.Context, query url.Values, flow Flow) (Tokens, *access.Principal, error) {
	provider, err := l.provider(ctx)
	if err != nil {
		return Tokens{}, nil, err
	}
	if err := l.checkAnswer(provider, query, flow); err != nil {
		return Tokens{}, nil, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, l.issuer.endpoint.client), 2*fetchTimeout)
	defer cancel()
	tokens, err := l.oauth(provider).Exchange(ctx, query.Get("code"), l.with(oauth2.VerifierOption(flow.Verifier))...)
	if err != nil {
		return Tokens{}, nil, exchangeFailed(err)
	}
	p, err := l.identify(ctx, tokens, flow)
	if err != nil {
		return Tokens{}, nil, err
	}
	return Tokens{Access: tokens.AccessToken, Refresh: tokens.RefreshToken, Expires: p.Expires()}, p, nil
}

// Refresh gets new tokens for those of a sign-in. It fails with UNAUTHENTICATED
// when the issuer wants the person to sign in again, and otherwise with
// SERVICE_UNAVAILABLE: then the old tokens may still be valid. The new ones must
// be stored before anything is done with them, because most issuers accept a
// refresh token once. They are not verified: [Verifier.VerifyBrowser] does that,
// as for every request. An ID token that comes with them is not used.
func (l *Login) Refresh(ctx context.Context, t Tokens) (Tokens, error) {
	provider, err := l.provider(ctx)
	if err != nil {
		return Tokens{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, l.issuer.endpoint.client), 2*fetchTimeout)
	defer cancel()
	client := l.oauth(provider)
	client.RedirectURL = ""
	// An exchange, because a token source cannot name the resource. The code is
	// empty, which is the same as none (RFC 6749, 3.2).
	asked := l.with(oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", t.Refresh))
	answer, err := client.Exchange(ctx, "", asked...)
	if err != nil {
		return Tokens{}, refreshFailed(err)
	}
	next := Tokens{Access: answer.AccessToken, Refresh: cmp.Or(answer.RefreshToken, t.Refresh)}
	if next.Expires = expiryIn(next.Access); answer.ExpiresIn > 0 { // it is only recommended
		next.Expires = l.verifier.now().Add(time.Duration(answer.ExpiresIn) * time.Second)
	}
	if next.Expires.IsZero() {
		return Tokens{}, signIn(errExpiry)
	}
	return next, nil
}

// expiryIn reads the expiry of a token that is not verified yet: it decides only
// when to ask for the next one. It is zero when it cannot be read.
func expiryIn(raw string) time.Time {
	t, err := parse(raw)
	if err != nil {
		return time.Time{}
	}
	at, _ := t.claims.date("exp")
	return at
}

// EndSessionURL returns where to send the browser after signing out here, or
// nothing when the issuer has no such page. The issuer then sends the person to
// returnTo, if it is registered there.
func (l *Login) EndSessionURL(ctx context.Context, returnTo string) (string, error) {
	provider, err := l.provider(ctx)
	if err != nil {
		return "", err
	}
	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil || metadata.EndSession == "" {
		return "", err
	}
	u, err := url.Parse(metadata.EndSession)
	if err != nil {
		return "", fmt.Errorf("end_session_endpoint: %w", err)
	}
	q := u.Query()
	q.Set("client_id", l.config.ClientID)
	q.Set("post_logout_redirect_uri", returnTo)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// provider waits for the first discovery, if none has succeeded yet.
func (l *Login) provider(ctx context.Context) (*oidc.Provider, error) {
	if l.issuer.keys.usable() == nil {
		l.issuer.keys.await(ctx)
	}
	if p := l.issuer.endpoint.provider.Load(); p != nil {
		return p, nil
	}
	return nil, unreachable(errNoKeys)
}

func (l *Login) oauth(p *oidc.Provider) *oauth2.Config {
	endpoint := p.Endpoint()
	if l.config.ClientSecret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams // a first try with Basic would consume the code
	}
	return &oauth2.Config{
		ClientID: l.config.ClientID, ClientSecret: l.config.ClientSecret,
		RedirectURL: l.config.RedirectURL, Scopes: l.config.Scopes, Endpoint: endpoint,
	}
}

// checkAnswer checks that the answer belongs to this flow and comes from this
// issuer, before any of it is used.
func (l *Login) checkAnswer(p *oidc.Provider, query url.Values, flow Flow) error {
	if flow.State == "" || !same(query.Get("state"), flow.State) {
		return signIn(errors.New("the state differs"))
	}
	var metadata struct {
		NamesItself bool `json:"authorization_response_iss_parameter_supported"`
	}
	if err := p.Claims(&metadata); err != nil {
		return signIn(err)
	}
	if (metadata.NamesItself || query.Has("iss")) && query.Get("iss") != l.config.Issuer {
		return signIn(errors.New("the answer is from another issuer"))
	}
	if code := query.Get("error"); code != "" {
		return signIn(fmt.Errorf("the issuer answered %q", code))
	}
	if query.Get("code") == "" {
		return signIn(errors.New("the answer has no code"))
	}
	return nil
}

// identify verifies both tokens: the ID token belongs to this flow, the access
// token is for us, and both have the same subject.
func (l *Login) identify(ctx context.Context, tokens *oauth2.Token, flow Flow) (*access.Principal, error) {
	raw, _ := tokens.Extra("id_token").(string)
	id, err := l.idToken(ctx, raw)
	if err != nil {
		return nil, err
	}
	if flow.Nonce == "" || !same(id.text("nonce"), flow.Nonce) {
		return nil, signIn(errors.New("the nonce differs"))
	}
	p, err := l.verifier.Verify(ctx, tokens.AccessToken)
	if err != nil {
		return nil, err
	}
	if p.Owner() != (access.Owner{Issuer: l.config.Issuer, Subject: id.text("sub")}) {
		return nil, signIn(errors.New("the two tokens have different subjects"))
	}
	return p, nil
}

func (l *Login) idToken(ctx context.Context, raw string) (claims, error) {
	t, err := parse(raw)
	if err != nil {
		return nil, signIn(err)
	}
	c, _, err := l.issuer.open(ctx, t)
	if err != nil {
		return nil, err
	}
	if _, _, err := c.check(l.verifier.now(), l.config.Issuer, []string{l.config.ClientID}); err != nil {
		return nil, err
	}
	if several := c.texts("aud"); len(several) > 1 && c.text("azp") != l.config.ClientID {
		return nil, signIn(fmt.Errorf("the ID token is shared with %v", slices.Sorted(slices.Values(several))))
	}
	return c, nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// exchangeFailed distinguishes a refusal, after which a new sign-in is needed,
// from an issuer that cannot be reached.
func exchangeFailed(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response.StatusCode < 500 {
		return signIn(errors.New("the issuer refused the code: " + refused.ErrorCode))
	}
	return unreachable(err)
}

// signInAgain are the errors with which an issuer ends a sign-in: RFC 6749's, and
// those of OpenID Connect that issuers use when a policy wants the person back.
// Others, such as invalid_client, are about us.
var signInAgain = []string{"invalid_grant", "login_required", "interaction_required", "consent_required"}

func refreshFailed(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && slices.Contains(signInAgain, refused.ErrorCode) {
		return fault.Unauthorized.New("Your session has ended. Please sign in again.").Because(errors.New("the issuer refused to refresh: " + refused.ErrorCode))
	}
	return fault.ServiceDown.New("The identity service cannot be reached, so your sign-in cannot be renewed at the moment.").Because(err)
}

func signIn(cause error) *fault.Error {
	return fault.Unauthorized.New("The sign-in could not be completed.").Suggest("Start again from the sign-in page.").Because(cause)
}
