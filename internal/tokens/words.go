package tokens

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Bounds of what is remembered of words.
const (
	maxWords = 32 << 10
	maxWord  = 32 // bytes
)

// words counts tokens with the vocabulary, which splits a text by an expression before it
// merges bytes. The expression takes an allocation or two for each of its matches, so
// texts in ASCII are split here, and the counts of their words remembered.
type words struct {
	vocabulary *codec.Codec

	mu     sync.Mutex
	counts map[string]int
}

func newWords() *words { return &words{vocabulary: codec.NewO200kBase(), counts: map[string]int{}} }

func (w *words) count(text string) (n int) {
	if !isASCII(text) {
		return w.split(text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(text) > 0 {
		word := text[:wordAt(text)]
		n, text = n+w.word(word), text[len(word):]
	}
	return n
}

// word counts a word that the expression does not split.
func (w *words) word(word string) int {
	if n, known := w.counts[word]; known {
		return n
	}
	n := w.split(word)
	if len(word) > maxWord {
		return n
	}
	if len(w.counts) >= maxWords {
		clear(w.counts)
	}
	w.counts[strings.Clone(word)] = n
	return n
}

// split has the vocabulary split a text and count it.
func (w *words) split(text string) int {
	n, err := w.vocabulary.Count(text)
	if err != nil { // no documented input does
		return len(text)
	}
	return n
}

// isASCII reports whether a text is split here. DEL counts as none: the library's
// expression passes over it.
func isASCII(text string) bool {
	const del = 0x7f
	for i := range len(text) {
		if text[i] >= del {
			return false
		}
	}
	return true
}

// wordAt is the length of the first match in a text in ASCII that is not empty, of the
// expression with which o200k_base splits:
//
//	[^\r\n\p{L}\p{N}]?[upper]*[lower]+('s|'t|'re|'ve|'m|'ll|'d)?  letters, with what is before them
//	[^\r\n\p{L}\p{N}]?[upper]+[lower]*('s|…)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*                                    marks
//	\s*[\r\n]+|\s+(?!\S)|\s+                                      blanks, without the one before a word
func wordAt(text string) int {
	before := 0
	if c := text[0]; !isLetter(c) && !isDigit(c) && !isNewline(c) {
		before = 1
	}
	if n := before + lengthOf(text[before:], isUpper); before < len(text) {
		n += lengthOf(text[n:], isLower)
		if n > before {
			return n + contraction(text[n:])
		}
	}
	if n := lengthOf(text[:min(3, len(text))], isDigit); n > 0 {
		return n
	}
	space := lengthOf(text[:1], func(c byte) bool { return c == ' ' })
	if n := space + lengthOf(text[space:], isMark); n > space {
		return n + lengthOf(text[n:], func(c byte) bool { return isNewline(c) || c == '/' })
	}
	blanks := lengthOf(text, isBlank)
	if last := strings.LastIndexAny(text[:blanks], "\r\n"); last >= 0 {
		return last + 1
	}
	if blanks > 1 && blanks < len(text) {
		return blanks - 1
	}
	return blanks
}

// contraction is the length of 's, 't, 're, 've, 'm, 'll or 'd at the begin of a text.
func contraction(text string) int {
	for _, short := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if len(text) >= len(short) && strings.EqualFold(text[:len(short)], short) {
			return len(short)
		}
	}
	return 0
}

// lengthOf is how many bytes at the begin of a text are of a class.
func lengthOf(text string, is func(byte) bool) int {
	for i := range len(text) {
		if !is(text[i]) {
			return i
		}
	}
	return len(text)
}

func isUpper(c byte) bool   { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool   { return c >= 'a' && c <= 'z' }
func isLetter(c byte) bool  { return isUpper(c) || isLower(c) }
func isDigit(c byte) bool   { return c >= '0' && c <= '9' }
func isNewline(c byte) bool { return c == '\r' || c == '\n' }
func isBlank(c byte) bool   { return c == ' ' || c >= '\t' && c <= '\r' }
func isMark(c byte) bool    { return !isBlank(c) && !isLetter(c) && !isDigit(c) }
