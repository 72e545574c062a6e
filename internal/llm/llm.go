// Package llm is the model providers: one file and one row in [New] each. It
// knows vendors and nothing of tools, people or HTTP routes; package agent says
// what a model is.
package llm

import (
	"fmt"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/rehearsal"
)

// Rehearsal is the provider that needs no key: see package rehearsal.
const Rehearsal = rehearsal.Name

// Options chooses a provider.
type Options struct {
	Provider string // empty: Rehearsal
}

// New makes the model that the options name. An unknown provider is an error.
func New(o Options) (agent.Model, error) {
	switch o.Provider {
	case "", Rehearsal:
		return rehearsal.New(), nil
	}
	return nil, fmt.Errorf("unknown model provider %q; there is %s", o.Provider, Rehearsal)
}
