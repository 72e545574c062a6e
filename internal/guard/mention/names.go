package mention

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
	"unicode"

	"countersign.dev/internal/pattern"
)

// The lists of words: English words of technical and business texts that are often written
// in small letters; words that have a capital letter and are no row of a company's data
// (languages, countries, holidays, widespread software), with what titles and labels are
// made of; and given names.
var (
	//go:embed words.txt
	commonList string
	//go:embed world.txt
	worldList string
	//go:embed given.txt
	givenList string

	common = sync.OnceValue(func() map[string]bool { return wordSet(commonList + " " + worldList) })
	given  = sync.OnceValue(func() map[string]bool { return wordSet(givenList) })
)

func wordSet(list string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		words[word] = true
	}
	return words
}

// IsGiven reports whether a word in small letters is a person's given name.
func IsGiven(word string) bool { return given()[word] }

// IsCommon reports whether a word in small letters is one that titles and sentences are made
// of, the form of one, or has the form of such a word.
func IsCommon(word string) bool {
	for root := range Roots(word) {
		if common()[root] || root != word && common()[root+"e"] {
			return true
		}
	}
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(word, prefix); ok && len(rest) > 3 && common()[rest] {
			return true
		}
	}
	return derivedForm.MatchString(word) || compound(word)
}

var prefixes = strings.Fields("un re over under non pre out mid sub multi self co")

// derivedForm matches long words with an ending by which English and German make words of
// others. Few names have one.
var derivedForm = pattern.New(`^\pL{3,}(?:tion|tions|sion|sions|ment|ments|ness|ities|ility|ality|able|ible|less|ously|ally|ively|ative|ization|isation|izing|ising|ship|ships|wise|ologist|ological|ungen|ung|heit|heiten|keit|keiten|schaft|schaften|ismus|tionen|ität|itäten|lich|liche|lichen|licher|liches|ische|ischen|ischer|ierung)$`)

// compound reports whether a word is made of two common ones: workload, over-budget.
func compound(word string) bool {
	for at := 4; at+4 <= len(word); at++ {
		if common()[word[:at]] && common()[word[at:]] {
			return true
		}
	}
	return false
}

// ruler is the line below the head of a table.
var ruler = pattern.New(`^\s*\|?[\s:|-]*-[\s:|-]*$`)

// pieceEnd parts a line into cells, sentences and what comes before a colon.
var pieceEnd = pattern.New(`[.!?…:]["”')*_]*(?:\s+|$)|\||;|\(|\)|\s[-–—]\s|^\s*(?:[-*+•]|\d+[.)])\s+`)

// IsRuler reports whether a line is the one below the head of a table.
func IsRuler(line string) bool { return strings.Contains(line, "-") && ruler.MatchString(line) }

// IsItem reports whether a line is a row of a table or an item of a list.
func IsItem(line string) bool { return item.MatchString(line) }

// item matches a row of a table and an item of a list.
var item = pattern.New(`\||^\s*(?:[-*+•]|\d+[.)])\s`)

// NamesOf returns what can be a name in a text without marks of markdown: a word with a
// capital letter inside of a sentence, or a cell or item that begins with one.
func NamesOf(text string) (names []Name) {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		head := n+1 < len(lines) && strings.Contains(line, "|") && ruler.MatchString(lines[n+1])
		if head || strings.HasPrefix(strings.TrimSpace(line), "#") || !strings.ContainsFunc(line, unicode.IsUpper) {
			continue
		}
		listed := item.MatchString(line)
		for _, piece := range pieceEnd.Split(line, -1) {
			for _, name := range namesIn(piece) {
				name.Alone = name.Alone && listed
				names = append(names, name)
			}
		}
	}
	return names
}

// Name is words in a row that begin with a capital letter.
type Name struct {
	Words []string
	First bool // it begins its piece
	Alone bool // it is all of its piece
}

func (n Name) String() string { return strings.Join(n.Words, " ") }

// shortened are the names that people and models shorten: Joe Green is Joseph's.
var shortened = func() map[string][]string {
	full := map[string][]string{}
	for line := range strings.SplitSeq(shortNames, ";") {
		words := strings.Fields(line)
		for _, short := range words[1:] {
			full[short] = append(full[short], words[0])
		}
	}
	return full
}()

const shortNames = `joseph joe;robert bob rob bobby;daniel dan danny;william will bill;michael mike;christopher chris;christine chris;samuel sam;samantha sam;
elizabeth liz beth;katherine kate kathy;catherine cathy kate;margaret maggie meg peggy;susan sue;patricia pat patty;patrick pat;thomas tom;timothy tim;steven steve;
stephen steve;stephanie steph;jennifer jen jenny;jessica jess;matthew matt;andrew andy drew;anthony tony;benjamin ben;alexander alex;alexandra alex;nicholas nick;nicole nicky;
edward ed eddie;james jim jimmy;john jack;jonathan jon;kenneth ken;lawrence larry;richard rick dick;ronald ron;victoria vicky;rebecca becky;deborah deb debbie;donald don;gregory greg;
jeffrey jeff;frederick fred;francis frank;charles charlie chuck;david dave;peter pete;philip phil;raymond ray;theodore ted;walter walt;zachary zach;olivia liv;amanda mandy`

// Roots yields a word, and what it may be a form of.
func Roots(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(word) {
			return
		}
		for _, full := range shortened[word] {
			if !yield(full) {
				return
			}
		}
		for _, suffix := range []string{"s", "es", "ed", "ing", "ly", "d", "est", "ies", "ier", "iest"} {
			if root, ok := strings.CutSuffix(word, suffix); ok && len(root) > 2 && !yield(root) {
				return
			}
		}
	}
}

// namesIn finds the names of a piece of a line.
func namesIn(piece string) (names []Name) {
	fields := strings.Fields(piece)
	var current []string
	begin := 0
	end := func(at int) {
		if len(current) > 0 {
			names = append(names, Name{current, begin == 0, begin == 0 && at == len(fields)})
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
