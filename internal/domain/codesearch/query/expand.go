package query

import (
	"slices"

	"countersign.dev/internal/domain/codesearch/vocabulary"
	"countersign.dev/internal/domain/codesearch/words"
)

var (
	abbreviationWeight = 0.5
	synonymWeight      = 0.2
	insteadWeight      = 0.45 // of a word that code hardly has
	pairWeight         = 0.45
	prefixWeight       = 0.3
	prefixInPath       = 0.5 // a file called compress is about a compressor, and has that word: see coveredBy
	namedWeight        = 0.1
	meantWeight        = 0.45 // of a word for what several words say together
)

const (
	minPrefix = 4 // characters of a word that others may begin with
	maxEnding = 6 // bytes by which such words differ
	mostMeant = 10
)

// commonNames: a name that more than one in so many chunks have answers nothing.
const commonNames = 8

// everywhere: a word that more than one in so many chunks have, such as "to", says nothing in the place of another, and is
// slow to read.
const everywhere = 4

// fewChunks have a word that is not common, however few chunks there are.
const fewChunks = 16

// hardly: code hardly has a word that less than one in so many chunks have.
const hardly = 500

// expand adds to each word what it and others mean together, its abbreviations, words that mean the same, names that answer it, the words of
// the indexes that begin with it, or that it begins with, and what it is part of.
func (p *Plan) expand(stats Statistics) {
	if !p.symbol {
		p.mean(stats)
	}
	for i := range p.groups {
		g := &p.groups[i]
		p.joined(g)
		base := g.terms[0].text
		if p.symbol && i == 0 && len(p.groups) > 1 {
			continue // the name as a whole
		}
		for _, other := range vocabulary.Abbreviations(base) {
			g.add(other, abbreviationWeight)
		}
		if !p.symbol {
			p.related(g, stats)
		}
		if !p.symbol && !p.topic {
			for _, other := range vocabulary.Named(base) {
				if commonNames*stats.Frequency(other) < stats.Chunks() { // others tell little, and are slow to read
					g.add(other, namedWeight)
				}
			}
		}
		if len(base) < minPrefix {
			continue
		}
		for _, w := range stats.Beginning(base, maxExpansions) {
			if len(w.Text)-len(base) <= maxEnding && w.Frequency > 1 {
				g.addTerm(weighted{w.Text, prefixWeight, prefixInPath})
			}
		}
		for n := len(base) - 1; n >= max(minPrefix, len(base)-maxEnding); n-- {
			if stats.Frequency(base[:n]) > 1 {
				g.addTerm(weighted{base[:n], prefixWeight, prefixInPath})
			}
		}
	}
}

// mean adds to several words what code has for what they say together. What much of the code has tells little, and is
// slow to read. It comes first, because a word has room for so many others only.
func (p *Plan) mean(stats Statistics) {
	stems, n := make([]string, len(p.groups)), 0
	for i, g := range p.groups {
		stems[i] = g.terms[0].text
	}
	for _, m := range vocabulary.Meanings(stems) {
		if has := stats.Frequency(m.Stem); has == 0 || common(has, commonNames, stats) {
			continue
		}
		for i := range p.groups {
			if m.Words&(1<<i) != 0 {
				p.groups[i].add(m.Stem, meantWeight*min(1, m.Votes))
			}
		}
		if n++; n == mostMeant {
			return
		}
	}
}

// common reports whether more than one in so many chunks have a word. Some chunks may always have it.
func common(chunks, one int, stats Statistics) bool {
	return chunks > fewChunks && one*chunks > stats.Chunks()
}

// related adds words that mean the same. They count more, and there are more of them, for a word that code
// hardly has: who asked for it did not know the code's own.
func (p *Plan) related(g *group, stats Statistics) {
	base, weight := g.terms[0].text, synonymWeight
	rare := hardly*stats.Frequency(base) < stats.Chunks()
	if rare {
		weight = insteadWeight
	}
	others := vocabulary.Synonyms(base)
	if rare {
		others = slices.Concat(others, vocabulary.Instead(base))
	}
	for _, other := range others {
		if !common(stats.Frequency(other), everywhere, stats) {
			g.add(other, weight)
		}
	}
}

// joined adds the names that a word makes with its neighbours: for "skip list" a
// skiplist is both, and a skipList more so than skip and list apart.
func (p *Plan) joined(g *group) {
	for _, pair := range p.pairs {
		if g.word == pair.first || g.word == pair.second {
			g.add(pair.joined, pairWeight)
			g.add(words.Stem(pair.joined), pairWeight)
		}
	}
}

// add adds a term, with the same weight in paths. One that is there already counts as much as either says.
func (g *group) add(text string, weight float64) { g.addTerm(weighted{text, weight, weight}) }

func (g *group) addTerm(added weighted) {
	for i, t := range g.terms {
		if t.text == added.text {
			g.terms[i].weight, g.terms[i].inPath = max(t.weight, added.weight), max(t.inPath, added.inPath)
			return
		}
	}
	if len(g.terms) < g.most {
		g.terms = append(g.terms, added)
	}
}
