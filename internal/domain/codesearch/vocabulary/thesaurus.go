package vocabulary

import (
	"cmp"
	_ "embed"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"countersign.dev/internal/domain/codesearch/words"
)

// thesaurusText has to a line two to four plain words and, after a colon, the words that code has for what
// they say together, the most telling first: "comma separated values: csv". It is general knowledge of
// programming; who wrote it had read no question of a benchmark.
//
//go:embed thesaurus.txt
var thesaurusText string

// thesaurus are senses, by the stems of the plain words that they have.
type thesaurus struct {
	senses []sense
	having map[string][]int32
	counts sync.Pool // of *[]uint32: by sense, zero. A question has words of few of them
}

// sense is what some plain words say together.
type sense struct {
	plain int      // how many plain words it has
	code  []string // stems of the words that code has for it
}

// Prepare reads the thesaurus, which takes about 60 ms and is else done for the first question.
func Prepare() { general() }

// general is the thesaurus of [thesaurusText].
var general = sync.OnceValue(func() *thesaurus { return newThesaurus(thesaurusText) })

func newThesaurus(text string) *thesaurus {
	t, known := &thesaurus{having: map[string][]int32{}}, map[string]string{}
	stems := func(text string) (all []string) {
		for word := range strings.FieldsSeq(text) {
			stem, ok := known[word]
			if !ok {
				stem = words.Stem(word)
				known[word] = stem
			}
			if !slices.Contains(all, stem) {
				all = append(all, stem)
			}
		}
		return all
	}
	for line := range strings.Lines(text) {
		plain, code, _ := strings.Cut(line, ":")
		said := stems(plain)
		for _, stem := range said {
			t.having[stem] = append(t.having[stem], int32(len(t.senses)))
		}
		t.senses = append(t.senses, sense{len(said), stems(code)})
	}
	t.counts.New = func() any {
		counts := make([]uint32, len(t.senses))
		return &counts
	}
	return t
}

// Meaning is a word that code has for what some words of a question say together.
type Meaning struct {
	Stem  string
	Words uint32  // those words: bits by their places in the question
	Votes float64 // the sum of what senses give it: 1 for the first word of one that the question has whole
}

const (
	enoughVotes = 0.8 - 1e-9 // the second word of a sense that the question has whole, whatever the rounding
	lessTelling = 0.8        // what each further word of a sense counts, in parts of the one before
)

// Meanings returns what code has for what the stems of a question, 32 at most, say together; what most agrees on first. A
// sense that the question has whole is enough for its first two words; of those that it has in part, at least two words each,
// some must agree.
func Meanings(stems []string) []Meaning { return general().meanings(stems) }

func (t *thesaurus) meanings(stems []string) (all []Meaning) {
	at := map[string]int{}
	for _, m := range t.touched(stems) {
		part := float64(bits.OnesCount32(m.words)) / float64(m.plain)
		vote := part * part
		for _, stem := range m.code {
			i, found := at[stem]
			if !found {
				i = len(all)
				at[stem], all = i, append(all, Meaning{Stem: stem})
			}
			all[i].Votes += vote
			all[i].Words |= m.words
			vote *= lessTelling
		}
	}
	all = slices.DeleteFunc(all, func(m Meaning) bool { return m.Votes < enoughVotes || slices.Contains(stems, m.Stem) })
	slices.SortFunc(all, func(a, b Meaning) int { return cmp.Or(cmp.Compare(b.Votes, a.Votes), strings.Compare(a.Stem, b.Stem)) })
	return all
}

// touched is a sense of which a question has some words.
type touched struct {
	sense
	words uint32 // bits by their places in the question
}

// touched returns the senses of which the question has two words or more, in the order of the thesaurus.
func (t *thesaurus) touched(stems []string) (all []touched) {
	has := t.counts.Get().(*[]uint32) // nothing else is in the pool
	defer t.counts.Put(has)
	var several []int32
	for i, stem := range stems {
		if slices.Contains(stems[:i], stem) {
			continue
		}
		for _, s := range t.having[stem] {
			if bits.OnesCount32((*has)[s]) == 1 {
				several = append(several, s)
			}
			(*has)[s] |= 1 << i
		}
	}
	slices.Sort(several)
	for _, s := range several {
		all = append(all, touched{t.senses[s], (*has)[s]})
	}
	for _, stem := range stems {
		for _, s := range t.having[stem] {
			(*has)[s] = 0
		}
	}
	return all
}
