package agent

// Price is what a model costs, per million tokens. The zero value: not known.
type Price struct {
	Input    float64 `json:"input"`
	Output   float64 `json:"output"`
	Cached   float64 `json:"cached"`   // of the input that came from the provider's cache
	Currency string  `json:"currency"` // such as USD
}

// perToken is billionths for each token, of a price per million tokens.
const perToken = 1000

// Of returns what an answer cost.
func (p Price) Of(u Usage) Nanos {
	fresh := float64(max(0, u.InputTokens-u.CachedTokens))
	return Nanos(perToken * (p.Input*fresh + p.Cached*float64(u.CachedTokens) + p.Output*float64(u.OutputTokens)))
}

// Units returns the amount in units of its currency.
func (n Nanos) Units() float64 { return float64(n) / 1e9 }

// UsageView is what clients read of a turn's usage.
type UsageView struct {
	Input  int     `json:"input_tokens"`
	Output int     `json:"output_tokens"`
	Total  int     `json:"total_tokens"`
	Cached int     `json:"cached_tokens,omitempty"`
	Price  *Amount `json:"price,omitempty"` // none: not known
	Model  string  `json:"model,omitempty"` // that answered instead of the one that was asked

	Estimated bool `json:"estimated,omitempty"` // in part: an answer was cut off
}

// Amount is an amount of money.
type Amount struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// View returns what clients read, and nil for nil.
func (u *Usage) View() *UsageView {
	if u == nil {
		return nil
	}
	v := &UsageView{Input: u.InputTokens, Output: u.OutputTokens, Total: u.InputTokens + u.OutputTokens, Cached: u.CachedTokens, Model: u.Model, Estimated: u.Estimated}
	if u.Currency != "" {
		v.Price = &Amount{u.Cost.Units(), u.Currency}
	}
	return v
}
