package auth

import (
	"encoding/json"
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
	issuer, err := c.required("orig_iss")
	if err != nil {
		return access.Claims{}, err
	}
	purpose := access.Purpose(c.text("purpose"))
	if !slices.Contains(purposes, purpose) {
		return access.Claims{}, fmt.Errorf("%w: purpose", errClaim)
	}
	from, err := c.provenance()
	if err != nil {
		return access.Claims{}, err
	}
	issued, err := c.date("orig_iat")
	if err != nil {
		return access.Claims{}, err
	}
	verified, _ := c["email_verified"].(bool)
	return access.Claims{
		Issuer: issuer, Subject: subject, Username: c.text("preferred_username"),
		Email: c.text("email"), EmailVerified: verified, Name: c.text("name"),
		Roles: c.texts("roles"), Groups: c.texts("groups"), Purpose: purpose, Provenance: from,
		MayConfirm: purpose == access.PurposeExecute, // the gateway checked the right before it minted the token
		TokenID:    c.text("orig_jti"), Issued: issued,
	}, nil
}

// provenance reads where a call began. A surface that is not known is rejected.
func (c claims) provenance() (access.Provenance, error) {
	from, _ := c["origin"].(map[string]any)
	o := access.Provenance{Surface: access.Surface(claims(from).text("surface"))}
	list, _ := from["tainted_by"].([]any)
	for _, item := range list {
		fields, _ := item.(map[string]any)
		source := claims(fields)
		more, _ := fields["more"].(json.Number)
		n, _ := more.Int64() // none in most
		o.TaintedBy = append(o.TaintedBy, access.Source{
			Kind: source.text("kind"), ID: source.text("id"), Name: source.text("name"), About: source.text("about"), Tool: source.text("tool"), More: int(n),
		})
	}
	if !slices.Contains(access.Surfaces(), o.Surface) {
		return access.Provenance{}, fmt.Errorf("%w: origin", errClaim)
	}
	return o, nil
}
