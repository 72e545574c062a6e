package config

import (
	"cmp"
	"slices"
	"time"
)

// Models are the language models by name, and the name of the default.
type Models struct {
	Default string           `yaml:"default"`
	ByName  map[string]Model `yaml:",inline"`
}

// Model is one language model.
type Model struct {
	Provider     string        `yaml:"provider"`
	Model        string        `yaml:"model"`    // as the provider names it
	BaseURL      string        `yaml:"base_url"` // default: the provider's own
	APIKey       string        `yaml:"api_key"`
	MaxTokens    int           `yaml:"max_tokens"` // of one answer
	Temperature  *float64      `yaml:"temperature"`
	Timeout      time.Duration `yaml:"timeout"`
	BudgetTokens int           `yaml:"budget_tokens"`
	Tools        string        `yaml:"tools"`
	Price        Price         `yaml:"price"`

	KeyName string `yaml:"-"` // where the key came from, for errors
}

// defaults configure rehearsal when there is no model, and make an only model
// the default.
func (m *Models) defaults() {
	if len(m.ByName) == 0 {
		m.ByName = map[string]Model{"rehearsal": {Provider: "rehearsal"}}
	}
	if len(m.ByName) == 1 {
		for name := range m.ByName {
			m.Default = cmp.Or(m.Default, name)
		}
	}
}

func (c *Config) modelProblems() (problems []string) {
	if _, ok := c.Models.ByName[c.Models.Default]; !ok {
		problems = append(problems, c.line("models", "default")+"models.default must name one of the models")
	}
	for name, model := range c.Models.ByName {
		at := func(key string) string { return c.line("models", name, key) + "models." + name + "." + key }
		if model.Provider == "" {
			problems = append(problems, at("provider")+" is required")
		}
		if model.Timeout < 0 || model.BudgetTokens < 0 || model.MaxTokens < 0 {
			problems = append(problems, c.line("models", name)+"models."+name+": timeout, max_tokens and budget_tokens must not be negative")
		}
		if model.Temperature != nil && (*model.Temperature < 0 || *model.Temperature > 2) {
			problems = append(problems, at("temperature")+" must be between 0 and 2")
		}
		problems = append(problems, model.Price.problems(at("price"), c.line("models", name, "price", "currency")+"models."+name+".price.currency")...)
		if !slices.Contains([]string{"", "native", "blob"}, model.Tools) {
			problems = append(problems, at("tools")+" must be native or blob")
		}
		if model.Model == "" && model.Provider != "" && model.Provider != "rehearsal" {
			problems = append(problems, at("model")+" is required: the model's name at its provider")
		}
	}
	return problems
}
