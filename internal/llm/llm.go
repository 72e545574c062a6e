// Package llm makes language models of their configuration: the registry of
// models by name, and one case in [provide] for each provider. It knows vendors
// and nothing of tools, people or HTTP routes; package agent says what a model
// is. Start with [New].
package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/anthropic"
	"countersign.dev/internal/llm/blob"
	"countersign.dev/internal/llm/gemini"
	"countersign.dev/internal/llm/openai"
	"countersign.dev/internal/llm/rehearsal"
	"countersign.dev/internal/llm/vendor"
	"countersign.dev/internal/tokens"
)

// Rehearsal is the provider that needs no key: see package rehearsal.
const Rehearsal = rehearsal.Name

// rehearsalBudget is so large because rehearsal reads every page itself.
const rehearsalBudget = 1 << 20

// The providers that are reached over a network.
const (
	Anthropic = anthropic.Provider
	Gemini    = gemini.Provider
	OpenAI    = openai.Provider // and every server that speaks its chat completions
)

// Defaults of models that are reached over a network.
const (
	defaultMaxTokens = 4096    // of one answer
	vendorBudget     = 100_000 // tokens of one request to a vendor's own address; the windows are larger
)

// Options configure one model.
type Options struct {
	Provider string
	Timeout  time.Duration // of one answer; 0: the gateway's default
	Budget   int           // tokens of one request: instructions, tools and messages; 0: the provider's default
	Price    agent.Price
	Tools    string         // ToolsNative or ToolsBlob; empty: native, and blob once the provider has refused tools
	Vendor   vendor.Options // of every provider but rehearsal
}

// Registry holds the configured models. It does not change once made.
type Registry struct {
	choices []agent.Choice // sorted by name
	tokens  tokens.Counter // of answers that were cut off
}

// New makes every model, or says which cannot be made.
func New(models map[string]Options, p Policy) (*Registry, error) {
	r := &Registry{}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		o := models[name]
		c, err := provide(o, p)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", name, err)
		}
		n := named{Model: c.Model, name: name, price: o.Price}
		if c.Language {
			n.tokens = &r.tokens
		}
		c.Model, c.Provider, c.Default = n, o.Provider, name == p.Default
		r.choices = append(r.choices, c)
	}
	if _, ok := models[p.Default]; !ok {
		return nil, fmt.Errorf("the default model %q is not configured", p.Default)
	}
	return r, r.fallBack(p)
}

// provide makes the model of a provider.
func provide(o Options, p Policy) (agent.Choice, error) {
	c := agent.Choice{Timeout: o.Timeout, Budget: o.Budget, Price: o.Price}
	if o.Provider == Rehearsal {
		c.Model, c.Budget = rehearsal.New(), cmp.Or(o.Budget, rehearsalBudget)
		return c, nil
	}
	v := o.Vendor
	v.MaxTokens = cmp.Or(v.MaxTokens, defaultMaxTokens)
	if v.Model == "" {
		return c, errors.New("no model is named")
	}
	switch o.Provider {
	case Anthropic:
		c.Model, c.Budget = anthropic.New(v), cmp.Or(o.Budget, vendorBudget)
	case Gemini:
		model, err := gemini.New(v)
		if err != nil {
			return c, err
		}
		c.Model, c.Budget = model, cmp.Or(o.Budget, vendorBudget)
	case OpenAI:
		c.Model = openai.New(v)
		if v.BaseURL == "" {
			c.Budget = cmp.Or(o.Budget, vendorBudget)
		}
	default:
		return c, fmt.Errorf("unknown provider %q; there are %s, %s, %s and %s", o.Provider, Anthropic, Gemini, OpenAI, Rehearsal)
	}
	switch o.Tools {
	case "":
		c.Model = newAdaptive(c.Model, p.Log)
	case ToolsBlob:
		c.Model = blob.New(c.Model)
	case ToolsNative:
	default:
		return c, fmt.Errorf("unknown way to call tools %q; there are %s and %s", o.Tools, ToolsNative, ToolsBlob)
	}
	c.Model, c.Language = newRetrying(c.Model, p), true
	return c, nil
}

// named is a model under its configured name, which knows what its answers cost, also
// of one that was cut off.
type named struct {
	agent.Model
	name   string
	price  agent.Price
	tokens *tokens.Counter // nil: what was cut off used nothing
}

func (n named) Name() string { return n.name }

func (n named) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		m := meter{request: r}
		for d, err := range n.Model.Stream(ctx, r) {
			m.take(d)
			if err != nil && n.tokens != nil {
				if u := m.missing(ctx, n.tokens); u != nil && !yield(agent.Delta{Usage: n.priced(*u)}, nil) {
					return
				}
			}
			if d.Usage != nil {
				d.Usage = n.priced(*d.Usage)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// priced is a usage with what it costs.
func (n named) priced(u agent.Usage) *agent.Usage {
	u.Cost, u.Currency = n.price.Of(u), n.price.Currency
	return &u
}

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

// fallBack lets the policy's model answer for every other one.
func (r *Registry) fallBack(p Policy) error {
	if p.Fallback == "" {
		return nil
	}
	second, err := r.Choose(p.Fallback)
	if err != nil {
		return fmt.Errorf("the fallback model %q is not configured", p.Fallback)
	}
	for i := range r.choices {
		c := &r.choices[i]
		if c.Name() == p.Fallback || c.Provider == Rehearsal {
			continue
		}
		c.Model = falling{c.Model, second.Model, new(atomic.Int64), p.Log, time.Now}
		c.Budget = smaller(c.Budget, second.Budget)
	}
	return nil
}

// smaller is the budget that suits both models; 0 is the gateway's default, which
// is smaller than any other.
func smaller(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return min(a, b)
}
