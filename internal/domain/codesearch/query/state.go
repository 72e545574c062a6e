package query

import (
	"strings"
	"sync"

	"countersign.dev/internal/domain/codesearch/glob"
)

// search is one search.
type search struct {
	*Plan
	shards []*shardSearch
	read   func([]FileOf) error // see Rank
}

// shardSearch is the part of a search in one index. Slices are by chunk or by file.
type shardSearch struct {
	Shard
	*scratch
	permitted []bool          // by file; nil: all
	paths     []inPath        // by file; nil without that signal
	defined   map[int]float64 // chunks that define a name of the query: what that is worth, in parts of the best score
}

// scratch is the memory of a search in one index. It is used again: megabytes for
// each search would keep the garbage collector busy.
type scratch struct {
	chunks  []tallied // by chunk
	touched []int32   // chunks with a score
	files   []tallied // by file

	seen, seenFiles []int32 // see tally

	inPaths []inPath  // by file
	found   []float32 // by file: see matchPaths
}

// tallied is what was counted of a chunk or a file. All of it is beside each other, because
// each chunk that has a word is somewhere else in memory.
type tallied struct {
	score  float32
	count  float32 // of the group that is counted; zero between two groups: see tally
	groups uint32  // those that it has
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// cleared returns n zero values in the memory of a slice.
func cleared[T any](of []T, n int) []T {
	if cap(of) < n {
		return make([]T, n)
	}
	of = of[:n]
	clear(of)
	return of
}

// prepare makes the slices of a search, and evaluates its filters.
func (s *shardSearch) prepare(r Request) {
	m := scratches.Get().(*scratch) // nothing else is in the pool
	chunks, files := len(s.Chunks), len(s.Files)
	m.chunks, m.files = cleared(m.chunks, chunks), cleared(m.files, files)
	m.touched = m.touched[:0]
	s.scratch, s.permitted = m, permitted(s.Shard, r)
}

// release gives the memory back when the search is over.
func (s *shardSearch) release() {
	scratches.Put(s.scratch)
	s.scratch = nil
}

// permitted evaluates the filters for each file; nil: there are none.
func permitted(s Shard, r Request) []bool {
	if r.Language == "" && r.Path == "" {
		return nil
	}
	all := make([]bool, len(s.Files))
	pattern := r.Pattern()
	for i := range s.Files {
		f := &s.Files[i]
		all[i] = (r.Language == "" || strings.EqualFold(f.Language, r.Language)) && (pattern == "" || glob.Matches(f.Path, pattern))
	}
	return all
}

// Permitted returns what tells whether the filters of a request let a chunk through.
func Permitted(s Shard, r Request) func(chunk int) bool {
	files := permitted(s, r)
	return func(chunk int) bool { return files == nil || files[s.Chunks[chunk].File] }
}

// permits reports whether the filters let a chunk through.
func (s *shardSearch) permits(chunk int) bool {
	return s.permitted == nil || s.permitted[s.Chunks[chunk].File]
}

// has is the groups that a chunk has, itself or in its file's path.
func (s *shardSearch) has(chunk int) uint32 {
	if s.paths == nil {
		return s.chunks[chunk].groups
	}
	return s.chunks[chunk].groups | s.paths[s.Sizes[chunk].File].groups
}

// inPath is what the path of a file has of the query.
type inPath struct {
	groups uint32  // the words that are in it
	part   float32 // of the query: words of the file's own name count most
	stem   float32 // of the file's own name, and of its folder's: how much of it the query has
}
