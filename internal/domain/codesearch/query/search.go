package query

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
)

// Signal is a part of the ranking that can be left out.
type Signal uint

// The signals.
const (
	Definitions Signal = 1 << iota // chunks that define what the query names come first
	Paths                          // names of files and folders count
	Coherence                      // several hits in a file support each other
	Penalties                      // tests, examples, generated files and the like come later
	Decay                          // further chunks of a file come later
	Kinds                          // names are ranked otherwise than questions
	Fields                         // a term counts more in a name or its comment
	Coverage                       // chunks and files with more of the query's words come first
	Expansion                      // words that begin alike, and common abbreviations, count a little

	All = Expansion<<1 - 1
)

// Shard is one index that is searched.
type Shard struct {
	Repository string
	*index.Index
}

// Request is a query with its filters. Empty filters leave nothing out.
type Request struct {
	Text     string
	Limit    int
	Language string // without regard to case
	Path     string // a folder or file, or a pattern such as src/*/auth*
	Without  Signal // signals to leave out
	Explain  bool
}

// Hit is a chunk that was found.
type Hit struct {
	Shard int // position in the shards that were searched
	Chunk int
	Score float64 // above 0, below 1
	Why   []Reason

	order uint64 // of equal scores
}

// Reason is one part of a hit's score.
type Reason struct {
	Signal string  `json:"signal"`
	Detail string  `json:"detail,omitempty"`
	Value  float64 `json:"value"` // added to the score before, or what it was multiplied by
}

// The parameters of BM25.
const (
	k1 = 1.2
	b  = 0.6
)

// candidates is how many chunks the signals order, at least.
const candidates = 400

// Search returns the best chunks of all shards, best first.
func Search(shards []Shard, r Request) []Hit {
	s := search{Request: r, parsed: parse(r.Text, r.Without), shards: make([]*shardSearch, len(shards))}
	for i, shard := range shards {
		s.shards[i] = &shardSearch{Shard: shard, scores: make([]float32, len(shard.Chunks)), masks: make([]uint32, len(shard.Chunks))}
		s.chunks += len(shard.Chunks)
		s.words += shard.Meta.Words
		s.shards[i].permit(r)
	}
	if s.chunks == 0 || len(s.groups) == 0 {
		return nil
	}
	if r.Without&Expansion == 0 {
		s.expand()
	}
	s.weigh()
	for _, shard := range s.shards {
		s.score(shard)
	}
	return s.rank()
}

// search is one search.
type search struct {
	Request
	parsed
	shards        []*shardSearch
	chunks, words int
	idf           []float64 // by group
	total         float64   // of the idfs with the groups' weights
}

// shardSearch is the part of a search in one index.
type shardSearch struct {
	Shard
	permitted []bool // by file; nil: all
	scores    []float32
	masks     []uint32 // by chunk: the groups that it has
	touched   []int32
	defined   map[int]bool    // chunks that define a name of the query
	names     map[int]float64 // what that is worth, in parts of the best score
}

// permit evaluates the filters for each file.
func (s *shardSearch) permit(r Request) {
	if r.Language == "" && r.Path == "" {
		return
	}
	s.permitted = make([]bool, len(s.Files))
	pattern := strings.Trim(path.Clean("/"+r.Path), "/")
	for i := range s.Files {
		f := &s.Files[i]
		s.permitted[i] = (r.Language == "" || strings.EqualFold(f.Language, r.Language)) && (pattern == "" || under(f.Path, pattern))
	}
}

// under reports whether a path is that of the pattern, below it, or matches it.
func under(name, pattern string) bool {
	if name == pattern || strings.HasPrefix(name, pattern+"/") {
		return true
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	for at := name; at != "." && at != "/"; at = path.Dir(at) {
		if ok, _ := path.Match(pattern, at); ok {
			return true
		}
	}
	ok, _ := path.Match(pattern, path.Base(name))
	return ok
}

// weigh computes how rare each group is, over all shards.
func (s *search) weigh() {
	s.idf = make([]float64, len(s.groups))
	for i, g := range s.groups {
		n := 0
		for _, t := range g.terms {
			if t.weight < 1 {
				continue
			}
			for _, shard := range s.shards {
				if term, ok := shard.Word(t.text); ok {
					n += shard.Frequency(term)
				}
			}
		}
		s.idf[i] = math.Log(1 + (float64(s.chunks-min(n, s.chunks))+0.5)/(float64(n)+0.5))
		if n == 0 { // a word that is nowhere says less than a rare one
			s.idf[i] = math.Log(1 + float64(s.chunks)/10)
		}
		s.total += s.idf[i] * g.weight
	}
}

// score adds up the scores of a shard's chunks.
func (s *search) score(shard *shardSearch) {
	average := float64(s.words) / float64(s.chunks)
	for i, g := range s.groups {
		for _, t := range g.terms {
			term, ok := shard.Word(t.text)
			if !ok {
				continue
			}
			weight := g.weight * t.weight * s.idf[i] * (k1 + 1)
			for p := shard.Postings(term); p.Next(); {
				c := &shard.Chunks[p.Chunk]
				if shard.permitted != nil && !shard.permitted[c.File] {
					continue
				}
				tf := s.frequency(p.Payload)
				if shard.scores[p.Chunk] == 0 {
					shard.touched = append(shard.touched, int32(p.Chunk))
				}
				shard.scores[p.Chunk] += float32(weight * tf / (tf + k1*(1-b+b*float64(c.Words)/average)))
				if t.weight >= coveredBy {
					shard.masks[p.Chunk] |= 1 << i
				}
			}
		}
	}
}

// coveredBy is the weight from which a term counts as its group.
const coveredBy = 0.5

// frequency is how often a term counts.
func (s *search) frequency(p index.Payload) float64 {
	tf := float64(p.Count())
	if s.Without&Fields != 0 {
		return max(tf, 1)
	}
	if p&index.InName != 0 {
		tf += 4
	}
	if p&index.InDoc != 0 {
		tf += 1.5
	}
	if p&index.InOwner != 0 {
		tf += 2
	}
	return tf
}

// candidate is a chunk while the signals order it.
type candidate struct {
	Hit
	file  int
	score float64
}

// rank orders the best chunks by the signals.
func (s *search) rank() []Hit {
	all := s.collect()
	if len(all) == 0 {
		return nil
	}
	s.signals(all)
	slices.SortFunc(all, better)
	if s.Without&Decay == 0 {
		all = decayed(all, s.Limit)
	}
	hits := make([]Hit, 0, min(s.Limit, len(all)))
	for _, c := range all[:min(s.Limit, len(all))] {
		c.Score = c.score / (c.score + s.total)
		hits = append(hits, c.Hit)
	}
	return hits
}

// better orders candidates; equal ones by their place, so that pages agree.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
}

// collect returns the chunks with the best scores, and those that define what the
// query names.
func (s *search) collect() (all []candidate) {
	for n, shard := range s.shards {
		var defined map[int]bool
		if s.Without&Definitions == 0 {
			defined = s.defining(shard)
		}
		for _, c := range shard.touched {
			all = append(all, s.candidate(n, int(c)))
		}
		for c := range defined {
			if shard.scores[c] == 0 {
				all = append(all, s.candidate(n, c))
			}
		}
	}
	limit := max(candidates, s.Limit*4)
	if len(all) > limit {
		top := s.keep(all, limit)
		all = top
	}
	return all
}

func (s *search) candidate(shard, chunk int) candidate {
	score := float64(s.shards[shard].scores[chunk])
	c := candidate{Hit: Hit{Shard: shard, Chunk: chunk, order: uint64(shard)<<32 | uint64(chunk)}, file: int(s.shards[shard].Chunks[chunk].File), score: score}
	if s.Explain {
		c.Why = append(c.Why, Reason{Signal: "words", Value: score})
	}
	return c
}

// keep returns the best candidates, with those that cover most of the query and
// those that define its names.
func (s *search) keep(all []candidate, limit int) []candidate {
	rough := make([]float64, len(all))
	for i, c := range all {
		rough[i] = c.score * s.coverage(s.shards[c.Shard].masks[c.Chunk])
		if c.score == 0 {
			rough[i] = math.Inf(1)
		}
	}
	sorted := slices.Clone(rough)
	slices.Sort(sorted)
	least := sorted[len(sorted)-limit]
	kept := all[:0]
	for i, c := range all {
		if rough[i] >= least || s.shards[c.Shard].defined[c.Chunk] {
			kept = append(kept, c)
		}
	}
	return kept
}

// coverage is the part of the query, by rarity, that a set of groups is.
func (s *search) coverage(mask uint32) float64 {
	sum := 0.0
	for i, g := range s.groups {
		if mask&(1<<i) != 0 {
			sum += s.idf[i] * g.weight
		}
	}
	return sum / s.total
}

// decayed puts further chunks of a file later: each counts less than the
// one before it.
func decayed(all []candidate, limit int) []candidate {
	type place struct{ shard, file int }
	seen := map[place]int{}
	for i := range all {
		c := &all[i]
		at := place{c.Shard, c.file}
		if n := seen[at]; n > 0 {
			factor := math.Pow(decay, float64(n))
			c.score *= factor
			if c.Why != nil {
				c.Why = append(c.Why, Reason{"decay", "another chunk of the file is better", factor})
			}
		}
		seen[at]++
	}
	slices.SortFunc(all, better)
	return all[:min(len(all), max(limit, 1))]
}

const decay = 0.8
