package agent

import "testing"

func TestPriceOfAnAnswer(t *testing.T) {
	p := Price{Input: 3, Output: 15, Cached: 0.3, Currency: "USD"}
	if got := p.Of(Usage{InputTokens: 1000, OutputTokens: 10, CachedTokens: 400}); got.Units() != 0.00207 {
		t.Errorf("got %v, want 600 at 3, 400 at 0.3 and 10 at 15 per million", got.Units())
	}
	if got := (Price{}).Of(Usage{InputTokens: 1000}); got != 0 {
		t.Errorf("without a price: got %v", got)
	}
}
