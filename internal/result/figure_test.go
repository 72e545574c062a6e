package result_test

import (
	"testing"

	"countersign.dev/internal/result"
)

func TestFiguresHaveSignsSeparatorsAndUnits(t *testing.T) {
	for _, c := range []struct {
		field                   result.Field
		spelled, currency, want string
	}{
		{result.Field{Unit: "USD"}, "1234567.5", "", "$1,234,567.50"},
		{result.Field{Unit: "USD"}, "-980000", "EUR", "-€980,000"},
		{result.Field{Unit: "CHF"}, "12.05", "", "12.05 CHF"},
		{result.Field{Unit: "percent"}, "49.5", "USD", "49.5%"},
		{result.Field{Unit: "days", Show: result.ShowChange}, "3", "", "+3 days"},
		{result.Field{Show: result.ShowChange}, "0", "", "0"},
		{result.Field{Show: result.ShowYear}, "2026", "", "2026"},
		{result.Field{}, "1000", "", "1,000"},
		{result.Field{Unit: "USD"}, "1e9", "", "1e9"},
	} {
		if got := c.field.Figure(c.spelled, c.currency); got != c.want {
			t.Errorf("%+v %s %s: got %s, want %s", c.field, c.spelled, c.currency, got, c.want)
		}
	}
}
