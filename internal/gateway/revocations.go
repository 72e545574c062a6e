package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// revocations ends tokens and sign-ins for auditors.
type revocations struct {
	list    Revocations
	audit   audit.Sink
	body    int64    // bytes of a request's body
	issuers []string // of people who can be revoked; empty: any
}

// revocation names a token, or a person at an issuer.
type revocation struct {
	TokenID string `json:"jti,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"sub,omitempty"`
}

// maxRevoked bounds each name in bytes; a sub has 255 at most.
const maxRevoked = 512

func (v revocation) check() error {
	person := v.Issuer != "" && v.Subject != ""
	if (v.TokenID != "") == person || !person && v.Issuer+v.Subject != "" {
		return fault.BadRequest.New("Name a token or a person.").Suggest(`Send {"jti": …} or {"issuer": …, "sub": …}.`)
	}
	if max(len(v.TokenID), len(v.Issuer), len(v.Subject)) > maxRevoked {
		return fault.BadRequest.New("A name is longer than %d bytes.", maxRevoked)
	}
	return nil
}

// revoke is POST /api/revoke. What it ends has ended on every replica within two
// seconds. Its intent is recorded before it is made, or it is not made; its outcome is
// recorded when that is known.
func (v revocations) revoke(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if !p.HasAny(access.Auditor) {
		_ = v.record(r.Context(), audit.Event{Kind: audit.Revocation, Outcome: fault.Insufficient.Name}) // refused either way
		return p.Lacks(fault.Insufficient.New("Only an auditor may revoke sign-ins.").Suggest("Ask someone who has the role auditor."), string(access.Auditor))
	}
	what, err := httpx.Decode[revocation](r, v.body)
	if err != nil {
		return err
	}
	if err := errors.Join(what.check(), v.known(what.Issuer)); err != nil {
		return err
	}
	event := audit.Event{Kind: audit.Intent, Step: audit.RevokedPerson, Note: what.Issuer + " " + what.Subject}
	if what.TokenID != "" {
		event.Step, event.Note = audit.RevokedToken, what.TokenID
	}
	if err := v.record(r.Context(), event); err != nil {
		return err
	}
	err = v.enlist(r.Context(), what)
	event.Kind, event.Outcome = audit.Revocation, result.StatusSuccess
	if err != nil {
		event.Outcome = fault.From(err).Code.Name
	}
	_ = v.record(context.WithoutCancel(r.Context()), event) // the intent is recorded, and what was revoked stays so
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": result.StatusSuccess, "revoked": event.Step})
}

// known refuses an issuer that is not configured: no one has tokens of it, so nothing
// would be revoked, and the auditor would not know.
func (v revocations) known(issuer string) error {
	if issuer == "" || len(v.issuers) == 0 || slices.Contains(v.issuers, issuer) {
		return nil
	}
	return fault.BadRequest.New("No issuer %q is configured, so nothing was revoked.", issuer).
		Suggest("Send the issuer exactly as it is configured: %s.", strings.Join(v.issuers, " or "))
}

func (v revocations) enlist(ctx context.Context, what revocation) error {
	if what.TokenID != "" {
		return v.list.RevokeToken(ctx, "", what.TokenID)
	}
	return v.list.RevokePerson(ctx, access.Owner{Issuer: what.Issuer, Subject: what.Subject})
}

func (v revocations) record(ctx context.Context, e audit.Event) error {
	if v.audit == nil {
		return nil
	}
	return v.audit.Append(ctx, e)
}
