package query

import (
	"cmp"
	"slices"
)

// Statistics are of all chunks that are searched, not only of candidates.
type Statistics interface {
	Chunks() int
	// Frequency is how many chunks have a word.
	Frequency(word string) int
	// Beginning returns the first words in lexical order that begin with a prefix.
	Beginning(prefix string, limit int) []Word
}

// Word is a word with the number of chunks that have it.
type Word struct {
	Text      string
	Frequency int
}

// Local are the statistics of shards that hold all their files.
func Local(shards []Shard) Statistics { return local(shards) }

type local []Shard

// Chunks implements [Statistics].
func (l local) Chunks() (n int) {
	for _, shard := range l {
		n += len(shard.Chunks)
	}
	return n
}

// Frequency implements [Statistics].
func (l local) Frequency(word string) (n int) {
	for _, shard := range l {
		if term, ok := shard.Word(word); ok {
			n += shard.Frequency(term)
		}
	}
	return n
}

// Beginning implements [Statistics].
func (l local) Beginning(prefix string, limit int) (all []Word) {
	for _, shard := range l {
		for _, term := range shard.Beginning(prefix, limit) {
			all = append(all, Word{shard.TermText(term), shard.Index.Frequency(term)})
		}
	}
	if len(l) > 1 {
		all = joinWords(all)
	}
	return all[:min(len(all), limit)]
}

// joinWords sorts words and adds up what several shards have of each.
func joinWords(all []Word) []Word {
	slices.SortFunc(all, func(a, b Word) int { return cmp.Compare(a.Text, b.Text) })
	var joined []Word
	for _, w := range all {
		if n := len(joined); n > 0 && joined[n-1].Text == w.Text {
			joined[n-1].Frequency += w.Frequency
			continue
		}
		joined = append(joined, w)
	}
	return joined
}
