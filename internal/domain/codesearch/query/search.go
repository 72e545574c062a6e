package query

// Search returns the best places of all shards, best first.
func Search(shards []Shard, r Request) []Hit {
	return NewPlan(r, Local(shards)).Rank(shards)
}

// Rank orders places of shards, best first. A shard may hold all files or only
// those of candidates: nothing is counted over files or chunks here.
func (p *Plan) Rank(shards []Shard) []Hit {
	if p.Empty() {
		return nil
	}
	s := search{Plan: p, shards: make([]*shardSearch, len(shards))}
	for i, shard := range shards {
		s.shards[i] = &shardSearch{Shard: shard}
		s.inShard(s.shards[i])
		defer s.shards[i].release()
	}
	return s.rank()
}

// inShard looks for the query in a shard.
func (s *search) inShard(shard *shardSearch) {
	shard.prepare(s.Request)
	s.score(shard)
	if s.Without&Paths == 0 {
		s.matchPaths(shard)
	}
	if s.Without&Definitions == 0 {
		s.defining(shard)
	}
}
