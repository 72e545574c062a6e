package query

import (
	"countersign.dev/internal/domain/codesearch/index"
)

// The parameters of BM25, for chunks and for whole files.
const (
	k1      = 1.2
	whereK1 = 1.6 // of a query that asks where something is done: a chunk says that often
	b       = 0.3
	fileK1  = 3.5
	fileB   = 0.6
)

// coveredBy is the weight from which a term counts as its group.
const coveredBy = 0.5

// score adds up the scores of a shard's chunks, and of its files. The terms of a
// group are counted together, so that a chunk with several forms of one word is not
// taken for one with several words.
func (s *search) score(shard *shardSearch) {
	t := tally{k1: k1, shardSearch: shard, counts: s.counts(), chunks: shard.tallied, files: shard.talliedFiles, seen: shard.seen[:0], in: shard.seenFiles[:0]}
	if !s.topic {
		t.k1 = whereK1
	}
	for i, g := range s.groups {
		for _, w := range g.terms {
			if term, ok := shard.Word(w.text); ok {
				t.count(term, i, w.weight)
			}
		}
		t.add(float32(g.weight*s.idf[i])*(t.k1+1), 1<<i)
	}
	shard.seen, shard.seenFiles = t.seen, t.in
}

// counts says how often a term counts, by its payload.
func (s *search) counts() (all [256]float32) {
	for i := range all {
		all[i] = s.frequency(index.Payload(i))
	}
	return all
}

// frequency is how often a term counts.
func (s *search) frequency(p index.Payload) float32 {
	tf := float32(p.Count())
	if s.Without&Fields != 0 {
		return max(tf, 1)
	}
	if p&index.InName != 0 {
		tf += 4
	}
	if p&index.InDoc != 0 {
		tf += 1.2
	}
	if p&index.InOwner != 0 {
		tf += 2
	}
	return tf
}

// tally counts one group after the other.
type tally struct {
	*shardSearch
	k1     float32 // of BM25
	counts [256]float32
	chunks []float32 // occurrences of the group in each chunk
	files  []float32 // and in each file
	seen   []int32   // chunks that have the group
	in     []int32   // files that have it
}

// count adds the occurrences of one term to those of its group.
func (t *tally) count(term, group int, share float64) {
	mask := uint32(0)
	if share >= coveredBy {
		mask = 1 << group
	}
	part := float32(share)
	for p := t.Postings(term); p.Next(); {
		if !t.permits(p.Chunk) {
			continue
		}
		if t.chunks[p.Chunk] == 0 {
			t.seen = append(t.seen, int32(p.Chunk))
		}
		t.chunks[p.Chunk] += part * t.counts[p.Payload]
		t.masks[p.Chunk] |= mask
	}
}

// add adds what the occurrences of a group are worth, and forgets them.
func (t *tally) add(weight float32, mask uint32) {
	for _, chunk := range t.seen {
		tf, file := t.chunks[chunk], t.Chunks[chunk].File
		t.chunks[chunk] = 0
		if t.files[file] == 0 {
			t.in = append(t.in, file)
		}
		t.files[file] += tf
		t.inFiles[file] |= t.masks[chunk] & mask
		if t.scores[chunk] == 0 {
			t.touched = append(t.touched, chunk)
		}
		t.scores[chunk] += weight * tf / (tf + t.k1*(1-b+b*t.Lengths[chunk]))
	}
	for _, file := range t.in {
		tf := t.files[file]
		t.files[file] = 0
		t.shardSearch.files[file] += weight * tf / (tf + fileK1*(1-fileB) + fileK1*fileB*t.FileLengths[file])
	}
	t.seen, t.in = t.seen[:0], t.in[:0]
}
