package config

import (
	"fmt"
	"regexp"
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

func (p Price) problems(model string) (problems []string) {
	cached := p.CachedInput()
	if p.Input < 0 || p.Output < 0 || cached < 0 {
		problems = append(problems, fmt.Sprintf("models.%s.price must not be negative", model))
	}
	if p != (Price{}) && !currencyCode.MatchString(p.Currency) {
		problems = append(problems, fmt.Sprintf("models.%s.price.currency must be a code of three letters such as USD", model))
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
