package query

import (
	"cmp"
	"iter"
	"slices"
)

// What the file of a chunk, and what is beside it there, weigh, in parts of the best score before.
const (
	coherenceWeight = 0.21
	otherChunks     = 0.3
	alsoFound       = 0.25 // other chunks of the file are candidates, too
	alsoFoundDecay  = 0.5  // each of them by this part of the one before
	alsoOthers      = 0.3  // of that, for chunks that are not the best of their file, unless a name is sought
	surroundings    = 0.2  // what the chunks beside one have of the query
	fileCoverage    = 0.25

	topicSurroundings = surroundings / 2
)

// together raises chunks of files that answer the query as a whole: the best chunk
// of each by all of that, the others by a part.
func (s *search) together(all []*candidate, best float64) {
	most := float32(0)
	for _, c := range all {
		most = max(most, s.shards[c.Shard].tally.Files[c.file].Score)
	}
	if most == 0 {
		return
	}
	for of := range byFile(all) {
		first := slices.MaxFunc(of, byScore)
		for _, c := range of {
			shard, part := s.shards[c.Shard], otherChunks
			if c == first {
				part = 1
			}
			c.add("coherence", "the file as a whole", part*best*coherenceWeight*float64(shard.tally.Files[c.file].Score/most))
			if s.Without&Coverage == 0 && len(s.groups) > 1 {
				groups := shard.tally.Files[c.file].Groups | shard.groupsInPath(c.Chunk)
				c.add("file coverage", "words of the query elsewhere in the file", best*fileCoverage*float64(s.covered.part(groups)))
			}
		}
	}
}

// byFile divides candidates in the order of their places into those of each file.
func byFile(all []*candidate) iter.Seq[[]*candidate] {
	return func(yield func([]*candidate) bool) {
		for from, at := 0, 1; at <= len(all); at++ {
			if at < len(all) && all[at].file == all[from].file && all[at].Shard == all[from].Shard {
				continue
			}
			if !yield(all[from:at]) {
				return
			}
			from = at
		}
	}
}

func byScore(a, b *candidate) int { return cmp.Compare(a.score, b.score) }

// alsoFound raises chunks of files that have more than one good chunk: the best of them by
// all of that, the others by a part, so that the answer is not all of one file.
func (s *search) alsoFound(all []*candidate, best float64) {
	most, others := 0.0, []float64(nil)
	for of := range byFile(all) {
		sum := worthOfOthers(of)
		others, most = append(others, sum), max(most, sum)
	}
	if most == 0 {
		return
	}
	for of := range byFile(all) {
		first := slices.MaxFunc(of, byScore)
		for _, c := range of {
			part := 1.0
			if c != first && !s.symbol {
				part = alsoOthers
			}
			c.add("coherence", "other places in the file", part*best*alsoFound*others[0]/most)
		}
		others = others[1:]
	}
}

// worthOfOthers adds up the scores of all but the best, each by a part of the one before.
func worthOfOthers(of []*candidate) (sum float64) {
	if len(of) == 1 {
		return 0
	}
	scores := make([]float64, len(of))
	for i, c := range of {
		scores[i] = -c.score
	}
	slices.Sort(scores)
	part := 1.0
	for _, score := range scores[1:] {
		part *= alsoFoundDecay
		sum -= part * score
	}
	return sum
}

// surround raises chunks by what the two before and the two after them have of the query:
// a place is rarely alone.
func (s *search) surround(all []*candidate) {
	most := float32(0)
	for _, c := range all {
		most = max(most, c.Around)
	}
	if most == 0 {
		return
	}
	weight := surroundings
	if s.topic {
		weight = topicSurroundings
	}
	for _, c := range all {
		c.multiply("coherence", "what is beside it", 1+weight*float64(c.Around/most))
	}
}
