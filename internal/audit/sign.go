package audit

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
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
// characters. Without a signer it is empty.
func (s *Signer) PublicKey() string {
	if s == nil {
		return ""
	}
	return s.public
}

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

// signDelay is how long the line of anything but a change may wait for its signature,
// which is then shared with the lines that came meanwhile: it costs more than all else
// of a line. Until then, somebody without a key who ends the process can remove or
// forge what was written since the last one.
const signDelay = 100 * time.Millisecond

// signing signs the end of a log. It is guarded by the log's lock.
type signing struct {
	signer  *Signer
	last    SignedHead // the newest that is signed
	waiting bool       // the timer runs
	timer   *time.Timer
	text    []byte // of the head, kept for the next one
}

// start prepares the timer that signs late.
func (s *signing) start(signer *Signer, late func()) {
	s.signer, s.timer = signer, time.AfterFunc(time.Hour, late)
	s.timer.Stop() // until a line waits
}

// head writes a head with the signature of its own end, if it is wanted now, or with
// the newest one. The bytes are valid until the next call.
func (s *signing) head(h SignedHead, now bool) []byte {
	if now {
		s.last = h
		s.signer.sign(&s.last)
	} else if s.signer != nil && !s.waiting {
		s.waiting = true
		s.timer.Reset(signDelay)
	}
	s.text = storedHead{h, s.last}.append(s.text[:0])
	return s.text
}
