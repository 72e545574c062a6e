package money_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"countersign.dev/internal/money"
)

// TestEveryCentIsWhole: an amount with two decimals, as it is read from JSON, is whole
// up to the largest one.
func TestEveryCentIsWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 100_000 {
		want := r.Int64N(money.Max*100 + 1)
		amount, err := strconv.ParseFloat(fmt.Sprintf("%d.%02d", want/100, want%100), 64)
		if cents, whole := money.Cents(amount); err != nil || !whole || cents != want || money.Dollars(cents) != amount {
			t.Fatalf("%v: got %d, %t, want %d", amount, cents, whole, want)
		}
	}
}

func TestFractionsOfCentsAreNotWhole(t *testing.T) {
	for amount, want := range map[float64]bool{
		0: true, 0.01: true, 1: true, 145_000.5: true, 632_265_518_394.20: true, money.Max: true,
		1e-9: false, 0.001: false, 1.005: false, 1.0000049: false, 1e12 + 0.005: false, 1e13: false, 1e300: false,
	} {
		if _, whole := money.Cents(amount); whole != want {
			t.Errorf("%v: got %t", amount, whole)
		}
	}
}

func TestAmountsAreWrittenForPeople(t *testing.T) {
	for cents, want := range map[int64]string{
		0: "$0", 5: "$0.05", 38_550: "$385.50", 99_900: "$999", 100_000: "$1,000", 8_499_950: "$84,999.50", 98_000_000: "$980,000",
		-12_345: "-$123.45", 100_000_000_000_000: "$1,000,000,000,000",
	} {
		if got := money.Text(cents, "USD"); got != want {
			t.Errorf("%d cents: got %s, want %s", cents, got, want)
		}
		if got := money.TextOf(money.Dollars(cents), "USD"); got != want {
			t.Errorf("%d cents: got %s of the amount, want %s", cents, got, want)
		}
	}
	if got := money.Text(120_050, "EUR"); got != "EUR 1,200.50" {
		t.Errorf("got %s", got)
	}
	for amount, want := range map[float64]string{-92_233_720_368_547_758: "USD -9.223372036854776e+16", 1e300: "USD 1e+300", 9e16: "$90,000,000,000,000,000"} {
		if got := money.TextOf(amount, "USD"); got != want { // stored by others
			t.Errorf("%v: got %s, want %s", amount, got, want)
		}
	}
	if got := money.Text(math.MinInt64, "USD"); got != "-$92,233,720,368,547,758.08" {
		t.Errorf("the least amount: got %s", got)
	}
}
