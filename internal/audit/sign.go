package audit

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// Signer signs the heads of a log. Who verifies needs the public key only, and
// cannot sign with it.
type Signer struct {
	key    ed25519.PrivateKey
	public string // as base64url
}

// NewSigner derives the key of a process from its sealing secret (HKDF, purpose
// audit).
func NewSigner(secret []byte) (*Signer, error) {
	seed, err := hkdf.Key(sha256.New, secret, nil, "countersign audit", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	return &Signer{key, base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey))}, nil
}

// PublicKey is the key that verifies, as base64url without padding: 43
// characters.
func (s *Signer) PublicKey() string { return s.public }

func (s *Signer) sign(h *SignedHead) {
	if s == nil {
		return
	}
	h.Key = s.PublicKey()
	h.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.key, h.statement()))
}

// CheckKey reports whether a text is a public key.
func CheckKey(key string) error {
	raw, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return errors.New("a public key of an audit log has 43 characters of base64url; `countersign check` prints it")
	}
	return nil
}

// signedBy reports whether the key made the head's signature.
func (h SignedHead) signedBy(key string) bool {
	public, err := base64.RawURLEncoding.DecodeString(key)
	signature, err2 := base64.RawURLEncoding.DecodeString(h.Signature)
	return err == nil && err2 == nil && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, h.statement(), signature)
}

// check returns an error for a head that its own key did not sign.
func (h SignedHead) check() error {
	if !h.signedBy(h.Key) {
		return fmt.Errorf("the head of the log %.20q of %.40q has no valid signature", h.Log, h.Name)
	}
	return nil
}
