package result

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	decimal = regexp.MustCompile(`^(-?)(\d+)(\.\d+)?$`)
	isoCode = regexp.MustCompile(`^[A-Z]{3}$`)
	// What a name says of a field is here and in the page's format.js; testdata/names.json
	// holds both to the same. A salary is money, but a rate: only a declaration adds it up.
	stateName  = ending("stage", "status", "state", "priority", "severity")
	stateValue = regexp.MustCompile(`^\p{L}+([_ -]\p{L}+)*$`)
	amountName = ending("amount", "value", "cost", "price", "revenue", "total", "sum", "spent", "allocated", "remaining", "spend")
	idName     = regexp.MustCompile(`(^|[_ -])(?i:ids?|uuid|guid)$|[a-z](I[dD]s?|U(uid|UID)|G(uid|UID))$`)

	moment = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$`)

	signs = map[string]string{"USD": "$", "EUR": "€", "GBP": "£"}
)

// ending matches the names that end in one of the words: current_status, currentStatus.
func ending(words ...string) *regexp.Regexp {
	capital := make([]string, len(words))
	for i, w := range words {
		capital[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return regexp.MustCompile(`(^|_)(?i:` + strings.Join(words, "|") + `)$|[a-z0-9](` + strings.Join(capital, "|") + `)$`)
}

// Figure writes a number of the field for people, with separators, its sign and
// its unit. spelled is its JSON; currency is that of its row, empty when the row
// has none. What is no plain decimal number is returned as it is spelled.
func (f Field) Figure(spelled, currency string) string {
	parts := decimal.FindStringSubmatch(spelled)
	if parts == nil || f.Show == ShowYear {
		return spelled
	}
	sign, digits, unit := parts[1], grouped(parts[2])+parts[3], f.Unit
	if f.Show == ShowChange && sign == "" && strings.Trim(digits, "0.,") != "" {
		sign = "+"
	}
	if isoCode.MatchString(unit) && isoCode.MatchString(currency) {
		unit = currency
	}
	if isoCode.MatchString(unit) && len(parts[3]) == 2 {
		digits += "0" // $1,234.50
	}
	switch {
	case signs[unit] != "":
		return sign + signs[unit] + digits
	case unit == "percent":
		return sign + digits + "%"
	}
	if digits == "1" {
		unit = strings.TrimSuffix(unit, "s") // 1 day
	}
	return strings.TrimSpace(sign + digits + " " + unit)
}

// Text writes a value of the field in the words of people. It is empty for no value
// and for an object. currency is that of its row, as for [Field.Figure].
func (f Field) Text(value any, currency string) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		return f.Figure(v.String(), currency)
	case string:
		return v
	case []any:
		return strings.Trim(fmt.Sprint(v), "[]")
	}
	return ""
}

// State writes a value of a field of that name for people: a state of work as words,
// "Closed won" of CLOSED_WON. Any other value stays as it is.
func (f Field) State(name, value string) string {
	if f.Show != ShowState && !stateName.MatchString(name) || !stateValue.MatchString(value) {
		return value
	}
	words := strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(value))
	_, size := utf8.DecodeRuneInString(words)
	return strings.ToUpper(words[:size]) + words[size:]
}

// IsID reports whether a field's name is that of an id.
func IsID(name string) bool { return idName.MatchString(name) }

// IsAmount reports whether a field's name is that of a quantity that may be added up.
func IsAmount(name string) bool { return amountName.MatchString(name) }

// IsMoney reports whether the field of that name has amounts in a currency, by its unit, or
// without one by its name.
func (f Field) IsMoney(name string) bool {
	return isoCode.MatchString(f.Unit) || f.Unit == "" && IsAmount(name)
}

// Prose writes a text of a field of that name within a sentence: a state of work in small
// letters, a moment by its day. Any other text stays as it is.
func (f Field) Prose(name, text string) string {
	if at := moment.FindStringSubmatch(text); at != nil {
		return at[1]
	}
	if state := f.State(name, text); state != text {
		return strings.ToLower(state)
	}
	return text
}

// Cents rounds an amount to hundredths.
func Cents(v float64) float64 { return math.Round(v*100) / 100 }

func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// longText is how many words, less one, make a text that somebody wrote: it is quoted.
const longText = 8

// Said writes the field of that name of a row within a sentence, in the row's own currency and without a full stop of its own; a long text is quoted.
func (f Field) Said(name string, of Row) string {
	value := of.Values[name]
	text := Markdown(f.Prose(name, f.Text(value, of.Text("currency"))))
	if _, isText := value.(string); isText && strings.Count(text, " ") >= longText {
		return "“" + strings.NewReplacer("“", "‘", "”", "’").Replace(text) + "”"
	}
	return cmp.Or(strings.TrimSuffix(text, "."), "not recorded")
}
