package auth_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

func TestUnknownKeyFloodCausesOneFetch(t *testing.T) {
	r := newHarness(t)
	r.accepts(r.token())
	before := r.fetched()
	r.advance(time.Minute)
	var wg sync.WaitGroup
	for i := range 200 {
		raw := sign(t, newKey(t, fmt.Sprint("unknown-", i)), r.claims())
		wg.Go(func() { r.refuses("unknown key", raw) })
	}
	wg.Wait()
	if got := r.fetched() - before; got != 1 {
		t.Errorf("200 unknown key IDs caused %d fetches, want 1", got)
	}
}

// TestReadyOnceTheKeysWereFetched: a verifier that never reached its issuer can let no one
// in. An outage later changes nothing.
func TestReadyOnceTheKeysWereFetched(t *testing.T) {
	r := newHarness(t)
	broken := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	r.broken = broken
	if err := r.verifier.Ready(t.Context()); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("never reached: got %v, want SERVICE_UNAVAILABLE", err)
	}
	r.broken = nil
	r.advance(2 * time.Second)
	if err := r.verifier.Ready(t.Context()); err != nil {
		t.Errorf("reached: got %v", err)
	}
	r.broken = broken
	fetches := r.fetched()
	r.advance(time.Minute)
	if err := r.verifier.Ready(t.Context()); err != nil || r.fetched() != fetches {
		t.Errorf("an outage after that: got %v, and %d fetches", err, r.fetched()-fetches)
	}
}

func TestForgedSignaturesCauseNoFetch(t *testing.T) {
	r := newHarness(t)
	r.accepts(r.token())
	before := r.fetched()
	r.advance(time.Minute)
	for range 20 {
		r.refuses("forged", sign(t, newKey(t, "k1"), r.claims()))
	}
	if got := r.fetched() - before; got != 0 {
		t.Errorf("forged signatures under a known key ID caused %d fetches", got)
	}
}

func TestNewKeyIsUsedAtOnceAndOldOneEnds(t *testing.T) {
	r := newHarness(t)
	old := r.keys[0]
	oldToken := sign(t, old, r.claims())
	r.accepts(oldToken)

	next := newKey(t, "k2")
	r.publish(next, old)
	r.advance(time.Minute)
	r.accepts(sign(t, next, r.claims()))
	r.accepts(oldToken) // overlap: both are published

	r.publish(next)
	r.advance(time.Minute)
	r.refuses("an unknown key causes a fetch", sign(t, newKey(t, "k3"), r.claims()))
	r.refuses("withdrawn key, though the token was cached", oldToken)
	r.accepts(sign(t, next, r.claims()))
}

// TestSessionOutlivesAChangeOfKeys: any token with an unknown key causes a fetch, after which there is none for
// ten seconds. A session whose token has the issuer's new key by then must not end for that.
func TestSessionOutlivesAChangeOfKeys(t *testing.T) {
	r := newHarness(t)
	began := auth.SignInOf(r.accepts(r.token()))
	browser := func(token string) error {
		_, err := r.verifier.VerifyBrowser(t.Context(), token, began)
		return err
	}
	next := newKey(t, "k2")
	r.advance(time.Minute)
	r.refuses("a stranger's", sign(t, newKey(t, "k3"), r.claims()))
	r.publish(next)
	r.advance(time.Second)
	token := sign(t, next, r.claims())
	r.refuses("as a bearer token", token)
	if err := browser(token); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("before the keys can be fetched again: got %v", err)
	}
	r.advance(10 * time.Second)
	if err := browser(token); err != nil {
		t.Errorf("then: got %v", err)
	}
	r.advance(time.Minute)
	if err := browser(sign(t, newKey(t, "k4"), r.claims())); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("a key that is not published: got %v", err)
	}
}

func TestKeysAreFetchedAgainWhenTheyAge(t *testing.T) {
	r := newHarness(t)
	old := sign(t, r.keys[0], r.claims())
	r.accepts(old)
	r.publish(newKey(t, "k2"))
	r.advance(11 * time.Minute)
	r.accepts(old) // no caller waits for the fetch that this call starts
	r.refuses("unknown key, which waits for that fetch", sign(t, newKey(t, "k3"), r.claims()))
	r.refuses("withdrawn key", old)
	if got := r.fetched(); got != 2 {
		t.Errorf("%d fetches, want 2", got)
	}
}

func TestIssuerThatIsDownDoesNotStopKnownKeys(t *testing.T) {
	for name, broken := range map[string]http.HandlerFunc{
		"error":     func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"empty set": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[` + strings.Repeat(" ", 2<<20) + `]}`))
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t)
			r.accepts(r.token())
			r.breakWith(broken)
			r.advance(time.Hour)
			r.refuses("unknown key", sign(t, newKey(t, "k2"), r.claims()))
			r.accepts(r.token())

			r.advance(25 * time.Hour)
			_, err := r.verifier.Verify(t.Context(), r.token())
			if !fault.Is(err, fault.ServiceDown) {
				t.Errorf("keys of yesterday: got %v, want %s", err, fault.ServiceDown.Name)
			}
			r.breakWith(nil)
			r.advance(time.Minute)
			r.accepts(r.token()) // and it recovers by itself
		})
	}
}

func TestServerStartsBeforeItsIssuer(t *testing.T) {
	r := newHarness(t)
	r.breakWith(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "starting", http.StatusServiceUnavailable) })
	_, err := r.verifier.Verify(t.Context(), r.token())
	if !fault.Is(err, fault.ServiceDown) {
		t.Fatalf("got %v, want %s", err, fault.ServiceDown.Name)
	}
	r.breakWith(nil)
	r.advance(2 * time.Second)
	r.accepts(r.token())
}

func TestUnusableKeysAreIgnored(t *testing.T) {
	r := newHarness(t)
	encryption, twin, nameless := newKey(t, "enc"), newKey(t, "k1"), newKey(t, "")
	encryption.Use = "enc"
	published := []any{
		7, map[string]any{"kty": "?"}, map[string]any{"kty": "oct", "kid": "k1", "alg": "ES256", "k": "c2VjcmV0"},
		r.keys[0],                                                  // private, published by mistake
		nameless.Public(), encryption.Public(), r.keys[0].Public(), // ours comes before its twin
		twin.Public(),
	}
	r.breakWith(func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]any{"keys": published}) })
	r.accepts(r.token())
	encryption.Use = "sig"
	r.refuses("encryption key", sign(t, encryption, r.claims()))
	r.refuses("twin", sign(t, twin, r.claims()))
}

func TestKeysThatRepeatANameAreRejected(t *testing.T) {
	r := newHarness(t)
	key, err := r.keys[0].Public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	publish := func(set string) {
		r.breakWith(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, set, key) })
	}
	publish(`{"keys":[],"keys":[%s]}`)
	if _, err := r.verifier.Verify(t.Context(), r.token()); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("got %v", err)
	}
	publish(`{"keys":[%s],"unknown":1}`)
	r.advance(2 * time.Second)
	r.accepts(r.token())
}

func TestMetadataThatRepeatsANameIsRejected(t *testing.T) {
	r := newHarness(t)
	for start, accepted := range map[string]bool{`{"unknown":{"a":[1]},`: true, `{"jwks_uri":"https://other.example/",`: false} {
		var s *httptest.Server
		s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `%s"issuer":%q,"jwks_uri":"%s/jwks"}`, start, s.URL, r.server.URL)
		}))
		t.Cleanup(s.Close)
		v, err := auth.NewVerifier([]auth.Config{{URL: s.URL, Audiences: []string{"gateway"}}}, &auth.Options{Now: r.now, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), r.token(set("iss", s.URL))); (err == nil) != accepted {
			t.Errorf("%s: got %v", start, err)
		}
	}
}

func TestIssuerCannotDirectUsElsewhere(t *testing.T) {
	touched := make(chan string, 10)
	bait := newBait(t, touched)
	for _, address := range []string{"http://192.0.2.1/jwks", "file:///etc/passwd", "", strings.Replace(bait, "//", "//user@", 1), bait + "#x"} {
		v, raw := pointing(t, address)
		if _, err := v.Verify(t.Context(), raw); !fault.Is(err, fault.ServiceDown) {
			t.Errorf("%q: got %v", address, err)
		}
	}
	v, raw := pointing(t, bait) // loopback may point to loopback; the bait answers no keys
	if _, err := v.Verify(t.Context(), raw); !fault.Is(err, fault.ServiceDown) || len(touched) != 1 {
		t.Errorf("got %v, touched %d times", err, len(touched))
	}
}

func BenchmarkVerify(b *testing.B) { // Question: what does a request pay for its identity?
	r := newHarness(b)
	raw := r.token()
	b.Run("cached", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.verifier.Verify(b.Context(), raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("uncached", func(b *testing.B) {
		raws := make([]string, 1000)
		for i := range raws {
			raws[i] = r.token(set("jti", fmt.Sprint(i)))
		}
		v, err := auth.NewVerifier([]auth.Config{{URL: r.server.URL, Audiences: []string{"gateway"}}}, &auth.Options{CacheSize: 1, Now: r.now})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := v.Verify(b.Context(), raws[i%len(raws)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
