package support

import (
	"strings"
	"unicode/utf8"
)

// Highlights are made here and not by the stores, so that both return the same.

const (
	excerptLead   = 60  // bytes before the first hit of an excerpt
	excerptLength = 180 // bytes of an excerpt, without its marks
	excerptsShown = 3   // of a row
)

// highlight returns excerpts of the texts around the matches of the query, each
// match between ** and **. The marks are for reading only: the text may have stars
// of its own.
func (q Query) highlight(texts ...string) (excerpts []string) {
	for _, text := range texts {
		hits := q.hits(text)
		for len(hits) > 0 && len(excerpts) < excerptsShown {
			var e string
			e, hits = excerpt(text, hits)
			excerpts = append(excerpts, e)
		}
	}
	return excerpts
}

// hits finds the matches of a query, in order and without overlaps.
func (q Query) hits(text string) (hits []word) {
	if !q.Scored() {
		return nil
	}
	var words []word
	eachWord(text, func(w word) bool { words = append(words, w); return true })
	for i := 0; i < len(words); i++ {
		longest := 0
		for _, t := range q.with {
			if t.at(words[i:]) {
				longest = max(longest, len(t.Words))
			}
		}
		if longest > 0 {
			hits = append(hits, word{start: words[i].start, end: words[i+longest-1].end})
			i += longest - 1
		}
	}
	return hits
}

// at reports whether the words begin with a term.
func (t Term) at(words []word) bool {
	if len(words) < len(t.Words) {
		return false
	}
	if stem := t.Stem(); stem != "" && Stem(words[0].text) == stem {
		return true
	}
	for i, w := range t.Words {
		if words[i].text != w && !(t.Prefix && strings.HasPrefix(words[i].text, w)) {
			return false
		}
	}
	return true
}

// excerpt returns the text around the first hits, and the hits beyond it.
func excerpt(text string, hits []word) (string, []word) {
	from := cutAt(text, hits[0].start-excerptLead)
	to := max(cutAt(text, from+excerptLength), hits[0].end)
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	at := from
	for len(hits) > 0 && hits[0].end <= to {
		b.WriteString(text[at:hits[0].start] + "**" + text[hits[0].start:hits[0].end] + "**")
		at, hits = hits[0].end, hits[1:]
	}
	b.WriteString(text[at:to])
	if to < len(text) {
		b.WriteString("…")
	}
	return b.String(), hits
}

// cutAt moves a position into the text, and to the space before it when there
// is one nearby.
func cutAt(text string, at int) int {
	if at <= 0 {
		return 0
	}
	if at >= len(text) {
		return len(text)
	}
	const near = 20
	if space := strings.LastIndexByte(text[max(at-near, 0):at], ' '); space >= 0 {
		return max(at-near, 0) + space + 1
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
