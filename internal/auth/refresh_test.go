package auth_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

func TestTokensOfASignInAreRefreshed(t *testing.T) {
	for _, secret := range []string{"", "s3cret / with + signs"} {
		d := newLoginHarness(t, secret)
		back, flow := d.browse()
		first, p, err := d.login.Finish(t.Context(), back, flow)
		if err != nil {
			t.Fatal(err)
		}
		second, err := d.login.Refresh(t.Context(), first)
		if err != nil || second.Access == first.Access || second.Refresh == first.Refresh || second.Refresh == "" || time.Until(second.Expires) < 59*time.Minute {
			t.Fatalf("secret %q: got %d and %d bytes until %v, %v", secret, len(second.Access), len(second.Refresh), second.Expires, err)
		}
		again, err := d.verifier.VerifyBrowser(t.Context(), second.Access, auth.SignInOf(p))
		if err != nil || again.TokenID() != p.TokenID() || !again.Issued().Equal(p.Issued()) {
			t.Errorf("the session's principal is %v, %v, want that of the sign-in", again, err)
		}
		if _, err := d.login.Refresh(t.Context(), first); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("a used refresh token: %v, want UNAUTHENTICATED", err)
		}
		_ = d.issuer.Close(context.Background())
		if _, err := d.login.Refresh(t.Context(), second); !fault.Is(err, fault.ServiceDown) {
			t.Errorf("an issuer that is away: %v, want SERVICE_UNAVAILABLE", err)
		}
	}
}

func TestOnlySomeRefusalsEndASignIn(t *testing.T) {
	for _, row := range []struct {
		status int
		code   string
		want   *fault.Code
	}{
		{400, "invalid_grant", fault.Unauthorized}, {400, "interaction_required", fault.Unauthorized}, {400, "login_required", fault.Unauthorized},
		{401, "invalid_client", fault.ServiceDown}, {400, "unauthorized_client", fault.ServiceDown}, {400, "temporarily_unavailable", fault.ServiceDown},
		{429, "", fault.ServiceDown}, {500, "invalid_grant_service", fault.ServiceDown},
	} {
		h := newHarness(t)
		h.status, h.tokens = row.status, map[string]any{"error": row.code}
		l, err := auth.NewLogin(auth.LoginConfig{Issuer: h.server.URL, ClientID: "web", RedirectURL: callback, Resource: "https://gateway.example/"}, h.verifier)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Refresh(t.Context(), auth.Tokens{Refresh: "r1"}); !fault.Is(err, row.want) {
			t.Errorf("%d %s: got %v, want %s", row.status, row.code, err, row.want.Name)
		}
		if q := h.exchange; q.Get("grant_type") != "refresh_token" || q.Get("refresh_token") != "r1" || q.Get("resource") != "https://gateway.example/" || q.Get("code") != "" || q.Has("redirect_uri") {
			t.Errorf("the issuer was asked %v", q)
		}
	}
}

// An issuer that does not rotate sends no refresh token, and one that says no
// expires_in is asked again when the token ends.
func TestRefreshKeepsWhatTheIssuerDoesNotSay(t *testing.T) {
	h := newHarness(t)
	h.tokens = map[string]any{"access_token": h.token(), "token_type": "Bearer"}
	l, err := auth.NewLogin(auth.LoginConfig{Issuer: h.server.URL, ClientID: "web", RedirectURL: callback}, h.verifier)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Refresh(t.Context(), auth.Tokens{Refresh: "r1"})
	if p := h.accepts(h.token()); err != nil || got.Refresh != "r1" || !got.Expires.Equal(p.Expires()) {
		t.Errorf("got %q until %v, %v, want r1 until %v", got.Refresh, got.Expires, err, p.Expires())
	}
	h.tokens["access_token"] = "opaque"
	if _, err := l.Refresh(t.Context(), auth.Tokens{Refresh: "r1"}); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("a token without an expiry: %v, want UNAUTHENTICATED", err)
	}
}

// TestSessionIsRevokedWithItsSignIn: a token that was refreshed after a revocation
// is as revoked as the one with which the person signed in.
func TestSessionIsRevokedWithItsSignIn(t *testing.T) {
	gone := errors.New("revoked")
	h := newHarness(t)
	v, err := auth.NewVerifier([]auth.Config{{URL: h.server.URL, Audiences: []string{"gateway"}}}, &auth.Options{Now: h.now, Revoked: func(p *access.Principal) error {
		if p.TokenID() == "first" {
			return gone
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	refreshed := h.token(set("jti", "second"))
	p, err := v.Verify(t.Context(), refreshed)
	if err != nil {
		t.Fatal(err)
	}
	began := auth.SignIn{Owner: p.Owner(), TokenID: "first", Issued: p.Issued()}
	if _, err := v.VerifyBrowser(t.Context(), refreshed, began); !errors.Is(err, gone) {
		t.Errorf("got %v, want it revoked", err)
	}
	began.TokenID, began.Owner.Subject = "other", "somebody-else"
	if _, err := v.VerifyBrowser(t.Context(), refreshed, began); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("another person's token: got %v, want it refused", err)
	}
}
