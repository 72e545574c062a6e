package query

import "countersign.dev/internal/domain/codesearch/vocabulary"

// Prepare does once what the first search would do otherwise. It takes about 60 ms.
func Prepare() { vocabulary.Prepare() }

// Search returns the best places of all shards, best first. The shards have all texts.
func Search(shards []Shard, r Request) []Hit {
	hits, _ := NewPlan(r, Local(shards)).Rank(shards, nil) // nothing is read
	return hits
}

// Rank orders places of shards, best first. A shard may hold all files or only
// those of candidates: nothing is counted over files or chunks here. Where shards do not
// have all texts, read gives them those of some files, and its error is returned.
func (p *Plan) Rank(shards []Shard, read func([]FileOf) error) ([]Hit, error) {
	if p.Empty() {
		return nil, nil
	}
	s := search{Plan: p, shards: make([]*shardSearch, len(shards)), read: read, gathered: gatherings.Get().(*gathered)} // nothing else is in the pool
	defer s.gathered.release()
	for i, shard := range shards {
		s.shards[i] = &shardSearch{Shard: shard, number: i}
		s.inShard(s.shards[i])
		defer s.shards[i].release()
	}
	return s.rank()
}

// inShard looks for the query in a shard.
func (s *search) inShard(shard *shardSearch) {
	shard.prepare(s.Request)
	if s.Without&Paths == 0 {
		s.matchPaths(shard)
	}
	if s.Without&Definitions == 0 {
		s.defining(shard)
	}
	s.score(shard)
}
