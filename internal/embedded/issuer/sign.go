package issuer

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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
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
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return makeKey(file)
	}
	if err != nil {
		return nil, fmt.Errorf("issuer: read the signing key: %w", err)
	}
	block, _ := pem.Decode(text)
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

func makeKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := writeWhole(file, text); err != nil {
		return nil, fmt.Errorf("issuer: keep the signing key: %w", err)
	}
	return key, nil
}

// writeWhole writes the file atomically: a crash leaves no partial key. CreateTemp's mode is 0600.
func writeWhole(file string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".key-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func (s *signer) sign(typ string, claims map[string]any) (string, error) {
	key := jose.SigningKey{Algorithm: jose.ES256, Key: s.key}
	js, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		return "", err
	}
	return jwt.Signed(js).Claims(claims).Serialize()
}

// claims are the claims of a person in both tokens.
func (i *Issuer) claims(p Person, audience string) map[string]any {
	now := i.now()
	return map[string]any{
		"iss": i.url, "sub": p.Subject, "aud": audience,
		"iat": now.Unix(), "exp": now.Add(TokenLife).Unix(), "jti": rand.Text(),
		"preferred_username": p.Username, "name": p.Name,
		"email": p.Email, "email_verified": p.Email != "",
		"realm_access": map[string]any{"roles": append([]string{}, p.Roles...)},
		"groups":       append([]string{}, p.Groups...),
	}
}

func (i *Issuer) accessToken(p Person, audience, clientID string) (string, error) {
	claims := i.claims(p, audience)
	if clientID != "" {
		claims["azp"] = clientID
	}
	return i.signer.sign(accessType, claims)
}

func (i *Issuer) idToken(p Person, clientID, nonce string) (string, error) {
	claims := i.claims(p, clientID)
	if nonce != "" {
		claims["nonce"] = nonce
	}
	return i.signer.sign(idType, claims)
}

// verify reads one of our own access tokens.
func (i *Issuer) verify(token string) (map[string]any, error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, err
	}
	if parsed.Headers[0].ExtraHeaders[jose.HeaderType] != accessType {
		return nil, errors.New("issuer: not an access token")
	}
	var registered jwt.Claims
	var all map[string]any
	if err := parsed.Claims(i.signer.key.Public(), &registered, &all); err != nil {
		return nil, err
	}
	expected := jwt.Expected{Issuer: i.url, Time: i.now()}
	return all, registered.ValidateWithLeeway(expected, time.Second)
}

func (i *Issuer) jwks(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.signer.key.Public()}})
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                                         i.url,
		"authorization_endpoint":                         i.url + "/authorize",
		"token_endpoint":                                 i.url + "/token",
		"userinfo_endpoint":                              i.url + "/userinfo",
		"jwks_uri":                                       i.url + "/jwks",
		"end_session_endpoint":                           i.url + "/logout",
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code"},
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{"ES256"},
		"scopes_supported":                               []string{"openid", "profile", "email"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic", "client_secret_post"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// identity are the claims that userinfo repeats.
var identity = []string{"sub", "preferred_username", "name", "email", "email_verified", "groups", "realm_access"}

func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	claims, err := i.verify(token)
	if !strings.EqualFold(scheme, "Bearer") || err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		oauthError(w, http.StatusUnauthorized, "invalid_token", "The access token is not valid here.")
		return
	}
	for name := range claims {
		if !slices.Contains(identity, name) {
			delete(claims, name)
		}
	}
	writeJSON(w, http.StatusOK, claims)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func oauthError(w http.ResponseWriter, status int, code, description string) {
	writeJSON(w, status, map[string]string{"error": code, "error_description": description})
}
