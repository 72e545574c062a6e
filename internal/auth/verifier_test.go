package auth_test

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

func TestValidTokenBecomesItsPrincipal(t *testing.T) {
	r := newHarness(t)
	p := r.accepts(r.token())
	if got, want := p.Owner(), (access.Owner{Issuer: r.server.URL, Subject: "u-1"}); got != want {
		t.Errorf("owner %v, want %v", got, want)
	}
	if p.Username() != "alice.chen" || p.Name() != "Alice Chen" || p.Email() != "alice@example.com" || p.TokenID() != "t-1" {
		t.Errorf("got %q %q %q %q", p.Username(), p.Name(), p.Email(), p.TokenID())
	}
	if diff := cmp.Diff([]string{"employee", "hr-read"}, p.Roles()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/HR-Department"}, p.Groups()); diff != "" {
		t.Error(diff)
	}
	if p.Purpose() != access.PurposeNone || !p.Expires().Equal(fixedNow.Add(time.Hour)) {
		t.Errorf("purpose %q, expires %v", p.Purpose(), p.Expires())
	}
}

func TestRS256IsAccepted(t *testing.T) {
	r := newHarness(t)
	key := newRSAKey(t, "rsa")
	r.publish(key)
	r.accepts(sign(t, key, r.claims()))
}

func TestWrongClaimsAreRefused(t *testing.T) {
	r := newHarness(t)
	now := r.now().Unix()
	const invalid, expired, notYet, elsewhere = "not valid here", "expired", "not valid yet", "another service"
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"other issuer":            {set("iss", "https://evil.example"), invalid},
		"issuer with a slash":     {set("iss", r.server.URL+"/"), invalid},
		"no issuer":               {without("iss"), invalid},
		"issuer list":             {set("iss", []string{r.server.URL}), invalid},
		"other audience":          {set("aud", "hr"), elsewhere},
		"other audiences":         {set("aud", []string{"hr", "gateway2"}), elsewhere},
		"only azp":                {func(c map[string]any) { c["aud"] = "account"; c["azp"] = "gateway" }, elsewhere},
		"no audience":             {without("aud"), elsewhere},
		"audience object":         {set("aud", map[string]any{"gateway": true}), elsewhere},
		"expired":                 {set("exp", now-11), expired},
		"no expiry":               {without("exp"), invalid},
		"null expiry":             {set("exp", nil), invalid},
		"expiry as text":          {set("exp", "99999999999"), invalid},
		"endless":                 {set("exp", 1e300), invalid},
		"negative expiry":         {set("exp", -1), invalid},
		"not yet valid":           {set("nbf", now+11), notYet},
		"issued in the future":    {set("iat", now+11), notYet},
		"nbf as text":             {set("nbf", "soon"), invalid},
		"no subject":              {without("sub"), invalid},
		"empty subject":           {set("sub", ""), invalid},
		"subject is a number":     {set("sub", 7), invalid},
		"subject with line break": {set("sub", "u-1\nadmin"), invalid},
		"endless subject":         {set("sub", strings.Repeat("u", 256)), invalid},
	} {
		if got := r.refuses(name, r.token(c.change)); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestClocksMayDifferByTheLeeway(t *testing.T) {
	r := newHarness(t)
	now := r.now().Unix()
	r.accepts(r.token(set("exp", now-9)))
	r.accepts(r.token(set("nbf", now+9), set("iat", now+9)))
}

func TestForgedTokensAreRefused(t *testing.T) {
	r := newHarness(t)
	key := r.keys[0].Key.(*ecdsa.PrivateKey)
	good := r.token()
	parts := strings.Split(good, ".")
	stranger := newKey(t, "k1")
	strangerJWK, err := json.Marshal(stranger.Public())
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string]string{
		"alg none":                    byHand(t, `{"alg":"none","kid":"k1"}`, r.claims(), nil),
		"alg NoNe":                    byHand(t, `{"alg":"NoNe","kid":"k1"}`, r.claims(), nil),
		"alg none, signed":            byHand(t, `{"alg":"none","kid":"k1"}`, r.claims(), key),
		"no alg":                      byHand(t, `{"kid":"k1"}`, r.claims(), key),
		"empty signature":             parts[0] + "." + parts[1] + ".",
		"zero signature":              parts[0] + "." + parts[1] + "." + b64(make([]byte, 64)),
		"two parts":                   parts[0] + "." + parts[1],
		"four parts":                  good + ".x",
		"HS256 by the public key":     hs256(t, r, good),
		"ES256 called RS256":          byHand(t, `{"alg":"RS256","kid":"k1"}`, r.claims(), key),
		"ES512":                       byHand(t, `{"alg":"ES512","kid":"k1"}`, r.claims(), key),
		"another key, our kid":        sign(t, stranger, r.claims()),
		"another key as embedded jwk": byHand(t, `{"alg":"ES256","kid":"k1","jwk":`+string(strangerJWK)+`}`, r.claims(), stranger.Key.(*ecdsa.PrivateKey)),
		"no kid":                      byHand(t, `{"alg":"ES256"}`, r.claims(), key),
		"kid is a number":             byHand(t, `{"alg":"ES256","kid":1}`, r.claims(), key),
		"alg twice":                   byHand(t, `{"alg":"none","alg":"ES256","kid":"k1"}`, r.claims(), key),
		"crit":                        byHand(t, `{"alg":"ES256","kid":"k1","crit":["exp"],"exp":1}`, r.claims(), key),
		"crit b64":                    byHand(t, `{"alg":"ES256","kid":"k1","crit":["b64"],"b64":false}`, r.claims(), key),
		"body signed unencoded":       unencoded(t, r.claims(), key),
		"logout token":                byHand(t, `{"alg":"ES256","kid":"k1","typ":"logout+jwt"}`, r.claims(), key),
		"other body":                  parts[0] + "." + b64([]byte(`{"iss":"`+r.server.URL+`"}`)) + "." + parts[2],
		"line break":                  good[:len(good)-4] + "\n" + good[len(good)-4:],
		"padding":                     good + "=",
		"body is no JSON":             signRaw(t, r.keys[0], nil, []byte("hello")),
		"body is a list":              signRaw(t, r.keys[0], nil, []byte("[]")),
		"body is null":                signRaw(t, r.keys[0], nil, []byte("null")),
		"too long":                    r.token(set("x", strings.Repeat("x", auth.MaxToken))),
		"empty":                       "",
		"a JWS as JSON":               `{"payload":"e30","protected":"e30","signature":""}`,
		"nine thousand brackets":      signRaw(t, r.keys[0], nil, []byte(strings.Repeat("[", 9000)+strings.Repeat("]", 9000))),
	} {
		r.refuses(name, raw)
	}
	r.accepts(good)
}

// hs256 signs with the published key as if it were a shared secret.
func hs256(t *testing.T, r *harness, good string) string {
	t.Helper()
	return symmetric(t, "k1", publicTexts(t, r.keys[0])["PEM"], strings.Split(good, ".")[1])
}

func symmetric(t *testing.T, kid string, secret []byte, body string) string {
	t.Helper()
	signed := b64([]byte(`{"alg":"HS256","kid":"`+kid+`"}`)) + "." + body
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	return signed + "." + b64(mac.Sum(nil))
}

// publicTexts are the encodings of a public key that known attacks use.
func publicTexts(t *testing.T, key jose.JSONWebKey) map[string][]byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public().Key)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := key.Public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return map[string][]byte{"PEM": text, "PEM without its last line break": text[:len(text)-1], "DER": der, "JWK": jwk, "nothing": nil}
}

func TestPublicKeyIsNoSharedSecret(t *testing.T) {
	r := newHarness(t)
	rsa := newRSAKey(t, "rsa")
	r.publish(rsa, r.keys[0])
	good := sign(t, rsa, r.claims())
	r.accepts(good)
	for _, key := range []jose.JSONWebKey{rsa, r.keys[1]} {
		for name, secret := range publicTexts(t, key) {
			r.refuses(key.KeyID+" as "+name, symmetric(t, key.KeyID, secret, strings.Split(good, ".")[1]))
		}
	}
}

func TestKeyIDsAreOnlyNames(t *testing.T) {
	r := newHarness(t)
	touched := make(chan string, 100)
	bait := newBait(t, touched)
	key := r.keys[0].Key.(*ecdsa.PrivateKey)
	for _, kid := range []string{"../../etc/passwd", "/dev/null", "' OR 1=1 --", bait, "k1\x00", "K1", strings.Repeat("k", 4000)} {
		header, err := json.Marshal(map[string]any{"alg": "ES256", "kid": kid, "jku": bait, "x5u": bait})
		if err != nil {
			t.Fatal(err)
		}
		r.refuses(kid, byHand(t, string(header), r.claims(), key))
	}
	header := `{"alg":"ES256","kid":"k1","jku":"` + bait + `","x5u":"` + bait + `"}`
	r.accepts(byHand(t, header, r.claims(), key)) // pointers are ignored; the issuer's key is used
	if len(touched) != 0 {
		t.Errorf("an address inside a token was fetched: %s", <-touched)
	}
}

func TestNoClaimCountsTwice(t *testing.T) {
	r := newHarness(t)
	good, err := json.Marshal(r.claims())
	if err != nil {
		t.Fatal(err)
	}
	head := strings.TrimSuffix(string(good), "}")
	for name, body := range map[string]string{
		"sub twice":        head + `,"sub":"u-2"}`,
		"aud twice":        head + `,"aud":"gateway"}`,
		"exp twice":        head + `,"exp":99999999999}`,
		"roles twice":      head + `,"x":{"roles":[],"roles":["executive"]}}`,
		"escaped sub":      head + `,"\u0073ub":"u-2"}`,
		"text after claim": string(good) + `{}`,
	} {
		r.refuses(name, signRaw(t, r.keys[0], nil, []byte(body)))
	}
	p := r.accepts(signRaw(t, r.keys[0], nil, []byte(head+`,"SUB":"u-2","Realm_Access":{"roles":["executive"]}}`)))
	if p.Subject() != "u-1" || p.HasAny(access.Executive) {
		t.Errorf("a claim in other letters was read: %s %v", p.Subject(), p.Roles())
	}
}

func TestUnverifiedAddressIsDropped(t *testing.T) {
	r := newHarness(t)
	for name, change := range map[string]func(map[string]any){
		"false": set("email_verified", false), "absent": without("email_verified"), "text": set("email_verified", "true"),
	} {
		if got := r.accepts(r.token(change)).Email(); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	trusting := newHarness(t, func(c *auth.Config) { c.TrustEmail = true })
	if got := trusting.accepts(trusting.token(without("email_verified"))).Email(); got != "alice@example.com" {
		t.Errorf("trusted issuer: got %q", got)
	}
}

func TestRolesComeFromTheConfiguredClaims(t *testing.T) {
	everywhere := func(c map[string]any) {
		c["roles"] = []string{"c"}
		c["realm_access"] = map[string]any{"roles": []any{"a", 7, nil, "a", "x,executive", "{executive}", ""}}
		c["resource_access"] = map[string]any{"gateway": map[string]any{"roles": []string{"b"}}, "other": map[string]any{"roles": []string{"executive"}}}
		c["https://example.com/roles"] = []string{"d"}
		c["one"] = map[string]any{"role": "e"}
	}
	r := newHarness(t)
	if diff := cmp.Diff([]string{"a", "b", "c"}, r.accepts(r.token(everywhere)).Roles()); diff != "" {
		t.Errorf("by default: %s", diff)
	}
	r = newHarness(t, func(c *auth.Config) {
		c.RolesClaims = []string{"https://example.com/roles", "one.role", "no.such.claim", "name.x"}
	})
	if diff := cmp.Diff([]string{"d", "e"}, r.accepts(r.token(everywhere)).Roles()); diff != "" {
		t.Errorf("configured: %s", diff)
	}
}

func TestUsernameClaimIsConfigurable(t *testing.T) {
	r := newHarness(t, func(c *auth.Config) { c.UsernameClaim = "upn" })
	if got := r.accepts(r.token(set("upn", "alice@corp"))).Username(); got != "alice@corp" {
		t.Errorf("got %q", got)
	}
	one, other := r.accepts(r.token(set("sub", "01234567é9"))).Username(), r.accepts(r.token(set("sub", "01234567é8"))).Username()
	if !strings.HasPrefix(one, "user-01234567-") || one == other {
		t.Errorf("without the claim: got %q and %q", one, other)
	}
	if got := r.accepts(r.token(set("sub", "0123456é89"))).Username(); !strings.HasPrefix(got, "user-0123456é-") {
		t.Errorf("a letter of two bytes: got %q", got)
	}
}

// TestAddressIsFoldedByASCIIAlone: the Kelvin sign and the dotted capital I are letters of other mailboxes.
func TestAddressIsFoldedByASCIIAlone(t *testing.T) {
	r := newHarness(t)
	for address, want := range map[string]string{"Frank@Company.com": "frank@company.com", "fran\u212a@company.com": "fran\u212a@company.com", "al\u0130ce@company.com": "al\u0130ce@company.com"} {
		if got := r.accepts(r.token(set("email", address), set("email_verified", true))).Email(); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

func TestIdentityIssuerCannotActAsTheGateway(t *testing.T) {
	r := newHarness(t)
	p := r.accepts(r.token(set("orig_iss", "https://other.example"), set("purpose", "catalogue"), set("origin", map[string]any{"surface": "chat"})))
	if p.Purpose() != access.PurposeNone || p.Owner().Issuer != r.server.URL || p.Provenance().Surface != access.SurfaceServer {
		t.Errorf("got %q from %q, %v", p.Purpose(), p.Owner().Issuer, p.Provenance())
	}
}

func TestCachedTokenStillExpires(t *testing.T) {
	r := newHarness(t)
	raw := r.token(set("exp", r.now().Add(time.Minute).Unix()))
	if first, again := r.accepts(raw), r.accepts(raw); first != again {
		t.Error("the second verification made another principal: it was not cached")
	}
	r.advance(time.Minute + auth.Leeway)
	if got := r.refuses("expired", raw); !strings.Contains(got, "expired") {
		t.Errorf("got %q", got)
	}
}

func TestRefusalsCarryNoInternals(t *testing.T) {
	r := newHarness(t)
	_, err := r.verifier.Verify(t.Context(), r.token(set("iss", "https://secret.internal")))
	f := fault.From(err)
	if strings.Contains(f.Message+f.SuggestedAction, "secret") || f.Unwrap() == nil || len(f.Details) != 0 {
		t.Errorf("got %q, %q, cause %v, details %v", f.Message, f.SuggestedAction, f.Unwrap(), f.Details)
	}
}

func TestConfigurationMistakesAreReportedTogether(t *testing.T) {
	_, err := auth.NewVerifier([]auth.Config{
		{URL: "http://idp.example.com", Audiences: []string{"gateway"}},
		{URL: "https://idp.example.com"},
		{URL: "countersign", Audiences: []string{"gateway"}},
	}, &auth.Options{Internal: &auth.Internal{GatewayURL: "gateway:3100"}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"https address", "audience is required", `"countersign" is not an address`, "server's name is required"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if _, err := auth.NewVerifier(nil, nil); err == nil {
		t.Error("a verifier without an issuer was made")
	}
}

func FuzzToken(f *testing.F) {
	r := newHarness(f)
	good := r.token()
	f.Add(good)
	f.Add(good[:9] + "\n" + good[9:])
	f.Add(good + "=")
	f.Add(byHand(f, `{"alg":"none","kid":"k1"}`, r.claims(), nil))
	f.Add("a.b.c")
	f.Add("")
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := r.verifier.Verify(t.Context(), raw)
		if err == nil && raw != good { // a token has one spelling
			t.Errorf("%q was accepted as %q", raw, p.Subject())
		}
		if err != nil && !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// FuzzClaims signs any body with a valid key: every JSON reader must find the
// accepted values in it.
func FuzzClaims(f *testing.F) {
	r := newHarness(f)
	good, err := json.Marshal(r.claims())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(good))
	f.Add(strings.Replace(string(good), `"sub"`, `"SUB":"x","sub"`, 1))
	f.Add(strings.Replace(string(good), `"sub"`, `"sub":"x","sub"`, 1))
	f.Add(strings.Replace(string(good), `"roles":[`, `"roles":[[],{},1e999,`, 1))
	f.Fuzz(func(t *testing.T, body string) {
		p, err := r.verifier.Verify(t.Context(), signRaw(t, r.keys[0], nil, []byte(body)))
		if err != nil {
			if !fault.Is(err, fault.Unauthorized) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		var read map[string]any
		if err := json.Unmarshal([]byte(body), &read); err != nil || read["sub"] != p.Subject() || read["iss"] != r.server.URL {
			t.Errorf("%q was accepted as %q of %q (%v)", body, p.Subject(), p.Owner().Issuer, err)
		}
	})
}

// A token that was revoked is rejected although it is valid and was seen before.
func TestRevokedTokenIsRefusedAtOnce(t *testing.T) {
	r := newHarness(t)
	revoked := map[string]bool{}
	v, err := auth.NewVerifier([]auth.Config{{URL: r.server.URL, Audiences: []string{"gateway"}}}, &auth.Options{
		Now: r.now, Revoked: func(p *access.Principal) error {
			if revoked[p.TokenID()] {
				return fault.SignInRevoked.New("This sign-in has been ended.")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	named, unnamed := r.token(), r.token(without("jti"))
	for _, raw := range []string{named, unnamed} {
		p, err := v.Verify(t.Context(), raw)
		if err != nil || p.TokenID() == "" || !p.Issued().Equal(fixedNow) {
			t.Fatalf("got %v, issued %v", err, p.Issued())
		}
		revoked[p.TokenID()] = true
		if _, err := v.Verify(t.Context(), raw); !fault.Is(err, fault.SignInRevoked) {
			t.Errorf("got %v", err)
		}
	}
}
