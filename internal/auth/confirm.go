package auth

import (
	"slices"
	"strings"
)

// The scopes that have a meaning here.
const (
	ScopeConfirm = "confirm"        // its token may answer confirmations
	ScopeOffline = "offline_access" // asks the issuer for a refresh token
)

// mayConfirm reports whether a token of the issuer may answer confirmations: it
// has the scope and was issued to a client that may approve. What an issuer
// grants to another client does not count.
func (c Config) mayConfirm(body claims) bool {
	clients := clientsOf(body)
	for _, client := range clients {
		if !slices.Contains(c.ConfirmClients, client) {
			return false
		}
	}
	scopes, given := scopesOf(body)
	if !given {
		return c.ConfirmWithoutScope
	}
	return len(clients) > 0 && slices.Contains(scopes, ScopeConfirm)
}

// clientsOf returns the clients that a token names as its own: azp and
// client_id, Okta's cid and Entra's appid, which are the same in an honest token.
// A claim of another type is a client without a name, which no list has.
func clientsOf(body claims) (clients []string) {
	for _, name := range []string{"azp", "client_id", "cid", "appid"} {
		if _, given := body[name]; given {
			clients = append(clients, body.text(name))
		}
	}
	return clients
}

// scopesOf reads scope, or scp as Okta and Entra call it: names between spaces
// (RFC 8693), or a list of names. given: the token has such a claim.
func scopesOf(body claims) (scopes []string, given bool) {
	for _, name := range []string{"scope", "scp"} {
		_, is := body[name]
		given = given || is
		for _, text := range body.texts(name) {
			scopes = append(scopes, strings.Fields(text)...)
		}
	}
	return scopes, given
}
