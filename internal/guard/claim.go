package guard

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// claim is a figure, a date or an id in a text.
type claim struct {
	kind  claimKind
	text  string  // as written
	value float64 // of a figure
	step  float64 // one unit of its last written digit
	unit  byte    // '%', '$', 'd' for a duration, 0
	about bool    // "about", "over", "nearly"
	day   date    // of a date; parts that are not given are 0
	line  int
	place int  // among the figures of its line
	last  bool // of the figures of its line
}

type claimKind uint8

const (
	figure claimKind = iota
	dated
	exact   // an id, an address, a phone number: found as it is, or not at all
	spelled // a number in words: no claim, but others can be computed with it
)

// date is a calendar day. Parts that are not given are 0.
type date struct{ year, month, day int }

// matches reports whether a whole date has the parts that are given.
func (d date) matches(whole date) bool {
	return (d.year == 0 || d.year == whole.year) && (d.month == 0 || d.month == whole.month) && (d.day == 0 || d.day == whole.day)
}

func dateOf(t time.Time) date { return date{t.Year(), int(t.Month()), t.Day()} }

func (d date) time() time.Time {
	return time.Date(d.year, time.Month(max(1, d.month)), max(1, d.day), 0, 0, 0, 0, time.UTC)
}

var (
	isoDate   = regexp.MustCompile(`^(\d{4})-(\d{2})(?:-(\d{2}))?(?:$|T)`)
	plainForm = regexp.MustCompile(`^([$€£]?)([+-]?)([$€£]?)(\d[\d,]*(?:\.\d+)?|\.\d+)(?i:(k|m|mn|bn|b)|(%)|(\+)|(-[a-z]+|x))?$`)
	phone     = regexp.MustCompile(`^\+?\d{2,4}(?:-\d{2,4}){2,4}$`)
	idForm    = regexp.MustCompile(`^[A-Za-z]{1,8}(?:-\d+)+$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[0-9a-f]{24}$`)
	address   = regexp.MustCompile(`^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$`)
	numbering = regexp.MustCompile(`^\s*(?:[-*+]\s+)?(?:\d{1,3}[.)]\s+|\|\s*\d{1,3}\s*\|)`)
)

var scales = map[string]float64{"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9}

var hedges = strings.Fields("about around roughly approximately approx nearly almost over under than least most just up some close ~ ≈ circa below above exceeds little bit")

// numbers are two, three and so on in words.
var numbers = strings.Fields("two three four five six seven eight nine ten eleven twelve")

var durations = strings.Fields("day days week weeks month months year years")

// claimsOf reads the figures, dates and ids of a text, in order. Numbers of a list
// and ordinals are none.
func claimsOf(text string) (claims []claim) {
	for n, line := range strings.Split(text, "\n") {
		if !strings.ContainsFunc(line, unicode.IsDigit) && !strings.Contains(line, "@") { // nothing to prove
			continue
		}
		line = numbering.ReplaceAllString(line, "")
		s := scanner{tokens: strings.Fields(spaced.Replace(line)), line: n}
		first := len(claims)
		for s.at < len(s.tokens) {
			claims = append(claims, s.next()...)
		}
		number(claims[first:])
	}
	return claims
}

// number gives the figures of a line their places.
func number(line []claim) {
	place, last := 0, -1
	for i := range line {
		if line[i].kind == figure {
			line[i].place, last = place, i
			place++
		}
	}
	if last >= 0 {
		line[last].last = true
	}
}

// spaced parts what is written together: cells, ranges, brackets.
var spaced = strings.NewReplacer("|", " ", "–", " ", "—", " ", "(", " ", ")", " ", "[", " ", "]", " ", "→", " ", "~", " ~ ", "≈", " ≈ ", "/", " ", "=", " ", "*", "", "`", "", "\u00a0", " ", "\u202f", " ", "−", "-", "<", " ", ">", " ", "×", " ")

type scanner struct {
	tokens []string
	at     int
	line   int
}

// peek is a token without the punctuation around it.
func (s *scanner) peek(ahead int) string {
	if i := s.at + ahead; i >= 0 && i < len(s.tokens) {
		return strings.TrimRight(strings.TrimLeft(s.tokens[i], "\"“'‘#_"), "\"”'’.,;:!?_…")
	}
	return ""
}

func (s *scanner) next() []claim {
	token := s.peek(0)
	if c, used := s.date(token); used > 0 {
		s.at += used
		return []claim{c}
	}
	numbered := strings.HasPrefix(s.tokens[s.at], "#")
	defer func() { s.at++ }()
	switch {
	case idForm.MatchString(token), address.MatchString(token), phone.MatchString(token):
		return []claim{{kind: exact, text: token, line: s.line}}
	case numbered:
		return nil
	case slices.Contains(numbers, strings.ToLower(token)):
		return []claim{{kind: spelled, value: float64(slices.Index(numbers, strings.ToLower(token)) + 2), line: s.line}}
	}
	if c, ok := s.figure(token); ok {
		return []claim{c}
	}
	var found []claim
	if low, high, ok := strings.Cut(token, "-"); ok { // a range
		c, ok := s.figure(low)
		d, both := s.figure(high)
		if ok && both {
			found = append(found, c, d)
		}
	}
	return found
}

// date reads a date in digits or in words.
func (s *scanner) date(token string) (c claim, used int) {
	c = claim{kind: dated, text: token, line: s.line}
	if m := isoDate.FindStringSubmatch(token); m != nil {
		c.day = date{atoi(m[1]), atoi(m[2]), atoi(m[3])}
		return c, 1
	}
	month, day := monthOf(token), s.dayAt(0)
	switch {
	case month > 0 && s.dayAt(1) > 0:
		c.day, used = date{month: month, day: s.dayAt(1)}, 2
	case month > 0 && yearOf(s.peek(1)) > 0:
		c.day, used = date{month: month}, 1
	case day > 0 && monthOf(s.peek(1)) > 0:
		c.day, used = date{month: monthOf(s.peek(1)), day: day}, 2
	default:
		return c, 0
	}
	if year := yearOf(s.peek(used)); year > 0 {
		c.day.year = year
		used++
	}
	c.text = strings.Trim(strings.Join(s.tokens[s.at:s.at+used], " "), ".,;:!?\"”'’")
	return c, used
}

func (s *scanner) dayAt(ahead int) int {
	token := strings.TrimRight(strings.ToLower(s.peek(ahead)), "stndrh")
	if n, err := strconv.Atoi(token); err == nil && n >= 1 && n <= 31 {
		return n
	}
	return 0
}

func yearOf(token string) int {
	if n, err := strconv.Atoi(token); err == nil && n >= 1900 && n <= 2100 {
		return n
	}
	return 0
}

func monthOf(token string) int {
	token = strings.ToLower(token)
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if token == name || len(token) >= 3 && len(token) <= 4 && strings.HasPrefix(name, token) && token != "mar" {
			return int(m)
		}
	}
	return 0
}

// figure reads a number with its unit.
func (s *scanner) figure(token string) (c claim, ok bool) {
	if germanFigure.MatchString(token) && isGerman(strings.Join(s.tokens, " ")) {
		c, ok = s.figure(inEnglish(token))
		c.text = token
		return c, ok
	}
	m := plainForm.FindStringSubmatch(token)
	if m == nil || len(m[4]) > 30 {
		return c, false
	}
	digits := strings.ReplaceAll(m[4], ",", "")
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return c, false
	}
	c = claim{kind: figure, text: token, value: value, step: 1, line: s.line, about: s.hedged() || m[7] != ""}
	if _, decimals, found := strings.Cut(digits, "."); found {
		c.step = math.Pow(10, -float64(len(decimals)))
	}
	scale, word := scales[strings.ToLower(m[5])], strings.ToLower(s.peek(1))
	switch {
	case m[1]+m[3] != "":
		c.unit = '$'
	case m[6] != "" || word == "%" || word == "percent" || word == "percentage" || word == "per" && strings.EqualFold(s.peek(2), "cent"):
		c.unit = '%'
	case slices.Contains(durations, word):
		c.unit, c.text = 'd', token+" "+word
	}
	if scale == 0 {
		if scale = scales[word]; len(word) > 2 && scale > 0 {
			c.text += " " + word
		} else {
			scale = 1
		}
	}
	if c.unit == '%' && m[6] == "" {
		c.text += " " + word
	}
	c.value, c.step = c.value*scale, c.step*scale
	return c, true
}

func (s *scanner) hedged() bool {
	for ahead := -1; ahead >= -3; ahead-- {
		if slices.Contains(hedges, strings.ToLower(s.peek(ahead))) {
			return true
		}
	}
	return false
}

// slack is how far the true value may be from the written one: half a unit of the
// last digit, a whole unit below (people cut as well as round), and of a vague
// figure half a unit of its last digit that is not 0.
func (c claim) slack() (below, above float64) {
	below, above = c.step/2, c.step
	if !c.about {
		return below * (1 + 1e-9), above * (1 - 1e-9)
	}
	place := c.step
	for c.value != 0 && math.Mod(c.value, place*10) == 0 {
		place *= 10
	}
	vague := max(place/2, c.step)
	return vague, vague
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
