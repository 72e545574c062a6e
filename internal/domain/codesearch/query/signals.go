package query

import (
	"fmt"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/words"
)

// What the signals weigh, in parts of the best score before them.
const (
	definitionWeight = 1.1 // a name that the query spells out
	symbolWeight     = 3   // a query that is that name
	ownerWeight      = 1.1 // the type or file before the name is right, too
	pathWeight       = 0.7
	nameWeight       = 0.4 // the file is called what a symbol query names
	coherenceWeight  = 0.35
	fileCoverage     = 0.5
	chunkCoverage    = 0.6
)

// signals changes the scores of the candidates.
func (s *search) signals(all []candidate) {
	best := 0.0
	for _, c := range all {
		best = max(best, c.score)
	}
	if best == 0 {
		best = 1
	}
	if s.Without&Coverage == 0 {
		s.covered(all)
	}
	s.together(all, best)
	if s.Without&Paths == 0 {
		s.placed(all, best)
	}
	if s.Without&Definitions == 0 {
		s.definitions(all, best)
	}
	if s.Without&Penalties == 0 && !s.tests {
		s.penalise(all)
	}
}

func (c *candidate) add(signal, detail string, value float64) {
	if value == 0 {
		return
	}
	c.score += value
	if c.Why != nil {
		c.Why = append(c.Why, Reason{signal, detail, value})
	}
}

func (c *candidate) multiply(signal, detail string, factor float64) {
	if factor == 1 {
		return
	}
	c.score *= factor
	if c.Why != nil {
		c.Why = append(c.Why, Reason{signal, detail, factor})
	}
}

// covered lowers chunks that have few of the words.
func (s *search) covered(all []candidate) {
	for i := range all {
		c := &all[i]
		part := s.coverage(s.shards[c.Shard].masks[c.Chunk])
		c.multiply("coverage", fmt.Sprintf("%.0f%% of the query", part*100), 1-chunkCoverage+chunkCoverage*part)
	}
}

type fileKey struct{ shard, file int }

// together raises chunks of files that have several good ones, and of files that
// have more of the words than the chunk alone.
func (s *search) together(all []candidate, best float64) {
	if s.Without&Coherence != 0 {
		return
	}
	sums, masks := map[fileKey]float64{}, map[fileKey]uint32{}
	for _, c := range all {
		at := fileKey{c.Shard, c.file}
		sums[at] += c.score
		masks[at] |= s.shards[c.Shard].masks[c.Chunk]
	}
	most := 0.0
	for _, sum := range sums {
		most = max(most, sum)
	}
	if most == 0 {
		return
	}
	for i := range all {
		c := &all[i]
		at := fileKey{c.Shard, c.file}
		c.add("coherence", "other hits in the file", best*coherenceWeight*sums[at]/most)
		if s.Without&Coverage == 0 && len(s.groups) > 1 {
			c.add("file coverage", "words of the query elsewhere in the file", best*fileCoverage*s.coverage(masks[at]))
		}
	}
}

// placed raises chunks of files whose names have words of the query.
func (s *search) placed(all []candidate, best float64) {
	parts := make([]map[int]float64, len(s.shards)) // by file, the part of the query in its path
	for n, shard := range s.shards {
		parts[n] = map[int]float64{}
		for i, g := range s.groups {
			found := map[int]float64{}
			for _, t := range g.terms {
				term, ok := shard.PathWord(t.text)
				if !ok {
					continue
				}
				for p := shard.Postings(term); p.Next(); {
					part := 0.9
					if p.Payload&2 != 0 {
						part = 1
					}
					found[p.Chunk] = max(found[p.Chunk], part*t.weight)
				}
			}
			for file, part := range found {
				parts[n][file] += part * g.weight * s.idf[i] / s.total
			}
		}
	}
	for i := range all {
		c := &all[i]
		c.add("path", "words of the query in its path", best*pathWeight*parts[c.Shard][c.file])
		if s.symbol && len(s.names) > 0 {
			base := fileStem(s.shards[c.Shard].Files[c.file].Path)
			if base == s.names[0].whole {
				c.add("file name", "the file is called so", best*nameWeight)
			}
		}
	}
}

// fileStem is a file's name without folders and endings, in the form of names.
func fileStem(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	stem, _, _ := strings.Cut(strings.TrimPrefix(base, "."), ".")
	return words.Whole(strings.ReplaceAll(stem, "-", ""))
}

// defining finds the chunks of a shard that define a name of the query.
func (s *search) defining(shard *shardSearch) map[int]bool {
	shard.defined = map[int]bool{}
	shard.names = map[int]float64{}
	for _, n := range s.names {
		term, ok := shard.Defined(n.whole)
		if !ok {
			continue
		}
		for p := shard.Postings(term); p.Next(); {
			if shard.permitted != nil && !shard.permitted[shard.Chunks[p.Chunk].File] {
				continue
			}
			shard.defined[p.Chunk] = true
			shard.names[p.Chunk] = max(shard.names[p.Chunk], s.definitionScore(shard, p, n))
		}
	}
	return shard.defined
}

// definitionScore is what a definition of a name is worth. Types are worth more
// than methods of the same name, and one whose owner is named more than others.
func (s *search) definitionScore(shard *shardSearch, p index.Postings, n name) float64 {
	weight := n.weight * definitionWeight
	if s.symbol {
		weight = n.weight * symbolWeight
	}
	if p.Payload&2 != 0 {
		weight *= 1.15
	}
	if n.owner != "" && s.owned(shard, p.Chunk, n) {
		weight += ownerWeight * n.weight
	}
	return weight
}

// owned reports whether the name before the definition's is right: of its type,
// or of its file or folder.
func (s *search) owned(shard *shardSearch, chunk int, n name) bool {
	owner := words.Whole(n.owner)
	for _, d := range shard.Definitions(chunk) {
		if words.Whole(d.Name) == n.whole && words.Whole(d.Of) == owner {
			return true
		}
	}
	path := strings.Split(shard.Files[shard.Chunks[chunk].File].Path, "/")
	if fileStem(path[len(path)-1]) == owner {
		return true
	}
	return len(path) > 1 && words.Whole(path[len(path)-2]) == owner
}

// definitions raises the chunks that define a name of the query.
func (s *search) definitions(all []candidate, best float64) {
	for i := range all {
		c := &all[i]
		if weight := s.shards[c.Shard].names[c.Chunk]; weight > 0 {
			c.add("definition", "defines a name of the query", best*weight)
		}
	}
}

// penalties are the factors of flags.
var penalties = []struct {
	flag   index.Flag
	name   string
	factor float64
}{
	{index.Test, "a test", 0.3},
	{index.Example, "an example", 0.4},
	{index.Generated, "generated", 0.4},
	{index.Vendored, "vendored", 0.4},
	{index.Reexport, "a file that passes names on", 0.5},
	{index.Prose, "documentation", 0.4},
	{index.Data, "data", 0.35},
	{index.Legacy, "for compatibility", 0.6},
}

// penalise lowers files that are rarely what is sought.
func (s *search) penalise(all []candidate) {
	for i := range all {
		c := &all[i]
		flags := s.shards[c.Shard].Files[c.file].Flags
		for _, p := range penalties {
			if flags&p.flag != 0 {
				c.multiply("penalty", p.name, p.factor)
			}
		}
	}
}
