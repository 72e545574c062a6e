package issuer

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// claims are the claims of a person in both tokens.
func (i *Issuer) claims(p Person, audience string) map[string]any {
	now := i.now()
	return map[string]any{
		"iss": i.url, "sub": p.Subject, "aud": audience,
		"iat": now.Unix(), "exp": now.Add(i.life).Unix(), "jti": rand.Text(),
		"preferred_username": p.Username, "name": p.Name,
		"email": p.Email, "email_verified": p.Email != "",
		"realm_access": map[string]any{"roles": append([]string{}, p.Roles...)},
		"groups":       append([]string{}, p.Groups...),
	}
}

// scopes are what a client can ask for: mcp to call tools, confirm to answer
// confirmations, and OpenID Connect's own.
var scopes = []string{"openid", "profile", "email", "mcp", "confirm"}

// granted returns those of the requested scopes that the issuer knows.
func granted(requested string) string {
	unknown := func(scope string) bool { return !slices.Contains(scopes, scope) }
	return strings.Join(slices.DeleteFunc(strings.Fields(requested), unknown), " ")
}

// accessToken makes a token of a person for one audience. It names the client
// that it was issued to, and the scopes that were granted.
func (i *Issuer) accessToken(p Person, audience, clientID, scope string) (string, error) {
	claims := i.claims(p, audience)
	if clientID != "" {
		claims["azp"], claims["client_id"] = clientID, clientID
	}
	claims["scope"] = scope
	return i.signer.sign(accessType, claims)
}

func (i *Issuer) idToken(p Person, clientID, nonce string) (string, error) {
	claims := i.claims(p, clientID)
	if nonce != "" {
		claims["nonce"] = nonce
	}
	return i.signer.sign(idType, claims)
}

// verify reads one of our own access tokens.
func (i *Issuer) verify(token string) (map[string]any, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, err
	}
	if parsed.Headers[0].ExtraHeaders[jose.HeaderType] != accessType {
		return nil, errors.New("issuer: not an access token")
	}
	var registered jwt.Claims
	var all map[string]any
	if err := parsed.Claims(i.signer.key.Public(), &registered, &all); err != nil {
		return nil, err
	}
	expected := jwt.Expected{Issuer: i.url, Time: i.now()}
	return all, registered.ValidateWithLeeway(expected, time.Second)
}
