package issuer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/embedded/issuer"
	"countersign.dev/internal/fault"
)

// TestSessionHasTokensOfItsPerson: they are of that person and audience, approve
// nothing, and are replaced a minute before they end.
func TestSessionHasTokensOfItsPerson(t *testing.T) {
	var passed atomic.Int64 // keys are fetched in the background
	now := func() time.Time {
		return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(passed.Load()))
	}
	server, err := issuer.Start("localhost:0", issuer.Options{
		People: []issuer.Person{{Subject: "s-nina", Username: "nina.patel"}}, Now: now, TerminalClient: "countersign",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close(context.WithoutCancel(t.Context())) }()
	verifier, err := auth.NewVerifier([]auth.Config{{URL: server.URL(), Audiences: []string{"hr"}, ConfirmClients: []string{"countersign"}}}, &auth.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	user, err := issuer.NewSession(server.URL(), "nina.patel", "hr", now)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for _, pass := range []time.Duration{0, 58 * time.Minute, 2 * time.Minute} {
		passed.Add(int64(pass))
		token, err := user.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		who, err := verifier.Verify(t.Context(), token)
		if err != nil || who.Username() != "nina.patel" || who.MayConfirm() {
			t.Errorf("after %v: got %v, %v", pass, who, err)
		}
		tokens = append(tokens, token)
	}
	if tokens[0] != tokens[1] || tokens[1] == tokens[2] {
		t.Error("the token was not kept for its time, or not replaced after it")
	}
	if other, err := issuer.NewSession(server.URL(), "nobody", "hr", now); err != nil {
		t.Error(err)
	} else if _, err := other.Token(t.Context()); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("an unknown person: got %v", err)
	}
	if err := server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	passed.Add(int64(time.Hour))
	if _, err := user.Token(t.Context()); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("without the issuer: got %v", err)
	}
}
