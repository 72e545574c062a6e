package codesearch

import (
	"context"
	"errors"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// Store is where the indexes of repositories are. The names are those that the caller
// may see: a store looks at nothing else, so that nothing else changes an answer.
type Store interface {
	// Describe describes the index of each repository, in their order.
	Describe(ctx context.Context, names []string) ([]Described, error)
	// Search ranks places of the repositories.
	Search(ctx context.Context, names []string, r query.Request) (Results, error)
	// File reads a file as it was indexed; [ErrNoFile] when there is none.
	File(ctx context.Context, name, path string) (File, error)
	// Close releases what the store holds.
	Close() error
}

// Described is the index of one repository, or why it has none.
type Described struct {
	Meta index.Meta
	Err  error // [ErrNoIndex], or what is wrong with it
}

// Results are what a search found, and where.
type Results struct {
	Shards  []query.Shard // of the hits; they hold at least the hits' files
	Hits    []query.Hit
	Missing []Missing // repositories that could not be searched
	Note    string    // why embeddings were not used
	Release func()    // ends the use of the shards; nil: nothing is to be done
}

// Missing is a repository without an index that can be searched.
type Missing struct {
	Name string
	Err  error
}

// File is a file of an index with its text.
type File struct {
	index.File
	Meta index.Meta
	Text []byte
}

// What is not there.
var (
	ErrNoIndex = errors.New("the index is not there yet")
	ErrNoFile  = errors.New("the index has no such file")
)

// notIndexed is the fault of a search that had no index at all.
func notIndexed(missing []Missing) error {
	names := ""
	for i, m := range missing {
		if i > 0 {
			names += ", "
		}
		names += m.Name
		if errors.Is(m.Err, index.ErrVersion) {
			return errNotIndexed.New("The index of %s cannot be read: %v.", m.Name, m.Err).Because(m.Err)
		}
	}
	return errNotIndexed.New("The index of %s is not there yet.", names).Because(missing[0].Err)
}

// unindexed reports whether an error is about one repository's index, not the store.
func unindexed(err error) bool { return errors.Is(err, ErrNoIndex) || errors.Is(err, index.ErrVersion) }
