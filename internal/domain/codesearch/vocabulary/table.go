package vocabulary

import (
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/words"
)

// table reads a text of lines into a map: add gets the words of each.
func table[V any](text string, add func(all map[string]V, line []string)) map[string]V {
	all := map[string]V{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			add(all, fields)
		}
	}
	return all
}

// relation is the words that count in the place of each.
type relation = map[string][]string

func relate(all relation, word, other string) {
	if word != other && !slices.Contains(all[word], other) {
		all[word] = append(all[word], other)
	}
}

// The relations that a line of plain words, or of stems, may say.

// group relates all of them to each other.
func group(all relation, line []string) {
	for _, word := range line {
		for _, other := range line {
			relate(all, words.Stem(word), words.Stem(other))
		}
	}
}

// pairs relates the first to the others, and these to it.
func pairs(all relation, line []string) {
	for _, other := range line[1:] {
		relate(all, words.Stem(line[0]), words.Stem(other))
		relate(all, words.Stem(other), words.Stem(line[0]))
	}
}

// instead relates the first to the others.
func instead(all relation, line []string) {
	for _, other := range line[1:] {
		relate(all, words.Stem(line[0]), words.Stem(other))
	}
}

// learned relates the first to the others, which are stems already.
func learned(all relation, line []string) { all[line[0]] = line[1:] }
