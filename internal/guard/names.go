package guard

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// common are English words that are no names: those of technical and business
// texts that are often written in small letters.
//
//go:embed words.txt
var commonList string

var common = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(commonList) {
		words[word] = true
	}
	return words
})

// ruler is the line below the head of a table.
var ruler = regexp.MustCompile(`^\s*\|?[\s:|-]*-[\s:|-]*$`)

// pieceEnd parts a line into cells, sentences and what comes before a colon.
var pieceEnd = regexp.MustCompile(`[.!?…:]["”')*_]*(?:\s+|$)|\||;|\(|\)|\s[-–—]\s|^\s*(?:[-*+•]|\d+[.)])\s+`)

// item matches a row of a table and an item of a list.
var item = regexp.MustCompile(`\||^\s*(?:[-*+•]|\d+[.)])\s`)

// unknownNames returns names that are neither in a result nor in what was said.
// A name is a word with a capital letter inside of a sentence, or a cell or item
// that begins with one and is no common word.
func unknownNames(text string, d *data) (odd []string) {
	plain, german := lowerWords(text), isGerman(text)
	lines := strings.Split(markdown.Replace(text), "\n")
	for n, line := range lines {
		head := n+1 < len(lines) && strings.Contains(line, "|") && ruler.MatchString(lines[n+1])
		if head || strings.HasPrefix(strings.TrimSpace(line), "#") || !strings.ContainsFunc(line, unicode.IsUpper) {
			continue
		}
		listed := item.MatchString(line)
		for _, piece := range pieceEnd.Split(line, -1) {
			for _, name := range namesIn(piece) {
				name.alone = name.alone && listed
				if german { // every noun has a capital letter: two of them are a name
					name = name.withoutArticle()
				}
				if name.unknown(d, plain) && (!german || len(name.words) > 1) && !slices.Contains(odd, name.text()) {
					odd = append(odd, name.text())
				}
			}
		}
	}
	return odd
}

// properName is words in a row that begin with a capital letter.
type properName struct {
	words []string
	first bool // it begins its piece
	alone bool // it is all of its piece
}

// withoutArticle drops a first word that is no part of a German name.
func (n properName) withoutArticle() properName {
	if len(n.words) > 0 && n.first && len(n.words[0]) <= 5 {
		n.words, n.first = n.words[1:], false
	}
	return n
}

func (n properName) text() string { return strings.Join(n.words, " ") }

// unknown reports whether a word of the name is in no evidence. The first word of
// a sentence has a capital letter in any case, so alone it is no name.
func (n properName) unknown(d *data, plain map[string]bool) bool {
	if n.first && len(n.words) == 1 && !n.alone {
		return false
	}
	return slices.ContainsFunc(n.words, func(word string) bool {
		small := strings.ToLower(word)
		if d.tokens[small] || plain[small] || common()[small] {
			return false
		}
		for _, suffix := range []string{"s", "es", "ed", "ing", "ly", "d"} {
			if root, ok := strings.CutSuffix(small, suffix); ok && len(root) > 2 && (d.tokens[root] || common()[root] || common()[root+"e"]) {
				return false
			}
		}
		return true
	})
}

// namesIn finds the names of a piece of a line.
func namesIn(piece string) (names []properName) {
	fields := strings.Fields(piece)
	var current []string
	begin := 0
	end := func(at int) {
		if len(current) > 0 {
			names = append(names, properName{current, begin == 0, begin == 0 && at == len(fields)})
			current = nil
		}
	}
	for i, field := range fields {
		word := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		word = strings.TrimSuffix(word, "'s")
		if !isName(word) {
			end(i)
			continue
		}
		if strings.HasPrefix(field, `"`) || strings.HasPrefix(field, "“") {
			end(i)
		}
		if current == nil {
			begin = i
		}
		if current = append(current, word); strings.ContainsAny(field[len(field)-1:], `,;:."!?`) {
			end(i + 1)
		}
	}
	end(len(fields))
	return names
}

// isName reports whether a word has the form of a name: a capital letter, and then
// small ones.
func isName(word string) bool {
	runes := []rune(word)
	if len(runes) < 3 || !unicode.IsUpper(runes[0]) || !unicode.IsLetter(runes[1]) {
		return false
	}
	small := 0
	for _, r := range runes[1:] {
		switch {
		case unicode.IsLower(r):
			small++
		case !unicode.IsLetter(r) && r != '\'' && r != '-':
			return false
		}
	}
	return small > 0
}

// lowerWords are the words that the text itself writes in small letters.
func lowerWords(text string) map[string]bool {
	words := map[string]bool{}
	for token := range tokensOf(text) {
		if token == strings.ToLower(token) {
			words[token] = true
		}
	}
	return words
}
