package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/domain/codesearch/index"
)

// sources is an index of this repository's Go code.
func sources(t *testing.T) Shard {
	t.Helper()
	file := t.TempDir() + "/x.csx"
	if _, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: "../.."}, index.Options{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return Shard{Repository: "x", Index: ix}
}

// asked are queries of all kinds, about an index: questions, and names that it defines.
func asked(shard Shard) []string {
	all := []string{"verify tokens", "how is the audit log verified", "where are cursors sealed", "err", "context", "token", "test of a store", "confirmation", "page limit offset"}
	for c := 0; c < len(shard.Chunks); c += len(shard.Chunks)/20 + 1 {
		for _, d := range shard.Definitions(c) {
			all = append(all, d.Name, "how is "+strings.Join(strings.Fields(d.Of+" "+d.Name), " ")+" used")
			break
		}
	}
	return all
}

// TestPagesAreOfOneRanking: whatever the limit is, the places are the first ones of one
// order, in which no place is twice and no score rises.
func TestPagesAreOfOneRanking(t *testing.T) {
	shard := sources(t)
	most := 0
	for _, text := range asked(shard) {
		for _, r := range []Request{{Text: text}, {Text: text, Deep: true}, {Text: text, Without: Decay | Neighbours}, {Text: text, Language: "Go", Path: "codesearch"}} {
			r.Limit = MaxHits
			whole := Search([]Shard{shard}, r)
			most = max(most, len(whole))
			isRanking(t, r, shard, whole)
			for _, limit := range []int{1, 5, 7, 13, 20, 21, 40, 55, 80, 117, 199, 1000} {
				r.Limit = limit
				if got := Search([]Shard{shard}, r); !slices.EqualFunc(got, whole[:min(limit, len(whole))], same) {
					t.Errorf("%+v: the first %d are not those of %d", r, limit, len(whole))
				}
			}
		}
	}
	if most != MaxHits {
		t.Errorf("%d places at most: the longest rankings were not compared", most)
	}
}

// isRanking checks that no place is twice, that further places have no chunk of another,
// and that no score rises.
func isRanking(t *testing.T, r Request, shard Shard, hits []Hit) {
	t.Helper()
	seen := map[string]int{}
	for i, h := range hits {
		place := fmt.Sprint(shard.Chunks[h.Chunk].File, ":", shard.Chunks[h.Chunk].Line, "-", shard.Chunks[h.Last].Last, ":", shard.Chunks[h.Chunk].Start)
		if before, twice := seen[place]; twice {
			t.Errorf("%+v: place %d is place %d", r, i+1, before)
		}
		seen[place] = i + 1
		if i > 0 && h.Score > hits[i-1].Score || h.Score <= 0 || h.Score >= 1 {
			t.Errorf("%+v: place %d has the score %v", r, i+1, h.Score)
		}
		if i >= forFusion.continuing || !r.Deep && i >= firstPage.continuing {
			if slices.ContainsFunc(hits[:i], h.Overlaps) {
				t.Errorf("%+v: place %d is a part of one before", r, i+1)
			}
		}
	}
}

func same(a, b Hit) bool {
	return a.Chunk == b.Chunk && a.Last == b.Last && a.Best == b.Best && a.Score == b.Score
}
