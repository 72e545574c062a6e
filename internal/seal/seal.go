// Package seal encrypts and authenticates texts that clients keep and return:
// cursors, MRTR state, cookies, handles of login sessions. A sealed text is bound
// to its context and cannot be opened in another.
//
// It does not know the content. Keys are derived per purpose (HKDF), so a
// cursor can never be opened as a cookie.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// ErrNotOurs is returned by Open for every text that it cannot open. The reason is
// not reported, because it could help an attacker.
var ErrNotOurs = errors.New("seal: the text was altered, is bound to something else, or was sealed with another key")

// encoding rejects spare bits.
var encoding = base64.RawURLEncoding.Strict()

// MinSecret is the minimum length of a secret in bytes.
const MinSecret = 32

// Ring seals with its first key and opens with any, so that keys can be rotated
// replica by replica. It is safe for concurrent use.
type Ring struct{ keys []cipher.AEAD }

// NewRing derives one AES-256-GCM key for the purpose from each secret. A
// secret has at least MinSecret bytes.
func NewRing(purpose string, secrets ...[]byte) (*Ring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("seal: no secret given")
	}
	r := &Ring{}
	for _, secret := range secrets {
		if len(secret) < MinSecret {
			return nil, fmt.Errorf("seal: a secret has %d bytes, needs %d", len(secret), MinSecret)
		}
		key, err := hkdf.Key(sha256.New, secret, nil, "countersign "+purpose, 32)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, aead)
	}
	return r, nil
}

// Seal encrypts plain, bound to the context that Open must be given again. The
// result is base64url without padding.
func (r *Ring) Seal(plain, bound []byte) string { return string(r.AppendSeal(nil, plain, bound)) }

// AppendSeal appends what Seal returns to dst.
func (r *Ring) AppendSeal(dst, plain, bound []byte) []byte {
	return encoding.AppendEncode(dst, r.SealBytes(plain, bound))
}

// SealBytes is Seal for stores that keep bytes as they are.
func (r *Ring) SealBytes(plain, bound []byte) []byte { return r.keys[0].Seal(nil, nil, plain, bound) }

// Open decrypts a text that was sealed for the same context, or returns ErrNotOurs.
func (r *Ring) Open(text string, bound []byte) ([]byte, error) {
	raw, err := encoding.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which decoding skips: a text has one spelling
		return nil, ErrNotOurs
	}
	return r.OpenBytes(raw, bound)
}

// OpenBytes decrypts what SealBytes made for the same context, or returns
// ErrNotOurs.
func (r *Ring) OpenBytes(raw, bound []byte) ([]byte, error) {
	for _, key := range r.keys {
		if plain, err := key.Open(nil, nil, raw, bound); err == nil {
			return plain, nil
		}
	}
	return nil, ErrNotOurs
}

// RandomSecret makes a secret that lives as long as the process.
func RandomSecret() []byte {
	b := make([]byte, MinSecret)
	_, _ = rand.Read(b) // crypto/rand.Read never fails since Go 1.24
	return b
}
