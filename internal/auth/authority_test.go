package auth_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/auth"
)

// TestAdditionalIssuerSpeaksForItsOwnOnly is a property: whatever a token of a
// limited issuer says, the principal has an address of the issuer's domains or
// none, and only roles of its list.
func TestAdditionalIssuerSpeaksForItsOwnOnly(t *testing.T) {
	domains := []string{"partner.example", "Partner.Example", "sub.partner.example", "example", "company.example", "partner.example.evil", ""}
	names := []string{"alice", "alice@company.example", "", "ALICE", "a b", "alice%40company.example"}
	roles := []string{"employee", "hr-read", "HR-READ", "executive", "hr-read ", "auditor"}
	random := rand.New(rand.NewPCG(7, 11))
	some := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(string) bool { return random.IntN(2) == 0 })
	}
	kept := 0
	for range 40 {
		authority := auth.Authority{EmailDomains: slices.DeleteFunc(some(domains), func(d string) bool { return d == "" }), Roles: some(roles)}
		h := newHarness(t, func(c *auth.Config) { c.Authority = &authority; c.TrustEmail = random.IntN(2) == 0 })
		for range 25 {
			email := names[random.IntN(len(names))] + "@" + domains[random.IntN(len(domains))]
			given := some(roles)
			p := h.accepts(h.token(set("email", email), set("email_verified", random.IntN(4) > 0), set("roles", given), without("realm_access"), set("jti", fmt.Sprint(random.Uint64()))))
			_, domain, _ := strings.Cut(p.Email(), "@")
			if p.Email() != "" && !slices.ContainsFunc(authority.EmailDomains, func(d string) bool { return strings.ToLower(d) == domain }) {
				t.Fatalf("%q became %q for %q", email, p.Email(), authority.EmailDomains)
			}
			if p.Email() != "" {
				kept++
			}
			for _, role := range p.Roles() {
				if !slices.Contains(authority.Roles, role) || !slices.Contains(given, role) {
					t.Fatalf("role %q of %q for %q", role, given, authority.Roles)
				}
			}
			for _, role := range given {
				if slices.Contains(authority.Roles, role) && !slices.Contains(p.Roles(), role) {
					t.Fatalf("allowed role %q of %q is lost", role, given)
				}
			}
		}
	}
	if kept < 50 {
		t.Errorf("only %d addresses were kept: the test asks too little", kept)
	}
}

func TestWhatAnAdditionalIssuerMayNotSayIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	h := newHarness(t)
	v, err := auth.NewVerifier([]auth.Config{{URL: h.server.URL, Audiences: []string{"gateway"}, Authority: &auth.Authority{}}},
		&auth.Options{Now: h.now, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2"} {
		p, err := v.Verify(t.Context(), h.token(set("jti", id)))
		if err != nil || p.Email() != "" || len(p.Roles()) != 0 || p.Owner().Subject != "u-1" {
			t.Errorf("got %+v, %v", p, err)
		}
	}
	for _, want := range []string{"value=Example.com", "value=employee", "value=hr-read"} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("%s is logged %d times:\n%s", want, n, log.String())
		}
	}
	for i := range 500 { // an issuer cannot fill the log
		if _, err := v.Verify(t.Context(), h.token(set("jti", fmt.Sprint("x", i)), set("roles", []string{fmt.Sprint("r", i)}))); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "\n"); n > 101 {
		t.Errorf("%d lines were logged", n)
	}
}
