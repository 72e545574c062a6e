package main

import (
	"slices"
	"strings"
	"syscall"
	"time"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// result is one answer of a method, with what a reader reads of it.
type result struct {
	file        string
	first, last int
	tokens      int
}

// method answers a query with at most ten results.
type method struct {
	name    string
	search  func(ix *index.Index, text string) []result
	ordered bool // its results are put into the best order that they have
}

// processorTime is what this process has used of all cores, its garbage collector
// included: other work on the machine does not count.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// methods are what is compared.
func methods() []method {
	all := []method{
		{name: "ripgrep-style", search: matching},
		{name: "plain BM25", search: ours(query.All)},
		{name: "ours", search: ours(0)},
		{name: "ours, its ten in the best order", search: ours(0), ordered: true},
	}
	for _, s := range []struct {
		name string
		off  query.Signal
	}{
		{"definitions", query.Definitions}, {"paths", query.Paths}, {"coherence", query.Coherence}, {"penalties", query.Penalties}, {"decay", query.Decay},
		{"kinds of queries", query.Kinds}, {"fields", query.Fields}, {"coverage", query.Coverage}, {"neighbours", query.Neighbours}, {"expansion", query.Expansion}, {"phrases", query.Phrases},
	} {
		all = append(all, method{name: "ours without " + s.name, search: ours(s.off)})
	}
	return all
}

func ours(off query.Signal) func(*index.Index, string) []result {
	return func(ix *index.Index, text string) (all []result) {
		shards := []query.Shard{{Index: ix}}
		return results(shards, query.Search(shards, query.Request{Text: text, Limit: 10 + 3, Without: off}))
	}
}

// results are the best ten places that are not in the gold set's own folder.
func results(shards []query.Shard, hits []query.Hit) (all []result) {
	for _, h := range hits {
		ix := shards[h.Shard]
		c, last := ix.Chunks[h.Chunk], ix.Chunks[h.Last]
		if len(all) == 10 || strings.HasPrefix(ix.Files[c.File].Path, ownFolder) {
			continue
		}
		all = append(all, result{ix.Files[c.File].Path, int(c.Line), int(last.Last), int(last.End-c.Start) / 4})
	}
	return all
}

// matching ranks files by how many of the query's words they have, then by how
// many lines match, and shows all of a file: what an assistant does with ripgrep.
func matching(ix *index.Index, text string) (all []result) {
	type match struct{ file, words, lines int }
	var matches []match
	terms := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == '.' })
	for i := range ix.Files {
		if strings.HasPrefix(ix.Files[i].Path, ownFolder) {
			continue
		}
		source, err := ix.Text(&ix.Files[i])
		if err != nil {
			continue
		}
		lower, m := strings.ToLower(string(source)), match{file: i}
		for _, term := range terms {
			if n := strings.Count(lower, term); n > 0 {
				m.words++
				m.lines += n
			}
		}
		if m.words > 0 {
			matches = append(matches, m)
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		if a.words != b.words {
			return b.words - a.words
		}
		return b.lines - a.lines
	})
	for _, m := range matches[:min(10, len(matches))] {
		f := &ix.Files[m.file]
		all = append(all, result{f.Path, 1, f.Lines, f.Size / 4})
	}
	return all
}

// ownFolder has the gold set, whose queries would find themselves.
const ownFolder = "bench/"
