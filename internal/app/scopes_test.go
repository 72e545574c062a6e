package app

import (
	"slices"
	"testing"
)

// TestClientsAreNotInvitedToApprove: an MCP client asks an issuer for every scope
// that the metadata names.
func TestClientsAreNotInvitedToApprove(t *testing.T) {
	got := clientScopes([]string{"openid", "offline_access", "mcp", "confirm"})
	if want := []string{"openid", "mcp"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
