package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// embeddingsFlag names the address of a service of embeddings, modelFlag its model, and
// folderFlag the folder where indexes and their vectors are kept from one run to the next.
const (
	embeddingsFlag = "-embeddings"
	modelFlag      = "-model"
	folderFlag     = "-folder"
)

// patient is how long a query's vector may take: quality is measured here, not time.
const patient = time.Minute

// embedded makes the vectors that the indexes do not have yet, and returns the methods
// that ask by them, alone and with words.
func embedded(service embed.Service, folder string, indexes map[string]*index.Index) ([]method, error) {
	if folder == "" {
		return nil, errors.New("vectors need " + folderFlag + "=DIR")
	}
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		began := time.Now()
		report, err := embed.Update(context.Background(), service, filepath.Join(folder, name), nil)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%s: %d chunks, vectors of %d made in %.0f s, %d kept\n", name, report.Chunks, report.Made, time.Since(began).Seconds(), report.Kept)
	}
	searcher := &embed.Searcher{Service: service, Limit: patient}
	fused := func(words bool) func(*index.Index, string) []result {
		return func(ix *index.Index, text string) []result {
			shard, r := query.Shard{Index: ix}, query.Request{Text: text, Limit: 10 + 3}
			var hits []query.Hit
			if words {
				hits = query.Search([]query.Shard{shard}, embed.Words(r))
			}
			hits, note := searcher.Fuse(context.Background(), []embed.Shard{{Shard: shard, File: filepath.Join(folder, ix.Meta.Name)}}, r, hits)
			if note != "" {
				fmt.Fprintln(os.Stderr, note)
			}
			return results([]query.Shard{shard}, hits)
		}
	}
	return []method{{name: "embeddings alone", search: fused(false)}, {name: "ours with embeddings", search: fused(true)}}, nil
}
