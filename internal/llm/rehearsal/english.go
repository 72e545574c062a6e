package rehearsal

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed english.txt
var englishText string

// english is what the planner knows of the language: words by their part in a
// sentence, and groups of words that mean the same.
type english struct {
	words   map[string]set      // section → words as written
	stems   map[string]set      // section → stems
	phrases map[string][]string // section → phrases, where it has any
	groups  map[string]set      // stem → stems of the same meaning
	instead map[string][]token  // a phrase → what it is read as
}

// set holds words or stems.
type set map[string]bool

func (s set) addAll(words ...string) {
	for _, w := range words {
		s[w] = true
	}
}

func readEnglish() *english {
	en := &english{words: map[string]set{}, stems: map[string]set{}, phrases: map[string][]string{}, groups: map[string]set{}, instead: map[string][]token{}}
	for line := range strings.Lines(englishText) {
		section, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(section, "#") {
			continue
		}
		en.add(section, rest)
	}
	return en
}

func (en *english) add(section, rest string) {
	switch words := strings.Fields(rest); section {
	case "same":
		en.group(words)
		return
	case "means": // one way only: "paid" may ask for a salary, a salary is not all that is paid
		en.mean(words[0], words[1:])
		return
	case "instead":
		plain, phrases, _ := strings.Cut(rest, " = ")
		for _, phrase := range strings.Split(phrases, "|") {
			for _, w := range strings.Fields(plain) {
				en.instead[phrase] = append(en.instead[phrase], tokensOf(w)...)
			}
		}
		return
	}
	if strings.Contains(rest, "|") {
		en.phrases[section] = append(en.phrases[section], strings.Split(rest, "|")...)
		return
	}
	if en.words[section] == nil {
		en.words[section], en.stems[section] = set{}, set{}
	}
	for _, w := range strings.Fields(rest) {
		en.words[section][w] = true
		en.stems[section][stem(w)] = true
	}
}

func (en *english) group(words []string) {
	for _, w := range words {
		en.mean(w, words)
	}
}

func (en *english) mean(word string, others []string) {
	s := stem(word)
	if en.groups[s] == nil {
		en.groups[s] = set{}
	}
	for _, other := range others {
		en.groups[s][stem(other)] = true
	}
}

// plainly puts the plain word for a phrase that means the same.
func (en *english) plainly(tokens []token) []token {
	out := tokens[:0:0]
	for i := 0; i < len(tokens); {
		n, plain := en.insteadAt(tokens[i:])
		if n == 0 {
			out = append(out, tokens[i])
			i++
			continue
		}
		for _, t := range plain {
			t.low = t.text
			t.stem = stem(t.low)
			if len(plain) == 1 {
				t.said = textOf(tokens[i : i+n])
			}
			out = append(out, t)
		}
		i += n
	}
	return out
}

// insteadAt finds the longest phrase that the tokens begin with and that has a
// plain word.
func (en *english) insteadAt(tokens []token) (n int, plain []token) {
	const longest = 4
	phrase := ""
	for i, t := range tokens[:min(longest, len(tokens))] {
		if t.kind != word || t.owns {
			break
		}
		if i > 0 {
			phrase += " "
		}
		phrase += t.low
		if words := en.instead[phrase]; words != nil {
			n, plain = i+1, words
		}
	}
	return n, plain
}

// is reports whether the word stands in a section as it is written.
func (en *english) is(section, word string) bool { return en.words[section][word] }

// says reports whether the whole text is one of a section's phrases.
func (en *english) says(section string, words []string) bool {
	text := strings.Join(words, " ")
	for _, p := range en.phrases[section] {
		if p == text {
			return true
		}
	}
	return false
}

// measures reports whether a word alone asks for a count, a sum or an extreme.
func (en *english) measures(w string) bool {
	for _, section := range []string{"count", "sum", "average", "highest", "lowest", "newest", "oldest"} {
		if slices.Contains(en.phrases[section], w) {
			return true
		}
	}
	return false
}

// phrase returns how many of the words, from the first, make the longest phrase
// of a section; 0 when none does.
func (en *english) phrase(section string, words []string) int {
	longest := 0
	for _, p := range en.phrases[section] {
		parts := strings.Fields(p)
		if len(parts) > longest && len(parts) <= len(words) && equalWords(parts, words) {
			longest = len(parts)
		}
	}
	return longest
}

func equalWords(prefix, words []string) bool {
	for i, w := range prefix {
		if words[i] != w {
			return false
		}
	}
	return true
}

// among reports whether the stem, or one that means the same, is in the set.
func (en *english) among(stems set, s string) bool {
	if stems[s] {
		return true
	}
	for other := range en.groups[s] {
		if stems[other] {
			return true
		}
	}
	return false
}

// stem cuts a word to what its forms share, so that "salaries" meets "salary"
// and "managed" meets "manager's manage". Two forms of a word must agree; the
// stem itself need not be a word.
func stem(w string) string {
	w = singular(w)
	switch {
	case len(w) > 5 && strings.HasSuffix(w, "ing"):
		w = undouble(w[:len(w)-3])
	case len(w) > 4 && strings.HasSuffix(w, "ed"):
		w = undouble(w[:len(w)-2])
	case len(w) > 5 && strings.HasSuffix(w, "ly"):
		w = w[:len(w)-2]
	}
	if len(w) > 3 && strings.HasSuffix(w, "e") {
		w = w[:len(w)-1]
	}
	return w
}

func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}
