package elastic

import (
	"context"
	"encoding/json"
	"fmt"

	"countersign.dev/internal/domain/codesearch/query"
)

// statistics are what a search has asked the engine so far. What is not known yet is
// noted and answered as if there were nothing: the search is planned again when the
// engine has answered.
type statistics struct {
	chunks    int
	frequency map[string]int
	beginning map[string][]query.Word

	words    []string // that are not known
	prefixes []string
	limit    int
}

func newStatistics(chunks int) *statistics {
	return &statistics{chunks: chunks, frequency: map[string]int{}, beginning: map[string][]query.Word{}}
}

// Chunks implements [query.Statistics].
func (s *statistics) Chunks() int { return s.chunks }

// Frequency implements [query.Statistics].
func (s *statistics) Frequency(word string) int {
	n, ok := s.frequency[word]
	if !ok {
		s.frequency[word] = 0
		s.words = append(s.words, word)
	}
	return n
}

// Beginning implements [query.Statistics].
func (s *statistics) Beginning(prefix string, limit int) []query.Word {
	found, ok := s.beginning[prefix]
	if !ok {
		s.beginning[prefix] = nil
		s.prefixes, s.limit = append(s.prefixes, prefix), limit
	}
	return found
}

// maxRounds is how often a search is planned again: words, then words that begin with
// them, then what those ask.
const maxRounds = 4

// plan plans a search with the statistics of the engine.
func (s *Store) plan(ctx context.Context, indices []string, chunks int, r query.Request) (*query.Plan, *statistics, error) {
	known := newStatistics(chunks)
	for round := 1; ; round++ {
		p := query.NewPlan(r, known)
		for _, t := range p.Terms() {
			known.Frequency(t.Text)
		}
		if len(known.words)+len(known.prefixes) == 0 || round == maxRounds {
			return p, known, nil
		}
		if err := s.count(ctx, indices, known); err != nil {
			return nil, nil, err
		}
	}
}

// count asks the engine for what is not known.
func (s *Store) count(ctx context.Context, indices []string, known *statistics) error {
	words, prefixes := known.words, known.prefixes
	known.words, known.prefixes = nil, nil
	aggregations := object{}
	if len(words) > 0 {
		aggregations["words"] = object{"filters": object{"filters": each(words, func(w string) object { return term(wordsField, w) })}}
	}
	for i, p := range prefixes {
		aggregations[fmt.Sprint("begin", i)] = object{
			"filter": object{"prefix": object{wordsField: object{"value": p}}},
			"aggs":   object{"first": object{"terms": object{"field": wordsField, "include": literal(p) + ".*", "order": object{"_key": "asc"}, "size": known.limit}}},
		}
	}
	found, err := s.search(ctx, indices, "", object{"size": 0, "aggs": aggregations})
	if err != nil {
		return err
	}
	var counted struct {
		Buckets []struct {
			Docs int `json:"doc_count"`
		}
	}
	if err := unmarshal(found[0].Aggregations["words"], &counted); err != nil {
		return err
	}
	for i, bucket := range counted.Buckets {
		known.frequency[words[i]] = bucket.Docs
	}
	for i, p := range prefixes {
		var first struct {
			First struct {
				Buckets []struct {
					Key  string
					Docs int `json:"doc_count"`
				}
			}
		}
		if err := unmarshal(found[0].Aggregations[fmt.Sprint("begin", i)], &first); err != nil {
			return err
		}
		for _, bucket := range first.First.Buckets {
			known.beginning[p] = append(known.beginning[p], query.Word{Text: bucket.Key, Frequency: bucket.Docs})
			known.frequency[bucket.Key] = bucket.Docs
		}
	}
	return nil
}

// unmarshal reads a part of an answer that may be missing.
func unmarshal(part json.RawMessage, into any) error {
	if part == nil {
		return nil
	}
	return json.Unmarshal(part, into)
}
