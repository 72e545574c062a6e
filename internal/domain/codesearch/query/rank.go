package query

import (
	"cmp"
	"math"
	"slices"

	"countersign.dev/internal/domain/codesearch/tally"
)

// MaxHits is how many places a ranking has at most.
const MaxHits = 200

// first is how many of the best chunks make the first places: ordered of them are
// compared with each other, and continuing of those may continue a place. Further chunks
// follow them.
type first struct{ ordered, continuing int }

var (
	firstPage = first{ordered: 100, continuing: 40}  // 20 places, the most of a page
	forFusion = first{ordered: 400, continuing: 200} // 100 places
)

// rank orders the best chunks by the signals. Nothing in it depends on the limit, so that
// pages are pieces of one order.
func (s *search) rank() ([]Hit, error) {
	touched := 0
	for _, shard := range s.shards {
		touched += shard.touched
	}
	s.more = touched > candidates
	all := s.collect()
	if len(all) == 0 {
		return nil, nil
	}
	if err := s.signals(all); err != nil {
		return nil, err
	}
	slices.SortFunc(all, better)
	size := firstPage
	if s.Deep {
		size = forFusion
	}
	ordered := min(len(all), size.ordered)
	d := decaying{factor: s.decay(), seen: map[FileOf]int{}, off: s.Without&Decay != 0}
	d.lower(all[:ordered])
	continuing := min(len(all), size.continuing)
	hits := s.joined(nil, all[:continuing])
	if len(hits) < s.Limit {
		d.lower(all[ordered:])
		hits = s.further(hits, all[continuing:])
	}
	hits = hits[:min(len(hits), s.Limit, MaxHits)]
	for i := range hits {
		hits[i].Score /= hits[i].Score + s.total
	}
	return hits, nil
}

// collect returns the chunks with the best scores for the part of the query that
// they have, and those that define what it names, in the order of their places.
func (s *search) collect() []*candidate {
	places := s.best.take()
	for _, m := range s.definers {
		places = append(places, scored{match: m})
	}
	slices.SortFunc(places, func(a, b scored) int { return cmp.Compare(a.chunkID, b.chunkID) })
	s.best.kept = places
	s.candidates, s.ordered = tally.Cleared(s.candidates, len(places)), tally.Cleared(s.ordered, len(places))
	for i, p := range places {
		s.candidates[i] = s.candidate(p.match)
		s.ordered[i] = &s.candidates[i]
	}
	return s.ordered
}

func (s *search) candidate(m match) candidate {
	shard, chunk := m.shard(), m.chunk()
	c := candidate{
		Hit:   Hit{Shard: shard, Chunk: chunk, Last: chunk, Best: chunk, order: m.chunkID},
		match: m, file: int(s.shards[shard].InFile[chunk]), score: float64(m.Words),
	}
	if s.Explain {
		c.Why = append(c.Why, reason("words", "", c.score))
	}
	return c
}

// What each further chunk of a file counts, in parts of the one before it.
const (
	topicDecay    = 0.8
	questionDecay = 0.95
)

// decay is small where the answer is some lines, of which one file may have several, and
// greater where it is a file: its next chunk says less than another file.
func (s *search) decay() float64 {
	if s.symbol || s.topic {
		return topicDecay
	}
	return questionDecay
}

// decaying puts further chunks of a file later: each counts less than the one before it.
type decaying struct {
	factor float64
	seen   map[FileOf]int
	off    bool
}

// lower lowers chunks that follow those of the calls before, and orders them.
func (d *decaying) lower(all []*candidate) {
	if d.off {
		return
	}
	for _, c := range all {
		at := FileOf{c.Shard, c.file}
		if n := d.seen[at]; n > 0 {
			c.multiply("decay", "another chunk of the file is better", math.Pow(d.factor, float64(n)))
		}
		d.seen[at]++
	}
	slices.SortFunc(all, better)
}

// joined adds the places of ordered candidates to those before, which none of them
// continues.
func (s *search) joined(before []Hit, all []*candidate) []Hit {
	hits := before
	for _, c := range all {
		if s.Without&Neighbours == 0 && s.joins(hits, len(before), c) {
			continue
		}
		c.Score = c.score
		hits = append(hits, c.Hit)
	}
	return hits
}

// further adds the places after the first ones, none of which has a chunk of another. What
// was compared with fewer chunks may have a better score than the first ones, and comes
// after them all the same.
func (s *search) further(hits []Hit, all []*candidate) []Hit {
	slices.SortFunc(all, better)
	all = slices.DeleteFunc(all, func(c *candidate) bool { return within(hits, c) })
	least := hits[len(hits)-1].Score
	for _, c := range all {
		if c.score > least {
			c.multiply("rank", "after the first places", least/c.score)
			c.score = least // whatever the rounding is
		}
	}
	return s.joined(hits, all)
}

// within reports whether a chunk is in a place.
func within(hits []Hit, c *candidate) bool {
	return slices.ContainsFunc(hits, c.Overlaps)
}

// mostJoined is how many lines neighbours have together at most.
const mostJoined = 120

// near is how many chunks further one may be that is shown with a hit.
const near = 5

// joins adds a chunk to a better hit that it continues, or nearly so unless a name is sought, so that an
// answer does not show the halves of one place in two of its ranks. The first hits stay as they are, and
// so do the chunks that are in them.
func (s *search) joins(hits []Hit, settled int, c *candidate) bool {
	near := near
	if s.symbol {
		near = 1
	}
	for i := settled; i < len(hits); i++ {
		h := &hits[i]
		if h.Shard != c.Shard || c.Chunk < h.Chunk-near || c.Chunk > h.Last+near {
			continue
		}
		chunks := s.shards[h.Shard].Chunks
		first, last := min(h.Chunk, c.Chunk), max(h.Last, c.Chunk)
		if chunks[first].File != chunks[last].File || int(chunks[last].Last-chunks[first].Line) >= mostJoined {
			continue
		}
		if grown := (Hit{Shard: h.Shard, Chunk: first, Last: last}); settled > 0 && (slices.ContainsFunc(hits[:i], grown.Overlaps) || slices.ContainsFunc(hits[i+1:], grown.Overlaps)) {
			continue
		}
		h.Chunk, h.Last = first, last
		return true
	}
	return false
}
