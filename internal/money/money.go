// Package money converts amounts between the decimal numbers of JSON and whole cents,
// and writes them for people. Every amount that is stored or compared passes Cents, so
// that all domains have one rule of what a whole cent is. It knows no exchange rates.
package money

import (
	"fmt"
	"math"
)

// Max is the largest amount that is accepted: far beyond it a float64 still represents
// every cent.
const Max = 1e12

// Cents is the nearest number of whole cents. whole reports whether the amount has two
// decimals at most: whether it is the float64 that represents these cents. No tolerance
// decides, because one that is right for a salary is wrong for a budget.
func Cents(amount float64) (cents int64, whole bool) {
	rounded := math.Round(amount * 100)
	return int64(rounded), rounded/100 == amount && math.Abs(amount) <= Max
}

// Dollars is an amount as JSON has it.
func Dollars(cents int64) float64 { return float64(cents) / 100 }

// Text writes an amount for people: $980,000, -$385.50 or EUR 84,999.50.
func Text(cents int64, currency string) string {
	sign, rest := "", uint64(cents)
	if cents < 0 {
		sign, rest = "-", -rest // right for the least int64, too
	}
	whole := fmt.Sprint(rest / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest%100 != 0 {
		whole += fmt.Sprintf(".%02d", rest%100)
	}
	if currency == "USD" {
		return sign + "$" + whole
	}
	return sign + currency + " " + whole
}

// TextOf is [Text] of an amount as JSON has it, to the nearest cent. One that no int64 has in
// cents, which others have stored, is written as it is.
func TextOf(amount float64, currency string) string {
	if math.Abs(amount) < math.MaxInt64/100 {
		cents, _ := Cents(amount)
		return Text(cents, currency)
	}
	return fmt.Sprintf("%s %g", currency, amount)
}
