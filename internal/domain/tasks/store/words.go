package store

import (
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	engine "countersign.dev/internal/sqlite"
)

const (
	// minPart is how many characters a part of a word has at least that is found inside
	// it. What is shorter is a whole word.
	minPart = 3
	// fewWords is how many words that begin alike are searched for one by one. For more
	// of them the index reads all that it has from the first to the last.
	fewWords = 16
	// wordsAtOnce bounds the words of one condition.
	wordsAtOnce = 128
)

// addWords adds the functions by which triggers index texts.
var addWords = sync.OnceValue(func() error {
	if err := engine.AddFunction("search_words", func(text string) string { return strings.Join(wordsOf(text), " ") }); err != nil {
		return err
	}
	return engine.AddFunction("search_vocabulary", vocabularyOf)
})

// wordsOf separates a text into its words, in lower case: runs of letters and digits.
// In scripts without spaces each character is a word.
func wordsOf(text string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && ('a' <= r && r <= 'z' || '0' <= r && r <= '9'):
			word.WriteByte(byte(r))
		case r < utf8.RuneSelf && 'A' <= r && r <= 'Z':
			word.WriteByte(byte(r) + 'a' - 'A')
		case r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			words = append(words, string(r))
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)):
			word.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return words
}

// vocabularyOf is the list of the words of a text that have enough characters to be
// found by a part, each once, in JSON. A word has nothing that JSON escapes.
func vocabularyOf(text string) string {
	seen, list := map[string]bool{}, []byte("[")
	for _, word := range wordsOf(text) {
		if seen[word] || utf8.RuneCountInString(word) < minPart {
			continue
		}
		seen[word] = true
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(append(append(list, '"'), word...), '"')
	}
	return string(append(list, ']'))
}

// sought is a word of a search as phrases in the language of FTS5: one of them must be
// there.
type sought struct {
	whole string   // the word itself
	parts []string // longer words with it
	rows  int      // how many rows have it, counted as far as it matters
}

func (s sought) phrases() []string { return append([]string{s.whole}, s.parts...) }

// seek looks up which words of the texts a word of a search can mean. Of a word of
// several pieces, as a file's name, the first can be the end of a longer one, and the
// last its beginning. A word without letters and digits means nothing.
func (w *file) seek(ctx context.Context, word string) (s sought, err error) {
	pieces := wordsOf(word)
	if len(pieces) == 0 {
		return s, nil
	}
	last := len(pieces) - 1
	s.whole = phrase(pieces)
	if utf8.RuneCountInString(pieces[last]) >= minPart {
		if s.parts, err = w.longer(ctx, pieces); err != nil {
			return s, err
		}
	}
	first := pieces[0]
	if utf8.RuneCountInString(first) < minPart {
		return s, nil
	}
	if last > 0 {
		first += "$"
	}
	heads, err := w.texts(ctx, "select word from words_parts join words on id = words_parts.rowid where words_parts match ?", phrase([]string{first}))
	longer := s.parts
	for _, head := range heads {
		s.parts = append(s.parts, phrase(append([]string{head}, pieces[1:]...)))
		for _, more := range longer {
			if last > 0 {
				s.parts = append(s.parts, `"`+head+strings.TrimPrefix(more, `"`+pieces[0]))
			}
		}
	}
	return s, err
}

// longer are the phrases of which the last word begins with the last of some pieces
// and has more.
func (w *file) longer(ctx context.Context, pieces []string) ([]string, error) {
	last := pieces[len(pieces)-1]
	words, err := w.texts(ctx, "select word from words where word > ? and word < ? limit ?", last, last+string(unicode.MaxRune), fewWords+1)
	if len(words) > fewWords {
		return []string{phrase(pieces) + " *"}, err
	}
	for i, word := range words {
		words[i] = phrase(append(pieces[:len(pieces)-1:len(pieces)-1], word))
	}
	return words, err
}

// phrase are words that follow one another. They have nothing that FTS5 escapes.
func phrase(words []string) string { return `"` + strings.Join(words, " ") + `"` }

// texts reads a column of texts.
func (w *file) texts(ctx context.Context, query string, args ...any) (found []string, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, query, args...)
	err = w.Each(ctx, rows, err, func() error {
		var text string
		err := rows.Scan(&text)
		found = append(found, text)
		return err
	})
	return found, err
}
