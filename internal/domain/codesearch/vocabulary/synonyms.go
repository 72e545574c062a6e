package vocabulary

import _ "embed"

// The texts are general English of programming: no word was chosen for a question of a benchmark. All but
// [namedText] have plain words.
var (
	// relatedText has words that programmers use for each other, one group to a line.
	//go:embed related.txt
	relatedText string
	// furtherText has a word to a line, and words that code may have in its place. They are looser than
	// those that are related, and count only for words that the indexes hardly have.
	//go:embed further.txt
	furtherText string
	// namedText has to a line the stems of a word and of the parts of names that answer it. bench/codesearch learned it
	// from comments.
	//go:embed named.txt
	namedText string
	// abbreviationsText has a word to a line, and what programmers shorten it to or take for it.
	//go:embed abbreviations.txt
	abbreviationsText string
)

var (
	synonyms      = table(relatedText, group)
	further       = table(furtherText, instead)
	named         = table(namedText, learned)
	abbreviations = table(abbreviationsText, pairs)
)

// Synonyms are words that mean the same as a stem.
func Synonyms(stem string) []string { return synonyms[stem] }

// Instead are words that code may have in the place of one that it hardly has.
func Instead(stem string) []string { return further[stem] }

// Named are parts of the names of what comments with a word are about.
func Named(stem string) []string { return named[stem] }

// Abbreviations are what programmers shorten a stem to, or what it is short for.
func Abbreviations(stem string) []string { return abbreviations[stem] }
