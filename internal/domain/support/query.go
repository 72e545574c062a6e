package support

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The score of a row: each term of the query counts TermScore, and HeadScore more
// if the subject or the title has it. How rare a word is does not count, because
// that depends on rows that the caller may not see.
const (
	TermScore = 1
	HeadScore = 2
)

// Query is a parsed search. Only [ParseQuery] makes one, and a store builds its
// own query from it, so that no character of user input is syntax there. The zero
// value finds nothing.
type Query struct {
	every bool // everything except the excluded terms
	with  []Term
	minus []Term
	any   bool // one of the terms is enough
}

// Term is a word, the start of one, or several words that follow each other.
// Its words are folded and never empty.
type Term struct {
	Words  []string
	Prefix bool // the one word is the start of a word
}

// ParseQuery reads a query. Words are AND-ed, "a phrase" holds words together,
// -without excludes a word or a phrase, prefix* finds what begins so, and * alone
// is everything. Every other character only separates words; words that it
// separates without a space (TICK-004, 3.5) are a phrase. Any text is a query:
// one without a word finds nothing, one that only excludes finds everything
// else.
func ParseQuery(text string) Query {
	var q Query
	for rest := text; rest != ""; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		minus := len(rest) > 1 && rest[0] == '-' && startsTerm(rest[1:])
		if minus {
			rest = rest[1:]
		}
		for glued := true; glued; { // "a phrase"another: the minus is the first one's
			var t Term
			t, rest, glued = nextTerm(rest)
			q.add(t, minus)
			minus = false
		}
	}
	q.every = len(q.with) == 0 && (len(q.minus) > 0 || strings.TrimSpace(text) == "*")
	return q
}

// startsTerm reports whether a minus before this text excludes something.
func startsTerm(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '"' || inWord(r)
}

// nextTerm takes a term from the start of a text. glued says that the rest
// follows without a space.
func nextTerm(text string) (t Term, rest string, glued bool) {
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		if phrase, after, closed := strings.Cut(inner, `"`); closed {
			return Term{Words: Words(phrase)}, after, after != "" && !startsWithSpace(after)
		}
		text = inner // a quote without a closing one separates words
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if end < 0 {
		end = len(text)
	}
	chunk, rest := text[:end], text[end:]
	t = Term{Words: Words(chunk)}
	t.Prefix = len(t.Words) == 1 && starred(chunk)
	return t, rest, strings.HasPrefix(rest, `"`)
}

func startsWithSpace(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(r)
}

// starred reports whether a star follows the first word of a text.
func starred(text string) (yes bool) {
	eachWord(text, func(w word) bool {
		yes = strings.HasPrefix(text[w.end:], "*")
		return false
	})
	return yes
}

func (q *Query) add(t Term, minus bool) {
	to := &q.with
	if minus {
		to = &q.minus
	}
	if len(t.Words) > 0 && !slices.ContainsFunc(*to, t.equal) {
		*to = append(*to, t)
	}
}

func (t Term) equal(other Term) bool {
	return t.Prefix == other.Prefix && slices.Equal(t.Words, other.Words)
}

// With lists the terms that a row must have.
func (q Query) With() []Term { return q.with }

// Without lists the terms that a row must not have.
func (q Query) Without() []Term { return q.minus }

// Any returns the query for rows that have any of the terms.
func (q Query) Any() Query {
	q.any = true
	return q
}

// IsAny reports whether one of the terms is enough. Otherwise a row has them all.
func (q Query) IsAny() bool { return q.any }

// grouped is the query with its long numbers in groups of three digits, as texts have
// them: 10000 is 10,000. It reports whether there are any.
func (q Query) grouped() (Query, bool) {
	is := false
	q.with = slices.Clone(q.with)
	for i, t := range q.with {
		digits := t.Words[0]
		if len(t.Words) > 1 || t.Prefix || len(digits) < 4 || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		var words []string
		for ; len(digits) > 3; digits = digits[:len(digits)-3] {
			words = slices.Insert(words, 0, digits[len(digits)-3:])
		}
		q.with[i], is = Term{Words: slices.Insert(words, 0, digits)}, true
	}
	return q, is
}

// joined is the query with two words that it has with a hyphen, or alone, as one: log-ins
// are logins. It reports whether there are such.
func (q Query) joined() (Query, bool) {
	is := false
	terms := slices.Clone(q.with)
	for i, t := range terms {
		if len(t.Words) == 2 {
			terms[i], is = Term{Words: []string{strings.Join(t.Words, "")}}, true
		}
	}
	if len(terms) == 2 && !is && len(terms[0].Words)+len(terms[1].Words) == 2 && !terms[0].Prefix {
		joined := Term{Words: []string{terms[0].Words[0] + terms[1].Words[0]}, Prefix: terms[1].Prefix}
		terms, is = []Term{joined}, true
	}
	q.with = terms
	return q, is
}

// Nothing reports whether there is nothing to search for.
func (q Query) Nothing() bool { return !q.every && len(q.with) == 0 }

// Scored reports whether rows match better or worse. Otherwise they are shown
// newest first.
func (q Query) Scored() bool { return len(q.with) > 0 }

// Scores lists the scores that rows which the query finds may have, the highest first.
func (q Query) Scores() (scores []int) {
	least := len(q.with)
	if q.any {
		least = 1
	}
	for terms := least; terms <= len(q.with); terms++ {
		for heads := range terms + 1 { // a term that is in the head is in the row
			scores = append(scores, terms*TermScore+heads*HeadScore)
		}
	}
	slices.SortFunc(scores, func(x, y int) int { return y - x })
	return slices.Compact(scores)
}

// String writes the query so that ParseQuery reads the same one again.
func (q Query) String() string {
	var parts []string
	if q.every && len(q.minus) == 0 {
		return "*"
	}
	for _, t := range q.with {
		parts = append(parts, t.String())
	}
	for _, t := range q.minus {
		parts = append(parts, "-"+t.String())
	}
	return strings.Join(parts, " ")
}

func (t Term) String() string {
	switch {
	case t.Prefix:
		return t.Words[0] + "*"
	case len(t.Words) == 1:
		return t.Words[0]
	}
	return `"` + strings.Join(t.Words, " ") + `"`
}
