package auth_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

// harness is an identity issuer whose keys, answers and clock a test controls,
// and a verifier that trusts it.
type harness struct {
	t        testing.TB
	server   *httptest.Server
	verifier *auth.Verifier

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetches  int
	broken   http.HandlerFunc // answers instead of the key set
	tokens   map[string]any   // what the token endpoint answers
	status   int              // with this status; 0: 200
	exchange url.Values       // what it was asked last
	clock    time.Time
}

// fixedNow is the harness's first instant.
var fixedNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newHarness(t testing.TB, change ...func(*auth.Config)) *harness {
	t.Helper()
	r := &harness{t: t, clock: fixedNow}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.server.Close)
	r.keys = []jose.JSONWebKey{newKey(t, "k1")}
	config := auth.Config{URL: r.server.URL, Audiences: []string{"gateway"}}
	for _, c := range change {
		c(&config)
	}
	v, err := auth.NewVerifier([]auth.Config{config}, &auth.Options{Now: r.now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r.verifier = v
	return r
}

func (r *harness) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.URL.Path == "/.well-known/openid-configuration" {
		writeJSON(w, map[string]any{"issuer": r.server.URL, "jwks_uri": r.server.URL + "/jwks",
			"authorization_endpoint": r.server.URL + "/a", "token_endpoint": r.server.URL + "/t"})
		return
	}
	if req.URL.Path == "/t" {
		_ = req.ParseForm()
		r.exchange = req.PostForm
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(cmp.Or(r.status, http.StatusOK))
		writeJSON(w, r.tokens)
		return
	}
	r.fetches++
	if r.broken != nil {
		r.broken(w, req)
		return
	}
	var set jose.JSONWebKeySet
	for _, k := range r.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	writeJSON(w, set)
}

func (r *harness) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock
}

func (r *harness) advance(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = r.clock.Add(d)
}

func (r *harness) publish(keys ...jose.JSONWebKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = keys
}

func (r *harness) breakWith(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = h
}

func (r *harness) fetched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fetches
}

// claims are the claims of a valid token, with changes.
func (r *harness) claims(change ...func(map[string]any)) map[string]any {
	now := r.now()
	c := map[string]any{
		"iss": r.server.URL, "sub": "u-1", "aud": "gateway", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "jti": "t-1",
		"preferred_username": "alice.chen", "name": "Alice Chen", "email": "Alice@Example.com", "email_verified": true,
		"realm_access": map[string]any{"roles": []string{"employee", "hr-read"}}, "groups": []string{"/HR-Department"},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func (r *harness) token(change ...func(map[string]any)) string {
	r.t.Helper()
	return sign(r.t, r.keys[0], r.claims(change...))
}

func set(name string, value any) func(map[string]any) {
	return func(c map[string]any) { c[name] = value }
}

func without(name string) func(map[string]any) {
	return func(c map[string]any) { delete(c, name) }
}

func (r *harness) accepts(raw string) *access.Principal {
	r.t.Helper()
	p, err := r.verifier.Verify(r.t.Context(), raw)
	if err != nil {
		r.t.Fatalf("a good token was refused: %v (%v)", err, fault.From(err).Unwrap())
	}
	return p
}

// refuses returns the message of the error.
func (r *harness) refuses(name, raw string) string {
	r.t.Helper()
	p, err := r.verifier.Verify(r.t.Context(), raw)
	if err == nil {
		r.t.Errorf("%s: accepted as %s", name, p.Username())
		return ""
	}
	if !fault.Is(err, fault.Unauthorized) {
		r.t.Errorf("%s: got %v, want %s", name, err, fault.Unauthorized.Name)
	}
	return fault.From(err).Message
}

func newKey(t testing.TB, id string) jose.JSONWebKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: "ES256", Use: "sig"}
}

func newRSAKey(t testing.TB, id string) jose.JSONWebKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: "RS256", Use: "sig"}
}

func sign(t testing.TB, key jose.JSONWebKey, claims map[string]any) string {
	t.Helper()
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return signRaw(t, key, nil, body)
}

// signRaw signs any bytes under any extra header.
func signRaw(t testing.TB, key jose.JSONWebKey, header map[jose.HeaderKey]any, body []byte) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key},
		&jose.SignerOptions{ExtraHeaders: header})
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(body)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// byHand builds a token that no library would write.
func byHand(t testing.TB, header string, claims any, key *ecdsa.PrivateKey) string {
	t.Helper()
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed := b64([]byte(header)) + "." + b64(body)
	if key == nil {
		return signed + "."
	}
	return signed + "." + b64(es256(t, key, signed))
}

// unencoded signs the body itself, as the header b64 (RFC 7797) requires.
func unencoded(t testing.TB, claims any, key *ecdsa.PrivateKey) string {
	t.Helper()
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	header := b64([]byte(`{"alg":"ES256","kid":"k1","crit":["b64"],"b64":false}`))
	return header + "." + b64(body) + "." + b64(es256(t, key, header+"."+string(body)))
}

func es256(t testing.TB, key *ecdsa.PrivateKey, text string) []byte {
	t.Helper()
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signature
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// newBait is an address that must not be fetched.
func newBait(t *testing.T, touched chan<- string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { touched <- r.URL.Path }))
	t.Cleanup(s.Close)
	return s.URL
}

// pointing returns a verifier of an issuer whose metadata names that address of
// keys, and a token of the issuer.
func pointing(t *testing.T, jwks string) (*auth.Verifier, string) {
	t.Helper()
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"issuer": issuer.URL, "jwks_uri": jwks})
	}))
	t.Cleanup(issuer.Close)
	v, err := auth.NewVerifier([]auth.Config{{URL: issuer.URL, Audiences: []string{"gateway"}}}, &auth.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return v, sign(t, newKey(t, "k1"), map[string]any{"iss": issuer.URL})
}
