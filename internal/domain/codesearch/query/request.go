package query

import (
	"math"
	"path"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
)

// Signal is a part of the ranking that can be left out.
type Signal uint

// The signals.
const (
	Definitions Signal = 1 << iota // chunks that define what the query names come first
	Paths                          // names of files and folders count
	Coherence                      // a file that answers the query as a whole raises its chunks
	Penalties                      // tests, examples, generated files and the like come later
	Decay                          // further chunks of a file come later
	Kinds                          // names, matters and questions are ranked otherwise
	Fields                         // a term counts more in a name or its comment
	Coverage                       // chunks and files with more of the query's words come first
	Neighbours                     // chunks that continue a better one are shown with it
	Expansion                      // words that begin alike, and common abbreviations, count a little
	Phrases                        // chunks that have the query word for word come first

	All = Phrases<<1 - 1
)

// Shard is one index that is searched.
type Shard struct {
	Repository string
	*index.Index
}

// FileOf is a file by the number of its shard, and its own in that.
type FileOf struct{ Shard, File int }

// Request is a query with its filters. Empty filters leave nothing out.
type Request struct {
	Text     string
	Limit    int    // the first places of the ranking, which is the same for every limit; [MaxHits] at most
	Shown    int    // places before it are ranked alone: their texts are not read
	Deep     bool   // more places are compared with each other, for a fusion with another ranking
	Language string // without regard to case
	Path     string // a folder or file, or a pattern such as src/*/auth*
	Without  Signal // signals to leave out
	Explain  bool
}

// Pattern is what the filter of paths looks for: a path from the root, or a pattern
// of one; empty: it lets all through.
func (r *Request) Pattern() string { return strings.Trim(path.Clean("/"+r.Path), "/") }

// Hit is a place that was found: a chunk of a file, or several neighbours.
type Hit struct {
	Shard       int     // position in the shards that were searched
	Chunk, Last int     // the first and the last chunk
	Best        int     // the one that answers the query best
	Score       float64 // above 0, below 1
	Why         []Reason

	order chunkID // of equal scores
}

// chunkID is a chunk of a shard. They are in the order of shards and of chunks.
type chunkID uint64

func idOf(shard, chunk int) chunkID { return chunkID(shard)<<32 | chunkID(chunk) }

func (c chunkID) shard() int { return int(c >> 32) }

func (c chunkID) chunk() int { return int(c & (1<<32 - 1)) }

// Overlaps reports whether two places have a chunk in common.
func (h Hit) Overlaps(other Hit) bool {
	return h.Shard == other.Shard && h.Chunk <= other.Last && other.Chunk <= h.Last
}

// Reason is one part of a hit's score.
type Reason struct {
	Signal string  `json:"signal"`
	Detail string  `json:"detail,omitempty"`
	Value  float64 `json:"value"` // added to the score before, or what it was multiplied by
}

// reason has no more digits than a reader uses: rows with their reasons share one budget.
func reason(signal, detail string, value float64) Reason {
	return Reason{signal, detail, math.Round(value*1000) / 1000}
}
