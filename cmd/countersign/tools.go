package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gateway"
)

func toolsCommand(ctx context.Context, p program, c command) error {
	var flags clientFlags
	var codes bool
	operands, err := c.parse(p, func(fs *flag.FlagSet) {
		flags.define(fs)
		fs.BoolVar(&codes, "errors", false, "print the error codes instead")
	})
	if err != nil {
		return err
	}
	if len(operands) > 0 {
		return usageError{"takes no operands"}
	}
	if codes {
		return printCodes(p, flags.json)
	}
	cl, err := flags.client(ctx, p)
	if err != nil {
		return err
	}
	list, err := cl.tools(ctx)
	if err != nil {
		return err
	}
	if flags.json {
		return json.NewEncoder(p.out).Encode(list)
	}
	w := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tTOOL\tKIND\tWHAT IT DOES")
	for _, t := range list.Tools {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Server, t.Name, t.Kind, firstSentence(t.Description))
	}
	return w.Flush()
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".") + "."
}

// printCodes prints every error code: the shared ones and each domain's.
func printCodes(p program, asJSON bool) error {
	all := append(fault.Shared(), gateway.Codes()...)
	for _, d := range domains() {
		all = append(all, d.codes...)
	}
	if asJSON {
		return json.NewEncoder(p.out).Encode(all)
	}
	w := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "CODE\tKIND\tHTTP\tMEANING")
	for _, code := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", code.Name, code.Kind, code.Status, code.Meaning)
	}
	return w.Flush()
}

func auditCommand(_ context.Context, p program, c command) error {
	operands, err := c.parse(p, func(*flag.FlagSet) {})
	if err != nil {
		return err
	}
	if len(operands) != 2 || operands[0] != "verify" {
		return usageError{"say: audit verify FILE"}
	}
	report, err := audit.Verify(operands[1])
	if err != nil {
		return err
	}
	for _, remark := range report.Remarks {
		fmt.Fprintf(p.out, "line %d: %s\n", remark.Line, remark.Text)
	}
	if b := report.Broken; b != nil {
		return fmt.Errorf("%s is broken at %s; %d events before it hold", operands[1], b, report.Events)
	}
	fmt.Fprintf(p.out, "%s is whole: %d events, none altered, none missing\n", operands[1], report.Events)
	return nil
}

func version(_ context.Context, p program, c command) error {
	if _, err := c.parse(p, func(*flag.FlagSet) {}); err != nil {
		return err
	}
	fmt.Fprintln(p.out, "countersign "+buildVersion())
	return nil
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
