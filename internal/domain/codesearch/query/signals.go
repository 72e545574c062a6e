package query

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/linguist"
	"countersign.dev/internal/domain/codesearch/words"
)

// What the signals weigh, in parts of the best score before them.
const (
	definitionWeight = 0.7  // a name that the query spells out
	symbolWeight     = 2    // a query that is that name
	ownerWeight      = 2    // the type before the name is right, too
	ownerFile        = 0.44 // of that: it is the name of the file or folder
	fieldWeight      = 3    // its type, with the name in it: less than a definition in that type
	typeFactor       = 1.15
	otherCase        = 0.7 // the name in other capitals
	onItsOwn         = 1.1 // it belongs to no type, and the query names none
	againFactor      = 0.9 // a further definition of the name in the file
	nameWeight       = 0.6 // the file is called what a symbol query names
	chunkCoverage    = 0.65
)

// signals changes the scores of the candidates.
func (s *search) signals(all []*candidate) error {
	best := 0.0
	for _, c := range all {
		best = max(best, c.score)
	}
	if best == 0 {
		best = 1
	}
	if s.Without&Coverage == 0 {
		s.cover(all)
	}
	if s.Without&Coherence == 0 {
		s.together(all, best)
		s.alsoFound(all, best)
	}
	if s.Without&Paths == 0 {
		s.boostPaths(all, best)
	}
	if s.Without&Definitions == 0 {
		s.define(all, best)
	}
	if s.Without&Phrases == 0 {
		if err := s.sayAlike(all, best); err != nil {
			return err
		}
	}
	if s.Without&Penalties == 0 {
		s.penalise(all)
	}
	if s.Without&Coherence == 0 && !s.symbol {
		s.surround(all)
	}
	return nil
}

// cover lowers chunks that have few of the words.
func (s *search) cover(all []*candidate) {
	for _, c := range all {
		part := float64(s.covered.part(c.Groups | s.shards[c.Shard].groupsInPath(c.Chunk)))
		c.multiply("coverage", s.percent(part), 1-chunkCoverage+chunkCoverage*part)
	}
}

// percent is a part of the query, for explanations only.
func (s *search) percent(part float64) string {
	if !s.Explain {
		return ""
	}
	return fmt.Sprintf("%.0f%% of the query", part*100)
}

// boostPaths raises chunks of files whose names have words of the query.
func (s *search) boostPaths(all []*candidate, best float64) {
	for _, c := range all {
		path, stem := s.shards[c.Shard].paths[c.file].worth()
		c.add("path", "words of the query in its path", best*path)
		c.add("file name", "it is called like the query", best*stem)
		if s.symbol && len(s.names) > 0 && fileStem(s.shards[c.Shard].Files[c.file].Path) == s.names[0].whole {
			c.add("file name", "it is called so", best*nameWeight)
		}
	}
}

// fileStem is a file's name without folders and endings, in the form of names.
func fileStem(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	stem, _, _ := strings.Cut(strings.TrimPrefix(base, "."), ".")
	return words.Whole(strings.ReplaceAll(stem, "-", ""))
}

// defining finds the chunks of a shard that define a name of the query, or the type that one belongs to. Of several
// in one file, such as overloads, the first is worth most.
func (s *search) defining(shard *shardSearch) {
	all := shard.definers[:0]
	for _, n := range s.names {
		if n.owner != "" {
			for p := range shard.definitions(words.Whole(n.owner)) {
				if p.Payload.IsType() {
					all = append(all, definer{chunk: p.Chunk, within: fieldWeight * n.weight})
				}
			}
		}
		before := -1
		for p := range shard.definitions(n.whole) {
			worth, file := s.definitionScore(shard, p, n), int(shard.InFile[p.Chunk])
			if file == before {
				worth *= againFactor
			}
			before = file
			all = append(all, definer{chunk: p.Chunk, worth: worth})
		}
	}
	slices.SortFunc(all, func(a, b definer) int { return a.chunk - b.chunk })
	shard.definers, shard.defining = all, joinedDefiners(all)
}

// joinedDefiners makes one of those that are the same chunk, in their memory.
func joinedDefiners(all []definer) []definer {
	joined := all[:0]
	for _, d := range all {
		if last := len(joined) - 1; last >= 0 && joined[last].chunk == d.chunk {
			of := &joined[last]
			of.worth, of.within = max(of.worth, d.worth), max(of.within, d.within)
		} else {
			joined = append(joined, d)
		}
	}
	return joined
}

// definitions yields the places where a name is defined that the filters let through.
func (s *shardSearch) definitions(whole string) iter.Seq[index.Postings] {
	return func(yield func(index.Postings) bool) {
		term, ok := s.Defined(whole)
		if !ok {
			return
		}
		for p := s.Postings(term); p.Next(); {
			if s.permits(p.Chunk) && !yield(p) {
				return
			}
		}
	}
}

// definitionScore is what a definition of a name is worth. Types are worth more
// than methods of the same name, one that is spelled as in the query more than one
// in other capitals, and one whose owner is named more than others.
func (s *search) definitionScore(shard *shardSearch, p index.Postings, n name) float64 {
	weight := n.weight * definitionWeight
	if s.symbol {
		weight = n.weight * symbolWeight
	}
	if p.Payload.IsType() {
		weight *= typeFactor
	}
	weight *= spelled(shard, p.Chunk, n)
	if n.owner != "" {
		weight += ownerWeight * n.weight * owned(shard, p.Chunk, n)
	}
	return weight
}

// spelled is the factor of how a chunk's definition of a name is written.
func spelled(shard *shardSearch, chunk int, n name) float64 {
	if n.written == "" {
		return 1
	}
	factor := otherCase
	for _, d := range shard.Definitions(chunk) {
		switch {
		case d.Name != n.written:
		case n.owner == "" && d.Of == "":
			return onItsOwn
		default:
			factor = 1
		}
	}
	return factor
}

// owned is how right the name before the definition's is: of its type, or, less so, of its
// file or folder.
func owned(shard *shardSearch, chunk int, n name) float64 {
	owner := words.Whole(n.owner)
	for _, d := range shard.Definitions(chunk) {
		if words.Whole(d.Name) == n.whole && words.Whole(d.Of) == owner {
			return 1
		}
	}
	path := strings.Split(shard.Files[shard.InFile[chunk]].Path, "/")
	if fileStem(path[len(path)-1]) == owner || len(path) > 1 && words.Whole(path[len(path)-2]) == owner {
		return ownerFile
	}
	return 0
}

// define raises the chunks that define a name of the query.
func (s *search) define(all []*candidate, best float64) {
	for _, c := range all {
		c.add("definition", "defines a name of the query", best*c.defines)
	}
}

// penalties are the factors of flags.
var penalties = []struct {
	flag   linguist.Flag
	name   string
	factor float64
}{
	{linguist.Test, "a test", 0.3},
	{linguist.Example, "an example", 0.4},
	{linguist.Generated, "generated", 0.4},
	{linguist.Vendored, "vendored", 0.4},
	{linguist.Reexport, "a file that passes names on", 0.5},
	{linguist.Prose, "documentation", 0.25},
	{linguist.Data, "data", 0.35},
	{linguist.Legacy, "for compatibility", 0.6},
}

// askedFor is the factor of tests and examples for a query that names such: code
// about tests is sought as often as a test.
const askedFor = 0.65

// penalise lowers files that are rarely what is sought, and tests within others.
func (s *search) penalise(all []*candidate) {
	for _, c := range all {
		f := &s.shards[c.Shard].Files[c.file]
		flags := f.Flags
		switch {
		case f.Language == "Rust" && inTests(s.shards[c.Shard].Definitions(c.Chunk)):
			flags |= linguist.Test
		case f.Language == "C++" && flags&linguist.Legacy != 0 && s.symbol && s.definesType(s.shards[c.Shard].Definitions(c.Chunk)):
			flags &^= linguist.Legacy
		}
		for _, p := range penalties {
			switch {
			case flags&p.flag == 0:
			case s.tests && p.flag&(linguist.Test|linguist.Example) != 0:
				c.multiply("penalty", p.name, askedFor)
			default:
				c.multiply("penalty", p.name, p.factor)
			}
		}
	}
}

// definesType reports whether one of some definitions is the type that a query names: a header
// declares functions that are elsewhere, but types are there.
func (s *search) definesType(definitions []index.Definition) bool {
	return len(s.names) > 0 && slices.ContainsFunc(definitions, func(d index.Definition) bool { return d.Type && d.Name == s.names[0].written })
}

// inTests reports whether a chunk of definitions is of tests in a file of code, which Rust
// has in a module tests. Code may come before that module in the chunk.
func inTests(definitions []index.Definition) bool {
	if len(definitions) == 0 {
		return false
	}
	d := definitions[0]
	return d.Name == "tests" || d.Of == "tests" || strings.HasPrefix(d.Name, "test_")
}
