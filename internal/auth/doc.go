// Package auth proves who is calling: it turns a bearer token into an
// [access.Principal], mints the short-lived internal tokens with which the
// gateway speaks to domain servers, and signs people in (OpenID Connect code
// flow with PKCE).
//
// Tokens are judged by our own checks: algorithm allow-list, exact issuer, a
// configured audience, an expiry that must be there, keys only from the issuer's
// published set. Nothing inside a token can name a key, an address or a file.
//
// It knows no tool, no cookie and no route, and it decides nothing about what a
// principal may do. Start reading at [Verifier.Verify], then token.go.
package auth
