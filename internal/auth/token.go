package auth

import (
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// MaxToken bounds a token's length in bytes. Larger ones are refused without
// parsing.
const MaxToken = 16 << 10

// algorithms are the accepted ones. Symmetric ones and "none" are not on it, so a
// public key can never serve as a shared secret.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

// keyName finds a key: its ID and the one algorithm that its type allows.
type keyName struct {
	ID  string
	Alg jose.SignatureAlgorithm
}

// token is a JWS that was read but not verified. Only its issuer and key name
// may be used before open has succeeded.
type token struct {
	key    keyName
	issuer string
	claims claims
	jws    *jose.JSONWebSignature
}

// parse reads a token's shape. Header parameters that point to keys (jwk, jku,
// x5u, x5c) are ignored.
func parse(raw string) (*token, error) {
	if len(raw) > MaxToken {
		return nil, errTooLong
	}
	if !compact(raw) { // the base64 decoder would skip line breaks: one token in many spellings
		return nil, errAlphabet
	}
	jws, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil {
		return nil, err
	}
	header := jws.Signatures[0].Protected
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	body, err := readClaims(jws.UnsafePayloadWithoutVerification())
	if err != nil {
		return nil, err
	}
	issuer, err := body.required("iss")
	name := keyName{header.KeyID, jose.SignatureAlgorithm(header.Algorithm)}
	return &token{key: name, issuer: issuer, claims: body, jws: jws}, err
}

// open verifies the signature and returns the claims.
func (t *token) open(key any) (claims, error) {
	if _, err := t.jws.Verify(key); err != nil {
		return nil, err
	}
	return t.claims, nil
}

func checkHeader(h jose.Header) error {
	if h.KeyID == "" {
		return errKeyID
	}
	if _, has := h.ExtraHeaders["crit"]; has {
		return fmt.Errorf("%w: crit", errHeader)
	}
	switch typ := h.ExtraHeaders[jose.HeaderType]; typ {
	case nil, "JWT", "jwt", "at+jwt", "application/at+jwt":
		return nil
	default:
		return fmt.Errorf("%w: typ %v", errHeader, typ)
	}
}

func compact(raw string) bool {
	for i := range len(raw) {
		c := raw[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
