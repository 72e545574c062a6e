package postings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestFind: terms are found by their texts and by how they begin, however many begin alike.
func TestFind(t *testing.T) {
	var texts []string
	for i := range 900 {
		texts = append(texts, fmt.Sprintf("term%04d", 3*i), strings.Repeat("x", i%40)+fmt.Sprint(i))
	}
	texts = append(texts, "", "a", "\x00", "zz", "term0003 and more")
	slices.Sort(texts)
	texts = slices.Compact(texts)
	for _, n := range []int{0, 1, 2, headed - 1, headed, headed + 1, len(texts)} {
		var table, all []byte
		for i, text := range texts[:n] {
			table = AppendTerm(table, uint32(len(all)), 0, uint32(i))
			all = append(all, text...)
		}
		terms := NewTable(table, all, nil)
		for _, text := range append(slices.Clone(texts), "term", "term0001", "termz", "xxxxxxxxxxxxxxx", "~") {
			at, found := slices.BinarySearch(texts[:n], text)
			if number, ok := terms.Find(text); number != at || ok != found {
				t.Fatalf("%q of %d terms is %d (%v), not %d (%v)", text, n, number, ok, at, found)
			}
			var begin []int
			for i := at; i < n && len(begin) < 20 && strings.HasPrefix(texts[i], text); i++ {
				begin = append(begin, i)
			}
			if got := terms.Beginning(text, 20); !slices.Equal(got, begin) {
				t.Fatalf("with %q begin %v of %d terms, not %v", text, got, n, begin)
			}
		}
		for i := range n {
			if string(terms.Text(i)) != texts[i] || terms.Frequency(i) != i {
				t.Fatalf("term %d is %q at %d places", i, terms.Text(i), terms.Frequency(i))
			}
		}
	}
}

// TestLists: places are read as they were written, one after the other or up to a chunk.
func TestLists(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var want []Posting[uint8]
	var bytes []byte
	last := -1
	for range 3000 {
		at := last + 1 + random.IntN(1<<random.IntN(20))
		payload := uint8(random.IntN(256))
		bytes = Append(bytes, last, at, payload)
		want, last = append(want, Posting[uint8]{int32(at), payload}), at
	}
	var got []Posting[uint8]
	for l := Of[uint8](bytes); l.Next(); {
		got = append(got, Posting[uint8]{int32(l.Chunk), l.Payload})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d places, not %d", len(got), len(want))
	}
	got = nil
	several, list := make([]Posting[uint8], 100), Of[uint8](bytes)
	for end := 0; end <= last+1000; end += 1 + random.IntN(100_000) {
		for n := len(several); n == len(several); {
			n = list.Before(end, several)
			got = append(got, several[:n]...)
		}
		if n := len(got); n > 0 && int(got[n-1].Chunk) >= end || n < len(want) && int(want[n].Chunk) < end {
			t.Fatalf("before %d: %d places", end, n)
		}
	}
	if !slices.Equal(got, want[:len(got)]) || len(got) < 2000 {
		t.Errorf("in parts: %d places, not %d", len(got), len(want))
	}
}
