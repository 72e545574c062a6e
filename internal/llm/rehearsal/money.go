package rehearsal

import (
	"math"
	"strconv"
	"strings"
)

// amount is a number as people write it.
type amount struct {
	value   float64
	money   bool // with a currency
	percent bool
}

var scales = map[string]float64{"k": 1e3, "m": 1e6, "thousand": 1e3, "million": 1e6, "mio": 1e6, "billion": 1e9}

var currencies = map[string]bool{"dollar": true, "usd": true, "euro": true, "eur": true, "pound": true, "gbp": true, "buck": true}

// parseAmount reads "420,000", "$420k", "5%", "-3.5". Digits with other letters
// in them are no number.
func parseAmount(text string) (amount, bool) {
	var a amount
	t := strings.TrimLeft(text, "$€£")
	a.money = t != text
	if p, ok := strings.CutSuffix(t, "%"); ok {
		a.percent, t = true, p
	}
	factor := 1.0
	if n := len(t); n > 1 && t[n-1] > '9' {
		f, ok := scales[strings.ToLower(t[n-1:])]
		if !ok {
			return amount{}, false
		}
		factor, t = f, t[:n-1]
	}
	v, ok := parseDigits(t)
	a.value = v * factor
	return a, ok
}

// parseDigits reads digits with commas between thousands.
func parseDigits(t string) (float64, bool) {
	if t == "" || strings.Trim(t, "0123456789,.+-") != "" {
		return 0, false
	}
	whole, _, _ := strings.Cut(t, ".")
	if groups := strings.Split(whole, ","); len(groups) > 1 {
		for _, g := range groups[1:] {
			if len(g) != 3 {
				return 0, false
			}
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(t, ",", ""), 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// joinNumbers adds to a number what is written beside it: "5 percent", "1.5
// million", "420,000 dollars".
func joinNumbers(tokens []token) []token {
	out := tokens[:0:0]
	for _, t := range tokens {
		if n := len(out); n > 0 && out[n-1].kind == number && t.kind == word {
			last := &out[n-1].amount
			switch {
			case t.low == "percent" || t.low == "pct":
				last.percent = true
				continue
			case scales[t.low] != 0:
				last.value *= scales[t.low]
				continue
			case currencies[singular(t.low)]:
				last.money = true
				continue
			}
		}
		out = append(out, t)
	}
	return out
}

// plainNumber writes a number with commas and no needless decimals.
func plainNumber(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if v != math.Trunc(v) {
		text = strconv.FormatFloat(v, 'f', 2, 64)
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	var b strings.Builder
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return sign + b.String()
}
