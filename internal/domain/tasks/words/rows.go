package words

import (
	"math"
	"slices"

	"countersign.dev/internal/domain/tasks/rowset"
)

// Rows are the rows that have a word of a search.
type Rows struct {
	Anywhere rowset.Set // in any of their texts, be it as a part of a longer word
	InFirst  rowset.Set // in the first one
	Whole    rowset.Set // as a whole word
	Text     string     // the word, or the form of it by which they were found
}

// InAll are the rows that each of some words has; there is one word at least.
func InAll(all []Rows) rowset.Set {
	found := rowset.Set{}
	found.Join(all[0].Anywhere)
	for _, one := range all[1:] {
		found = found.Take(one.Anywhere)
	}
	return found
}

// Rarest are the words that the fewest rows have, n at most.
func Rarest(all []Rows, n int) []Rows {
	rare := slices.SortedStableFunc(slices.Values(all), func(a, b Rows) int { return a.Anywhere.Len() - b.Anywhere.Len() })
	return rare[:min(n, len(rare))]
}

// NoRows are none, to which others are added.
func NoRows() Rows {
	return Rows{Anywhere: rowset.Set{}, InFirst: rowset.Set{}, Whole: rowset.Set{}}
}

// Less takes rows away.
func (f Rows) Less(rows rowset.Set) {
	f.Anywhere.Take(rows)
	f.InFirst.Take(rows)
	f.Whole.Take(rows)
}

// Add adds a row where it has the word.
func (f Rows) Add(id int64, where Where) {
	if where.Anywhere {
		f.Anywhere.Add(id)
	}
	if where.InFirst {
		f.InFirst.Add(id)
	}
	if where.Whole {
		f.Whole.Add(id)
	}
}

// Rank separates rows into classes, the best first. Each word that a row has counts so much
// by itself; and more in the first text and as a whole word, the fewer rows have it.
func Rank(found rowset.Set, words []Rows, each int64) []rowset.Class {
	classes := []rowset.Class{{Rows: found}}
	for _, word := range words {
		rarity := int64(1e6 * math.Log(1+4000/float64(1+word.Anywhere.Len())))
		if each > 0 {
			classes = rowset.Raise(classes, word.Anywhere, each)
		}
		classes = rowset.Raise(classes, word.InFirst, 2*rarity)
		classes = rowset.Raise(classes, word.Whole, rarity)
	}
	return rowset.Ranked(classes)
}
