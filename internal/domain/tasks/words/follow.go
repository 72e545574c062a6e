package words

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Where is where the pieces of a word are found, one after the other.
type Where struct {
	Anywhere bool
	InFirst  bool // in the first text
	Whole    bool // as whole words
}

// Follow returns where the texts of a row, in lower case, have the pieces of a word. The
// third one is a list in JSON, or empty.
func Follow(pieces []string, first, second, list string) (where Where) {
	if strings.Contains(list, `\`) {
		var texts []string
		if json.Unmarshal([]byte(list), &texts) == nil {
			list = strings.Join(texts, " ")
		}
	}
	longest := slices.MaxFunc(pieces, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for i, text := range [...]string{first, second, list} {
		if !strings.Contains(text, longest) {
			continue // as most texts: it takes longer to separate them
		}
		some, whole := inRow(pieces, Of(text))
		where.Anywhere = where.Anywhere || some
		where.InFirst = where.InFirst || some && i == 0
		where.Whole = where.Whole || whole
	}
	return where
}

// inRow reports whether some words have pieces one after the other, the first one at the
// end of a word and the last one at the beginning of one, and whether each is a word.
func inRow(pieces, words []string) (some, whole bool) {
	last := len(pieces) - 1
	for ; len(words) > last; words = words[1:] {
		if !ends(words[0], pieces[0]) || !begins(words[last], pieces[last]) || !slices.Equal(words[1:last], pieces[1:last]) {
			continue
		}
		some = true
		if words[0] == pieces[0] && words[last] == pieces[last] {
			return true, true
		}
	}
	return some, false
}

func ends(word, piece string) bool {
	return word == piece || strings.HasSuffix(word, piece) && isPart(piece)
}

func begins(word, piece string) bool {
	return word == piece || strings.HasPrefix(word, piece) && isPart(piece)
}

func isPart(piece string) bool { return utf8.RuneCountInString(piece) >= MinPart }

// Mention reports whether a text in lower case has a part in any of its words, and
// whether as a whole one.
func Mention(text, part string) (some, whole bool) {
	if !strings.Contains(text, part) {
		return false, false // as most texts: it takes longer to separate them
	}
	for _, word := range Of(text) {
		if word == part {
			return true, true
		}
		some = some || isPart(part) && strings.Contains(word, part)
	}
	return some, false
}
