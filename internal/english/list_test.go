package english

import (
	"slices"
	"strings"
	"testing"
)

func TestListsAreCutIntoItems(t *testing.T) {
	for list, want := range map[string][]string{
		"design, build and test":             {"design", "build", "test"},
		"Plan; Build, and Test.":             {"Plan", "Build", "Test"},
		"one thing":                          {"one thing"},
		" ":                                  {},
		"design, build and test, and deploy": {"design", "build and test", "deploy"},
	} {
		if got := Items(list, 3); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", list, got, want)
		}
	}
}

func TestThingsAreCounted(t *testing.T) {
	if one, more := Count(1, "invoices"), Count(0, "invoices"); one != "1 invoice" || more != "0 invoices" {
		t.Errorf("got %q and %q", one, more)
	}
}

func TestBeginsOfWordsAreFound(t *testing.T) {
	for with, want := range map[string]bool{"Nin": true, "pat": true, "nina patel": true, "in": false, "atel": false} {
		if got := Begins("Nina Patel", with); got != want {
			t.Errorf("%s: got %v", with, got)
		}
	}
}

func TestAmountsAreRead(t *testing.T) {
	type amount struct {
		value   float64
		percent bool
		length  int
	}
	for text, want := range map[string]amount{
		"$45k":                   {45000, false, 4},
		"1.5 million, x":         {1.5e6, false, 11},
		"2,500 dollars":          {2500, false, 13},
		"90 %":                   {90, true, 4},
		"5% more":                {5, true, 2},
		"-3":                     {-3, false, 2},
		"Three tasks":            {3, false, 5},
		"twenty.":                {20, false, 6},
		"fifty, please":          {50, false, 5},
		"hundred":                {100, false, 7},
		"two-factor":             {},
		"one":                    {},
		"12th":                   {},
		"":                       {},
		strings.Repeat("9", 400): {},
	} {
		v, percent, n := Amount(text)
		if got := (amount{v, percent, n}); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestItemsAreCountedByTheirHead(t *testing.T) {
	text := "I found 12 invoices (of deals):\n- one\n- two\n- and 10 more\n\nHere is 1 more entry:\n- three\n\n**Ada**: x\n- four\n\nThe rest:\n- five\n\nI found 1 invoice (paid):\n- six\n\nNone."
	got, lists := Listed(text, []string{"deals", "invoices", "entries"})
	if len(got) != 3 || got["invoices"] != 2 || got["entries"] != 1 || got["deals"] != 1 || lists != 4 {
		t.Errorf("got %v of %d lists", got, lists)
	}
	if got, lists := Listed("- one", nil); got[""] != 1 || lists != 1 {
		t.Errorf("without nouns: %v of %d lists", got, lists)
	}
}

func TestDistinctTexts(t *testing.T) {
	if got := Distinct([]string{"Rome", "", "rome", "Paris", "ROME"}); !slices.Equal(got, []string{"Rome", "Paris"}) {
		t.Errorf("got %q", got)
	}
}
