package sales

import (
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

func TestClosingRules(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		in closeDeal
		ok bool
	}{
		"won":                      {closeDeal{Outcome: "won"}, true},
		"won for nothing":          {closeDeal{Outcome: "won", ActualValue: value(0)}, true},
		"won to the cent":          {closeDeal{Outcome: "won", ActualValue: value(84_999.99)}, true},
		"won, a fraction of cents": {closeDeal{Outcome: "won", ActualValue: value(0.001)}, false},
		"won, beyond measure":      {closeDeal{Outcome: "won", ActualValue: value(1e13)}, false},
		"won and a loss reason":    {closeDeal{Outcome: "won", LossReason: "price"}, false},
		"lost":                     {closeDeal{Outcome: "lost", LossReason: "price"}, true},
		"lost, no reason":          {closeDeal{Outcome: "lost"}, false},
		"lost, a blank reason":     {closeDeal{Outcome: "lost", LossReason: " \n"}, false},
		"lost and a value":         {closeDeal{Outcome: "lost", LossReason: "price", ActualValue: value(1)}, false},
		"lost, a thousand":         {closeDeal{Outcome: "lost", LossReason: strings.Repeat("ü", 1000)}, true},
		"lost, a thousand and one": {closeDeal{Outcome: "lost", LossReason: strings.Repeat("ü", 1001)}, false},
	} {
		err := c.in.check()
		if (err == nil) != c.ok || err != nil && !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: got %v, want refused: %v", name, err, !c.ok)
		}
	}
}
