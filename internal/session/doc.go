// Package session signs people in with a browser: the OIDC code flow, the
// cookie, the tokens that are kept for it, and its end. A bare "session" of this
// package is such a login session.
//
// It knows no conversation and no tool. The token is verified again with each
// request, and refreshed near its end where the issuer gave a refresh token; what
// revokes the sign-in ends the session, whatever token that has by then. Start
// with [Service].
package session
