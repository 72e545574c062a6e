package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/access"
)

// Config is a trusted identity issuer.
type Config struct {
	URL           string   // exactly the value of iss; https, or http on loopback
	Audiences     []string // accepted aud values; at least one
	UsernameClaim string   // empty: preferred_username
	RolesClaims   []string // empty: DefaultRolesClaims
	TrustEmail    bool     // accept email without email_verified, for issuers that verify but omit the claim

	Authority *Authority // what the issuer may say about people; nil: everything

	// ConfirmClients are the clients (azp, or client_id) whose tokens with the
	// scope confirm may answer confirmations. Empty: no bearer token may.
	ConfirmClients []string
	// ConfirmWithoutScope gives the right also to tokens without any scope claim,
	// for issuers that have no scopes.
	ConfirmWithoutScope bool
}

// DefaultRolesClaims are the paths of the roles claims. Dots lead into nested
// objects, and <audience> is replaced by the accepted audience.
func DefaultRolesClaims() []string {
	return []string{"realm_access.roles", "resource_access.<audience>.roles", "roles"}
}

// Options has the rarer settings; nil or zero is a good default.
type Options struct {
	Internal  *Internal        // nil: internal tokens are refused
	CacheSize int              // verified tokens kept; 0: 10,000
	Log       *slog.Logger     // nil: slog.Default()
	Now       func() time.Time // nil: time.Now

	// Revoked rejects the principal of a valid token that no longer counts, or
	// returns nil. It is asked for each request. Nil: every valid token counts.
	Revoked func(*access.Principal) error

	// Dropped is called with what a limited issuer may not say about a person, once
	// for each token that is kept. Nil: it is logged only.
	Dropped func(context.Context, Dropped)
}

// SignIn is the sign-in with which a browser's session began. The session is
// revoked with it, whatever token the session has by then.
type SignIn struct {
	Owner   access.Owner `json:"owner"`
	TokenID string       `json:"jti"` // of the first access token
	Issued  time.Time    `json:"iat"` // of the first access token
}

// SignInOf returns the sign-in of a principal whose session begins.
func SignInOf(p *access.Principal) SignIn { return SignIn{p.Owner(), p.TokenID(), p.Issued()} }

// Verifier verifies bearer tokens of the configured issuers. It is safe for
// concurrent use.
type Verifier struct {
	issuers map[string]*issuer // by iss
	first   *issuer            // the one that signs people in; nil: internal tokens only
	seen    *cache[verified]
	log     *slog.Logger
	now     func() time.Time
	revoked func(*access.Principal) error
	dropped func(context.Context, Dropped)
}

// verified is the principal of a valid token, and the version of the keys.
type verified struct {
	principal *access.Principal
	keys      *keyset
	version   uint64
}

// issuer is one source of tokens: how its tokens are verified, and how their
// claims become a person.
type issuer struct {
	name      string
	audiences []string
	keys      *keyset
	endpoint  *endpoint // nil for internal tokens
	identify  func(c claims, audiences []string) (access.Claims, error)
	limit     *limited // what it may say; nil: everything
}

// NewVerifier makes a verifier. It does not connect; keys are fetched for the
// first token. It reports every mistake in the configuration at once.
func NewVerifier(configs []Config, o *Options) (*Verifier, error) {
	if o == nil {
		o = &Options{}
	}
	v := &Verifier{
		issuers: make(map[string]*issuer), seen: newCache[verified](cmp.Or(o.CacheSize, 10_000)),
		log: o.Log, now: o.Now, revoked: o.Revoked, dropped: o.Dropped,
	}
	if v.log == nil {
		v.log = slog.Default()
	}
	if v.now == nil {
		v.now = time.Now
	}
	if v.revoked == nil {
		v.revoked = func(*access.Principal) error { return nil }
	}
	var mistakes []error
	for _, c := range configs {
		mistakes = append(mistakes, v.trust(c))
	}
	if o.Internal != nil {
		mistakes = append(mistakes, v.trustGateway(*o.Internal))
	}
	if len(configs) > 0 {
		v.first = v.issuers[configs[0].URL]
	}
	if len(v.issuers) == 0 {
		mistakes = append(mistakes, errors.New("auth: no issuer is configured"))
	}
	return v, errors.Join(mistakes...)
}

// Verify verifies a token and returns its principal. It fails with
// UNAUTHENTICATED, with what [Options] says of revoked tokens, or with
// SERVICE_UNAVAILABLE while the issuer's keys have never been reached. Principals
// are cached until their token expires or a key
// of its issuer changes.
func (v *Verifier) Verify(ctx context.Context, raw string) (*access.Principal, error) {
	if len(raw) > MaxToken {
		return nil, invalid(errTooLong)
	}
	key := digestOf(raw)
	if seen, ok := v.seen.get(key); ok && v.now().Before(seen.principal.Expires()) && seen.keys.holds(seen.version) {
		return v.unrevoked(seen.principal)
	}
	found, err := v.verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	v.seen.put(key, found)
	return v.unrevoked(found.principal)
}

// Ready reports whether tokens of the first issuer can be verified. It fetches the keys of
// one that was never reached; later ones are fetched as they are needed, and an outage of the
// issuer changes nothing while those that are there are used. Other issuers may be down:
// their people alone are kept out.
func (v *Verifier) Ready(ctx context.Context) error {
	if v.first == nil || v.first.keys.usable() != nil {
		return nil
	}
	if v.first.keys.await(ctx); v.first.keys.usable() == nil {
		return unreachable(errNoKeys)
	}
	return nil
}

// unrevoked returns the principal of a valid token unless it was revoked.
func (v *Verifier) unrevoked(p *access.Principal) (*access.Principal, error) {
	if err := v.revoked(p); err != nil {
		return nil, err
	}
	return p, nil
}

// VerifyBrowser is Verify for a token of a browser's session, which never leaves
// the gateway: its person may answer confirmations. The principal has the sign-in
// that began the session, so that revoking that, or the person since then, ends
// the session however often its token was refreshed. The issuer gave that token to
// the gateway itself: while its keys cannot be fetched again, one of a new key is
// SERVICE_UNAVAILABLE.
func (v *Verifier) VerifyBrowser(ctx context.Context, raw string, began SignIn) (*access.Principal, error) {
	p, err := v.Verify(ctx, raw)
	if errors.Is(err, errUnchecked) {
		return nil, unreachable(err)
	}
	if err != nil {
		return nil, err
	}
	if p.Owner() != began.Owner {
		return nil, invalid(errPerson)
	}
	return v.unrevoked(p.InSession(began.TokenID, began.Issued))
}

func (v *Verifier) verify(ctx context.Context, raw string) (verified, error) {
	t, err := parse(raw)
	if err != nil {
		return verified{}, invalid(err)
	}
	from, known := v.issuers[t.issuer]
	if !known {
		return verified{}, invalid(errIssuer)
	}
	c, version, err := from.open(ctx, t)
	if err != nil {
		return verified{}, err
	}
	expiry, audiences, err := c.check(v.now(), from.name, from.audiences)
	if err != nil {
		return verified{}, err
	}
	who, err := from.identify(c, audiences)
	if err != nil {
		return verified{}, invalid(err)
	}
	if from.limit != nil {
		who = from.limit.apply(ctx, who)
	}
	who.Expires = expiry
	if who.TokenID == "" { // so that it can be revoked all the same
		sum := sha256.Sum256([]byte(raw))
		who.TokenID = "sha256:" + hex.EncodeToString(sum[:])
	}
	return verified{access.NewPrincipal(who), from.keys, version}, nil
}

// open verifies the signature with the issuer's key.
func (i *issuer) open(ctx context.Context, t *token) (claims, uint64, error) {
	key, version, err := i.keys.find(ctx, t.key)
	if err != nil {
		return nil, 0, err
	}
	c, err := t.open(key)
	if err != nil {
		return nil, 0, invalid(err)
	}
	return c, version, nil
}

func (v *Verifier) trust(c Config) error {
	if err := secureURL(c.URL, c.URL); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	if len(c.Audiences) == 0 || slices.Contains(c.Audiences, "") {
		return fmt.Errorf("issuer %s: an audience is required", c.URL)
	}
	if _, twice := v.issuers[c.URL]; twice {
		return fmt.Errorf("issuer %s: is configured twice", c.URL)
	}
	from := &endpoint{issuer: c.URL, client: newClient(c.URL)}
	v.issuers[c.URL] = &issuer{
		name: c.URL, audiences: slices.Clone(c.Audiences), endpoint: from,
		keys: v.keyset(from.keys), identify: c.identify,
	}
	if c.Authority != nil {
		v.issuers[c.URL].limit = &limited{authority: *c.Authority, issuer: c.URL, dropped: v.dropped, log: v.log, reported: map[string]bool{}}
	}
	return nil
}

func (v *Verifier) keyset(fetch func(context.Context) (publicKeys, error)) *keyset {
	return &keyset{fetch: fetch, now: v.now, log: v.log}
}

// identify reads a person from an identity issuer's claims. Claims of internal
// tokens (purpose, orig_iss) are ignored.
func (c Config) identify(body claims, audiences []string) (access.Claims, error) {
	subject, err := body.subject()
	if err != nil {
		return access.Claims{}, err
	}
	issued, err := body.date("iat")
	if err != nil {
		return access.Claims{}, err
	}
	verified, _ := body["email_verified"].(bool)
	return access.Claims{
		Issuer: c.URL, Subject: subject, Username: c.username(body, access.Owner{Issuer: c.URL, Subject: subject}),
		Email: body.text("email"), EmailVerified: body.text("email") != "" && (verified || c.TrustEmail),
		Name: body.text("name"), Roles: c.roles(body, audiences), Groups: wellFormed(body.texts("groups")),
		MayConfirm: c.mayConfirm(body),
		TokenID:    body.text("jti"), Issued: issued,
	}, nil
}

// username is the name of the claim, or one that is made of the subject. No other person has that: user names name
// workspaces and the people of them.
func (c Config) username(body claims, owner access.Owner) string {
	if name := body.text(cmp.Or(c.UsernameClaim, "preferred_username")); name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(owner.String()))
	begins := []rune(owner.Subject)
	return "user-" + string(begins[:min(len(begins), 8)]) + "-" + hex.EncodeToString(sum[:6])
}

func (c Config) roles(body claims, audiences []string) []string {
	paths := c.RolesClaims
	if len(paths) == 0 {
		paths = DefaultRolesClaims()
	}
	var roles []string
	for _, path := range paths {
		roles = append(roles, rolesAt(body, path, audiences)...)
	}
	return wellFormed(roles)
}

// rolesAt reads one path. A claim whose complete name is the path comes first,
// because some issuers name claims by URLs with dots.
func rolesAt(body claims, path string, audiences []string) []string {
	if value, ok := body[path]; ok {
		return texts(value)
	}
	steps := strings.Split(path, ".")
	at := slices.Index(steps, "<audience>")
	if at < 0 {
		return texts(body.walk(steps))
	}
	var roles []string
	for _, audience := range audiences {
		steps[at] = audience
		roles = append(roles, texts(body.walk(steps))...)
	}
	return roles
}

// trustGateway accepts internal tokens made for this server.
func (v *Verifier) trustGateway(in Internal) error {
	if in.Audience == "" {
		return errors.New("internal tokens: the server's name is required")
	}
	keys, err := v.internalKeys(in)
	if err != nil {
		return err
	}
	v.issuers[InternalIssuer] = &issuer{
		name: InternalIssuer, audiences: []string{in.Audience}, keys: keys, identify: identifyInternal,
	}
	return nil
}

func (v *Verifier) internalKeys(in Internal) (*keyset, error) {
	if in.Keys != nil {
		return fixedKeys(in.Keys.public()), nil
	}
	if err := secureURL(in.GatewayURL, in.GatewayURL); err != nil {
		return nil, fmt.Errorf("internal tokens: the gateway's address: %w", err)
	}
	return v.keyset(gatewayKeys(newClient(in.GatewayURL), in.GatewayURL)), nil
}
