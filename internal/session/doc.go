// Package session signs people in with a browser: the OIDC code flow, the
// cookie, the token that is kept for it, and its end. A bare "session" of this
// package is such a login session.
//
// It knows no conversation and no tool. The token is verified again with each
// request, so that what ends a token ends its session. Start with [Service].
package session
