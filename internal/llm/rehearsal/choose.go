package rehearsal

import (
	"fmt"
	"slices"
	"strings"
)

// matching keeps the rows that a name means: those that are called by all its
// words; else those that are called by some and hold the others; else those
// that hold them all. exact is false when no row has the very words and the
// list offered others.
func matching(rows []row, words []string, noun string) (out []row, exact bool) {
	for _, fits := range []func(row) bool{
		func(r row) bool { return containsAll(wordsOf(calledAs(r, noun)), words) },
		func(r row) bool {
			return containsAny(wordsOf(calledAs(r, noun)), words) && containsAll(allWords(r), words)
		},
		func(r row) bool { return containsAll(allWords(r), words) },
	} {
		for _, r := range rows {
			if fits(r) {
				out = append(out, r)
			}
		}
		if len(out) > 0 {
			return out, true
		}
	}
	if len(rows) > 8 {
		return nil, false
	}
	for _, r := range rows { // part of a word, as the server matched it
		if partly(calledAs(r, noun), words) {
			out = append(out, r)
		}
	}
	return out, false
}

func partly(name string, words []string) bool {
	low := strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(low, w) })
}

func wordsOf(text string) set {
	s := set{}
	s.addAll(proseWords(text)...)
	return s
}

// allWords are the words of a row's texts, its whole values among them.
func allWords(r row) set {
	s := set{}
	for _, k := range r.keys {
		if text, ok := r.values[k].(string); ok && len(text) < 200 {
			s.addAll(proseWords(text)...)
			s[strings.ToLower(text)] = true
		}
	}
	return s
}

func containsAll(have set, words []string) bool {
	for _, w := range words {
		if !have[w] && !have[singular(w)] {
			return false
		}
	}
	return len(words) > 0
}

func containsAny(have set, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return have[w] })
}

var ordinals = [][]string{{"first", "1", "1st", "former"}, {"second", "2", "2nd", "latter"}, {"third", "3", "3rd"}, {"fourth", "4", "4th"}, {"fifth", "5", "5th"}, {"sixth", "6", "6th"}, {"seventh", "7", "7th"}, {"eighth", "8", "8th"}}

// chosen is the row that the person's answer picks: by its place, or by words
// that only that row has.
func (p *planner) chosen(rows []row, answer, noun string) (row, bool) {
	tokens := p.en.read(answer, p.today)
	var words []string
	for _, t := range tokens {
		for i, names := range ordinals {
			if slices.Contains(names, t.low) && i < len(rows) && len(tokens) <= 4 {
				return rows[i], true
			}
		}
		if t.kind != mark && !p.en.is("idle", t.low) {
			words = append(words, nameWords(t)...)
		}
	}
	out, exact := matching(rows, words, noun)
	if len(out) != 1 || !exact {
		return row{}, false
	}
	return out[0], true
}

// whichOne asks, telling what sets the rows apart.
func whichOne(rows []row, more bool, noun string) string {
	const most = 8
	var names []string
	for _, r := range rows[:min(most, len(rows))] {
		names = append(names, calledAs(r, noun)+described(r))
	}
	text := askWhich + joinOr(names) + "?"
	if more || len(rows) > most {
		text += " There are more; you can also give more of the name."
	}
	return text
}

// described puts up to two short fields of a row in brackets.
func described(r row) string {
	var parts []string
	for _, k := range r.keys {
		text, ok := r.values[k].(string)
		if !ok || text == "" || len(text) > 40 || isIDKey(k) || isNameKey(k) || masked(text) || strings.Contains(text, "@") || looksLikeTime(text) {
			continue
		}
		parts = append(parts, text)
		if len(parts) == 2 {
			break
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.Join(parts, ", "))
}

func joinOr(names []string) string { return join(names, "or") }

func joinAnd(names []string) string { return join(names, "and") }

func join(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}
