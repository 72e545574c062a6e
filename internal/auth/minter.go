package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/memo"
)

const (
	internalLife = 60 * time.Second
	reuseWhile   = 15 * time.Second // a token with less left is not reused: it could expire on the way

	// Afterlife is how long after the end of a person's own token the gateway
	// may still call for them, so that a turn which began in time can finish.
	Afterlife = 2 * time.Minute
)

// Minter makes the internal tokens with which the gateway calls its servers. A
// caller's own token is never passed on. It is safe for concurrent use.
type Minter struct {
	signer jose.Signer
	minted *cache[minted]
	recent *memo.Memo[request, minted] // of minted, found without reading the principal
	now    func() time.Time
}

// request is what a token is asked for. A principal is never changed.
type request struct {
	of       *access.Principal
	audience string
	purpose  access.Purpose
}

type minted struct {
	token   string
	expires time.Time
}

// NewMinter makes a minter that signs with the first of the keys. A nil now is
// time.Now.
func NewMinter(k *Keys, now func() time.Time) (*Minter, error) {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: k.signing[0]},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return nil, fmt.Errorf("sign internal tokens: %w", err)
	}
	if now == nil {
		now = time.Now
	}
	return &Minter{signer: signer, minted: newCache[minted](10_000), recent: memo.New[request, minted](1000), now: now}, nil
}

// Token returns a token of the principal for one server, valid between 15 and
// 60 s. It fails with UNAUTHENTICATED when the principal's own token ended more
// than [Afterlife] ago, and with INSUFFICIENT_SCOPE when it is to answer a
// confirmation and the principal may not.
func (m *Minter) Token(p *access.Principal, audience string, purpose access.Purpose) (string, error) {
	now := m.now()
	if end := p.Expires(); !end.IsZero() && now.After(end.Add(Afterlife)) {
		return "", expired(errExpired)
	}
	if purpose == access.PurposeExecute && !p.MayConfirm() {
		return "", fault.InsufficientScope.New("This sign-in may not approve or deny changes.")
	}
	asked := request{p, audience, purpose}
	if kept := m.recent.Get(asked); kept.expires.Sub(now) >= reuseWhile {
		return kept.token, nil
	}
	key := m.key(p, audience, purpose)
	kept, ok := m.minted.get(key)
	if !ok || kept.expires.Sub(now) < reuseWhile {
		token, err := m.mint(p, audience, purpose, now)
		if err != nil {
			return "", fmt.Errorf("mint a token for %s: %w", audience, err)
		}
		kept = minted{token, now.Add(internalLife)}
		m.minted.put(key, kept)
	}
	m.recent.Put(asked, kept)
	return kept.token, nil
}

func (m *Minter) mint(p *access.Principal, audience string, purpose access.Purpose, now time.Time) (string, error) {
	owner := p.Owner()
	claims := map[string]any{
		"iss": InternalIssuer, "aud": audience, "sub": owner.Subject, "orig_iss": owner.Issuer,
		"iat": now.Unix(), "exp": now.Add(internalLife).Unix(), "jti": rand.Text(), "purpose": purpose,
		"preferred_username": p.Username(), "name": p.Name(), "email": p.Email(), "email_verified": p.Email() != "",
		"roles": p.Roles(), "groups": p.Groups(), "orig_jti": p.TokenID(), "origin": p.Provenance(),
	}
	if at := p.Issued(); !at.IsZero() {
		claims["orig_iat"] = at.Unix()
	}
	return jwt.Signed(m.signer).Claims(claims).Serialize()
}

// key is a digest of everything in the token about the person, their own token
// and the provenance of the call, so that a changed role or name is never served from
// the cache, nor a token that was revoked or is of another surface.
func (m *Minter) key(p *access.Principal, audience string, purpose access.Purpose) digest {
	owner, provenance := p.Owner(), p.Provenance()
	b := binary.AppendVarint(make([]byte, 0, 512), p.Issued().Unix())
	for _, field := range []string{audience, string(purpose), owner.Issuer, owner.Subject, p.Username(), p.Name(), p.Email(), p.TokenID(), string(provenance.Surface)} {
		b = appendField(b, field)
	}
	for _, list := range [][]string{p.Roles(), p.Groups(), {provenance.Read()}} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, name := range list {
			b = appendField(b, name)
		}
	}
	return sha256.Sum256(b)
}

// appendField writes the length first, so that no two lists of fields look the
// same.
func appendField(b []byte, field string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(field))), field...)
}
