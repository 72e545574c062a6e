package words

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/english"
)

// Where is where the pieces of a word are found, one after the other.
type Where struct {
	Anywhere bool
	InFirst  bool // in the first text
	Whole    bool // as whole words
}

// Follow returns where texts in lower case have the pieces of a word.
func (t Texts) Follow(pieces []string) (where Where) {
	longest := slices.MaxFunc(pieces, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for i, text := range [...]string{t.First, t.Second, t.List} {
		if !strings.Contains(text, longest) {
			continue // as most texts: it takes longer to separate them
		}
		where.add(i, inRow(pieces, Of(text)))
	}
	return where
}

// Mention returns where texts in lower case have a part of a word.
func (t Texts) Mention(part string) (where Where) {
	for i, text := range [...]string{t.First, t.Second, t.List} {
		if strings.Contains(text, part) {
			where.add(i, inOne(part, Of(text)))
		}
	}
	return where
}

// found is whether something is in a text, and as whole words.
type found struct{ some, whole bool }

// add adds what is found in a text.
func (w *Where) add(text int, f found) {
	w.Anywhere = w.Anywhere || f.some
	w.InFirst = w.InFirst || f.some && text == 0
	w.Whole = w.Whole || f.whole
}

// inRow reports whether some words have pieces one after the other, the first one at the
// end of a word and the last one at the beginning of one, and whether each is a word.
func inRow(pieces, words []string) (f found) {
	last := len(pieces) - 1
	for ; len(words) > last; words = words[1:] {
		if !ends(words[0], pieces[0]) || !begins(words[last], pieces[last]) || !slices.Equal(words[1:last], pieces[1:last]) {
			continue
		}
		f.some = true
		if words[0] == pieces[0] && words[last] == pieces[last] {
			return found{true, true}
		}
	}
	return f
}

func ends(word, piece string) bool {
	return word == piece || strings.HasSuffix(word, piece) && isPart(piece)
}

func begins(word, piece string) bool {
	return word == piece || strings.HasPrefix(word, piece) && isPart(piece)
}

func isPart(piece string) bool { return utf8.RuneCountInString(piece) >= MinPart }

// inOne reports whether any of some words has a part.
func inOne(part string, words []string) (f found) {
	for _, word := range words {
		if word == part {
			return found{true, true}
		}
		f.some = f.some || isPart(part) && strings.Contains(word, part)
	}
	return f
}

// Wider is the form of a word that is a part of it, by which more rows are found than by the
// word itself; empty for a word that has none, and for what is not one word.
func Wider(text string) string {
	pieces := Of(text)
	if len(pieces) != 1 || !strings.HasPrefix(pieces[0], Form(pieces[0])) {
		return ""
	}
	return Form(pieces[0])
}

// Form is the form of a word by which others of its forms are found, as parts of them:
// the singular of a plural, or else the English stem. It is empty when that is the word
// itself, or too short for a part.
func Form(word string) string {
	form := english.Singular(word)
	if form == word {
		form = english.Stem(word)
	}
	if form == word || !isPart(form) {
		return ""
	}
	return form
}
