package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
)

// signer derives the key that signs a process's audit log.
func (k processKeys) signer(name string) (*audit.Signer, error) {
	if len(k.sealing[name]) == 0 {
		return nil, fmt.Errorf("keys.sealing.%s is required: the audit log is signed with a key of it", name)
	}
	return audit.NewSigner(k.sealing[name][0], k.sealing[name][1:]...)
}

// openAudit opens the log of a process.
func openAudit(life *lifetime, keys processKeys, name string, conf config.Audit) (*audit.Log, error) {
	signer, err := keys.signer(name)
	if err != nil {
		return nil, err
	}
	events, err := audit.Open(filepath.Clean(conf.Path), &audit.Options{Name: name, Signer: signer, MaxSize: conf.RotateSize, MaxAge: conf.RotateAge})
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	life.onClose("the audit log", events.Close)
	return events, nil
}

// refused records a request that no tool will record.
func (p *platform) refused(server string) func(context.Context, *fault.Error) {
	return func(ctx context.Context, f *fault.Error) {
		p.denied(ctx, audit.Event{Server: server, Outcome: f.Code.Name, Note: f.Message})
	}
}

// dropped records what an additional issuer said about a person and may not say.
func (p *platform) dropped(server string) func(context.Context, auth.Dropped) {
	return func(ctx context.Context, d auth.Dropped) {
		var notes []string
		if len(d.Roles) > 0 {
			notes = append(notes, "The issuer may not give these roles: "+strings.Join(d.Roles, ", ")+".")
		}
		if d.Domain != "" {
			notes = append(notes, "The issuer may not verify addresses of "+d.Domain+".")
		}
		p.denied(ctx, audit.Event{
			Server: server, Step: audit.ClaimDropped, Issuer: d.Issuer, Subject: d.Subject, Username: d.Username, Note: strings.Join(notes, " "),
		})
	}
}

// restored records that the list of revoked sign-ins was not whole in Redis.
func restored(refusals *audit.Refusals, log *slog.Logger) func(context.Context) {
	return func(ctx context.Context) {
		e := audit.Event{Kind: audit.Revocation, Step: audit.RevocationsRestored, Note: "Revoked sign-ins were missing in Redis, or ended earlier there, and were put back."}
		if err := refusals.Append(ctx, e); err != nil {
			log.ErrorContext(ctx, "audit event not written", "error", err)
		}
	}
}

func (p *platform) denied(ctx context.Context, e audit.Event) {
	e.Kind = audit.Denial
	if err := p.refusals.Append(ctx, e); err != nil {
		p.log.ErrorContext(ctx, "audit event not written", "server", e.Server, "error", err)
	}
}

// auditHeads are the heads of all processes' logs in Redis.
type auditHeads struct{ redis *state.Redis }

const (
	headsKey  = "audit:heads"
	headsLife = 90 * 24 * time.Hour // after the last change of a log
)

// Publish implements audit.Heads.
func (a auditHeads) Publish(ctx context.Context, h audit.SignedHead) error {
	encoded, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := a.redis.Set(ctx, headsKey+":"+h.Log, encoded, headsLife); err != nil {
		return err
	}
	return a.redis.Join(ctx, headsKey, h.Log, headsLife)
}

// Newest implements audit.Heads. Values that are no heads are left out.
func (a auditHeads) Newest(ctx context.Context) ([]audit.SignedHead, error) {
	logs, err := a.redis.Members(ctx, headsKey)
	if err != nil {
		return nil, err
	}
	var heads []audit.SignedHead
	for _, id := range logs[:min(len(logs), audit.MaxHeads)] {
		var h audit.SignedHead
		text, found, err := a.redis.Get(ctx, headsKey+":"+id)
		if err != nil {
			return nil, err
		}
		if found && json.Unmarshal(text, &h) == nil && h.Log == id {
			heads = append(heads, h)
		}
	}
	return heads, nil
}
