package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// What makes a name the answer to a word.
const (
	mostComments  = 1500 // of one corpus that count
	fewestPairs   = 6    // comments with the word whose definition has the name
	fewestPairsIn = 4    // corpora that have such
	fewestWordsIn = 6    // corpora that have the word
	leastLift     = 3    // how much more often than without the word
	leastGain     = 10   // by likelihood: it is not chance
	mostNames     = 4    // of a word
	sameBeginning = 4    // letters by which a name is a form of the word, which the ranking knows
)

// comment is the first sentence of a comment, by stems, and the parts of the names that it
// is about.
type comment struct{ words, names []string }

// association counts which names come with which words of comments.
type association struct {
	corpora, comments int
	words, names      map[string]int
	pairs             map[[2]string]int
	wordIn, pairIn    map[string]map[int]bool
}

func newAssociation() *association {
	return &association{words: map[string]int{}, names: map[string]int{}, pairs: map[[2]string]int{}, wordIn: map[string]map[int]bool{}, pairIn: map[string]map[int]bool{}}
}

// add counts the comments of one corpus, evenly when it has too many.
func (n *association) add(comments []comment) {
	n.corpora++
	step := max(1, (len(comments)+mostComments-1)/mostComments)
	for i := 0; i < len(comments); i += step {
		c := comments[i]
		n.comments++
		names := map[string]bool{}
		for _, name := range c.names {
			if len(name) > 2 && !names[name] {
				names[name] = true
				n.names[name]++
			}
		}
		for _, word := range c.words {
			n.words[word]++
			mark(n.wordIn, word, n.corpora)
			for name := range names {
				if name != word {
					n.pairs[[2]string{word, name}]++
					mark(n.pairIn, word+" "+name, n.corpora)
				}
			}
		}
	}
}

func mark(in map[string]map[int]bool, key string, corpus int) {
	if in[key] == nil {
		in[key] = map[int]bool{}
	}
	in[key][corpus] = true
}

// table has a line for each word: its stem, and those of the parts of names.
func (n *association) table() string {
	type answer struct {
		name string
		gain float64
	}
	all := map[string][]answer{}
	for pair, count := range n.pairs {
		word, name := pair[0], pair[1]
		if count < fewestPairs || len(n.pairIn[word+" "+name]) < fewestPairsIn || len(n.wordIn[word]) < fewestWordsIn || len(word) < 3 {
			continue
		}
		chance := float64(n.words[word]) * float64(n.names[name]) / float64(n.comments)
		lift := float64(count) / chance
		gain := float64(count)*math.Log(lift) - (float64(count) - chance)
		if lift < leastLift || gain < leastGain || word[:min(len(word), sameBeginning)] == name[:min(len(name), sameBeginning)] {
			continue
		}
		all[word] = append(all[word], answer{name, gain})
	}
	var text strings.Builder
	for _, word := range slices.Sorted(maps.Keys(all)) {
		slices.SortFunc(all[word], func(a, b answer) int { return cmp.Or(cmp.Compare(b.gain, a.gain), strings.Compare(a.name, b.name)) })
		text.WriteString(word)
		for _, a := range all[word][:min(len(all[word]), mostNames)] {
			text.WriteString(" " + a.name)
		}
		text.WriteString("\n")
	}
	return text.String()
}
