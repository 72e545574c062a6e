package lexicon

import (
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/schema"
)

// Bounds are a value and the words around it, which may make it the end of a range.
type Bounds struct {
	At, End int         // the first token, and the one after the last
	Side    schema.Side // the end that it is
	Beyond  bool        // without the value itself
}

// ends are the sections of words that make the value behind them the end of a range.
var ends = map[string]Bounds{
	"from": {Side: schema.Lower}, "over": {Side: schema.Lower, Beyond: true},
	"upto": {Side: schema.Upper}, "under": {Side: schema.Upper, Beyond: true},
}

// Bounds reads the words around the i-th token: "over 200k", "2000 or more".
func (x *Lexicon) Bounds(c Clause, i int) Bounds {
	if i > 1 && c.Low(i-1) == "to" && slices.Contains([]language.Kind{language.Date, language.Number}, c.Tokens[i-2].Kind) && c.Has("from", "between") { // "from July to September"
		return Bounds{At: i - 1, End: i + 1, Side: schema.Upper}
	}
	for n := min(3, i); n > 0; n-- {
		said := strings.Join(language.Lows(c.Tokens[i-n:i]), " ")
		for section, b := range ends {
			if b.At, b.End = i-n, i+1; x.Is(said, section) {
				return b
			}
		}
	}
	for section, end := range map[string]schema.Side{"ormore": schema.Lower, "orless": schema.Upper} {
		if n := x.Phrase(section, c.Lows(i+1)); n > 0 {
			return Bounds{i, i + 1 + n, end, false}
		}
	}
	return Bounds{At: i, End: i + 1}
}

// Of is a span without itself where the words say so: "after May" begins when it ends.
func (b Bounds) Of(s calendar.Span) calendar.Span {
	if b.Beyond && b.Side == schema.Lower {
		s.From = s.To
	} else if b.Beyond {
		s.To = s.From
	}
	return s
}

// Keeps tells of a day whether it is in a span, or on the side of it that the words say.
func (b Bounds) Keeps(s calendar.Span) func(day string, _ float64) bool {
	s = b.Of(s)
	return func(day string, _ float64) bool {
		return (b.Side == schema.Upper || day >= s.From.Format(time.DateOnly)) && (b.Side == schema.Lower || day < s.To.Format(time.DateOnly))
	}
}

// Dated reports whether a date follows the i-th word.
func (x *Lexicon) Dated(c Clause, i int) bool {
	at := i + 1
	for at < min(i+4, len(c.Tokens)) && (slices.Contains(english.Function, c.Low(at)) || x.Is(c.Low(at), "from", "over", "upto", "under")) {
		at++
	}
	return at < len(c.Tokens) && c.Tokens[at].Kind == language.Date
}

// Rebound is a question without the bounds whose place the next one takes, or that it
// contradicts: of "over 10k", then "under 5k", the first.
func (x *Lexicon) Rebound(question, next []language.Token) []language.Token {
	bound := func(tokens []language.Token, i int) (Bounds, bool) {
		b := x.Bounds(Clause{Tokens: tokens}, i)
		return b, tokens[i].Kind == language.Number && b.Side != schema.Neither
	}
	for j, new := range next {
		end, is := bound(next, j)
		for i, old := range question {
			b, was := bound(question, i)
			against := (old.Value-new.Value)*float64(end.Side) >= 0
			if is && was && (b.Side == end.Side || against) {
				return x.Rebound(slices.Concat(question[:b.At], question[b.End:]), next)
			}
		}
	}
	return question
}
