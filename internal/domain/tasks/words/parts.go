package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MinPart is how many characters a part of a word has at least that is found inside
	// it. What is shorter is a whole word.
	MinPart = 3
	// MaxPart is how many characters a part has at most of which a set is kept.
	MaxPart = 20
)

// NameOfPart is the name of a part among the words that have sets.
func NameOfPart(part string) string { return "*" + part }

// Tail is an end of one of some words, which has a part.
type Tail struct {
	word int // which one
	text string
}

// Tails are the ends of some words, in their order, up to the length of the longest
// part. A mark, as ':deleted', has none, nor has a pair.
func Tails(words []string) (tails []Tail) {
	for i, word := range words {
		if strings.HasPrefix(word, ":") || strings.HasPrefix(word, "/") {
			continue
		}
		for at := range word {
			text, _ := start(word[at:], MaxPart)
			if _, ok := start(text, MinPart); !ok {
				break
			}
			tails = append(tails, Tail{i, text})
		}
	}
	return tails
}

// Longer reports whether a tail begins with a part and has more.
func (t Tail) Longer(part string) bool {
	return len(t.text) > len(part) && strings.HasPrefix(t.text, part)
}

// Grown are the tails that begin with a part of a length that is kept, and have more.
func Grown(tails []Tail, size int, kept map[string]bool) []Tail {
	return slices.DeleteFunc(tails, func(t Tail) bool {
		part, _ := start(t.text, size)
		return !kept[part] || len(part) == len(t.text)
	})
}

// Count returns the parts of a length with which tails begin, and how many words have
// each.
func Count(tails []Tail, size int) map[string]int {
	words, last := map[string]int{}, map[string]int{}
	for _, t := range tails {
		part, _ := start(t.text, size)
		if at, ok := last[part]; !ok || at != t.word {
			words[part]++
			last[part] = t.word
		}
	}
	return words
}

// Parts are the parts of a word that are kept.
func Parts(word string, kept map[string]bool) (parts []string) {
	for _, t := range Tails([]string{word}) {
		for size := MinPart; size <= MaxPart; size++ {
			part, ok := start(t.text, size)
			if !ok || !kept[part] {
				break
			}
			parts = append(parts, part)
		}
	}
	return parts
}

// start is the beginning of a text, of n characters; ok is false when it has fewer.
func start(text string, n int) (beginning string, ok bool) {
	at := 0
	for range n {
		if at == len(text) {
			return text, false
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at], true
}
