package language

import (
	"math"
	"strconv"
	"strings"
)

// Amount is a number as people write it.
type Amount struct {
	Value   float64
	Money   bool // with a currency
	Percent bool
}

var scales = map[string]float64{"k": 1e3, "m": 1e6, "thousand": 1e3, "million": 1e6, "mio": 1e6, "billion": 1e9}

const currencies = " dollar usd euro eur pound gbp buck "

// parseAmount reads "420,000", "$420k", "5%", "-3.5". Digits with other letters
// are no number.
func parseAmount(text string) (a Amount, ok bool) {
	t := strings.TrimLeft(text, "$€£")
	a.Money = t != text
	t, a.Percent = strings.CutSuffix(t, "%")
	factor := 1.0
	if n := len(t); n > 1 && t[n-1] > '9' {
		if factor, ok = scales[strings.ToLower(t[n-1:])]; !ok {
			return a, false
		}
		t = t[:n-1]
	}
	if t == "" || strings.Trim(t, "0123456789,.+-") != "" {
		return a, false
	}
	whole, _, _ := strings.Cut(t, ".")
	for i, group := range strings.Split(whole, ",") {
		if i > 0 && len(group) != 3 {
			return a, false
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(t, ",", ""), 64)
	a.Value = v * factor
	return a, err == nil && !math.IsInf(v, 0)
}

// joinNumbers adds to a number what is written beside it: "5 percent", "1.5
// million", "420,000 dollars".
func joinNumbers(tokens []Token) []Token {
	out := tokens[:0:0]
	for _, t := range tokens {
		if n := len(out); n > 0 && out[n-1].Kind == Number && t.Kind == Word {
			last := &out[n-1].Amount
			switch {
			case t.Low == "percent" || t.Low == "pct":
				last.Percent = true
				continue
			case scales[t.Low] != 0:
				last.Value *= scales[t.Low]
				continue
			case strings.Contains(currencies, " "+Singular(t.Low)+" "):
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
	text := strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	if v != math.Trunc(v) {
		text = strconv.FormatFloat(math.Abs(v), 'f', 2, 64)
	}
	whole, fraction, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if v < 0 {
		return "-" + whole
	}
	return whole
}
