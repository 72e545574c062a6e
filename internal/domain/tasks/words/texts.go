package words

import (
	"encoding/json"
	"maps"
	"strings"
)

// Texts are those of a row: the first, the second, and a list in JSON, or nothing.
type Texts struct{ First, Second, List string }

// Lower are the texts in lower case, the list as its values.
func (t Texts) Lower() Texts {
	return Texts{strings.ToLower(t.First), strings.ToLower(t.Second), strings.ToLower(listed(t.List))}
}

// listed are the values of a list.
func listed(list string) string {
	if strings.Contains(list, `\`) {
		var texts []string
		if json.Unmarshal([]byte(list), &texts) == nil {
			return strings.Join(texts, " ")
		}
	}
	return list // what separates its values is no part of a word
}

// Names are the names of the sets of the texts' words, and of the pairs of words that
// follow one another in the list; true: in the first. Without texts there are none.
func (t *Texts) Names() map[string]bool {
	if t == nil {
		return nil
	}
	names := map[string]bool{}
	for i, text := range [...]string{t.First, t.Second, listed(t.List)} {
		words := Of(text)
		for at, word := range words {
			names[word] = names[word] || i == 0
			if i == 2 && at > 0 {
				names[NameOfPair(words[at-1], word)] = false
			}
		}
	}
	return names
}

// NameOfPair is the name of two words, one after the other, among the words that have
// sets.
func NameOfPair(first, second string) string { return "/" + first + " " + second }

// Naming names the sets of the parts of words.
type Naming struct {
	Kept  map[string]bool     // the parts that are kept
	names map[string][]string // of words, when they were asked for
}

// Parts are the names of the kept parts of a word.
func (n *Naming) Parts(word string) []string {
	names, known := n.names[word]
	if known {
		return names
	}
	for _, part := range Parts(word, n.Kept) {
		names = append(names, NameOfPart(part))
	}
	if n.names == nil {
		n.names = map[string][]string{}
	}
	n.names[word] = names
	return names
}

// WithParts are some names and those of the kept parts of the words among them.
func (n *Naming) WithParts(names map[string]bool) map[string]bool {
	all := maps.Clone(names)
	for word, inFirst := range names {
		for _, name := range n.Parts(word) {
			all[name] = all[name] || inFirst
		}
	}
	return all
}
