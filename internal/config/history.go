package config

import "fmt"

// History is what a model gets of a conversation. A key that is not set has the
// default of docs/configuration.md.
type History struct {
	MaxMessages    int `yaml:"max_messages"`
	TokenBudget    int `yaml:"token_budget"`    // of one request to a model without a budget of its own
	RetainNewest   int `yaml:"retain_newest"`   // messages
	SummariseAbove int `yaml:"summarise_above"` // tokens
}

func (h History) problems() (problems []string) {
	for key, value := range map[string]int{"max_messages": h.MaxMessages, "token_budget": h.TokenBudget, "retain_newest": h.RetainNewest, "summarise_above": h.SummariseAbove} {
		if value < 0 {
			problems = append(problems, fmt.Sprintf("history.%s must be a number that is not negative", key))
		}
	}
	if h.MaxMessages > 0 && h.RetainNewest > h.MaxMessages {
		problems = append(problems, "history.retain_newest must not be larger than history.max_messages")
	}
	return problems
}
