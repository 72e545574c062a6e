package tokens

import (
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// FuzzWords compares the words of a text with what the vocabulary itself splits.
func FuzzWords(f *testing.F) {
	for _, text := range []string{"", "It's John's, they'RE 1234567.89 USD\n\n  next\t/path//\r\n", "  a", " \n \n  b", "ABCdef Ghi'LL 'd x' ''s", "\x1c\x00 ~~/\n/ \v\f z", "{\"id\":\"e-01\",\"n\":[1,2 ,  3]}"} {
		f.Add(text)
	}
	all := newWords()
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := all.count(text), all.split(text); got != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
		if !isASCII(text) {
			return
		}
		tokens, rest := []string{}, text
		for len(rest) > 0 {
			n := wordAt(rest)
			_, split, err := all.vocabulary.Encode(rest[:n])
			if err != nil || n == 0 {
				t.Fatalf("%q: %d bytes, %v", rest, n, err)
			}
			tokens, rest = append(tokens, split...), rest[n:]
		}
		if _, want, _ := all.vocabulary.Encode(text); strings.Join(tokens, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%q: tokens %q, want %q", text, tokens, want)
		}
	})
}

func TestKnownWordsAreCountedWithoutAllocations(t *testing.T) {
	testkit.Alone(t)
	text := strings.Repeat("Employee e-0017, Ada Lovelace: $145,000 since 2019-06-10.\n", 20)
	count(text)
	if n := testing.AllocsPerRun(10, func() { count(text) }); n > 0 {
		t.Errorf("%.0f allocations of a text whose words are known, want none", n)
	}
}

func TestMemoryOfWordsIsBounded(t *testing.T) {
	w := newWords()
	for i := range maxWords + 10 {
		w.counts[strings.Repeat("x", i%5)+string(rune(i))] = 1
	}
	w.count("one more " + strings.Repeat("y", maxWord+1))
	if _, long := w.counts[strings.Repeat("y", maxWord+1)]; long || len(w.counts) > maxWords {
		t.Errorf("%d words are remembered, %d at most; the long one: %v", len(w.counts), maxWords, long)
	}
}
