// Package llm makes language models of their configuration: the registry of
// models by name, and one case in [provide] for each provider. It knows vendors
// and nothing of tools, people or HTTP routes; package agent says what a model
// is. Start with [New].
package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/rehearsal"
)

// Rehearsal is the provider that needs no key: see package rehearsal.
const Rehearsal = rehearsal.Name

// rehearsalBudget is so large because rehearsal reads every page itself.
const rehearsalBudget = 1 << 20

// Options configure one model.
type Options struct {
	Provider string
	Timeout  time.Duration // of one answer; 0: the gateway's default
	Budget   int           // tokens of one request: instructions, tools and messages; 0: the provider's default
}

// Registry holds the configured models. It does not change once made.
type Registry struct {
	choices []agent.Choice // sorted by name
}

// New makes every model, or says which cannot be made. first names the default.
func New(models map[string]Options, first string) (*Registry, error) {
	r := &Registry{}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		o := models[name]
		c, err := provide(o)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", name, err)
		}
		c.Model, c.Provider, c.Default = named{c.Model, name}, o.Provider, name == first
		r.choices = append(r.choices, c)
	}
	if _, ok := models[first]; !ok {
		return nil, fmt.Errorf("the default model %q is not configured", first)
	}
	return r, nil
}

// provide makes the model of a provider.
func provide(o Options) (agent.Choice, error) {
	c := agent.Choice{Timeout: o.Timeout, Budget: o.Budget}
	switch o.Provider {
	case Rehearsal:
		c.Model = rehearsal.New()
		if c.Budget == 0 {
			c.Budget = rehearsalBudget
		}
		return c, nil
	}
	return c, fmt.Errorf("unknown provider %q; there is %s", o.Provider, Rehearsal)
}

// named is a model under its configured name.
type named struct {
	agent.Model
	name string
}

func (n named) Name() string { return n.name }

// Choose returns the model of that name, or the default when it is empty. An
// unknown name is the caller's fault.
func (r *Registry) Choose(name string) (agent.Choice, error) {
	var names []string
	for _, c := range r.choices {
		if c.Name() == name || name == "" && c.Default {
			return c, nil
		}
		names = append(names, c.Name())
	}
	return agent.Choice{}, fault.BadRequest.New("No model is called %q.", name).Suggest("Use one of: %s.", strings.Join(names, ", "))
}

// List returns all models, sorted by name.
func (r *Registry) List() []agent.Choice { return slices.Clone(r.choices) }
