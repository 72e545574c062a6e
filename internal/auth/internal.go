package auth

import (
	"fmt"
	"slices"

	"countersign.dev/internal/access"
)

// InternalIssuer is the iss of internal tokens. It is no URL, so no identity
// issuer can be configured under it.
const InternalIssuer = "countersign"

// Internal says whose internal tokens are accepted, and as which server.
type Internal struct {
	Audience   string // this server's name: the aud that a token must have
	GatewayURL string // where the gateway publishes its keys
	Keys       *Keys  // or the keys themselves, when gateway and server share a process
}

var purposes = []access.Purpose{access.PurposeCall, access.PurposeExecute, access.PurposeCatalogue}

// identifyInternal reads the claims that [Minter] wrote. Issuer and subject stay
// the original ones, so that a person owns their confirmations on every path.
func identifyInternal(c claims, _ []string) (access.Claims, error) {
	subject, err := c.subject()
	if err != nil {
		return access.Claims{}, err
	}
	origin, err := c.required("orig_iss")
	if err != nil {
		return access.Claims{}, err
	}
	purpose := access.Purpose(c.text("purpose"))
	if !slices.Contains(purposes, purpose) {
		return access.Claims{}, fmt.Errorf("%w: purpose", errClaim)
	}
	verified, _ := c["email_verified"].(bool)
	return access.Claims{
		Issuer: origin, Subject: subject, Username: c.text("preferred_username"),
		Email: c.text("email"), EmailVerified: verified, Name: c.text("name"),
		Roles: c.texts("roles"), Groups: c.texts("groups"), Purpose: purpose,
	}, nil
}
