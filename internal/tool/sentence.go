package tool

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"countersign.dev/internal/access"
	"countersign.dev/internal/plaintext"
)

// MaxName is how many characters of a row's name a sentence has.
const MaxName = 80

// Sentence is the question of an approval card. Only [Say] makes one, so that no
// name of a row can be read as words of ours.
type Sentence struct{ text string }

// String is the sentence.
func (s Sentence) String() string { return s.text }

// Plain is a part of a sentence that is ours: an amount, a date, a note. It must
// hold no text of a row and none of an input.
type Plain string

// Listed is a name of the company's own lists of people and departments. It is
// quoted only when it does not look like a name.
type Listed string

// Say writes a sentence. Every string among the arguments is taken as the text of
// a row: it is clipped to [MaxName] characters, its odd characters are written as
// code points, and it is put into quotation marks unless it is a single word, such
// as an id or an address. [Plain] and numbers stay as they are.
func Say(format string, args ...any) Sentence {
	parts := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case Plain:
			parts[i] = string(v)
		case Sentence:
			parts[i] = v.text
		case Listed:
			parts[i] = nameUnless(listedName, string(v))
		case int, int64, float64:
			parts[i] = v
		default:
			parts[i] = nameUnless(oneWord, fmt.Sprint(v))
		}
	}
	return Sentence{fmt.Sprintf(format, parts...)}
}

// Then adds another sentence.
func (s Sentence) Then(format string, args ...any) Sentence {
	return Sentence{s.text + Say(format, args...).text}
}

var (
	oneWord    = regexp.MustCompile(`^[\p{L}\p{M}\p{N}@._%+/:#&*$€£,'’-]+$`)
	listedName = regexp.MustCompile(`^\p{Lu}[\p{L}\p{M}.'’-]*( ((van|von|de|der|den|la|le|al|bin|da|di|dos|del) )*\p{Lu}[\p{L}\p{M}.'’-]*){0,3}$`)
)

// nameUnless quotes a name unless it looks like what is allowed bare.
func nameUnless(bare *regexp.Regexp, name string) string {
	if name == access.Hidden || bare.MatchString(name) && utf8.RuneCountInString(name) <= MaxName && plaintext.Check(name, false) == nil {
		return name
	}
	return "“" + innerQuotes.Replace(plaintext.Clip(plaintext.Escape(name, false), MaxName)) + "”"
}

// innerQuotes keeps a name from closing its own quotation.
var innerQuotes = strings.NewReplacer("“", "'", "”", "'", "„", "'", "‟", "'", `"`, "'", "«", "'", "»", "'")
