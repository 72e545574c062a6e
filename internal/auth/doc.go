// Package auth proves who is calling: it turns a bearer token into an
// [access.Principal], mints the short-lived internal tokens with which the
// gateway calls domain servers, and signs people in (OpenID Connect code
// flow with PKCE).
//
// The checks are our own: algorithm allow-list, exact issuer, a configured
// audience, a required expiry, keys only from the issuer's published set. No
// token can name a key by value, an address or a file.
//
// It knows no tool, no cookie and no route, and it decides nothing about what a
// principal may do. Start reading at [Verifier.Verify], then token.go.
package auth
