package app

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
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

// VerifyAudit verifies the hash chain of an audit log; the error names its first
// broken line.
func VerifyAudit(out io.Writer, file string) error {
	report, err := audit.Verify(file)
	if err != nil {
		return err
	}
	for _, remark := range report.Remarks {
		fmt.Fprintf(out, "line %d: %s\n", remark.Line, remark.Text)
	}
	if b := report.Broken; b != nil {
		return fmt.Errorf("%s is broken at %s; %d events before it hold", file, b, report.Events)
	}
	fmt.Fprintf(out, "%s is intact: %d events, none altered, none missing\n", file, report.Events)
	return nil
}
