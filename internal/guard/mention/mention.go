// Package mention reads what a text states that can be compared with data: its figures, names,
// dates, ids and addresses, as people write them in English and German. Start with [Of]
// and [NamesOf].
package mention

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/pattern"
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
	At, To int  // its tokens of the line
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

var (
	plainForm = pattern.New(`^([$€£]?)([+-]?)([$€£]?)(\d[\d,]*(?:\.\d+)?|\.\d+)(?i:(k|m|mn|bn|b)|(%)|(\+)|(-[a-z]+|x))?$`)
	phone     = pattern.New(`^\+?\d{2,4}(?:-\d{2,4}){2,4}$`)
	address   = pattern.New(`^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$`)
	digitDate = pattern.New(`^(\d{1,2})[.⁄](\d{1,2})[.⁄](\d{4})$`)
	shortDate = pattern.New(`^(\d{1,2})\.(\d{1,2})\.[,;:!?)]*$`) // German: 20.11.
	slashDate = pattern.New(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`)
	slashDay  = pattern.New(`(^|[\s(|–])(0?[1-9]|1[0-2])/([12]\d|3[01]|0?[1-9])([\s)|,.;–]|$)`) // 11/28
	fileName  = pattern.New(`^[\w.-]*\w\.(?:c|cpp|cs|css|csv|docx|go|h|html|java|js|json|kt|md|pdf|php|proto|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|xlsx|ya?ml)$`)
	numbering = pattern.New(`^\s*(?:[-*+]\s+)?(?:\d{1,3}[.)]\s+|\|\s*\d{1,3}\s*\|)`)
)

var hedges = strings.Fields("about around roughly approximately approx nearly almost over under than least most just up some close ~ ≈ circa below above exceeds little bit etwa rund ungefähr ca knapp fast über unter gut mehr als mindestens höchstens")

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
		s.split(line)
		first := len(s.mentions)
		for s.at < len(s.tokens) {
			at, n := s.at, len(s.mentions)
			s.next()
			for i := range s.mentions[n:] {
				s.mentions[n+i].At, s.mentions[n+i].To = at, s.at
			}
		}
		number(s.mentions[first:])
	}
	return s.mentions
}

// Tokens are the parts of a line, by which a mention says where it is.
func Tokens(line string) []string {
	var s Scanner
	s.split(line)
	return s.tokens
}

func (s *Scanner) split(line string) {
	s.tokens = slices.AppendSeq(s.tokens[:0], strings.FieldsSeq(parted(line)))
	s.partDays()
}

// parted is a line without its number, with spaces between what is written together.
func parted(line string) string {
	if strings.ContainsAny(line, " \t\f\r|") {
		if at := numbering.FindStringIndex(line); at != nil {
			line = line[at[1]:]
		}
	}
	if strings.Contains(line, "/") {
		line = slashDay.ReplaceAllString(slashDate.ReplaceAllString(line, "$1⁄$2⁄$3"), "$1$2⁄$3$4")
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
var spaced = strings.NewReplacer("|", " | ", "–", " – ", "—", " ", "(", " ", ")", " ", "[", " ", "]", " ", "→", " ", "~", " ~ ", "≈", " ≈ ", "/", " ", "=", " ", "*", "", "`", "", "½", ".5", "¼", ".25", "¾", ".75", "\u00a0", " ", "\u202f", " ", "−", "-", "<", " ", ">", " ", "×", " ")

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
		if s.at = i; !ok || s.month(-1) == 0 && s.month(1) == 0 {
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
	if month, day, ok := strings.Cut(token, "⁄"); ok { // or a fraction: 4/5
		c.Text, c.Day = month+"/"+day, Date{Month: atoi(month), Day: atoi(day)}
		if part, ok := s.figure(month); ok {
			c.Or = []Mention{part}
		}
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
	month, day := s.month(0), s.dayAt(0)
	switch {
	case month > 0 && s.shortYearAt(1) > 0:
		c.Day, used = Date{Month: month}, 1
	case month > 0 && s.dayAt(1) > 0:
		c.Day, used = Date{Month: month, Day: s.dayAt(1)}, 2
	case month > 0 && yearOf(s.peek(1)) > 0:
		c.Day, used = Date{Month: month}, 1
	case day > 0 && s.peek(1) == "of" && s.month(2) > 0:
		c.Day, used = Date{Month: s.month(2), Day: day}, 3
	case day > 0 && s.month(1) > 0:
		c.Day, used = Date{Month: s.month(1), Day: day}, 2
	case day > 0 && isTo(s.peek(1)) && s.dayAt(2) > 0 && s.month(3) > 0:
		c.Day, used = Date{Month: s.month(3), Day: day}, 1
	case day > 0 && isTo(s.peek(-1)) && s.dayAt(-2) > 0 && s.month(-3) > 0:
		c.Day, used = Date{Month: s.month(-3), Day: day}, 1
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

// month is the month that a token names. Mar is one beside a number only.
func (s *Scanner) month(ahead int) int {
	token := s.peek(ahead)
	if token == "Mar" && s.dayAt(ahead-1)+s.dayAt(ahead+1)+yearOf(s.peek(ahead+1)) > 0 {
		return 3
	}
	return MonthOf(token)
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
	case DaysIn[strings.TrimPrefix(m[8], "-")] > 0:
		c.Unit, c.Text = 'd', strings.Replace(token, "-", " ", 1)
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
