// Package phrase finds the words of a query in its order, such as those of a message that a
// program printed.
package phrase

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"unicode/utf8"

	"countersign.dev/internal/domain/codesearch/words"
)

// MinShare is what a text has of a phrase at least, if it has it, by how rare the words are.
const MinShare = 0.6

const (
	minWords   = 4  // of a query that a text has without a gap: many sentences have fewer
	minQuoted  = 2  // of what is between quotes, of which it has all
	mostWords  = 64 // of a phrase
	mostQuoted = 4  // phrases between quotes
)

// Word is what is known of a word of a query.
type Word struct {
	Group int     // by which what has it is known: see [Phrase.Most]; -1: by nothing
	Worth float64 // how rare it is; 0: it does not count
}

// Phrase is words in the order in which a query has them.
type Phrase struct {
	words  [][]byte
	least  int // of them, without a gap
	groups []int
	before []float64 // what the words before each are worth together, and at the end all
	firsts []uint32  // by length: the first letters of words, as bits, whatever their case
}

var quoted = regexp.MustCompile("[\"`“]([^\"`“”]+)[\"`”]")

// Of returns what of a query is sought word for word: the query as a whole, unless it is a name,
// and what it has between quotes.
func Of(query string, isName bool, known func(word string) Word) (all []Phrase) {
	if !isName {
		all = append(all, phrase(query, minWords, known))
	}
	for _, found := range quoted.FindAllStringSubmatch(query, mostQuoted) {
		p := phrase(found[1], minQuoted, known)
		p.least = max(minQuoted, len(p.words))
		all = append(all, p)
	}
	return slices.DeleteFunc(all, func(p Phrase) bool { return len(p.words) < p.least || p.worth() == 0 })
}

func phrase(text string, least int, known func(word string) Word) Phrase {
	p := Phrase{least: least, before: []float64{0}}
	for word := range inOrder([]byte(text)) {
		if len(p.words) == mostWords {
			break
		}
		w := known(string(word))
		for len(p.firsts) <= len(word) {
			p.firsts = append(p.firsts, 0)
		}
		p.firsts[len(word)] |= 1 << (word[0] & 31)
		p.words, p.groups, p.before = append(p.words, word), append(p.groups, w.Group), append(p.before, p.worth()+w.Worth)
	}
	return p
}

// inOrder yields the words of a text.
func inOrder(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; ; {
			start, end := words.Next(text, i)
			if start == len(text) || !yield(text[start:end]) {
				return
			}
			i = end
		}
	}
}

func (p *Phrase) worth() float64 { return p.before[len(p.before)-1] }

// Most is the share that a text with some groups of words has of the phrase at most. Groups are bits.
func (p *Phrase) Most(groups uint32) (share float64) {
	for i, group := range p.groups {
		if group >= 0 && groups&(1<<group) != 0 {
			share += (p.before[i+1] - p.before[i]) / p.worth()
		}
	}
	return share
}

// Share is how much of the phrase a text has without a gap, by how rare its words are: from 0 to 1.
func (p *Phrase) Share(text []byte) float64 {
	most, running := 0.0, false
	run, next := make([]int, len(p.words)+1), make([]int, len(p.words)+1) // words that end with each, without a gap
	for word := range inOrder(text) {
		if !p.mayHave(word) {
			if running {
				clear(run)
				running = false
			}
			continue
		}
		running = true
		for i := range p.words {
			next[i+1] = 0
			if len(word) == len(p.words[i]) && bytes.EqualFold(word, p.words[i]) {
				next[i+1] = run[i] + 1
			}
			if n := next[i+1]; n >= p.least {
				most = max(most, p.before[i+1]-p.before[i+1-n])
			}
		}
		run, next = next, run
	}
	return most / p.worth()
}

// mayHave reports whether a word may be one of the phrase: most words of a text are not, and this is seen by
// their lengths and first letters. Letters outside of ASCII may have other bytes in the other case.
func (p *Phrase) mayHave(word []byte) bool {
	return len(word) < len(p.firsts) && (p.firsts[len(word)]&(1<<(word[0]&31)) != 0 || word[0] >= utf8.RuneSelf)
}
