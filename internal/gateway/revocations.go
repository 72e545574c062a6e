package gateway

import (
	"net/http"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
)

// revocations ends tokens and sign-ins for auditors.
type revocations struct {
	list  Revocations
	audit audit.Sink
	body  int64 // bytes of a request's body
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
// seconds. A revocation that cannot be recorded is not made.
func (v revocations) revoke(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	event := audit.Event{Kind: audit.Revocation, Outcome: result.StatusSuccess}
	if !p.HasAny(access.Auditor) {
		event.Outcome = fault.Insufficient.Name
		_ = v.record(r, event) // refused either way
		return p.Lacks(fault.Insufficient.New("Only an auditor may revoke sign-ins.").Suggest("Ask someone who has the role auditor."), string(access.Auditor))
	}
	what, err := httpx.Decode[revocation](r, v.body)
	if err != nil {
		return err
	}
	if err := what.check(); err != nil {
		return err
	}
	event.Step, event.Note = audit.RevokedPerson, what.Issuer+" "+what.Subject
	if what.TokenID != "" {
		event.Step, event.Note = audit.RevokedToken, what.TokenID
	}
	if err := v.record(r, event); err != nil {
		return err
	}
	if what.TokenID != "" {
		err = v.list.RevokeToken(r.Context(), "", what.TokenID)
	} else {
		err = v.list.RevokePerson(r.Context(), access.Owner{Issuer: what.Issuer, Subject: what.Subject})
	}
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"status": result.StatusSuccess, "revoked": event.Step})
}

func (v revocations) record(r *http.Request, e audit.Event) error {
	if v.audit == nil {
		return nil
	}
	return v.audit.Append(r.Context(), e)
}
