package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestNamesAreSoughtInFull: a word that says little in a question is a name, too, when it is alone.
func TestNamesAreSoughtInFull(t *testing.T) {
	for _, g := range parse("whether", 0).groups {
		if g.weight != 1 {
			t.Errorf("a name alone weighs %v", g.weight)
		}
	}
}

// TestSurroundings: of two places that say the same, the one between others that have words
// of the question comes first; a name is not sought so.
func TestSurroundings(t *testing.T) {
	place := func(name, body string) string {
		return "func " + name + "() {\n\t" + body + "\n" + filler(14) + "}\n\n"
	}
	shard := indexed(t, map[string]string{
		"a.go": "package p\n\n" + place("one", "") + place("two", "cursor(sealed)") + place("three", "") + place("four", "sealed()"),
		"b.go": "package p\n\n" + place("one", "") + place("two", "") + place("three", "sealed()") + place("four", "cursor(sealed)"),
	})
	explained := func(text string) (all []string) {
		for _, h := range Search([]Shard{shard}, Request{Text: text, Limit: 10, Explain: true}) {
			for _, why := range h.Why {
				if why.Detail == "what is beside it" {
					all = append(all, fmt.Sprintf("%s:%d %.2f", shard.Files[shard.Chunks[h.Best].File].Path, shard.Chunks[h.Best].Line, why.Value))
				}
			}
		}
		return all
	}
	if got := explained("how are cursors sealed"); len(got) == 0 || !strings.HasPrefix(got[0], "b.go") {
		t.Errorf("%v", got)
	}
	if got := explained("sealed_cursor"); len(got) > 0 {
		t.Errorf("a name: %v", got)
	}
}

// TestFartherNeighboursContinueAHit: a chunk that is far down the order still continues a
// hit, so that the hit shows the whole place.
func TestFartherNeighboursContinueAHit(t *testing.T) {
	files := map[string]string{"a.go": "package p\n\nfunc seal() {\n\tcursor(sealed, sealed)\n" + filler(30) + "}\n\nfunc other() {\n\tsealed()\n" + filler(30) + "}\n"}
	for i := range 25 {
		files[fmt.Sprintf("f%02d.go", i)] = "package p\n\nfunc x() {\n\tcursor(sealed)\n" + filler(40) + "}\n"
	}
	shard := indexed(t, files)
	hits := Search([]Shard{shard}, Request{Text: "how are cursors sealed", Limit: 10})
	if len(hits) != 10 || shard.Files[shard.Chunks[hits[0].Chunk].File].Path != "a.go" || hits[0].Last == hits[0].Chunk {
		t.Errorf("%d hits, the first from %d to %d", len(hits), hits[0].Chunk, hits[0].Last)
	}
}

// TestNamedWords: a name that comments with a word are often about answers that word, for a
// question; for a matter it does not, and neither does a name that much of the code has.
func TestNamedWords(t *testing.T) {
	asked := func(others string) (Shard, []string) {
		files := map[string]string{
			"b.go": "package p\n\nfunc keep() {\n\tprepare(cursor)\n" + filler(8) + "}\n",
			"a.go": "package p\n\nfunc last() {\n\tprepare(cursor)\n" + filler(8) + "}\n",
		}
		for i := range 20 {
			files[fmt.Sprintf("f%02d.go", i)] = "package p\n\nfunc x() {\n\t" + others + "\n" + filler(8) + "}\n"
		}
		shard := indexed(t, files)
		return shard, found(shard, Request{Text: "how is a cursor alive"})
	}
	shard, rare := asked("prepare()")
	if len(rare) < 2 || !strings.HasPrefix(rare[0], "b.go") {
		t.Errorf("%v", rare)
	}
	if _, common := asked("keep()"); len(common) < 2 || !strings.HasPrefix(common[0], "a.go") {
		t.Errorf("a name that most have: %v", common)
	}
	matter := Search([]Shard{shard}, Request{Text: "alive cursor", Limit: 10})
	if len(matter) < 2 || matter[0].Score != matter[1].Score {
		t.Errorf("a matter: %+v", matter)
	}
}

// counted are the statistics of 1000 chunks.
type counted map[string]int

func (counted) Chunks() int                  { return 1000 }
func (c counted) Frequency(word string) int  { return c[word] }
func (counted) Beginning(string, int) []Word { return nil }

// TestMeantWords: what two words say together is sought in the place of both, unless much of the code has it, or the
// query is a name.
func TestMeantWords(t *testing.T) {
	for _, c := range []struct {
		text string
		has  int // chunks that have csv
		want bool
	}{
		{"print values that are separated by commas", 1, true},
		{"comma-separated values", 100, true},
		{"comma-separated values", 200, false},
		{"comma", 1, false},
		{"csv", 1, false},
	} {
		p := NewPlan(Request{Text: c.text}, counted{"csv": c.has})
		n := 0
		for _, g := range p.groups {
			if slices.ContainsFunc(g.terms[1:], func(t weighted) bool { return t.text == "csv" }) {
				n++
			}
		}
		if n >= 2 != c.want {
			t.Errorf("%s, csv in %d chunks: for %d words", c.text, c.has, n)
		}
	}
}

// TestMeantWordsAreFound: a place that has none of a question's words is found by what they mean.
func TestMeantWordsAreFound(t *testing.T) {
	shard := indexed(t, map[string]string{
		"a.go": "package p\n\nfunc writeCSV() {\n" + filler(8) + "}\n",
		"b.go": "package p\n\nfunc writeRows() {\n" + filler(8) + "}\n",
	})
	if got := found(shard, Request{Text: "print comma separated values"}); len(got) == 0 || !strings.HasPrefix(got[0], "a.go") {
		t.Errorf("%v", got)
	}
	if got := found(shard, Request{Text: "print comma separated values", Without: Expansion}); len(got) > 0 {
		t.Errorf("without related words: %v", got)
	}
}
