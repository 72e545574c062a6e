package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"countersign.dev/internal/domain/codesearch/elastic"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// engineFlag names the address of a search server.
const engineFlag = "-engine"

// inEngine indexes the corpora in a search server, under names that only benchmarks
// use, and returns the method that asks it.
func inEngine(address string, roots map[string]string) (method, error) {
	ctx := context.Background()
	store, err := elastic.Open(address, &elastic.Options{Prefix: "bench-codesearch-"})
	if err != nil {
		return method{}, err
	}
	version, err := store.Version(ctx)
	if err != nil {
		return method{}, err
	}
	fmt.Printf("\nin %s:\n", version)
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		before := processorTime()
		report, err := store.Update(ctx, index.Source{Name: name, Root: roots[name]}, index.Options{})
		if err != nil {
			return method{}, err
		}
		fmt.Printf("%s\t%d lines in %.1f s, of which %.1f s of this process's cores; %d files read, %d as before\n", name, report.Lines, report.Took.Seconds(), (processorTime() - before).Seconds(), report.Read, report.Reused)
	}
	return method{name: "ours in " + version, search: func(ix *index.Index, text string) []result {
		found, err := store.Search(ctx, []string{ix.Meta.Name}, query.Request{Text: text, Limit: 10 + 3})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return nil
		}
		return results(found.Shards, found.Hits)
	}}, nil
}
