package audit

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Signer signs the heads of a log. Who verifies needs the public key only, and
// cannot sign with it.
type Signer struct {
	key  ed25519.PrivateKey
	keys []string // public keys as base64url: its own, and those of the process's other secrets
}

// NewSigner derives the key of a process from its sealing secret (HKDF, purpose
// audit). The others are those that it signed with before, or will.
func NewSigner(secret []byte, others ...[]byte) (*Signer, error) {
	s := &Signer{}
	for i, one := range append([][]byte{secret}, others...) {
		seed, err := hkdf.Key(sha256.New, one, nil, "countersign audit", ed25519.SeedSize)
		if err != nil {
			return nil, err
		}
		key := ed25519.NewKeyFromSeed(seed)
		if i == 0 {
			s.key = key
		}
		s.keys = append(s.keys, base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey)))
	}
	return s, nil
}

// PublicKey is the key that verifies, as base64url without padding: 43
// characters. Without a signer it is empty.
func (s *Signer) PublicKey() string {
	if s == nil {
		return ""
	}
	return s.keys[0]
}

func (s *Signer) sign(h *SignedHead) {
	if s == nil {
		return
	}
	h.Key = s.PublicKey()
	h.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.key, h.statement()))
}

// made reports whether a head was signed with one of the keys.
func (s *Signer) made(h SignedHead) bool {
	return s != nil && slices.ContainsFunc(s.keys, h.signedBy)
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

// unsigned is the lines after a signed head.
type unsigned struct {
	after   Head
	follow  bool   // the first of them follows the head's event
	ended   bool   // that event is the end of a process
	started bool   // the first of them is the start of the next one
	last    uint64 // number of the last one
	changes int    // of a kind that is signed at once
}

// see looks at a line of the log. The lines can come in any order.
func (u *unsigned) see(e Event) {
	if e.Seq == u.after.Seq {
		u.ended = e.Hash == u.after.Hash && e.Kind == Opened && e.Step == stepClosed
	}
	if e.Seq <= u.after.Seq {
		return
	}
	if e.Seq == u.after.Seq+1 {
		u.follow, u.started = e.Prev == u.after.Hash, e.Kind == Opened && e.Step != stepClosed
	}
	if durable(e.Kind) {
		u.changes++
	}
	u.last = max(u.last, e.Seq)
}

// added reports whether somebody wrote lines after the end of a process. Its next start is
// signed and on disk before another line is written.
func (u *unsigned) added() bool {
	return u.ended && u.last > u.after.Seq && (!u.started || u.last > u.after.Seq+1)
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
	paused  bool       // what a start found is not signed before the log says that it was not
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
	switch {
	case s.signer == nil || s.paused:
	case now:
		s.last = h
		s.signer.sign(&s.last)
	case !s.waiting:
		s.waiting = true
		s.timer.Reset(signDelay)
	}
	s.text = storedHead{h, s.last}.append(s.text[:0])
	return s.text
}
