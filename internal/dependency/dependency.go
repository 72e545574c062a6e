// Package dependency checks what a process needs and does not have in itself:
// files that it writes, certificates, Redis, issuers, and other processes of
// ours. A check changes nothing and takes no lock that a running process holds.
// It knows no configuration and no domain; app lists what is to be checked.
package dependency

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"countersign.dev/internal/fault"
)

const (
	checkTimeout = 8 * time.Second // for one dependency; all are checked concurrently
	maxChecked   = 1 << 20         // bytes of an answer that are read
)

// Check is the check of one dependency. Run returns a short status, or an error
// that says why it cannot be used.
type Check struct {
	Name string
	Run  func(context.Context) (string, error)
}

// Print runs all checks concurrently, prints their results in order, and reports
// whether all succeeded.
func Print(ctx context.Context, out io.Writer, all []Check) (well bool) {
	lines := make([]string, len(all))
	failed := make([]bool, len(all))
	var asked sync.WaitGroup
	for i, c := range all {
		asked.Go(func() {
			ctx, done := context.WithTimeout(ctx, checkTimeout)
			defer done()
			said, err := c.Run(ctx)
			if failed[i] = err != nil; failed[i] {
				said = "failed: " + fault.Operator(err)
			}
			lines[i] = strings.Join(strings.Fields(said), " ")
		})
	}
	asked.Wait()
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	defer w.Flush()
	well = true
	for i, c := range all {
		fmt.Fprintf(w, "%s\t%s\n", c.Name, lines[i])
		well = well && !failed[i]
	}
	return well
}
