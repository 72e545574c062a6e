package schema

import "testing"

func TestNamesSetEndsOfRanges(t *testing.T) {
	for name, want := range map[string]struct {
		of  string
		end Side
	}{"min_amount": {"amount", Lower}, "dueBefore": {"due", Upper}, "amount": {"amount", Neither}, "closing_from": {"closing", Lower}, "by": {"", Upper}} {
		if of, end := SideOf(name); of != want.of || end != want.end {
			t.Errorf("%s: %q, %d", name, of, end)
		}
	}
}
