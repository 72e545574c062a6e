package config

import (
	"fmt"
	"regexp"
	"time"
)

// Price is what a model costs, per million tokens. Without a currency it is not
// known.
type Price struct {
	Input    float64  `yaml:"input"`
	Output   float64  `yaml:"output"`
	Cached   *float64 `yaml:"cached"` // of input from the provider's cache; default: input
	Currency string   `yaml:"currency"`
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// problems are those of a price; the names are those of its keys, with their lines.
func (p Price) problems(name, currency string) (problems []string) {
	cached := p.CachedInput()
	if p.Input < 0 || p.Output < 0 || cached < 0 {
		problems = append(problems, name+" must not be negative")
	}
	if p != (Price{}) && !currencyCode.MatchString(p.Currency) {
		problems = append(problems, currency+" must be a code of three letters such as USD")
	}
	return problems
}

// CachedInput is the price of input from the provider's cache.
func (p Price) CachedInput() float64 {
	if p.Cached == nil {
		return p.Input
	}
	return *p.Cached
}

// Budgets are what one person may use in a day (UTC). Zero: no limit.
type Budgets struct {
	Tokens int     `yaml:"tokens"`
	Price  float64 `yaml:"price"` // in the currency of the models' prices
}

// Currency is that of the models' prices; empty when none has one.
func (c *Config) Currency() string {
	for _, m := range c.Models.ByName {
		if m.Price.Currency != "" {
			return m.Price.Currency
		}
	}
	return ""
}

// maxRetries and maxRetryDelay keep a person's wait within a turn.
const (
	maxRetries    = 10
	maxRetryDelay = 30 * time.Second
)

// retryProblems checks how models are asked again, and the one that answers for
// others.
func (c *Config) retryProblems() (problems []string) {
	if c.Retries != nil && (*c.Retries < 0 || *c.Retries > maxRetries) {
		problems = append(problems, fmt.Sprintf("%sretries must be between 0 and %d", c.line("retries"), maxRetries))
	}
	if c.RetryDelay < 0 || c.RetryDelay > maxRetryDelay {
		problems = append(problems, fmt.Sprintf("%sretry_delay must be between 0 and %s", c.line("retry_delay"), maxRetryDelay))
	}
	if _, ok := c.Models.ByName[c.Fallback]; !ok && c.Fallback != "" {
		problems = append(problems, c.line("fallback")+"fallback must name one of the models")
	}
	if c.Budgets.Tokens < 0 || c.Budgets.Price < 0 {
		problems = append(problems, c.line("budgets")+"budgets must not be negative")
	}
	if c.Budgets.Price > 0 && c.Currency() == "" {
		problems = append(problems, c.line("budgets")+"budgets.price needs a price of some model")
	}
	currencies := map[string]bool{}
	for _, m := range c.Models.ByName {
		if m.Price.Currency != "" {
			currencies[m.Price.Currency] = true
		}
	}
	if len(currencies) > 1 {
		problems = append(problems, c.line("models")+"the prices of all models must be in one currency: they are added up")
	}
	return problems
}
