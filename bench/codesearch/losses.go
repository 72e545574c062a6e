package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// The causes of a loss, for each right place.
const (
	first      = "it is the first result"
	lower      = "it is found, below others"
	otherLines = "other lines of its file are found"
	noWords    = "it has no word of the query"
	fewWords   = "it has less than half of the query, by rarity"
	outranked  = "it has most of the query, and ten others are better"
)

// printMisses lists queries of the tuning half whose first place is not right, and
// counts the causes.
func printMisses(questions []question, indexes map[string]*index.Index) error {
	counts := map[string]int{}
	for _, q := range questions {
		if q.held {
			continue
		}
		results := ours(0)(indexes[q.corpus], q.query)
		one := score{}
		one.add(q, results)
		if one.ndcg < 0.99 {
			fmt.Printf("%.2f %s %s: %q\n", one.ndcg, q.corpus, q.kind, q.query)
		}
		for _, p := range q.places {
			why := cause(indexes[q.corpus], q, p, results)
			if counts[why]++; one.ndcg < 0.99 {
				fmt.Printf("    want %s:%d: %s\n", p.path, p.first, why)
			}
		}
		for _, r := range results[:min(5, len(results))] {
			if one.ndcg < 0.99 {
				fmt.Printf("    got  %s:%d-%d\n", r.file, r.first, r.last)
			}
		}
	}
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%4d places: %s\n", counts[why], why)
	}
	return nil
}

// cause says why a place is where it is in the results.
func cause(ix *index.Index, q question, p place, results []result) string {
	at := slices.IndexFunc(results, p.answeredBy)
	within := place{path: p.path}
	switch {
	case at == 0:
		return first
	case at > 0:
		return lower
	case slices.ContainsFunc(results, within.answeredBy):
		return otherLines
	}
	const all = 1000
	for _, h := range query.Search([]query.Shard{{Index: ix}}, query.Request{Text: q.query, Path: p.path, Limit: all, Explain: true}) {
		c, last := ix.Chunks[h.Chunk], ix.Chunks[h.Last]
		if p.answered(ix.Files[c.File].Path, int(c.Line), int(last.Last)) {
			return covered(h)
		}
	}
	return noWords
}

// covered says how much of the query a hit has, by its explanation.
func covered(h query.Hit) string {
	part := 100
	for _, why := range h.Why {
		if why.Signal == "coverage" {
			_, _ = fmt.Sscanf(strings.TrimSpace(why.Detail), "%d%%", &part) // as query writes it
		}
	}
	if part < 50 {
		return fewWords
	}
	return outranked
}
