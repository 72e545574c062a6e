package embed

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign.dev/internal/domain/codesearch/query"
)

// The sentences that an answer without embeddings has.
const (
	NoteDown    = "The service of embeddings does not answer: these results were found by words alone."
	NoteMissing = "Not all code has embeddings yet: some results were found by words alone."
)

const (
	searchLimit = 800 * time.Millisecond // for the vector of a query
	depth       = 100                    // results of each ranking that are fused
	rankOffset  = 5                      // of reciprocal rank fusion: how little the first ranks differ
)

// The parts of the score that words have; embeddings have the rest. They were chosen with a
// small model of English: half of the score for embeddings lowered what words had right.
const (
	questionWords = 0.75
	symbolWords   = 0.95
)

// Pause is how long a service is not asked after a failure.
const Pause = 30 * time.Second

// Words is the request for what words find that a fusion needs.
func Words(r query.Request) query.Request {
	r.Deep, r.Limit = true, query.MaxHits
	return r
}

// Searcher finds by embeddings. It is safe for concurrent use.
type Searcher struct {
	Service
	Now   func() time.Time // for the pause after a failure; nil: the clock
	Limit time.Duration    // for the vector of a query; zero: 800 ms

	mu      sync.Mutex
	silent  time.Time // until then it is not asked
	failed  func(error)
	failing bool // since the last answer
	loaded  map[string]*cached
}

type cached struct {
	*vectors
	stamp os.FileInfo
}

// Shard is an index that is searched, and its file.
type Shard struct {
	query.Shard
	File string
}

// Fuse adds the chunks that are nearest to a query to the hits that words found, and
// orders all by reciprocal rank. hits are those of [Words]. note says why some or all results are by words alone; it is empty when none
// are.
func (s *Searcher) Fuse(ctx context.Context, shards []Shard, r query.Request, hits []query.Hit) (fused []query.Hit, note string) {
	asked, ok := s.ask(ctx, r.Text)
	if !ok {
		return hits[:min(len(hits), r.Limit)], NoteDown
	}
	var near []query.Hit
	for n, shard := range shards {
		v := s.vectorsOf(shard)
		if v == nil || v.missing > 0 || !v.like(asked) {
			note = NoteMissing
		}
		if v != nil {
			near = append(near, nearest(n, shard, v, r, asked)...)
		}
	}
	slices.SortFunc(near, func(a, b query.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Chunk, b.Chunk))
	})
	return merge(hits, near[:min(len(near), depth)], r), note
}

// ask returns the vector of a query, unless the service is down or slow. After a
// failure it is not asked for a while.
func (s *Searcher) ask(ctx context.Context, text string) (vector, bool) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	s.mu.Lock()
	silent := now().Before(s.silent)
	s.mu.Unlock()
	if silent {
		return vector{}, false
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(s.Limit, searchLimit))
	defer cancel()
	made, err := s.Embed(limited, []string{strings.ToValidUTF8(text[:min(len(text), textSize)], "")})
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, errText): // others' texts are still taken
		s.answered(err, now())
	default:
		s.answered(err, now().Add(Pause))
	}
	if err != nil {
		return vector{}, false
	}
	v := newVector(made[0])
	return v, v.scale != 0
}

// OnFailure sets what is called when the service begins to fail: once until it has answered
// again.
func (s *Searcher) OnFailure(failed func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = failed
}

// answered notes whether the service answered. After a failure it is left alone until a
// time.
func (s *Searcher) answered(err error, until time.Time) {
	s.mu.Lock()
	begins := err != nil && !s.failing
	if s.failing = err != nil; s.failing && until.After(s.silent) {
		s.silent = until
	}
	failed := s.failed
	s.mu.Unlock()
	if begins && failed != nil {
		failed(err)
	}
}

// vectorsOf returns the vectors of an index, or nil when there are none for its
// present chunks.
func (s *Searcher) vectorsOf(shard Shard) *vectors {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(fileOf(shard.File))
	if err != nil {
		return nil
	}
	known := s.loaded[shard.File]
	if known == nil || !unchanged(known.stamp, info) {
		v, err := load(shard.File)
		if err != nil {
			return nil
		}
		known = &cached{v, info}
		if s.loaded == nil {
			s.loaded = map[string]*cached{}
		}
		s.loaded[shard.File] = known
	}
	if !known.fits(shard.Index, s.Model) {
		return nil
	}
	return known.vectors
}

// unchanged reports whether a file is the one that was loaded. The number of a file that was
// replaced may be given to the next one.
func unchanged(before, now os.FileInfo) bool {
	return os.SameFile(before, now) && before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size()
}

// nearest returns the chunks of a shard that are nearest to a vector, among those
// that the filters let through.
func nearest(number int, shard Shard, v *vectors, r query.Request, asked vector) (near []query.Hit) {
	permitted := query.Permitted(shard.Shard, r)
	for c, one := range v.all {
		if one.scale == 0 || !permitted(c) {
			continue
		}
		if score := float64(one.times(asked)); score > 0 {
			near = append(near, query.Hit{Shard: number, Chunk: c, Last: c, Best: c, Score: score})
		}
	}
	slices.SortFunc(near, func(a, b query.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk)) })
	return near[:min(len(near), depth)]
}

// merge fuses two rankings. What words find beyond the depth follows, unless it is there
// already.
func merge(words, near []query.Hit, r query.Request) (fused []query.Hit) {
	share := questionWords
	if query.IsSymbol(r.Text) {
		share = symbolWords
	}
	reciprocal := func(rank int) float64 { return (rankOffset + 1) / float64(rankOffset+rank+1) }
	for rank, h := range words[:min(len(words), depth)] {
		h.Score = share * reciprocal(rank)
		fused = append(fused, h)
	}
	for rank, h := range near {
		score := (1 - share) * reciprocal(rank)
		at := slices.IndexFunc(fused, func(f query.Hit) bool { return f.Overlaps(h) })
		if at < 0 {
			fused = append(fused, query.Hit{Shard: h.Shard, Chunk: h.Chunk, Last: h.Last, Best: h.Best})
			at = len(fused) - 1
		} else if fused[at].Score >= 1 {
			continue
		}
		if r.Explain {
			fused[at].Why = append(fused[at].Why, query.Reason{Signal: "embedding", Detail: "near the query in meaning", Value: h.Score})
		}
		fused[at].Score = min(1, fused[at].Score+score)
	}
	for rank := depth; rank < len(words); rank++ {
		h := words[rank]
		h.Score = share * reciprocal(rank)
		if !slices.ContainsFunc(fused, h.Overlaps) {
			fused = append(fused, h)
		}
	}
	slices.SortStableFunc(fused, func(a, b query.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return fused[:min(len(fused), r.Limit, query.MaxHits)]
}
