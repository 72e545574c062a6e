package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
)

// Tools lists the tools that the person may call.
func Tools(ctx context.Context, o Options) error {
	cl, err := o.client(ctx)
	if err != nil {
		return err
	}
	list, err := cl.tools(ctx)
	if err != nil {
		return err
	}
	if o.JSON {
		return json.NewEncoder(o.Out).Encode(list)
	}
	w := tabwriter.NewWriter(o.Out, 0, 4, 2, ' ', 0)
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
