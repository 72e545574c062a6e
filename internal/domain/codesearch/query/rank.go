package query

import (
	"cmp"
	"math"
	"slices"
)

// candidates is how many chunks the signals order, at least.
const candidates = 400

// ordered is how many of them, at least, are looked at again for those that belong
// together.
const ordered = 100

// rank orders the best chunks by the signals.
func (s *search) rank() []Hit {
	all := s.collect()
	if len(all) == 0 {
		return nil
	}
	s.signals(all)
	slices.SortFunc(all, better)
	all = all[:min(len(all), max(ordered, 4*s.Limit))]
	if s.Without&Decay == 0 {
		decayed(all, s.decay())
	}
	return s.hits(all)
}

// better orders candidates; equal ones by their place, so that pages agree.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
}

// collect returns the chunks with the best scores for the part of the query that
// they have, and those that define what it names.
func (s *search) collect() (all []candidate) {
	best := heap{most: max(candidates, s.Limit*4)}
	for n, shard := range s.shards {
		for _, chunk := range shard.touched {
			if best.full() && shard.scores[chunk] < best.items[0].score {
				continue // whatever part of the query it has
			}
			if _, defines := shard.defined[int(chunk)]; !defines {
				best.offer(rough{shard.scores[chunk] * s.covered.part(shard.has(int(chunk))), n, chunk})
			}
		}
		for chunk := range shard.defined {
			all = append(all, s.candidate(n, chunk))
		}
	}
	for _, r := range best.items {
		all = append(all, s.candidate(r.shard, int(r.chunk)))
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.order, b.order) })
	return all
}

func (s *search) candidate(shard, chunk int) candidate {
	score := float64(s.shards[shard].scores[chunk])
	c := candidate{Hit: Hit{Shard: shard, Chunk: chunk, Last: chunk, Best: chunk, order: uint64(shard)<<32 | uint64(chunk)}, file: int(s.shards[shard].Chunks[chunk].File), score: score}
	if s.Explain {
		c.Why = append(c.Why, reason("words", "", score))
	}
	return c
}

// rough is a chunk with the score that decides whether it becomes a candidate.
type rough struct {
	score float32
	shard int
	chunk int32
}

// before orders by score; of equal ones the later place is the lesser.
func (r rough) before(other rough) bool {
	return cmp.Or(cmp.Compare(r.score, other.score), cmp.Compare(other.shard, r.shard), cmp.Compare(other.chunk, r.chunk)) < 0
}

// heap keeps the best of what it is offered, the least of them first.
type heap struct {
	items []rough
	most  int
}

func (h *heap) full() bool { return len(h.items) == h.most }

func (h *heap) offer(r rough) {
	if !h.full() {
		h.items = append(h.items, r)
		if h.full() {
			for i := h.most/2 - 1; i >= 0; i-- {
				h.down(i)
			}
		}
		return
	}
	if h.items[0].before(r) {
		h.items[0] = r
		h.down(0)
	}
}

func (h *heap) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h.items) {
			return
		}
		if right := least + 1; right < len(h.items) && h.items[right].before(h.items[least]) {
			least = right
		}
		if !h.items[least].before(h.items[i]) {
			return
		}
		h.items[i], h.items[least] = h.items[least], h.items[i]
		i = least
	}
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

// decayed puts further chunks of a file later: each counts less than the one
// before it.
func decayed(all []candidate, decay float64) {
	seen := map[fileKey]int{}
	for i := range all {
		c := &all[i]
		at := fileKey{c.Shard, c.file}
		if n := seen[at]; n > 0 {
			c.multiply("decay", "another chunk of the file is better", math.Pow(decay, float64(n)))
		}
		seen[at]++
	}
	slices.SortFunc(all, better)
}

// continuing is how many of the best chunks may continue a hit, at least.
const continuing = 40

// hits makes the answer of ordered candidates.
func (s *search) hits(all []candidate) (hits []Hit) {
	for i, c := range all {
		if i >= max(continuing, 2*s.Limit) {
			break
		}
		if s.Without&Neighbours == 0 && s.joins(hits, c) {
			continue
		}
		if len(hits) < s.Limit {
			c.Score = c.score / (c.score + s.total)
			hits = append(hits, c.Hit)
		}
	}
	return hits
}

// mostJoined is how many lines neighbours have together at most.
const mostJoined = 80

// near is how many chunks further one may be that is shown with a hit.
const near = 5

// joins adds a chunk to a better hit that it continues, or nearly so unless a name is sought, so that an
// answer does not show the halves of one place in two of its ranks.
func (s *search) joins(hits []Hit, c candidate) bool {
	near := near
	if s.symbol {
		near = 1
	}
	for i := range hits {
		h := &hits[i]
		if h.Shard != c.Shard || c.Chunk < h.Chunk-near || c.Chunk > h.Last+near {
			continue
		}
		chunks := s.shards[h.Shard].Chunks
		first, last := min(h.Chunk, c.Chunk), max(h.Last, c.Chunk)
		if chunks[first].File == chunks[last].File && int(chunks[last].Last-chunks[first].Line) < mostJoined {
			h.Chunk, h.Last = first, last
			return true
		}
	}
	return false
}
