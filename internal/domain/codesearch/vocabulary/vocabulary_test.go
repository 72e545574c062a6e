package vocabulary

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/domain/codesearch/words"
)

// TestThesaurusIsWellFormed: each line says with two plain words or more what code has other words for.
func TestThesaurusIsWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^[a-z0-9]+( [a-z0-9]+){1,3}: [a-z0-9]+( [a-z0-9]+){0,5}\n$`)
	before, same := "", map[string]string{}
	for line := range strings.Lines(thesaurusText) {
		plain, code, _ := strings.Cut(line, ":")
		var stems []string
		for word := range strings.FieldsSeq(plain) {
			if Silent(word) || len(words.Terms(word)) == 0 {
				t.Errorf("%q has %q, which no question keeps", line, word)
			}
			if stem := words.Stem(word); !slices.Contains(stems, stem) {
				stems = append(stems, stem)
			}
		}
		switch {
		case !form.MatchString(line):
			t.Errorf("%q has another form", line)
		case line <= before:
			t.Errorf("%q is not in order, or there twice", line)
		case len(stems) < 2:
			t.Errorf("%q has one plain word", line)
		}
		for word := range strings.FieldsSeq(code) {
			if slices.Contains(stems, words.Stem(word)) || len(words.Terms(word)) == 0 {
				t.Errorf("%q has %q for code, which is one of the plain words or in no index", line, word)
			}
		}
		slices.Sort(stems)
		plain = strings.Join(stems, " ")
		if other, twice := same[plain]; twice {
			t.Errorf("%q has the plain words of %q: make them one line", line, other)
		}
		before, same[plain] = line, line
	}
}

// TestMeaning: what two words say together is meant by both, whatever their order. One of them alone says nothing, a word
// that the question has twice is one, and what it says itself is not meant besides.
func TestMeaning(t *testing.T) {
	for _, c := range []struct {
		stems string
		want  uint32 // the words that csv is for
	}{
		{"comma separ", 0b11},
		{"print separ valu comma", 0b1010},
		{"comma", 0},
		{"separ", 0},
		{"comma comma", 0},
		{"csv comma separ", 0},
	} {
		of := uint32(0)
		for _, m := range newThesaurus("comma separated: csv delimiter\n").meanings(strings.Fields(c.stems)) {
			if m.Stem == "csv" {
				of = m.Words
			}
		}
		if of != c.want {
			t.Errorf("%s: %b, not %b", c.stems, of, c.want)
		}
	}
	if got := Meanings([]string{"comma", "separ"}); !slices.ContainsFunc(got, func(m Meaning) bool { return m.Stem == "csv" }) {
		t.Errorf("%v", got)
	}
}

// TestSensesInPartMustAgree: a sense of three words of which a question has two is not enough alone.
func TestSensesInPartMustAgree(t *testing.T) {
	for lines, want := range map[string]string{
		"":                                  "",
		"zebra okapi giraffe: alpha beta\n": "",
		"zebra okapi giraffe: alpha beta\nzebra okapi lion: beta\n":                                   "beta 0.80",
		"zebra okapi giraffe: alpha beta\nzebra okapi: gamma\n":                                       "gamma 1.00",
		"zebra okapi giraffe: beta\nzebra okapi: gamma delta epsilon\nzebra okapi lion: alpha beta\n": "gamma 1.00, beta 0.80, delta 0.80",
		"zebra giraffe: gamma\nzebra: delta\n":                                                        "",
	} {
		var got []string
		for _, m := range newThesaurus(lines).meanings([]string{"zebra", "count", "okapi"}) {
			got = append(got, fmt.Sprintf("%s %.2f", m.Stem, m.Votes))
			if m.Words != 0b101 {
				t.Errorf("%q: %s is for %b", lines, m.Stem, m.Words)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %v, not %s", lines, got, want)
		}
	}
}

// TestRecalled: what code seldom has of the comments about it counts less than what it mostly has, and a word that was
// not learned counts as it is.
func TestRecalled(t *testing.T) {
	if whether, cache := Recalled("whether"), Recalled("cach"); whether >= 0.5 || cache != 1 || Recalled("zebra") != 1 {
		t.Errorf("whether %v, cache %v, zebra %v", whether, cache, Recalled("zebra"))
	}
}

// TestBothWays: words are abbreviations and synonyms of each other.
func TestBothWays(t *testing.T) {
	if !slices.Contains(Abbreviations("request"), "req") || !slices.Contains(Abbreviations("req"), "request") {
		t.Errorf("%v, %v", Abbreviations("request"), Abbreviations("req"))
	}
	if !slices.Contains(Synonyms("delet"), "remov") || !slices.Contains(Synonyms("remov"), "delet") || slices.Contains(Synonyms("delet"), "delet") {
		t.Errorf("%v, %v", Synonyms("delet"), Synonyms("remov"))
	}
	if got := Instead("absent"); !slices.Contains(got, "null") || len(Instead("null")) > 0 && slices.Contains(Instead("null"), "absent") {
		t.Errorf("in the place of absent: %v", got)
	}
}

// TestEveryEntryIsATerm: a word of the texts is one term of code, no line has a stem twice, and what was
// learned are stems of words.
func TestEveryEntryIsATerm(t *testing.T) {
	for name, text := range map[string]string{"related": relatedText, "further": furtherText, "abbreviations": abbreviationsText} {
		for line := range strings.Lines(text) {
			var stems []string
			for _, word := range strings.Fields(line) {
				stem := words.Stem(word)
				if terms := words.Terms(word); len(terms) == 0 || terms[len(terms)-1] != stem || slices.Contains(stems, stem) {
					t.Errorf("%s: %q of %q has the terms %v", name, word, line, terms)
				}
				stems = append(stems, stem)
			}
			if len(stems) < 2 {
				t.Errorf("%s: %q relates nothing", name, line)
			}
		}
	}
	for stem := range strings.FieldsSeq(namedText) {
		if !slices.ContainsFunc(withEndings(stem), func(word string) bool { return slices.Equal(words.Terms(word), []string{stem}) }) {
			t.Errorf("named: %q is the stem of no word", stem)
		}
	}
	if got := Abbreviations(words.Stem("reference")); !slices.Contains(got, "ref") {
		t.Errorf("reference is shortened to %v", got)
	}
}

// withEndings are words that may have a stem.
func withEndings(stem string) (all []string) {
	for _, ending := range []string{"", "e", "ion", "ent", "ation"} {
		all = append(all, stem+ending)
	}
	return append(all, strings.TrimSuffix(stem, "i")+"y")
}
