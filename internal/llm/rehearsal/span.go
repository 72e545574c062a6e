package rehearsal

import (
	"maps"
	"slices"
	"strings"
)

// span is a run of words that no tool's vocabulary explains and that stands
// where a value may stand: somebody's name, a place, a number of an order.
type span struct {
	words []string // in lower case
	text  string   // as written
	prep  string   // the preposition before it
	owns  bool
	role  string // the column of the rows that it is a value of: "assigned to …"
	code  bool   // looks like an id
	place bool   // capitalised or not, it follows a preposition of place
	at    int    // its first token
	end   int    // the token after its last
}

// spans finds the values among the tokens that are still unread, and marks
// them. A lower-case word is a value only beside something that says so.
func (r *reading) spans() []span {
	var out []span
	for i := 0; i < len(r.part); {
		if !r.mayBeValue(i) {
			i++
			continue
		}
		s := span{at: i, prep: r.prepositionBefore(i)}
		var texts []string
		for i < len(r.part) && (i == s.at || r.continues(i)) {
			t := r.part[i]
			texts, s.owns, s.code = append(texts, t.text), t.owns, s.code || t.kind == code
			s.words = append(s.words, nameWords(t)...)
			i++
			if s.owns {
				break
			}
		}
		if n := len(texts) - 1; n > 0 && s.owns && r.namesProperty(r.part[i-1]) {
			texts, s.words = texts[:n], s.words[:n] // "the Sales department's"
		}
		s.text, s.end = strings.Join(texts, " "), i
		s.place = r.p.en.is("place", s.prep)
		s.role = r.roleOf(s)
		s.owns = s.owns || r.lowAt(s.at-1) == "does" && r.lowAt(s.end) == "have"
		out = append(out, s)
	}
	return out
}

// roleOf finds the column that a value belongs to by the words before it, when
// no input narrows the list by that column: assigned_to for "assigned to Ben".
func (r *reading) roleOf(s span) string {
	prep := r.lowAt(s.at - 1)
	if s.at < 2 || prep != "to" && prep != "by" || !r.f.lists() {
		return ""
	}
	for _, c := range slices.Sorted(maps.Keys(r.f.columns)) {
		w := identifierWords(c)
		last := lastWord(c)
		if len(w) > 0 && r.f.prop(c) == nil && (len(w) == 1 || last == "to" || last == "by") && r.p.en.among(set{stem(w[0]): true}, r.part[s.at-2].stem) {
			return c
		}
	}
	return ""
}

func nameWords(t token) []string {
	if t.kind == code {
		return []string{t.low}
	}
	return proseWords(t.text)
}

// continues reports whether the value goes on with the i-th token.
func (r *reading) continues(i int) bool {
	t := r.part[i]
	if t.kind == word && t.capital && !r.shouting && r.uses[i] == unread {
		return true
	}
	return r.uses[i] == unread && (t.kind == word || t.kind == code) && r.valueLike(t)
}

// valueLike reports whether a word could be a value at all: verbs of action and
// opinions are none.
func (r *reading) valueLike(t token) bool {
	en := r.p.en
	return !en.is("action", t.low) && !en.is("judgement", t.low) && !en.is("condition", t.low) && !en.is("negation", t.low) && !en.is("self", t.low) && !en.measures(t.low)
}

func (r *reading) mayBeValue(i int) bool {
	t := r.part[i]
	switch {
	case r.uses[i] != unread || t.kind == number || t.kind == date || t.kind == mark || r.p.en.is("self", t.low):
		return false
	case t.kind == code || t.kind == quoted || t.owns:
		return true
	case i == 0 || i == r.mood.order:
		return r.opensWithValue(i)
	case t.capital && !r.shouting:
		return true
	case r.f.closed:
		return r.besideClosedNoun(i)
	case !r.valueLike(t):
		return false
	}
	return r.besideAnchor(i)
}

// opensWithValue reports whether a first word is a value: "Gardening
// employees", "Ada Byron's record". A verb stands there far more often, so
// it takes a possessive close by, or a plain noun phrase.
func (r *reading) opensWithValue(i int) bool {
	t := r.part[i]
	if r.f.closed {
		return i == 0 && i+1 < len(r.part) && r.valueLike(t) && r.f.isAnchor(r.part[i+1])
	}
	if !r.valueLike(t) || i+1 >= len(r.part) {
		return false
	}
	next := r.part[i+1]
	if t.capital && r.uses[i+1] == unread && next.capital && !r.shouting {
		return true
	}
	return len(lows(r.part)) <= 3 && r.uses[i+1] == meant && (singular(next.low) != next.low || r.f.isAnchor(next) && r.f.lists())
}

// besideAnchor reports whether the words around a lower-case word make a value
// of it: a preposition, a noun that the tool knows, or the verb of an order.
func (r *reading) besideAnchor(i int) bool {
	before := i - 1
	for before >= 0 && r.part[before].kind == word && (r.part[before].low == "the" || r.part[before].low == "our" || r.part[before].low == "a") {
		before--
	}
	if before >= 0 {
		b := r.part[before]
		if r.p.en.is("place", b.low) || r.p.en.is("title", b.low) || r.p.en.is("owner", b.low) || r.f.isAnchor(b) || r.f.writes() && before == r.mood.order {
			return true
		}
	}
	if i+1 < len(r.part) && (r.f.isAnchor(r.part[i+1]) || r.uses[i+1] == meant) && before != r.mood.order-1 {
		return before == i-1 || r.f.isAnchor(r.part[i+1])
	}
	return i+1 < len(r.part) && r.part[i+1].kind == word && r.part[i+1].owns && r.uses[i+1] == unread
}

// isAnchor reports whether a word names what the tool is about.
func (f *form) isAnchor(t token) bool { return t.kind == word && f.name[t.stem] }

// prepositionBefore is the preposition that a value stands after.
func (r *reading) prepositionBefore(i int) string {
	for i--; i >= 0; i-- {
		low := r.part[i].low
		switch {
		case r.part[i].kind != word:
			return ""
		case r.p.en.is("place", low) || r.p.en.is("title", low) || r.p.en.is("owner", low):
			return low
		case low != "the" && low != "our" && low != "a" && low != "an" && !r.f.isAnchor(r.part[i]):
			return ""
		}
	}
	return ""
}
