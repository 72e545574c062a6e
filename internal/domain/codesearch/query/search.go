package query

// Search returns the best places of all shards, best first.
func Search(shards []Shard, r Request) []Hit {
	s := search{Request: r, parsed: parse(r.Text, r.Without), shards: make([]*shardSearch, len(shards))}
	for i, shard := range shards {
		s.shards[i] = &shardSearch{Shard: shard}
		s.chunks += len(shard.Chunks)
	}
	if s.chunks == 0 || len(s.groups) == 0 {
		return nil
	}
	if r.Without&Expansion == 0 {
		s.expand()
	}
	s.weigh()
	for _, shard := range s.shards {
		shard.prepare(r)
		s.score(shard)
		if r.Without&Paths == 0 {
			s.matchPaths(shard)
		}
		if r.Without&Definitions == 0 {
			s.defining(shard)
		}
	}
	return s.rank()
}

// IsSymbol reports whether a text names something rather than asking about it.
func IsSymbol(text string) bool { return parse(text, 0).symbol }
