package guard

import (
	"slices"
	"strings"

	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/guard/wording"
)

// stated is what an answer states that may be in no result.
type stated struct {
	text     string
	german   bool
	mentions []mention.Mention
	names    []mention.Name
	plain    map[string]bool // words that the answer writes in small letters
}

func statedIn(text, question string) stated {
	text = hyphens.Replace(text)
	s := stated{text: text, german: wording.IsGerman(text + " " + question), mentions: mention.Of(text), plain: lowerWords(text)}
	for _, name := range mention.NamesOf(wording.Markdown.Replace(text)) {
		if s.unknown(name, nil) {
			s.names = append(s.names, name)
		}
	}
	return s
}

// hyphens writes those that break no line as others: models write them in ids.
var hyphens = strings.NewReplacer("\u2010", "-", "\u2011", "-")

// tokens are what is looked for in the texts: ids and the words of names, and the
// figures that can be the end of an id.
func (s stated) tokens() (tokens, tails map[string]bool) {
	tokens, tails = map[string]bool{}, map[string]bool{}
	for _, c := range s.mentions {
		for _, reading := range append([]mention.Mention{c}, c.Or...) {
			switch reading.Kind {
			case mention.Exact:
				tokens[strings.ToLower(reading.Text)] = false
			case mention.Figure:
				tails[reading.Text] = false
			}
		}
	}
	for _, name := range s.names {
		for _, word := range name.Words {
			small := strings.ToLower(word)
			for _, part := range append(strings.Split(small, "-"), small) {
				for root := range mention.Roots(part) {
					tokens[root] = false
				}
			}
		}
	}
	return tokens, tails
}

// unknownNames returns names that are neither in a result nor in what was said.
func (s stated) unknownNames(tokens map[string]bool) (odd []string) {
	for _, name := range s.names {
		if text := name.String(); s.unknown(name, tokens) && !slices.Contains(odd, text) {
			odd = append(odd, text)
		}
	}
	return odd
}

// unknown reports whether a word of a name is in no evidence. The first word of a
// sentence has a capital letter in any case, so alone it is no name.
// In German every noun has one: only a given name, or two unknown words inside of a
// sentence, are a name.
func (s stated) unknown(n mention.Name, tokens map[string]bool) bool {
	strange, person := 0, false
	for _, word := range n.Words {
		small := strings.ToLower(word)
		if s.german && wording.Measures[small] {
			return false
		}
		if s.isStrange(small, tokens) {
			strange++
			person = person || mention.IsGiven(small)
		}
	}
	switch {
	case person && len(n.Words) > 1:
		return true
	case s.german:
		return strange > 1 && !n.First
	}
	return strange > 0 && (!n.First || len(n.Words) > 1 || n.Alone)
}

func (s stated) isStrange(word string, tokens map[string]bool) bool {
	if s.plain[word] || wording.German[word] || mention.MonthOf(word) > 0 || word == "mar" {
		return false
	}
	if parts := strings.Split(word, "-"); len(parts) > 1 { // Staff-level
		return slices.ContainsFunc(parts, func(part string) bool { return s.isStrange(part, tokens) })
	}
	for root := range mention.Roots(word) {
		if tokens[root] {
			return false
		}
	}
	return !mention.IsCommon(word)
}

// lowerWords are the words that the text itself writes in small letters.
func lowerWords(text string) map[string]bool {
	words := map[string]bool{}
	for token := range wording.Tokens(text) {
		if token == strings.ToLower(token) {
			words[token] = true
		}
	}
	return words
}
