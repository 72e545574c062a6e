package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strings"
	"text/tabwriter"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
)

// PrintCodes prints every error code: the shared ones and each domain's.
func PrintCodes(out io.Writer, asJSON bool) error {
	all := append(fault.Shared(), conversation.Codes()...)
	for _, d := range domains() {
		all = append(all, d.codes...)
	}
	if asJSON {
		return json.NewEncoder(out).Encode(all)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "CODE\tKIND\tHTTP\tMEANING")
	for _, code := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", code.Name, code.Kind, code.Status, code.Meaning)
	}
	return w.Flush()
}

// signer derives the key that signs a process's audit log.
func (k processKeys) signer(name string) (*audit.Signer, error) {
	if len(k.sealing[name]) == 0 {
		return nil, fmt.Errorf("keys.sealing.%s is required: the audit log is signed with a key of it", name)
	}
	return audit.NewSigner(k.sealing[name][0])
}

// openAudit opens the log of a process.
func openAudit(life *lifetime, keys processKeys, o platformOptions) (*audit.Log, error) {
	signer, err := keys.signer(o.name)
	if err != nil {
		return nil, err
	}
	events, err := audit.Open(filepath.Clean(o.audit.Path), &audit.Options{Name: o.name, Signer: signer, MaxSize: o.audit.RotateSize, MaxAge: o.audit.RotateAge})
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	life.onClose(events.Close)
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

// AuditOptions say which logs are verified, and against what.
type AuditOptions struct {
	ConfigOptions          // File may be empty: then Paths are required
	Paths         []string // logs and folders; none: that of the configuration
	Keys          []string // trusted public keys
	Expect        string   // HASH/COUNT; empty: nothing
	Redis         string   // URL; empty: that of the configuration, or none
}

// AuditError says why a log is not whole. Its status is the command's exit status.
type AuditError struct {
	Status audit.Status
	text   string
}

func (e AuditError) Error() string { return e.text }

// ExitStatus is the exit status of the command.
func (e AuditError) ExitStatus() int { return int(e.Status) }

// VerifyAudit verifies audit logs and prints what was found. The error is an
// [AuditError] for a log that is not whole.
func VerifyAudit(ctx context.Context, o AuditOptions) error {
	evidence, err := o.evidence(ctx)
	if err != nil {
		return err
	}
	results, err := audit.VerifyAll(o.Paths, evidence)
	if err != nil {
		return err
	}
	worst, broken := audit.Whole, ""
	for _, r := range results {
		printResult(o.Out, r)
		worst = audit.Worse(worst, r.Status())
		if r.Broken != nil && broken == "" {
			broken = fmt.Sprintf("; %s is broken at %s", r.Path, r.Broken)
		}
	}
	if len(evidence.Heads) == 0 && len(results) == 1 && evidence.Expect == nil {
		fmt.Fprintln(o.Out, "Not known: whether all of it was replaced. Give the other processes' logs too, --redis URL, or --expect-head.")
	}
	if worst != audit.Whole {
		return AuditError{worst, fmt.Sprintf("the record is not whole: %s%s", worst, broken)}
	}
	return nil
}

// evidence reads the options. A configuration supplies the path, and Redis.
func (o *AuditOptions) evidence(ctx context.Context) (e audit.Evidence, err error) {
	if o.File != "" {
		conf, err := o.load(func(*config.Config) []string { return nil })
		if err != nil {
			return e, err
		}
		if len(o.Paths) == 0 {
			o.Paths = []string{conf.Audit.Path}
		}
		if o.Redis == "" {
			o.Redis = conf.Redis.URL
		}
	}
	for _, key := range o.Keys {
		if err := audit.CheckKey(key); err != nil {
			return e, err
		}
	}
	e.Keys = o.Keys
	if o.Expect != "" {
		head, err := audit.ParseHead(o.Expect)
		if err != nil {
			return e, err
		}
		e.Expect = &head
	}
	if o.Redis == "" {
		return e, nil
	}
	redis, err := state.Open(ctx, o.Redis, nil)
	if err != nil {
		return e, err
	}
	e.Heads, err = auditHeads{redis}.Newest(ctx)
	return e, errors.Join(err, redis.Close())
}

func printResult(out io.Writer, r audit.Result) {
	for _, m := range r.Remarks {
		if m.Line > 0 {
			fmt.Fprintf(out, "%s line %d: %s\n", r.Path, m.Line, m.Text)
		} else {
			fmt.Fprintln(out, m.Text)
		}
	}
	if r.Missing {
		return
	}
	signed := "not signed"
	if r.Signer != "" {
		signed = "signed by " + r.Signer
	}
	events := r.Events - r.Start.Seq
	switch {
	case r.Broken != nil:
		fmt.Fprintf(out, "%s is broken; %d events before that hold\n", r.Path, events)
	case r.Status() == audit.Whole:
		fmt.Fprintf(out, "%s is intact: %d events, none altered, none missing; head %s, %s\n", r.Path, events, r.Head, signed)
	default:
		fmt.Fprintf(out, "%s: the %d events that it has are as they were written; head %s, %s\n", r.Path, events, r.Head, signed)
	}
}

// Version is the version that this program was built as.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// website is where the product is described, for clients that show it.
const website = "https://countersign.dev/"
