package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-jose/go-jose/v4"

	"countersign.dev/internal/seal"
)

// KeyPair is one entry of the configuration's internal_keys.
type KeyPair struct {
	PrivateKey string // PEM of an ES256 (P-256) key, PKCS #8 or SEC 1
	Secret     string // at least 32 bytes of random text
}

// Keys sign internal tokens and seal what travels through clients. The first
// pair signs and seals; all of them verify and open, so that replicas can change
// keys one after the other: add the new pair last everywhere, then put it first,
// then drop the old one.
type Keys struct{ pairs []pair }

type pair struct {
	signing jose.JSONWebKey // private
	secret  []byte
}

// ParseKeys reads the configured pairs. It fails without any, and names the
// entry that is wrong, never its content.
func ParseKeys(entries []KeyPair) (*Keys, error) {
	if len(entries) == 0 {
		return nil, errors.New("internal_keys: at least one key and secret are required")
	}
	k := &Keys{}
	for at, entry := range entries {
		p, err := newPair([]byte(entry.PrivateKey), []byte(entry.Secret))
		if err != nil {
			return nil, fmt.Errorf("internal_keys[%d]: %w", at, err)
		}
		k.pairs = append(k.pairs, p)
	}
	return k, nil
}

// GenerateKeys makes one fresh pair, for a process that keeps none.
func GenerateKeys() (*Keys, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	p, err := makePair(key, seal.RandomSecret())
	return &Keys{pairs: []pair{p}}, err
}

// Ring derives the sealing keys for one purpose, such as "cursor".
func (k *Keys) Ring(purpose string) (*seal.Ring, error) {
	secrets := make([][]byte, len(k.pairs))
	for at, p := range k.pairs {
		secrets[at] = p.secret
	}
	return seal.NewRing(purpose, secrets...)
}

// JWKSHandler publishes the public keys at [JWKSPath].
func (k *Keys) JWKSHandler() (http.Handler, error) {
	var set jose.JSONWebKeySet
	for _, p := range k.pairs {
		set.Keys = append(set.Keys, p.signing.Public())
	}
	body, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encode the key set: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jwk-set+json")
		w.Header().Set("Cache-Control", "public, max-age=60")
		_, _ = w.Write(body) // the client may be gone
	}), nil
}

func (k *Keys) public() publicKeys {
	keys := make(publicKeys, len(k.pairs))
	for _, p := range k.pairs {
		keys[keyName{p.signing.KeyID, jose.ES256}] = p.signing.Public().Key
	}
	return keys
}

func newPair(text, secret []byte) (pair, error) {
	key, err := parsePrivate(text)
	if err != nil {
		return pair{}, err
	}
	return makePair(key, secret)
}

func makePair(key *ecdsa.PrivateKey, secret []byte) (pair, error) {
	if len(secret) < seal.MinSecret {
		return pair{}, fmt.Errorf("the secret has %d bytes, needs %d", len(secret), seal.MinSecret)
	}
	jwk := jose.JSONWebKey{Key: key, Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return pair{}, fmt.Errorf("name the key: %w", err)
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return pair{signing: jwk, secret: secret}, nil
}

// parsePrivate reads the first PEM block. The error never quotes the text.
func parsePrivate(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the private key is no PEM text")
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return onP256(key)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("the private key can be read neither as PKCS #8 nor as SEC 1")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the private key is no elliptic-curve key")
	}
	return onP256(key)
}

func onP256(key *ecdsa.PrivateKey) (*ecdsa.PrivateKey, error) {
	if key.Curve != elliptic.P256() {
		return nil, errors.New("the private key is not on the curve P-256")
	}
	return key, nil
}
