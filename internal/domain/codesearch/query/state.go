package query

import (
	"strings"
	"sync"

	"countersign.dev/internal/domain/codesearch/glob"
	"countersign.dev/internal/domain/codesearch/tally"
)

// search is one search.
type search struct {
	*Plan
	shards []*shardSearch
	read   func([]FileOf) error // see Rank
	*gathered
}

// gathered is what a search finds in all indexes. Its memory is used again.
type gathered struct {
	best       greatest // chunks by their scores for the part of the query that they have
	definers   []match  // chunks that define a name of the query, of several words or written as names are
	candidates []candidate
	ordered    []*candidate
}

var gatherings = sync.Pool{New: func() any { return &gathered{best: greatest{most: candidates}} }}

// release gives the memory back when the search is over.
func (g *gathered) release() {
	g.best.kept, g.best.least, g.definers = g.best.kept[:0], 0, g.definers[:0]
	clear(g.candidates) // what they point to is not kept
	gatherings.Put(g)
}

// shardSearch is the part of a search in one index.
type shardSearch struct {
	Shard
	number int // of the shard
	*scratch
	touched   int       // chunks that have a word
	permitted []bool    // by file; nil: all
	paths     []inPath  // by file; nil without that signal
	defining  []definer // in the order of their chunks
}

// definer is a chunk that defines a name of the query, or of what one belongs to.
type definer struct {
	chunk  int
	worth  float64 // of the name, in parts of the best score
	within float64 // the same if the chunk has all of the query: fields of a type are not definitions of their own
}

// scratch is the memory of a search in one index. It is used again: megabytes for
// each search would keep the garbage collector busy.
type scratch struct {
	tally tally.Tally

	inPaths   []inPath  // by file
	inFolders []float32 // by file: see matchPaths
	seenFiles []int32

	definers []definer
	text     []byte // of a chunk
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// prepare makes the slices of a search, and evaluates its filters.
func (s *shardSearch) prepare(r Request) {
	m := scratches.Get().(*scratch) // nothing else is in the pool
	s.scratch, s.permitted = m, permitted(s.Shard, r)
}

// release gives the memory back when the search is over.
func (s *shardSearch) release() {
	s.tally.Forget() // an index that is replaced is not kept
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
	return s.permitted == nil || s.permitted[s.InFile[chunk]]
}

// groupsInPath is the groups that the path of a chunk's file has.
func (s *shardSearch) groupsInPath(chunk int) uint32 {
	if s.paths == nil {
		return 0
	}
	return s.paths[s.InFile[chunk]].groups
}

// inPath is what the path of a file has of the query.
type inPath struct {
	groups uint32  // the words that are in it
	part   float32 // of the query: words of the file's own name count most
	stem   float32 // of the file's own name, and of its folder's: how much of it the query has
}
