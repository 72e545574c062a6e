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
	if _, given := body["scope"]; !given {
		return c.ConfirmWithoutScope
	}
	return len(clients) > 0 && slices.Contains(scopesOf(body), ScopeConfirm)
}

// clientsOf returns the clients that a token names as its own: azp and
// client_id, which are the same in an honest token. A claim of another type is
// a client without a name, which no list has.
func clientsOf(body claims) (clients []string) {
	for _, name := range []string{"azp", "client_id"} {
		if _, given := body[name]; given {
			clients = append(clients, body.text(name))
		}
	}
	return clients
}

// scopesOf reads scope: names between spaces (RFC 8693), or a list of names.
func scopesOf(body claims) (scopes []string) {
	for _, text := range body.texts("scope") {
		scopes = append(scopes, strings.Fields(text)...)
	}
	return scopes
}
