package mention

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/english"
	"countersign.dev/internal/pattern"
)

var scales = map[string]float64{"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "cents": 0.01,
	"t": 1e3, "tsd": 1e3, "tausend": 1e3, "mio": 1e6, "millionen": 1e6, "mrd": 1e9, "milliarden": 1e9}

// Numbers are two, three and so on in words.
var (
	Numbers       = english.Numbers[:11]
	germanNumbers = strings.Fields("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")
)

// spelledOut is the value of a number in words; 0 when it is none.
func spelledOut(word string) int { return bySmall(numberWords, word) }

// largeNumbers are the numbers in words that are mentions of their own.
var largeNumbers = func() map[string]int {
	values := map[string]int{}
	for i, word := range english.Numbers[11:] {
		values[word] = 13 + i
	}
	for i, word := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		values[word] = 20 + 10*i
	}
	for i, word := range strings.Fields("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig") {
		values[word] = 20 + 10*i
	}
	return values
}()

// largeNumber is the value of nineteen, and of fifty-nine; 0 when it is no such word.
func largeNumber(word string) int {
	tens, ones, compound := strings.Cut(word, "-")
	n := bySmall(largeNumbers, tens)
	if !compound || n < 20 {
		return n
	}
	if strings.EqualFold(ones, "one") {
		return n + 1
	}
	if one := spelledOut(ones); one > 1 && one < 10 {
		return n + one
	}
	return 0
}

func isLargeWord(word string) bool { return largeNumber(word) > 0 }

var numberWords = func() map[string]int {
	values := map[string]int{}
	for _, words := range [][]string{Numbers, germanNumbers} {
		for i, word := range words {
			values[word] = i + 2
		}
	}
	return values
}()

// isClockTime reports whether a word is a unit of time below a day, also in "30-minute".
func isClockTime(word string) bool {
	word = strings.ToLower(strings.TrimPrefix(word, "-"))
	return word == "minute" || word == "minutes" || word == "min" || word == "hour" || word == "hours" || word == "minuten" || word == "stunde" || word == "stunden"
}

// IsID reports whether a token is an id: TICK-097, FIN-2026-001, 24 hexadecimal digits,
// or a UUID.
func IsID(token string) bool {
	switch len(token) {
	case 24:
		if isHex(token) {
			return true
		}
	case 36:
		if isUUID(token) {
			return true
		}
	}
	head, rest, ok := strings.Cut(token, "-")
	if !ok || head == "" || len(head) > 8 || strings.ContainsFunc(head, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }) {
		return false
	}
	for part := range strings.SplitSeq(rest, "-") {
		if _, ok := digits(part); !ok {
			return false
		}
	}
	return true
}

func isUUID(token string) bool {
	for _, length := range []int{8, 4, 4, 4} {
		if !isHex(token[:length]) || token[length] != '-' {
			return false
		}
		token = token[length+1:]
	}
	return isHex(token)
}

func isHex(token string) bool {
	return !strings.ContainsFunc(token, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// startsNumber reports whether a token can be a number: 22., 100-200, +49-30-1234.
func startsNumber(token string) bool {
	return token != "" && (token[0] == '+' || token[0] >= '0' && token[0] <= '9')
}

// germanFigure matches 160.000 and +62.990,50 and 8,1.
var germanFigure = pattern.New(`^[+-]?(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d{1,2})$`)

// thousandths matches a figure that has thousands in English and decimals in German.
var thousandths = pattern.New(`^\d{1,3},\d{3}$`)

// inEnglish writes a German figure as an English one.
func inEnglish(figure string) string {
	return strings.NewReplacer(".", "", ",", ".").Replace(figure)
}

// digits is the number that is written with digits alone. One that is too large for any
// date is as good as another.
func digits(s string) (n int, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), 1_000_000)
	}
	return n, s != ""
}

// bySmall is what a table says of a word, whose keys are in small letters.
func bySmall[V any](table map[string]V, word string) V {
	var small [16]byte
	if len(word) > len(small) || strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return table[strings.ToLower(word)]
	}
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		small[i] = c
	}
	return table[string(small[:len(word)])]
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
