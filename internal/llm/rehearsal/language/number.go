package language

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Amount is a number as people write it.
type Amount struct {
	Value   float64
	Money   bool // with a currency
	Percent bool
}

var scales = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "thousand": 1e3, "million": 1e6, "mio": 1e6, "billion": 1e9}

var currencies = map[string]string{"dollar": "USD", "usd": "USD", "euro": "EUR", "eur": "EUR", "gbp": "GBP"}

// Currency is the ISO 4217 code of a currency's name; empty for another word.
func Currency(word string) string { return currencies[Singular(word)] }

// amountShape is an amount: currency, digits with commas between thousands,
// scale, per cent.
var amountShape = regexp.MustCompile(`^([$€£]?)([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)([kKmM]?)(%?)$`)

// parseAmount reads "420,000", "$420k", "5%", "-3.5". Digits with other letters
// are no number.
func parseAmount(text string) (Amount, bool) {
	m := amountShape.FindStringSubmatch(text)
	if m == nil {
		return Amount{}, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	return Amount{Value: v * scales[strings.ToLower(m[3])], Money: m[1] != "", Percent: m[4] != ""}, err == nil && !math.IsInf(v, 0)
}

// joinNumbers adds to a number what is written beside it: "5 percent", "1.5
// million", "420,000 dollars".
func joinNumbers(tokens []Token) (out []Token) {
	for _, t := range tokens {
		if n := len(out) - 1; n >= 0 && out[n].Kind == Number && t.Kind == Word {
			last := &out[n].Amount
			switch scale := scales[t.Low]; {
			case t.Low == "percent" || t.Low == "pct":
				last.Percent = true
				continue
			case scale != 0:
				last.Value *= scale
				continue
			case Currency(t.Low) != "":
				last.Money = true
				continue
			}
		}
		out = append(out, t)
	}
	return out
}

// Digits writes a number with commas and no needless decimals.
func Digits(v float64) string {
	decimals := 0
	if v != math.Trunc(v) {
		decimals = 2
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'f', decimals, 64), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if decimals > 0 {
		whole += "." + fraction
	}
	if v < 0 {
		return "-" + whole
	}
	return whole
}
