package wording

import (
	"strings"
	"unicode"

	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/pattern"
)

// Text is a text whose mentions are framed.
type Text struct {
	lines    []string
	supposed bool // its question asks for what is not so
}

// Framed prepares a text that answers a question.
func Framed(text, question string) *Text {
	question = politeness.ReplaceAllString(strings.ToLower(straight.Replace(question)), "")
	return &Text{lines: strings.Split(straight.Replace(text), "\n"), supposed: supposes.MatchString(question) || supposing.MatchString(question)}
}

var straight = strings.NewReplacer("’", "'")

// Frame is what is around a mention, in small letters.
type Frame struct {
	Before, After string // of its sentence, item or cell
	Earlier       string // of its line
	Head, Lead    string // of its column, and the line before its list
	raw           string // of its sentence, as written
	supposed      bool
}

// Clause is the sentence, item or cell with all that labels it.
func (f Frame) Clause() string {
	return f.Lead + " : " + f.Head + " : " + f.Before + " " + f.After
}

// Of returns the frame of a mention of the text.
func (t *Text) Of(m mention.Mention) Frame {
	f := Frame{supposed: t.supposed}
	if m.Line >= len(t.lines) {
		return f
	}
	tokens := mention.Tokens(t.lines[m.Line])
	from, to := min(m.At, len(tokens)), min(m.To, len(tokens))
	begin, end := from, to
	for begin > 0 && !ends(tokens, begin-1) {
		begin--
	}
	for end < len(tokens) && tokens[end] != "|" && (end == 0 || !ends(tokens, end-1)) {
		end++
	}
	f.Earlier, f.Before, f.After = small(tokens[:begin]), small(tokens[begin:from]), small(tokens[to:end])
	f.raw = strings.Join(tokens[begin:end], " ")
	f.Head, f.Lead = strings.ToLower(t.head(m.Line, tokens[to:])), strings.ToLower(t.lead(m.Line))
	return f
}

func small(tokens []string) string { return strings.ToLower(strings.Join(tokens, " ")) }

// ends reports whether a token is the last one of its sentence or cell.
func ends(tokens []string, i int) bool {
	if tokens[i] == "|" {
		return true
	}
	bare := strings.TrimRight(tokens[i], `"'”*_)`)
	if bare == "" || !strings.ContainsAny(bare[len(bare)-1:], ".!?;") {
		return false
	}
	return i+1 == len(tokens) || !strings.ContainsFunc(tokens[i+1][:1], unicode.IsLower) && len(bare) > 3
}

// head is the head of the column of a table before these tokens of a row. Columns are
// counted from the last, because the numbers of rows are no tokens.
func (t *Text) head(line int, rest []string) string {
	if !strings.Contains(t.lines[line], "|") {
		return ""
	}
	for n := line; n > 0; n-- {
		if !mention.IsRuler(t.lines[n]) || !strings.Contains(t.lines[n-1], "|") {
			continue
		}
		cells := strings.Split(strings.TrimSpace(t.lines[n-1]), "|")
		if at := len(cells) - 1 - bars(rest); at >= 0 {
			return cells[at]
		}
		return ""
	}
	return ""
}

func bars(tokens []string) (n int) {
	for _, token := range tokens {
		if token == "|" {
			n++
		}
	}
	return n
}

// lead is the line that leads to a list or a table of which this line is a part.
func (t *Text) lead(line int) string {
	if !mention.IsItem(t.lines[line]) {
		return ""
	}
	for n := line - 1; n >= 0; n-- {
		if text := strings.TrimSpace(t.lines[n]); text != "" && !mention.IsItem(text) && !mention.IsRuler(text) {
			return text
		}
	}
	return ""
}

var (
	politeness = pattern.New(`\b(?:(?:could|would|can|will|might) (?:you|i|we|u)|would like|'d like|would love|could only|could not|couldn't|could(?:n't)? find|let me know if|tell me if|if you(?:'d)? (?:like|want|need|wish|prefer)|if needed|if (?:that|this|it) helps)\b`)

	// supposing matches what speaks of what is not so: suppositions and projections.
	supposing = pattern.New(`\b(?:would|wouldn't|might|if|unless|assum(?:e|es|ed|ing|ption|ptions)|suppos(?:e|ed|ing)|imagin(?:e|ing)|hypothetical(?:ly)?|scenario|projected|projection|projecting|forecast(?:s|ed|ing)?|extrapolat\pL+|estimat(?:e|ed|es|ing)|pace|run[- ]rate|(?:this|that|same|current|present) rate|prorat\pL+|pro rata|anteilig\pL*|on track|keeps? (?:this|that|it|going)|carried on|wenn|falls|würden?|wäre[n]?|hätten?|könnten?|angenommen|hochgerechnet|geschätzt|schätzung\pL*)\b|\pL'd (?:be|have|get|need|make|go|come|end|reach|cost|still|then|also|only|take|save|add|keep|drop|leave|say|expect|land|earn|pay|finish)\b`)

	// vague matches what gives a figure as advice, a guess, an example or what is usual.
	vague = pattern.New(`\b(?:could|should|guess|ballpark|trend|continues?|example|e\.g\.?|instance|such as|typical(?:ly)?|usual(?:ly)?|normal(?:ly)?|commonly|generally|in general|often|rule of thumb|recommend(?:ed)?|say,|let's say|beispiel\pL*|z\.b\.|üblich\pL*|normalerweise|meist(?:ens)?)\b`)

	// supposes matches questions for what is not so.
	supposes = pattern.New(`\bwhat if\b|\bhow long (?:until|till|will|would)\b|\bwill (?:we|they|it|\pL+) (?:go|hit|reach|exceed|make|run|last|be)\b|\bwhat (?:will|happens)\b|was wäre`)

	// perUnit matches what comes after a figure that is given for each of something other
	// than a year, in which data is kept.
	perUnit = pattern.New(`^[^\pL\d]*(?:(?:gross|net|more|less|extra|on average|brutto|netto|mehr|weniger|dollars?|euros?|usd|eur|\$|€) )*(?:(?:an?|per|each|every|pro|je|im|am|die|in der|a single|for (?:each|every)) (?:[\pL-]+ )?(?:day|days|week|weeks|weekday|workday|fortnight|month|months|quarter|hour|minute|head|person|tag|woche|monat|kopf|stunde|quartal|arbeitstag)|(?:per|pro|je) (?:\pL+)|(?:monthly|weekly|daily|hourly|biweekly|apiece|each|month|week|day|hour|mo|monatlich|wöchentlich|täglich|jeweils))\b`)
	isEach  = pattern.New(`^[^\pL]*(?:each|apiece|jeweils)\b`)
	mean    = pattern.New(`\b(?:averages?|averaging|mean|median|schnitt|durchschnitt\pL*|mittel)\b`)
	perYear = pattern.New(`^[^\pL]*(?:per|pro|je) (?:year|annum|jahr)\b`)

	// perSo matches what is before a figure for so many of which another is given.
	perSo = pattern.New(`\b(?:per|pro|je|(?:for|of|in) every)$`)

	// unitLabel matches a label of figures that are given for each of something.
	unitLabel = pattern.New(`\b(?:(?:per|a|each|every|pro|je|im) (?:calendar |working )?(?:day|week|weekday|workday|fortnight|month|quarter|hour|head|person|tag|woche|monat|kopf|stunde)|monthly|weekly|daily|hourly|bi-?weekly|monatlich|wöchentlich|täglich)\b[^.;]{0,30}$`)
)

// IsSupposed reports whether what is mentioned is not stated as so: it is supposed or
// projected. What a line supposes holds for the rest of it.
func (f Frame) IsSupposed() bool { return f.supposed || supposing.MatchString(f.said()) }

// IsAssumed reports whether a figure is in what the sentence assumes, not in what it draws
// from it.
func (f Frame) IsAssumed() bool { return assumed.MatchString(f.Before) }

// assumed matches what comes before a figure that is assumed, in its part of the sentence.
var assumed = pattern.New(`\b(?:if|assum(?:e|es|ed|ing)|suppos(?:e|ing)|say|taking|given|counting|count|based on|using|angenommen|wenn|falls|ausgehend von)\b[^;:,]*$`)

// IsVague reports whether what is mentioned is advice, a guess, an example or what is usual.
func (f Frame) IsVague() bool { return vague.MatchString(f.said()) }

func (f Frame) said() string { return politeness.ReplaceAllString(f.Earlier+" . "+f.Clause(), "") }

// IsRate reports whether a figure is given for each of something: a day, a month, a
// person; or is for how many another is given: 13 votes per 100 views.
func (f Frame) IsRate() bool {
	if perSo.MatchString(f.Before) {
		return true
	}
	if perUnit.MatchString(f.After) && !perYear.MatchString(f.After) {
		return !isEach.MatchString(f.After) || !mean.MatchString(f.Before)
	}
	for _, label := range []string{f.Before, f.Head} {
		if unitLabel.MatchString(strings.TrimRight(label, " *_:=≈~$€")) {
			return true
		}
	}
	return false
}

// IsOfSomebody reports whether a statement is about the person, the company or others, and
// not about the world.
func (f Frame) IsOfSomebody() bool {
	if ofSomebody.MatchString(f.Clause()) {
		return true
	}
	for _, name := range mention.NamesOf(f.raw) {
		for _, word := range name.Words {
			if small := strings.ToLower(word); !mention.IsCommon(small) && mention.MonthOf(small) == 0 && !German[small] {
				return true
			}
		}
	}
	return false
}

var ofSomebody = pattern.New(`\b(?:you|your|yours|we|our|us|i|my|me|he|she|his|her|they|their|du|dein\pL*|dir|dich|sie|ihr\pL*|ihnen|wir|uns\pL*|er|there (?:are|is|were))\b|'s\b`)

// IsHoliday reports whether a date is mentioned with what people know of the calendar.
func (f Frame) IsHoliday() bool { return holiday.MatchString(f.Clause()) }

var holiday = pattern.New(`\b(?:(?:bank |public |company )?holidays?|christmas|new year(?:'s)?|thanksgiving|easter|halloween|black friday|weekends?|feiertag\pL*|weihnacht\pL*|heiligabend|silvester|neujahr|ostern|wochenende)\b`)

// IsCount reports whether a number counts things, is a part of a longer one, or is all of
// its cell, its answer or what follows a label.
func (f Frame) IsCount() bool {
	labelled := strings.HasSuffix(strings.TrimRight(f.Before, " *_"), ":") || !strings.ContainsFunc(f.Before, unicode.IsLetter)
	return counted.MatchString(f.After) || ofTotal.MatchString(f.Before+" ") || inDigits.MatchString(f.Before+"#"+f.After) || labelled && !strings.ContainsFunc(f.After, unicode.IsLetter)
}

// counted matches what comes after a number that counts: a noun in the plural, "of them".
var counted = pattern.New(`^(?:out )?(?:of|von) (?:the|these|those|them|all|our|your|my|\d|den|allen)|^(?:[\pL-]+ ){0,2}?(?:people|persons|staff|personen|leute|kg|g|km|m|cm|mm|ms|gb|mb|tb|kb|°c?|[\pL-]{2,}(?:[^su\PL]s|es|en|er))(?:[^\pL]|$)`)

// ofTotal matches what comes before the number of all: "15 out of 20".
var ofTotal = pattern.New(`\d (?:[\pL-]+ ){0,5}?(?:of|von)(?: (?:the|a|about|roughly|all|den|ca))? $`)

// inDigits matches around a number that is a part of one in groups: 503 555 0188.
var inDigits = pattern.New(`\d{3} ?#|# ?\d{3}`)

// IsAggregate reports whether a figure is said to be of several things together.
func (f Frame) IsAggregate() bool { return aggregate.MatchString(f.Clause()) }

var aggregate = pattern.New(`\b(?:total(?:s|ing|led)?|sums?|subtotal|combined|together|altogether|in all|overall|averages?|averaging|mean|median|adds? up|add(?:s|ing)? to|com(?:es?|ing) to|amounts? to|sums? to|collectively|between them|both|all|top|bottom|first|last|largest|biggest|highest|smallest|lowest|the other|the rest|others?|remaining|without|excluding|except|share|portion|half)\b|\b(?:insgesamt|zusammen|summe|gesamt\pL*|schnitt|durchschnitt\pL*|mittel|beide\pL*|alle\pL*|übrigen|ohne|anteil|macht|ergibt|ergeben)\b`)

// IsPeriod reports whether a figure is in a column of periods.
func (f Frame) IsPeriod() bool { return period.MatchString(f.Head) }

var period = pattern.New(`\b(?:years?|months?|weeks?|days?|tenure|age|seniority|yrs|mos|jahre?|monate?|wochen?|tage|dauer|dienstalter)\b`)
