// Package issuer is the development identity issuer: a real OpenID Connect
// provider (discovery, JWKS, authorization code with PKCE, ES256 tokens) whose
// people are given by name and have no passwords.
//
// It answers on loopback only, says on its page that it is not for production,
// and offers one thing that no real issuer has: POST /dev/token, which gives a
// terminal a person's access token.
//
// It does not know who may do what, nor who trusts it. Start reading at [Start],
// then [Issuer.Handler].
package issuer
