package arithmetic

import (
	"fmt"
	"testing"
)

func TestEquationsThatHoldAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"52 × 40 = 2,080 hours a year, and $145,000 ÷ 2,080 ≈ $69.71": "[52 40]=2080 [145000 2080]=69.71",
		"- **Per day:** $461,081 ÷ 38 ≈ $12,134":                      "[461081 38]=12134",
		"$8,500 × 1.5% × 14 ÷ 30 = $59.50":                            "[8500 1.5 14 30]=59.5",
		"1. Growth: ($3,100,000 − $2,800,000) ÷ $2,800,000 = 10.7%":   "[3.1e+06 2.8e+06 2.8e+06]=10.7",
		"2 + 3 * 4 = 14 and (2 + 3) x 4 = 20":                         "[2 3 4]=14 [2 3 4]=20",
		"40 tasks minus 6 done = 34":                                  "[40 6]=34",
		"12 months times $450 = $5.4k":                                "[12 450]=5400",
		"a total of 1.5 + 2.5 = 4":                                    "[1.5 2.5]=4",
		"2 + 3 = 6":                                                   "",
		"7 = 7":                                                       "",
		"In 2025 there were 12. So 3 = 3, 12 of 14 = 2":               "",
		"(2 + 3 = 5":                       "",
		"2 + = 2, = 5, ÷ 3 = 4, 4 ÷ 0 = 0": "",
		"| 2 + 3 | = 5 |":                  "",
		"2 + 3":                            "",
	} {
		got := ""
		for i, e := range Equations(text) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%v=%v", e.Operands, e.Result.Value)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// FuzzEquations: no text ends the reader, and what it finds has a result.
func FuzzEquations(f *testing.F) {
	for _, seed := range []string{"52 × 40 = 2,080", "((((", "1 = 2 = 3", "$5 - - 3 ÷ 0 ≈ 1", "1%%=1%", "−1 + (2 = 3)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range Equations(text) {
			if len(e.Operands) < 2 || e.Result.Text == "" {
				t.Errorf("%q: %+v", text, e)
			}
		}
	})
}
