package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"countersign.dev/internal/netguard"
	"countersign.dev/internal/strictjson"
)

// maxAnswer bounds an issuer's answer, in bytes.
const maxAnswer = 1 << 20

// bounded fails reading an answer that is too large.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}

// endpoint is an identity issuer at its address.
type endpoint struct {
	issuer   string
	client   *http.Client
	provider atomic.Pointer[oidc.Provider] // nil until the first discovery
}

// keys repeats discovery and fetches the keys, so that changed addresses of an
// issuer are used.
func (r *endpoint) keys(ctx context.Context) (publicKeys, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, r.client), r.issuer)
	if err != nil {
		return nil, fmt.Errorf("discover %s: %w", r.issuer, err)
	}
	var document json.RawMessage
	var metadata struct {
		JWKS  string `json:"jwks_uri"`
		Token string `json:"token_endpoint"`
	}
	if err := errors.Join(provider.Claims(&document), provider.Claims(&metadata)); err != nil {
		return nil, fmt.Errorf("read the metadata of %s: %w", r.issuer, err)
	}
	if err := strictjson.Check(document); err != nil {
		return nil, fmt.Errorf("the metadata of %s %w", r.issuer, err)
	}
	if err := secureURL(metadata.JWKS, r.issuer); err != nil {
		return nil, fmt.Errorf("jwks_uri: %w", err)
	}
	if metadata.Token != "" { // it is sent the client's secret
		if err := secureURL(metadata.Token, r.issuer); err != nil {
			return nil, fmt.Errorf("token_endpoint: %w", err)
		}
	}
	keys, err := fetchKeys(ctx, r.client, metadata.JWKS)
	if err == nil {
		r.provider.Store(provider)
	}
	return keys, err
}

func fetchKeys(ctx context.Context, client *http.Client, address string) (publicKeys, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("keys at %s: status %d", address, resp.StatusCode)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("keys at %s: %w", address, err)
	}
	return parseKeys(body)
}

// parseKeys reads a JWK set. A key that we cannot use (encryption, other
// curves, too short, private) is skipped; a set without a usable one is an
// error, so that a broken answer never replaces valid keys.
func parseKeys(body []byte) (publicKeys, error) {
	if err := strictjson.Check(body); err != nil {
		return nil, fmt.Errorf("the key set %w", err)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("read the key set: %w", err)
	}
	keys := make(publicKeys, len(set.Keys))
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) != nil || key.KeyID == "" || key.Use != "" && key.Use != "sig" {
			continue
		}
		alg := algorithmOf(key.Key)
		name := keyName{key.KeyID, alg}
		if _, there := keys[name]; alg == "" || there || key.Algorithm != "" && key.Algorithm != string(alg) {
			continue
		}
		keys[name] = key.Key
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set holds no usable key")
	}
	return keys, nil
}

// algorithmOf returns the one algorithm that a public key may be used with, or
// nothing.
func algorithmOf(key any) jose.SignatureAlgorithm {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= 2048 && bits <= 8192 {
			return jose.RS256
		}
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return jose.ES256
		}
	}
	return ""
}

// secureURL refuses addresses over plain HTTP, except on loopback for an issuer
// on loopback: a public issuer cannot direct us to this machine.
func secureURL(address, issuer string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is not an address", address)
	}
	home, err := url.Parse(issuer)
	if err != nil {
		return fmt.Errorf("%q is not an address", issuer)
	}
	if u.Scheme == "https" || u.Scheme == "http" && netguard.Loopback(u) && netguard.Loopback(home) {
		return nil
	}
	return fmt.Errorf("%q must be an https address", address)
}

// gatewayKeys fetches the keys of internal tokens.
func gatewayKeys(client *http.Client, gatewayURL string) func(context.Context) (publicKeys, error) {
	address := strings.TrimSuffix(gatewayURL, "/") + JWKSPath
	return func(ctx context.Context) (publicKeys, error) { return fetchKeys(ctx, client, address) }
}

// JWKSPath is where a gateway publishes the keys of its internal tokens.
const JWKSPath = "/.well-known/jwks.json"

// newClient makes the HTTP client for one configured address. It follows no
// redirect. Other hosts, which only the answers from that address can name, must
// be public when they are dialled: a name that resolves to another address than
// before gains nothing. An issuer on loopback is a development issuer, and may
// name anything.
func newClient(home string) *http.Client {
	return newProxiedClient(home, http.ProxyFromEnvironment)
}

// newProxiedClient is newClient with the proxies that choose names.
func newProxiedClient(home string, choose func(*http.Request) (*url.URL, error)) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = fetchTimeout
	own := ownHost(home)
	netguard.Guard(transport, fetchTimeout, choose, func(host string) bool { return own == "" || host == own })
	return &http.Client{
		Timeout:       2 * fetchTimeout,
		Transport:     bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ownHost is the host of an address; empty on loopback.
func ownHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || netguard.Loopback(u) {
		return ""
	}
	return u.Hostname()
}
