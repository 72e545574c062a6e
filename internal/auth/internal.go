package auth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"countersign.dev/internal/access"
)

// InternalIssuer is the iss of internal tokens. It is no URL, so no identity
// issuer can be configured under it.
const InternalIssuer = "countersign"

// trustGateway accepts internal tokens made for this server.
func (v *Verifier) trustGateway(in Internal) error {
	if in.Audience == "" {
		return errors.New("internal tokens: the server's name is required")
	}
	keys, err := v.internalKeys(in)
	if err != nil {
		return err
	}
	v.issuers[InternalIssuer] = &issuer{
		name: InternalIssuer, audiences: []string{in.Audience}, keys: keys, identify: identifyInternal,
	}
	return nil
}

func (v *Verifier) internalKeys(in Internal) (*keyset, error) {
	if in.Keys != nil {
		return fixedKeys(in.Keys.public()), nil
	}
	u, err := url.Parse(in.GatewayURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("internal tokens: %q is not the gateway's address", in.GatewayURL)
	}
	return v.keyset(gatewayKeys(v.client, in.GatewayURL)), nil
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
