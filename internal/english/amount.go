package english

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// amount is a way to write a number, up to where a word ends.
var amount = regexp.MustCompile(`(?i)^([$€£]?([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)([km]?)(%| %| percent| per cent| pct)?(?: (thousand|million|mio|billion))?(?: (?:dollars?|usd|euros?|eur|gbp))?)(?:'s)?[.,;:?!)]*(?:\s|$)`)

var scales = map[string]float64{"k": 1e3, "m": 1e6, "thousand": 1e3, "million": 1e6, "mio": 1e6, "billion": 1e9}

// counted is a number in words, up to where a word ends.
var counted = regexp.MustCompile(`(?i)^(` + strings.Join(slices.Concat(Numbers, tens), "|") + `)[.,;:?!)]*(?:\s|$)`)

var tens = []string{"thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"}

// Amount reads the number at the beginning of a text ("$45k", "1.5 million", "90 %", "three") and
// how long its words are; 0 when it begins with none, or with one beyond all bounds.
func Amount(text string) (value float64, percent bool, length int) {
	if m := counted.FindStringSubmatch(text[:min(len(text), 20)]); m != nil { // a word, of however long a text
		word := strings.ToLower(m[1])
		if i := slices.Index(tens, word); i >= 0 {
			return float64(30 + 10*i), false, len(word)
		}
		return float64(2 + slices.Index(Numbers, word)), false, len(word)
	}
	m := append(amount.FindStringSubmatch(text), make([]string, 6)...)
	value, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	value *= cmp.Or(scales[strings.ToLower(m[3])], 1) * cmp.Or(scales[strings.ToLower(m[5])], 1)
	if err != nil || math.IsInf(value, 0) {
		return 0, false, 0
	}
	return value, m[4] != "", len(m[1])
}
