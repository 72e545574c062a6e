package issuer

import (
	"crypto/rand"
	"crypto/subtle"
	"maps"
	"strings"
	"sync"
	"time"
)

const (
	refreshLife = 24 * time.Hour // of a refresh token that is not used
	maxFamilies = 10_000         // sign-ins that can be refreshed at once
)

// family is the sign-in that a chain of refresh tokens continues. Only the
// newest token of the chain is valid.
type family struct {
	client, username, scope string

	newest  string // the secret of the newest token
	expires time.Time
}

// families are the sign-ins that can be refreshed, by their id. A refresh token
// is that id and a secret.
type families struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]family
}

func newFamilies(now func() time.Time) *families {
	return &families{now: now, open: make(map[string]family)}
}

// begin returns the first refresh token of a sign-in, or nothing when too many
// sign-ins can be refreshed already.
func (f *families) begin(of family) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.open, func(_ string, one family) bool { return f.now().After(one.expires) })
	if len(f.open) >= maxFamilies {
		return ""
	}
	return f.next(rand.Text(), of)
}

// rotate returns the sign-in that a token of the client continues, and the token
// that replaces it. A token that was replaced before ends its whole family: one
// of its two holders has stolen it (RFC 9700, 4.14.2).
func (f *families) rotate(client, token string) (of family, next string, ok bool) {
	id, secret, _ := strings.Cut(token, ".")
	f.mu.Lock()
	defer f.mu.Unlock()
	of, known := f.open[id]
	if !known || of.client != client || f.now().After(of.expires) {
		return family{}, "", false
	}
	if subtle.ConstantTimeCompare([]byte(secret), []byte(of.newest)) != 1 {
		delete(f.open, id)
		return family{}, "", false
	}
	return of, f.next(id, of), true
}

// next keeps a family with a new secret and returns its token.
func (f *families) next(id string, of family) string {
	of.newest, of.expires = rand.Text(), f.now().Add(refreshLife)
	f.open[id] = of
	return id + "." + of.newest
}
