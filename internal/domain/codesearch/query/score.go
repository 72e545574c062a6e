package query

import (
	"countersign.dev/internal/domain/codesearch/index"
)

// The parameters of BM25 for chunks. An engine that finds candidates has them, too.
const (
	K1 = 1.2
	B  = 0.3
)

const (
	whereK1 = 1.6 // of a query that asks where something is done: a chunk says that often
	fileK1  = 3.5 // of whole files
	fileB   = 0.6
)

// coveredBy is the weight from which a term counts as its group.
const coveredBy = 0.5

// score adds up the scores of a shard's chunks, and of its files. The terms of a
// group are counted together, so that a chunk with several forms of one word is not
// taken for one with several words.
func (s *search) score(shard *shardSearch) {
	t := tally{k1: K1, shardSearch: shard, counts: s.counts(), seen: shard.seen[:0], in: shard.seenFiles[:0]}
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
		p := index.Payload(i)
		if all[i] = Frequency(p); s.Without&Fields != 0 {
			all[i] = float32(max(p.Count(), 1))
		}
	}
	return all
}

// Frequency is how often a term with a payload counts.
func Frequency(p index.Payload) float32 {
	tf := float32(p.Count())
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
	seen   []int32 // chunks that have the group
	in     []int32 // files that have it
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
		at := &t.chunks[p.Chunk]
		if at.count == 0 {
			t.seen = append(t.seen, int32(p.Chunk))
		}
		at.count += part * t.counts[p.Payload]
		at.groups |= mask
	}
}

// add adds what the occurrences of a group are worth, and forgets them.
func (t *tally) add(weight float32, mask uint32) {
	for _, chunk := range t.seen {
		at, size := &t.chunks[chunk], t.Sizes[chunk]
		tf, in := at.count, &t.files[size.File]
		at.count = 0
		if in.count == 0 {
			t.in = append(t.in, size.File)
		}
		in.count += tf
		in.groups |= at.groups & mask
		if at.score == 0 {
			t.touched = append(t.touched, chunk)
		}
		at.score += weight * tf / (tf + t.k1*(1-B+B*size.Length))
	}
	for _, file := range t.in {
		in := &t.files[file]
		in.score += weight * in.count / (in.count + fileK1*(1-fileB) + fileK1*fileB*t.FileLengths[file])
		in.count = 0
	}
	t.seen, t.in = t.seen[:0], t.in[:0]
}
