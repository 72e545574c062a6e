package codesearch

import (
	"context"
	"errors"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// Store is where the indexes of repositories are. The names are those that the caller
// may see: a store looks at nothing else, so that nothing else changes an answer.
type Store interface {
	// Describe describes the index of each repository, in their order.
	Describe(ctx context.Context, names []string) ([]Described, error)
	// Search ranks places of the repositories. The texts of those before the request's first
	// one that is shown may be missing.
	Search(ctx context.Context, names []string, r query.Request) (Results, error)
	// File reads a file as it was indexed; [ErrNoFile] when there is none, and [ErrNoIndex]
	// or [Unreadable] when that is so of the index.
	File(ctx context.Context, name, path string) (File, error)
	// Close releases what the store holds.
	Close() error
}

// Described is the index of one repository, or why it has none.
type Described struct {
	Meta index.Meta
	Err  error // [ErrNoIndex] or [Unreadable]
}

// Results are what a search found, and where.
type Results struct {
	Shards  []query.Shard // of the hits; they hold at least the hits' files
	Hits    []query.Hit
	More    bool      // more places than can be hits have words of the query
	Missing []Missing // repositories that could not be searched
	Note    string    // why embeddings were not used
	Release func()    // ends the use of the shards; nil: nothing is to be done
}

// Missing is a repository without an index that can be searched.
type Missing struct {
	Name string
	Err  error // [ErrNoIndex] or [Unreadable]
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

// Unreadable is the error of an index that is there and cannot be read.
type Unreadable struct{ Err error }

func (u Unreadable) Error() string { return u.Err.Error() }
func (u Unreadable) Unwrap() error { return u.Err }

func isUnreadable(err error) bool { return errors.As(err, new(Unreadable)) }

// notIndexed is the fault of a call for which no index can be read. An error that is about
// no index is the store's own, and stays as it is.
func notIndexed(missing []Missing) error {
	var absent []string
	for _, m := range missing {
		switch {
		case errors.Is(m.Err, ErrNoIndex):
			absent = append(absent, m.Name)
		case isUnreadable(m.Err):
			return errNotIndexed.New("The index of %s cannot be read%s.", m.Name, shown(m.Err)).Because(m.Err)
		default:
			return m.Err
		}
	}
	return errNotIndexed.New("The index of %s is not there yet.", strings.Join(absent, ", ")).Because(missing[0].Err)
}

// shown is what everyone may read of why an index cannot be read: other texts may name
// folders.
func shown(err error) string {
	if errors.Is(err, index.ErrVersion) || errors.Is(err, index.ErrDamaged) || errors.Is(err, errOtherFolder) {
		return ": " + err.Error()
	}
	return ""
}
