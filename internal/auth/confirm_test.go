package auth_test

import (
	"context"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/fault"
)

// TestRightToConfirmNeedsScopeAndClient: every combination of scope, client and
// configuration.
func TestRightToConfirmNeedsScopeAndClient(t *testing.T) {
	scopes := map[string]struct {
		change         func(map[string]any)
		has, scopeless bool
	}{
		"no scope claim":   {without("scope"), false, true},
		"mcp confirm":      {set("scope", "mcp confirm"), true, false},
		"confirm":          {set("scope", "confirm"), true, false},
		"a list":           {set("scope", []string{"mcp", "confirm"}), true, false},
		"mcp":              {set("scope", "mcp"), false, false},
		"empty":            {set("scope", ""), false, false},
		"null":             {set("scope", nil), false, false},
		"a longer word":    {set("scope", "confirmation"), false, false},
		"another case":     {set("scope", "Confirm"), false, false},
		"another type":     {set("scope", map[string]any{"confirm": true}), false, false},
		"a prefixed scope": {set("scope", "mcp:confirm"), false, false},
		"scp":              {set("scp", "mcp confirm"), true, false},
		"scp, a list":      {set("scp", []string{"mcp", "confirm"}), true, false},
		"scp without it":   {set("scp", []string{"mcp"}), false, false},
	}
	clients := map[string]struct {
		change         []func(map[string]any)
		ours, nameless bool
	}{
		"azp":                   {[]func(map[string]any){set("azp", "countersign")}, true, false},
		"client_id":             {[]func(map[string]any){set("client_id", "countersign")}, true, false},
		"both":                  {[]func(map[string]any){set("azp", "countersign"), set("client_id", "countersign")}, true, false},
		"none":                  {nil, false, true},
		"another azp":           {[]func(map[string]any){set("azp", "agent")}, false, false},
		"another client_id":     {[]func(map[string]any){set("client_id", "agent")}, false, false},
		"azp of another client": {[]func(map[string]any){set("azp", "agent"), set("client_id", "countersign")}, false, false},
		"client_id of another":  {[]func(map[string]any){set("azp", "countersign"), set("client_id", "agent")}, false, false},
		"another type":          {[]func(map[string]any){set("azp", []string{"countersign"})}, false, false},
		"empty":                 {[]func(map[string]any){set("azp", "")}, false, false},
		"cid":                   {[]func(map[string]any){set("cid", "countersign")}, true, false},
		"another cid":           {[]func(map[string]any){set("cid", "agent")}, false, false},
		"azp and appid":         {[]func(map[string]any){set("azp", "countersign"), set("appid", "countersign")}, true, false},
		"another appid":         {[]func(map[string]any){set("appid", "agent")}, false, false},
	}
	for _, configured := range []struct {
		name             string
		clients          []string
		withoutScope     bool
		scoped, unscoped bool // what the configuration allows
	}{
		{"our client", []string{"countersign"}, false, true, false},
		{"no client", nil, false, false, false},
		{"without scope", []string{"countersign"}, true, true, true},
	} {
		h := newHarness(t, func(c *auth.Config) {
			c.ConfirmClients, c.ConfirmWithoutScope = configured.clients, configured.withoutScope
		})
		for scope, s := range scopes {
			for client, c := range clients {
				want := s.has && c.ours && configured.scoped || s.scopeless && (c.ours || c.nameless) && configured.unscoped
				p := h.accepts(h.token(append(c.change, s.change)...))
				if p.MayConfirm() != want {
					t.Errorf("%s, scope %s, client %s: got %v, want %v", configured.name, scope, client, p.MayConfirm(), want)
				}
			}
		}
	}
}

func TestBrowserSignInMayConfirm(t *testing.T) {
	h := newHarness(t)
	raw := h.token(set("scope", "openid"))
	began := auth.SignInOf(h.accepts(raw))
	p, err := h.verifier.VerifyBrowser(t.Context(), raw, began)
	if err != nil || !p.MayConfirm() {
		t.Fatalf("got %v, %v, want the right to confirm", p, err)
	}
	if h.accepts(raw).MayConfirm() {
		t.Error("the same token as a bearer may confirm")
	}
	if _, err := h.verifier.VerifyBrowser(context.Background(), raw+"x", began); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("got %v for an altered token", err)
	}
}

// The right is never read from the claims of an internal token, and no execute
// token is minted without it.
func TestInternalTokensConfirmByPurposeOnly(t *testing.T) {
	h := newMinting(t)
	without := alice(func(c *access.Claims) { c.MayConfirm = false })
	if _, err := h.minter.Token(without, "hr", access.PurposeExecute); !fault.Is(err, fault.InsufficientScope) {
		t.Errorf("got %v, want INSUFFICIENT_SCOPE", err)
	}
	for purpose, want := range map[access.Purpose]bool{access.PurposeExecute: true, access.PurposeCall: false, access.PurposeCatalogue: false} {
		p, err := h.hr.Verify(t.Context(), h.mint(t, alice(), "hr", purpose))
		if err != nil || p.MayConfirm() != want {
			t.Errorf("%s: got %v, %v, want %v", purpose, p.MayConfirm(), err, want)
		}
	}
}
