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
)

// Keys sign internal tokens. The gateway alone has them: servers verify with the
// public halves. The first one signs and all of them verify, so that replicas
// can change keys one after the other: add the new one last everywhere, then
// put it first, then drop the old one.
type Keys struct{ signing []jose.JSONWebKey } // private

// ParseKeys reads private keys, each the PEM text of an ES256 (P-256) key in
// PKCS #8 or SEC 1. It fails without any, and names the entry that is wrong,
// never its content.
func ParseKeys(texts ...string) (*Keys, error) {
	if len(texts) == 0 {
		return nil, errors.New("at least one signing key is required")
	}
	k := &Keys{}
	for at, text := range texts {
		key, err := newKey([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", at+1, err)
		}
		k.signing = append(k.signing, key)
	}
	return k, nil
}

// NewKey makes a fresh private key and returns its PEM text, as [ParseKeys]
// reads it.
func NewKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// JWKSHandler publishes the public keys at [JWKSPath].
func (k *Keys) JWKSHandler() (http.Handler, error) {
	var set jose.JSONWebKeySet
	for _, key := range k.signing {
		set.Keys = append(set.Keys, key.Public())
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
	keys := make(publicKeys, len(k.signing))
	for _, key := range k.signing {
		keys[keyName{key.KeyID, jose.ES256}] = key.Public().Key
	}
	return keys
}

func newKey(text []byte) (jose.JSONWebKey, error) {
	key, err := parsePrivate(text)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	jwk := jose.JSONWebKey{Key: key, Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("name the key: %w", err)
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return jwk, nil
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
