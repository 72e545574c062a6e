// Package issuer is the development identity issuer: a real OpenID Connect
// provider (discovery, JWKS, authorization code with PKCE, ES256 tokens) whose
// people are configured and have no passwords.
//
// It listens on loopback only, says on its page that it is not for production,
// and has one endpoint that no real issuer has: POST /dev/token, which returns a
// person's access token to a terminal.
//
// It knows no permissions, and not who trusts it. Start reading at [Start],
// then [Issuer.Handler].
package issuer
