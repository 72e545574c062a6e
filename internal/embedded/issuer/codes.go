package issuer

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"net/url"
	"sync"
	"time"
)

const (
	codeLife = 60 * time.Second
	maxCodes = 10_000 // sign-ins under way at once
)

// grant is what an authorization code grants.
type grant struct {
	client, redirect, nonce, challenge, scope string

	person  Person
	expires time.Time
}

// codes are the authorization codes that wait to be exchanged.
type codes struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]grant
}

func newCodes(now func() time.Time) *codes {
	return &codes{now: now, open: make(map[string]grant)}
}

// issue makes a code, unless too many are waiting.
func (c *codes) issue(g grant) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	maps.DeleteFunc(c.open, func(_ string, waiting grant) bool { return now.After(waiting.expires) })
	if len(c.open) >= maxCodes {
		return "", false
	}
	code := rand.Text()
	g.expires = now.Add(codeLife)
	c.open[code] = g
	return code, true
}

// redeem removes and returns a code: a code works once, even after a failure.
func (c *codes) redeem(code string) (grant, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.open[code]
	delete(c.open, code)
	return g, ok && !c.now().After(g.expires)
}

// fits verifies PKCE: the client that started the sign-in also finishes it.
func (g grant) fits(client Client, form url.Values) bool {
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	proof := base64.RawURLEncoding.EncodeToString(sum[:])
	return g.client == client.ID && g.redirect == form.Get("redirect_uri") &&
		subtle.ConstantTimeCompare([]byte(proof), []byte(g.challenge)) == 1
}
