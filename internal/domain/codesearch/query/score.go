package query

import (
	"math/bits"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/tally"
)

// whereK1 is k1 of BM25 for a query that asks where something is done: a chunk says that often.
const whereK1 = 1.6

// coveredBy is the weight from which a term counts as its group.
const coveredBy = 0.5

// score adds up the scores of a shard's chunks, and of its files, and offers the chunks as candidates.
func (s *search) score(shard *shardSearch) {
	k1 := float32(tally.K1)
	if !s.topic {
		k1 = whereK1
	}
	shard.tally.Start(shard.Index, tally.Settings{K1: k1, Frequencies: frequencies(s.Without), Permitted: shard.permitted})
	groups := s.sought(shard)
	for shard.tally.Next() {
		for i := range groups {
			shard.tally.Count(&groups[i])
		}
		for _, set := range shard.tally.Found {
			shard.touched += bits.OnesCount64(set)
		}
		s.offerDefiners(shard)
		s.offer(shard)
	}
}

// sought are the groups of a plan with the terms that a shard has.
func (p *Plan) sought(shard *shardSearch) []tally.Group {
	all := make([]tally.Group, len(p.groups))
	for i, g := range p.groups {
		all[i] = tally.Group{Weight: float32(g.weight * p.idf[i]), Bit: 1 << i}
		for _, w := range g.terms {
			if number, ok := shard.Word(w.text); ok {
				all[i].Terms = append(all[i].Terms, tally.Term{Postings: shard.Postings(number), Part: float32(w.weight), Covers: w.weight >= coveredBy})
			}
		}
	}
	return all
}

// frequencies are how often a term counts, by its payload.
func frequencies(off Signal) (all [256]float32) {
	for i := range all {
		p := index.Payload(i)
		if all[i] = tally.Frequency(p); off&Fields != 0 {
			all[i] = float32(max(p.Count(), 1))
		}
	}
	return all
}

// definesIt is what the definition of a name is worth at least that makes a chunk a candidate whatever else it has.
// Names of one word alone are worth less: there may be thousands, most of them of something else.
const definesIt = 0.1

// offerDefiners offers the chunks of a window that define what the query names, and takes them from those that were found.
func (s *search) offerDefiners(shard *shardSearch) {
	for ; len(shard.defining) > 0 && shard.defining[0].chunk < shard.tally.End; shard.defining = shard.defining[1:] {
		d := shard.defining[0]
		at := d.chunk - shard.tally.First
		m := match{idOf(shard.number, d.chunk), shard.tally.Match(at), d.worth}
		part := s.covered.part(m.Groups | shard.groupsInPath(d.chunk))
		if part > 0.99 {
			m.defines = max(d.worth, d.within)
		}
		switch {
		case m.defines >= definesIt:
			s.definers = append(s.definers, m)
		case m.Words > 0:
			s.best.offer(m.Words*part, m)
		}
		shard.tally.Found[at/64] &^= 1 << (at % 64)
	}
}

// offer offers the chunks of a window that have a word.
func (s *search) offer(shard *shardSearch) {
	for n, set := range shard.tally.Found {
		for ; set != 0; set &= set - 1 {
			at := n*64 + bits.TrailingZeros64(set)
			score := shard.tally.Scores[at]
			if score < s.best.least {
				continue // whatever part of the query it has
			}
			chunk := shard.tally.First + at
			if score *= s.covered.part(shard.tally.Groups[at] | shard.groupsInPath(chunk)); score >= s.best.least {
				s.best.offer(score, match{idOf(shard.number, chunk), shard.tally.Match(at), 0})
			}
		}
	}
}
