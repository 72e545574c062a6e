package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"countersign.dev/internal/embedded"
)

// The typ headers prevent that an ID token is accepted as an access token.
const (
	accessType = "at+jwt"
	idType     = "JWT"
)

type signer struct{ key jose.JSONWebKey }

func newSigner(file string) (*signer, error) {
	key, err := loadKey(file)
	if err != nil {
		return nil, err
	}
	jwk := jose.JSONWebKey{Key: key, Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("issuer: name the signing key: %w", err)
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return &signer{jwk}, nil
}

// loadKey reads the key file, or makes it. Without a file the key is kept in
// memory only.
func loadKey(file string) (*ecdsa.PrivateKey, error) {
	if file == "" {
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	text, err := embedded.KeyFile(file, makeKey)
	if err != nil {
		return nil, fmt.Errorf("issuer: the signing key: %w", err)
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("issuer: %s holds no PEM key", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("issuer: read the signing key %s: %w", file, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("issuer: %s holds no P-256 key", file)
	}
	return key, nil
}

// makeKey is a fresh key as the file holds it.
func makeKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), err
}

func (s *signer) sign(typ string, claims map[string]any) (string, error) {
	key := jose.SigningKey{Algorithm: jose.ES256, Key: s.key}
	js, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		return "", err
	}
	return jwt.Signed(js).Claims(claims).Serialize()
}
