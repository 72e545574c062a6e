package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

// minting is a gateway that mints and a server that verifies, with one clock.
type minting struct {
	keys   *auth.Keys
	minter *auth.Minter
	hr     *auth.Verifier
	clock  time.Time
}

func newMinting(t *testing.T) *minting {
	t.Helper()
	keys := newKeys(t)
	h := &minting{keys: keys, clock: fixedNow}
	now := func() time.Time { return h.clock }
	var err error
	if h.minter, err = auth.NewMinter(keys, now); err != nil {
		t.Fatal(err)
	}
	h.hr = internalVerifier(t, now, auth.Internal{Audience: "hr", Keys: keys})
	return h
}

func internalVerifier(t *testing.T, now func() time.Time, in auth.Internal) *auth.Verifier {
	t.Helper()
	v, err := auth.NewVerifier(nil, &auth.Options{Internal: &in, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func alice(change ...func(*access.Claims)) *access.Principal {
	c := access.Claims{
		Issuer: "https://idp.example.com", Subject: "u-1", Username: "alice.chen", Name: "Alice Chen",
		Email: "alice@example.com", EmailVerified: true, Roles: []string{"hr-read", "employee"}, Groups: []string{"/HR"},
		TokenID: "t-1", Expires: fixedNow.Add(time.Hour), MayConfirm: true,
	}
	for _, f := range change {
		f(&c)
	}
	return access.NewPrincipal(c)
}

func (h *minting) mint(t *testing.T, p *access.Principal, audience string, purpose access.Purpose) string {
	t.Helper()
	token, err := h.minter.Token(p, audience, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// An internal token ends with the person's own token: the server knows
// which that was, and since when.
func TestServerKnowsThePersonsOwnToken(t *testing.T) {
	h := newMinting(t)
	issued := fixedNow.Add(-time.Hour)
	for _, id := range []string{"t-1", "t-2"} { // the second is not served from the cache
		sent := alice(func(c *access.Claims) { c.TokenID, c.Issued = id, issued })
		got, err := h.hr.Verify(t.Context(), h.mint(t, sent, "hr", access.PurposeCall))
		if err != nil {
			t.Fatal(err)
		}
		if got.TokenID() != id || !got.Issued().Equal(issued) {
			t.Errorf("got %q issued at %v, want %s at %v", got.TokenID(), got.Issued(), id, issued)
		}
	}
	if got, err := h.hr.Verify(t.Context(), h.mint(t, alice(), "hr", access.PurposeCall)); err != nil || !got.Issued().IsZero() {
		t.Errorf("a token without iat: got %v, %v", got, err)
	}
}

// TestTokenOfTheSamePrincipalIsForWhatItIsAsked: it is kept for a server and a purpose, as
// long as it lasts.
func TestTokenOfTheSamePrincipalIsForWhatItIsAsked(t *testing.T) {
	h, p := newMinting(t), alice()
	first := h.mint(t, p, "hr", access.PurposeCall)
	if h.mint(t, p, "hr", access.PurposeCall) != first || h.mint(t, p, "finance", access.PurposeCall) == first || h.mint(t, p, "hr", access.PurposeExecute) == first {
		t.Error("a token of another server or purpose is used, or none is used again")
	}
	if h.clock = h.clock.Add(46 * time.Second); h.mint(t, p, "hr", access.PurposeCall) == first {
		t.Error("a token that is about to expire is used")
	}
}

func TestServerReceivesTheCompletePerson(t *testing.T) {
	h := newMinting(t)
	sent := alice()
	got, err := h.hr.Verify(t.Context(), h.mint(t, sent, "hr", access.PurposeExecute))
	if err != nil {
		t.Fatal(err)
	}
	if got.Owner() != sent.Owner() || got.Email() != sent.Email() || got.Username() != sent.Username() || got.Name() != sent.Name() {
		t.Errorf("got %v %s %s %s", got.Owner(), got.Email(), got.Username(), got.Name())
	}
	if got.Purpose() != access.PurposeExecute || !got.Expires().Equal(fixedNow.Add(time.Minute)) {
		t.Errorf("purpose %q until %v", got.Purpose(), got.Expires())
	}
	if diff := cmp.Diff(sent.Roles(), got.Roles()) + cmp.Diff(sent.Groups(), got.Groups()); diff != "" {
		t.Error(diff)
	}
}

func TestServerKnowsWhereTheCallBegan(t *testing.T) {
	h := newMinting(t)
	for _, surface := range access.Surfaces() {
		got, err := h.hr.Verify(t.Context(), h.mint(t, alice().WithSurface(surface), "hr", access.PurposeCall))
		if err != nil || got.Provenance().Surface != surface {
			t.Errorf("got %+v, %v, want %s", got, err, surface)
		}
	}
	read := []access.Source{{Kind: "deal", ID: "65a2", Name: "Acme Renewal"}, {Kind: "review", ID: "f1", About: "Margaret Scott"}, {Tool: "weather.get"}, {More: 3}}
	got, err := h.hr.Verify(t.Context(), h.mint(t, alice(func(c *access.Claims) { c.Provenance.TaintedBy = read }), "hr", access.PurposeCall))
	if err != nil || !slices.Equal(got.Provenance().TaintedBy, read) {
		t.Errorf("got %+v, %v, want %+v", got, err, read)
	}
	if _, err := h.hr.Verify(t.Context(), h.mint(t, alice().WithSurface("fax"), "hr", access.PurposeCall)); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("an unknown surface: got %v", err)
	}
}

func TestUnverifiedAddressIsNotPassedOn(t *testing.T) {
	h := newMinting(t)
	token := h.mint(t, alice(func(c *access.Claims) { c.EmailVerified = false }), "hr", access.PurposeCall)
	got, err := h.hr.Verify(t.Context(), token)
	if err != nil || got.Email() != "" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestInternalTokenIsValidForOneServerAndOneMinute(t *testing.T) {
	h := newMinting(t)
	token := h.mint(t, alice(), "finance", access.PurposeCall)
	if _, err := h.hr.Verify(t.Context(), token); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("finance's token at hr: %v", err)
	}
	token = h.mint(t, alice(), "hr", access.PurposeCall)
	h.clock = h.clock.Add(time.Minute + auth.Leeway)
	if _, err := h.hr.Verify(t.Context(), token); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after a minute: %v", err)
	}
	stranger := newMinting(t)
	if _, err := h.hr.Verify(t.Context(), stranger.mint(t, alice(), "hr", access.PurposeCall)); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("another gateway's token: %v", err)
	}
	if _, err := h.hr.Verify(t.Context(), h.mint(t, alice(), "hr", "anything")); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("an unknown purpose: %v", err)
	}
}

func TestInternalTokenIsReusedWhileFresh(t *testing.T) {
	h := newMinting(t)
	first := h.mint(t, alice(), "hr", access.PurposeCall)
	h.clock = h.clock.Add(45 * time.Second)
	if h.mint(t, alice(), "hr", access.PurposeCall) != first {
		t.Error("a token with 15 s left was not reused")
	}
	for name, other := range map[string]string{
		"audience": h.mint(t, alice(), "finance", access.PurposeCall),
		"purpose":  h.mint(t, alice(), "hr", access.PurposeCatalogue),
		"role":     h.mint(t, alice(func(c *access.Claims) { c.Roles = []string{"employee"} }), "hr", access.PurposeCall),
		"surface":  h.mint(t, alice().WithSurface(access.SurfaceMCP), "hr", access.PurposeCall),
		"taint":    h.mint(t, alice(func(c *access.Claims) { c.Provenance.TaintedBy = []access.Source{{Kind: "ticket", ID: "TICK-009"}} }), "hr", access.PurposeCall),
		"issuer":   h.mint(t, alice(func(c *access.Claims) { c.Issuer = "https://b.example" }), "hr", access.PurposeCall),
		"split": h.mint(t, alice(func(c *access.Claims) { c.Roles, c.Groups = []string{"employee"}, []string{"hr-read", "/HR"} }),
			"hr", access.PurposeCall),
	} {
		if other == first {
			t.Errorf("a token was reused for another %s", name)
		}
	}
	h.clock = h.clock.Add(time.Second)
	if h.mint(t, alice(), "hr", access.PurposeCall) == first {
		t.Error("a token with 14 s left was reused")
	}
}

func TestMinterRefusesAPersonWhoseSignInEnded(t *testing.T) {
	h := newMinting(t)
	short := alice(func(c *access.Claims) { c.Expires = fixedNow.Add(time.Second) })
	h.clock = fixedNow.Add(time.Second + auth.Afterlife)
	h.mint(t, short, "hr", access.PurposeCall) // a turn that began in time may finish
	h.clock = h.clock.Add(time.Second)
	if _, err := h.minter.Token(short, "hr", access.PurposeCall); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("got %v", err)
	}
}

func TestServerItselfHasNoRoles(t *testing.T) {
	h := newMinting(t)
	p, err := h.hr.Verify(t.Context(), h.mint(t, auth.Server("gateway"), "hr", access.PurposeCatalogue))
	if err != nil || len(p.Roles()) != 0 || p.Email() != "" || p.Purpose() != access.PurposeCatalogue {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestServerFindsTheGatewaysKeysByItsAddress(t *testing.T) {
	h := newMinting(t)
	handler, err := h.keys.JWKSHandler()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+auth.JWKSPath, handler)
	gateway := httptest.NewServer(mux)
	defer gateway.Close()
	v := internalVerifier(t, func() time.Time { return h.clock }, auth.Internal{Audience: "hr", GatewayURL: gateway.URL + "/"})
	if _, err := v.Verify(t.Context(), h.mint(t, alice(), "hr", access.PurposeCall)); err != nil {
		t.Error(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", auth.JWKSPath, nil))
	if strings.Contains(w.Body.String(), `"d"`) {
		t.Error("the private key is published")
	}
}

// configured is a key as an operator writes it.
func configured(t testing.TB, curve elliptic.Curve) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

func parseKeys(t testing.TB, texts ...string) *auth.Keys {
	t.Helper()
	k, err := auth.ParseKeys(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newKeys(t testing.TB) *auth.Keys {
	t.Helper()
	text, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return parseKeys(t, text)
}

func TestReplicasChangeKeysOneAfterTheOther(t *testing.T) {
	oldKey, newKey := configured(t, elliptic.P256()), configured(t, elliptic.P256())
	old, both, only := parseKeys(t, oldKey), parseKeys(t, newKey, oldKey), parseKeys(t, newKey)
	minter, err := auth.NewMinter(old, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := minter.Token(alice(func(c *access.Claims) { c.Expires = time.Time{} }), "hr", access.PurposeCall)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := internalVerifier(t, nil, auth.Internal{Audience: "hr", Keys: both}).Verify(t.Context(), token); err != nil {
		t.Errorf("during the change: %v", err)
	}
	if _, err := internalVerifier(t, nil, auth.Internal{Audience: "hr", Keys: only}).Verify(t.Context(), token); err == nil {
		t.Error("the dropped key still verifies")
	}
}

func TestWeakOrBrokenKeysAreRefusedWithoutQuotingThem(t *testing.T) {
	good := configured(t, elliptic.P256())
	for name, texts := range map[string][]string{
		"none": nil, "other curve": {configured(t, elliptic.P384())}, "no PEM": {"SECRET-CANARY"},
		"broken": {strings.Replace(good, "EC PRIVATE", "SECRET-CANARY", 1)}, "the second": {good, "SECRET-CANARY"},
	} {
		_, err := auth.ParseKeys(texts...)
		if err == nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func BenchmarkMint(b *testing.B) { // Question: what does the gateway pay per call for not passing tokens on?
	minter, err := auth.NewMinter(newKeys(b), func() time.Time { return fixedNow })
	if err != nil {
		b.Fatal(err)
	}
	p := alice()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := minter.Token(p, "hr", access.PurposeCall); err != nil {
			b.Fatal(err)
		}
	}
}
