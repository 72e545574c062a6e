// Package mention reads what a text states that can be compared with data: its figures,
// dates, ids and addresses, as people write them in English and German. Start with [Of].
package mention

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Mention is a figure, a date or an id in a text.
type Mention struct {
	Kind   Kind
	Text   string    // as written
	Value  float64   // of a figure
	Step   float64   // one unit of its last written digit
	Unit   byte      // '%', '$', 'd' for a duration, 'h' for one below a day, 0
	About  bool      // "about", "over", "nearly"
	Day    Date      // of a date; parts that are not given are 0
	Or     []Mention // what else its digits can mean: 3/4/2026, 145.000
	Line   int
	Column int  // among the figures of its line
	Last   bool // of the figures of its line
}

// Kind is what sort of mention it is.
type Kind uint8

// The kinds of mentions.
const (
	Figure Kind = iota
	Dated
	Exact   // an id, an address, a phone number: found as it is, or not at all
	Spelled // a number in words: no mention, but others can be computed with it
)

// Date is a calendar day. Parts that are not given are 0.
type Date struct{ Year, Month, Day int }

// Matches reports whether a whole date has the parts that are given.
func (d Date) Matches(whole Date) bool {
	return (d.Year == 0 || d.Year == whole.Year) && (d.Month == 0 || d.Month == whole.Month) && (d.Day == 0 || d.Day == whole.Day)
}

// DateOf is the day of a time, where that is.
func DateOf(t time.Time) Date { return Date{t.Year(), int(t.Month()), t.Day()} }

// Time is the begin of the day. What is not given is the first one.
func (d Date) Time() time.Time {
	return time.Date(d.Year, time.Month(max(1, d.Month)), max(1, d.Day), 0, 0, 0, 0, time.UTC)
}

var (
	plainForm = regexp.MustCompile(`^([$€£]?)([+-]?)([$€£]?)(\d[\d,]*(?:\.\d+)?|\.\d+)(?i:(k|m|mn|bn|b)|(%)|(\+)|(-[a-z]+|x))?$`)
	phone     = regexp.MustCompile(`^\+?\d{2,4}(?:-\d{2,4}){2,4}$`)
	address   = regexp.MustCompile(`^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$`)
	digitDate = regexp.MustCompile(`^(\d{1,2})[.⁄](\d{1,2})[.⁄](\d{4})$`)
	shortDate = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.[,;:!?)]*$`) // German: 20.11.
	slashDate = regexp.MustCompile(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`)
	fileName  = regexp.MustCompile(`^[\w.-]*\w\.(?:c|cpp|cs|css|csv|docx|go|h|html|java|js|json|kt|md|pdf|php|proto|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|xlsx|ya?ml)$`)
	numbering = regexp.MustCompile(`^\s*(?:[-*+]\s+)?(?:\d{1,3}[.)]\s+|\|\s*\d{1,3}\s*\|)`)
)

var scales = map[string]float64{"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9,
	"t": 1e3, "tsd": 1e3, "tausend": 1e3, "mio": 1e6, "millionen": 1e6, "mrd": 1e9, "milliarden": 1e9}

var hedges = strings.Fields("about around roughly approximately approx nearly almost over under than least most just up some close ~ ≈ circa below above exceeds little bit etwa rund ungefähr ca knapp fast über unter gut mehr als mindestens höchstens")

// Numbers are two, three and so on in words.
var (
	Numbers       = strings.Fields("two three four five six seven eight nine ten eleven twelve")
	germanNumbers = strings.Fields("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")
)

// spelledOut is the value of a number in words; 0 when it is none.
func spelledOut(word string) int { return bySmall(numberWords, word) }

// largeNumbers are the numbers in words that are mentions of their own.
var largeNumbers = func() map[string]int {
	values := map[string]int{}
	for i, word := range strings.Fields("thirteen fourteen fifteen sixteen seventeen eighteen nineteen") {
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

// DaysIn is how long the units of durations are.
var DaysIn = map[string]float64{
	"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30.44, "months": 30.44, "year": 365.25, "years": 365.25,
	"tag": 1, "tage": 1, "tagen": 1, "woche": 7, "wochen": 7, "monat": 30.44, "monate": 30.44, "monaten": 30.44, "jahr": 365.25, "jahre": 365.25, "jahren": 365.25,
}

// Of reads the figures, dates and ids of a text, in order. Numbers of a list
// and ordinals are none.
func Of(text string) []Mention { return new(Scanner).Read(text) }

// Read is [Of] with the Scanner's own memory: the mentions are good until it reads
// again. Most texts are cells of a list, so that what costs is done only where its
// characters are.
func (s *Scanner) Read(text string) []Mention {
	s.mentions, s.line = s.mentions[:0], -1
	for line := range strings.SplitSeq(text, "\n") {
		s.line++
		if !strings.ContainsFunc(line, unicode.IsDigit) && !strings.ContainsAny(line, "@.") { // nothing to prove
			continue
		}
		s.tokens, s.at = slices.AppendSeq(s.tokens[:0], strings.FieldsSeq(parted(line))), 0
		s.partDays()
		first := len(s.mentions)
		for s.at < len(s.tokens) {
			s.next()
		}
		number(s.mentions[first:])
	}
	return s.mentions
}

// parted is a line without its number, with spaces between what is written together.
func parted(line string) string {
	if strings.ContainsAny(line, " \t\f\r|") {
		if at := numbering.FindStringIndex(line); at != nil {
			line = line[at[1]:]
		}
	}
	if strings.Contains(line, "/") {
		line = slashDate.ReplaceAllString(line, "$1⁄$2⁄$3")
	}
	if strings.ContainsFunc(line, isSpaced) {
		line = spaced.Replace(line)
	}
	return line
}

// isSpaced reports whether [spaced] may replace a character.
func isSpaced(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("|()[]~/=*`<>", r) }

// number gives the figures of a line their columns.
func number(line []Mention) {
	place, last := 0, -1
	for i := range line {
		if line[i].Kind == Figure {
			line[i].Column, last = place, i
			place++
		}
	}
	if last >= 0 {
		line[last].Last = true
	}
}

// spaced parts what is written together: cells, ranges, brackets.
var spaced = strings.NewReplacer("|", " ", "–", " – ", "—", " ", "(", " ", ")", " ", "[", " ", "]", " ", "→", " ", "~", " ~ ", "≈", " ≈ ", "/", " ", "=", " ", "*", "", "`", "", "\u00a0", " ", "\u202f", " ", "−", "-", "<", " ", ">", " ", "×", " ")

// Scanner reads texts one after the other. The zero one is ready.
type Scanner struct {
	tokens   []string
	at       int
	line     int
	mentions []Mention
}

// peek is a token without the punctuation around it.
func (s *Scanner) peek(ahead int) string {
	if i := s.at + ahead; i >= 0 && i < len(s.tokens) {
		return strings.TrimRight(strings.TrimLeft(s.tokens[i], "\"“'‘#_"), "\"”'’.,;:!?_…")
	}
	return ""
}

// next reads what begins at a token.
func (s *Scanner) next() {
	token := s.peek(0)
	if c, used := s.date(token); used > 0 {
		s.at += used
		s.mentions = append(s.mentions, c)
		return
	}
	defer func() { s.at++ }()
	switch {
	case isExact(token):
		s.mentions = append(s.mentions, Mention{Kind: Exact, Text: token, Line: s.line})
		return
	case strings.HasPrefix(s.tokens[s.at], "#"):
		return
	case isLargeWord(token):
		c, _ := s.plain(strconv.Itoa(largeNumber(token)))
		c.Text = strings.Replace(c.Text, strconv.Itoa(largeNumber(token)), token, 1)
		s.mentions = append(s.mentions, c)
		return
	case spelledOut(token) > 1:
		s.mentions = append(s.mentions, Mention{Kind: Spelled, Value: float64(spelledOut(token)), Line: s.line})
		return
	}
	if c, ok := s.figure(token); ok {
		s.mentions = append(s.mentions, c)
		return
	}
	if low, high, ok := strings.Cut(token, "-"); ok { // a range
		c, ok := s.figure(low)
		d, both := s.figure(high)
		if ok && both {
			s.mentions = append(s.mentions, c, d)
		}
	}
}

// partDays parts 21-31 after or before a month, as 21 – 31 is.
func (s *Scanner) partDays() {
	for i := 0; i < len(s.tokens); i++ {
		if len(s.tokens[i]) > len("21-31,") {
			continue
		}
		from, to, ok := strings.Cut(s.tokens[i], "-")
		if s.at = i; !ok || MonthOf(s.peek(-1)) == 0 && MonthOf(s.peek(1)) == 0 {
			continue
		}
		s.tokens = slices.Replace(s.tokens, i, i+1, from, "–", to)
		i += 2
	}
	s.at = 0
}

// isTo reports whether a token is between the days of one month: Dec 21 – 31.
func isTo(token string) bool { return token == "–" || token == "to" || token == "bis" }

// isExact reports whether a token is an id, an address, a phone number or a file.
func isExact(token string) bool {
	return IsID(token) || strings.Contains(token, "@") && address.MatchString(token) || startsNumber(token) && phone.MatchString(token) ||
		strings.Contains(token, ".") && fileName.MatchString(token)
}

// date reads a date in digits or in words.
func (s *Scanner) date(token string) (c Mention, used int) {
	c = Mention{Kind: Dated, Text: token, Line: s.line}
	if day, ok := ISODate(token); ok {
		c.Day = day
		return c, 1
	}
	if !startsNumber(token) {
		return s.inWords(c, token)
	}
	if m := digitDate.FindStringSubmatch(token); m != nil {
		c.Text = strings.ReplaceAll(token, "⁄", "/")
		american := c
		c.Day, american.Day = Date{atoi(m[3]), atoi(m[2]), atoi(m[1])}, Date{atoi(m[3]), atoi(m[1]), atoi(m[2])}
		c.Or = []Mention{american}
		return c, 1
	}
	if m := shortDate.FindStringSubmatch(s.tokens[s.at]); m != nil {
		c.Day = Date{Month: atoi(m[2]), Day: atoi(m[1])}
		if price, ok := s.figure(token); ok {
			c.Or = []Mention{price}
		}
		return c, 1
	}
	return s.inWords(c, token)
}

// inWords reads a date whose month is a word.
func (s *Scanner) inWords(c Mention, token string) (_ Mention, used int) {
	month, day := MonthOf(token), s.dayAt(0)
	switch {
	case month > 0 && s.shortYearAt(1) > 0:
		c.Day, used = Date{Month: month}, 1
	case month > 0 && s.dayAt(1) > 0:
		c.Day, used = Date{Month: month, Day: s.dayAt(1)}, 2
	case month > 0 && yearOf(s.peek(1)) > 0:
		c.Day, used = Date{Month: month}, 1
	case day > 0 && s.peek(1) == "of" && MonthOf(s.peek(2)) > 0:
		c.Day, used = Date{Month: MonthOf(s.peek(2)), Day: day}, 3
	case day > 0 && MonthOf(s.peek(1)) > 0:
		c.Day, used = Date{Month: MonthOf(s.peek(1)), Day: day}, 2
	case day > 0 && isTo(s.peek(1)) && s.dayAt(2) > 0 && MonthOf(s.peek(3)) > 0:
		c.Day, used = Date{Month: MonthOf(s.peek(3)), Day: day}, 1
	case day > 0 && isTo(s.peek(-1)) && s.dayAt(-2) > 0 && MonthOf(s.peek(-3)) > 0:
		c.Day, used = Date{Month: MonthOf(s.peek(-3)), Day: day}, 1
	default:
		return c, 0
	}
	if year := max(yearOf(s.peek(used)), s.shortYearAt(used)); year > 0 {
		c.Day.Year = year
		used++
	}
	c.Text = strings.Trim(strings.Join(s.tokens[s.at:s.at+used], " "), ".,;:!?\"”'’")
	return c, used
}

func (s *Scanner) dayAt(ahead int) int {
	token := strings.TrimRight(s.peek(ahead), "stndrhSTNDRH")
	if n, ok := digits(strings.TrimPrefix(token, "+")); ok && n >= 1 && n <= 31 {
		return n
	}
	return 0
}

// shortYearAt is the year of '18.
func (s *Scanner) shortYearAt(ahead int) int {
	i := s.at + ahead
	if i >= len(s.tokens) || !strings.HasPrefix(s.tokens[i], "'") && !strings.HasPrefix(s.tokens[i], "’") {
		return 0
	}
	if n, ok := digits(s.peek(ahead)); ok && len(s.peek(ahead)) == 2 {
		return 2000 + n
	}
	return 0
}

func yearOf(token string) int {
	if n, ok := digits(strings.TrimPrefix(token, "+")); ok && n >= 1900 && n <= 2100 {
		return n
	}
	return 0
}

// MonthOf is the number of a month by its name; 0 when it is none.
func MonthOf(token string) int { return bySmall(months, token) }

// months are the names of the months, and their first three and four letters.
var months = func() map[string]int {
	byName := map[string]int{}
	for m := time.January; m <= time.December; m++ {
		for _, name := range []string{strings.ToLower(m.String()), germanMonths[m-1]} {
			byName[name], byName[name[:3]], byName[name[:min(4, len(name))]] = int(m), int(m), int(m)
		}
	}
	delete(byName, "mar")
	return byName
}()

// figure reads a number with its unit.
func (s *Scanner) figure(token string) (c Mention, ok bool) {
	if !strings.ContainsAny(token, "0123456789") {
		return c, false
	}
	if strings.ContainsAny(token, ".,") && germanFigure.MatchString(token) {
		c, ok = s.plain(inEnglish(token))
		c.Text = token
		if english, both := s.plain(token); both {
			english.Text, c.Or = token, []Mention{english}
		}
		return c, ok
	}
	if c, ok = s.plain(token); ok && scales[strings.ToLower(s.peek(1))] >= 1e6 && thousandths.MatchString(token) { // 2,475 Mio.
		german, _ := s.plain(inEnglish(token))
		german.Text, c.Or = c.Text, append(c.Or, german)
	}
	return c, ok
}

// plain reads a number that is written as in English.
func (s *Scanner) plain(token string) (c Mention, ok bool) {
	m := plainForm.FindStringSubmatch(token)
	if m == nil || len(m[4]) > 30 {
		return c, false
	}
	digits := strings.ReplaceAll(m[4], ",", "")
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return c, false
	}
	c = Mention{Kind: Figure, Text: token, Value: value, Step: 1, Line: s.line, About: s.hedged() || m[7] != ""}
	if _, decimals, found := strings.Cut(digits, "."); found {
		c.Step = math.Pow(10, -float64(len(decimals)))
	}
	scale, word := scales[strings.ToLower(m[5])], strings.ToLower(s.peek(1))
	switch {
	case m[1]+m[3] != "":
		c.Unit = '$'
	case m[6] != "" || word == "%" || word == "percent" || word == "percentage" || word == "prozent" || word == "per" && strings.EqualFold(s.peek(2), "cent"):
		c.Unit = '%'
	case DaysIn[word] > 0:
		c.Unit, c.Text = 'd', token+" "+word
	case isClockTime(word) || isClockTime(m[8]):
		c.Unit = 'h'
	}
	if scale == 0 {
		if scale = scales[strings.TrimSuffix(word, "$")]; (len(word) > 2 || strings.HasSuffix(word, "$")) && scale > 0 {
			c.Text += " " + word
		} else {
			scale = 1
		}
	}
	if c.Unit == '%' && m[6] == "" {
		c.Text += " " + word
	}
	c.Value, c.Step = c.Value*scale, c.Step*scale
	return c, true
}

// isClockTime reports whether a word is a unit of time below a day, also in "30-minute".
func isClockTime(word string) bool {
	word = strings.ToLower(strings.TrimPrefix(word, "-"))
	return word == "minute" || word == "minutes" || word == "min" || word == "hour" || word == "hours" || word == "minuten" || word == "stunde" || word == "stunden"
}

func (s *Scanner) hedged() bool {
	for ahead := -1; ahead >= -3; ahead-- {
		if slices.ContainsFunc(hedges, func(hedge string) bool { return strings.EqualFold(hedge, s.peek(ahead)) }) {
			return true
		}
	}
	return false
}

// Slack is how far the true value may be from the written one: half a unit of the
// last digit, a whole unit below (people cut as well as round), and of a vague
// figure half a unit of its last digit that is not 0.
func (c Mention) Slack() (below, above float64) {
	below, above = c.Step/2, c.Step
	if !c.About {
		return below * (1 + 1e-9), above * (1 - 1e-9)
	}
	place := c.Step
	for c.Value != 0 && math.Mod(c.Value, place*10) == 0 {
		place *= 10
	}
	vague := max(place/2, c.Step)
	return vague, vague
}

// ISODate reads 2026-11-22, 2026-11 and 2026-11-22T10:00.
func ISODate(token string) (d Date, ok bool) {
	if len(token) < 7 || token[4] != '-' {
		return d, false
	}
	year, isYear := digits(token[:4])
	month, isMonth := digits(token[5:7])
	rest := token[7:]
	if len(rest) >= 3 && rest[0] == '-' {
		if day, isDay := digits(rest[1:3]); isDay {
			d.Day, rest = day, rest[3:]
		}
	}
	d.Year, d.Month = year, month
	return d, isYear && isMonth && (rest == "" || rest[0] == 'T')
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

var germanMonths = strings.Fields("januar februar märz april mai juni juli august september oktober november dezember")

// germanFigure matches 160.000 and 62.990,50 and 8,1.
var germanFigure = regexp.MustCompile(`^(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d{1,2})$`)

// thousandths matches a figure that has thousands in English and decimals in German.
var thousandths = regexp.MustCompile(`^\d{1,3},\d{3}$`)

// inEnglish writes a German figure as an English one.
func inEnglish(figure string) string {
	return strings.NewReplacer(".", "", ",", ".").Replace(figure)
}
