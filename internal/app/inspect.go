package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"text/tabwriter"

	"countersign.dev/internal/audit"
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

// AuditOptions say which logs are verified, and against what.
type AuditOptions struct {
	ConfigOptions          // File may be empty: then Paths are required
	Paths         []string // logs and folders; none: those of the configuration

	redis  string      // URL; empty: that of the configuration, or none
	keys   []string    // trusted, public
	expect *audit.Head // nil: nothing
}

// HeadsIn sets the Redis that has the processes' newest heads. The error is for a text
// that is no address of one.
func (o *AuditOptions) HeadsIn(url string) error {
	o.redis = url
	return state.CheckAddress(url)
}

// Trust adds a public key. The error is for a text that is none.
func (o *AuditOptions) Trust(key string) error {
	o.keys = append(o.keys, key)
	return audit.CheckKey(key)
}

// ExpectHead sets a head of an earlier verification, HASH/COUNT. The error is for a
// text that is none.
func (o *AuditOptions) ExpectHead(text string) error {
	head, err := audit.ParseHead(text)
	o.expect = &head
	return err
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

// evidence reads the options. A configuration supplies the paths, and Redis.
func (o *AuditOptions) evidence(ctx context.Context) (e audit.Evidence, err error) {
	if o.File != "" {
		conf, err := o.load(func(*config.Config) []string { return nil })
		if err != nil {
			return e, err
		}
		if len(o.Paths) == 0 {
			o.Paths = conf.Audit.Logs()
		}
		if o.redis == "" {
			o.redis = conf.Redis.URL
		}
	}
	e.Keys, e.Expect = o.keys, o.expect
	if o.redis == "" {
		return e, nil
	}
	redis, err := state.Open(ctx, o.redis, nil)
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
		fmt.Fprintf(out, "%s: the chain of its %d events is unbroken; head %s, %s\n", r.Path, events, r.Head, signed)
	}
}

// Version is the version that this program was built as.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Website is where the product is described, for clients that show it.
const Website = "https://countersign.dev/"
