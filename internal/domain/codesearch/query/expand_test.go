package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/domain/codesearch/vocabulary"
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

// TestRelatedWordsThatAreEverywhere: what much of the code has is not sought in the place of another word.
func TestRelatedWordsThatAreEverywhere(t *testing.T) {
	for has, want := range map[int]bool{1: true, 240: true, 260: false} {
		p := NewPlan(Request{Text: "how do we hide a cursor"}, counted{"hide": 9, "conceal": has})
		if sought := slices.ContainsFunc(p.Terms(), func(t Term) bool { return t.Text == "conceal" }); sought != want {
			t.Errorf("conceal in %d chunks of 1000: %v", has, sought)
		}
	}
}

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

// TestMostMeant: of what a question means the first ten are sought that some chunk has; others take no place.
func TestMostMeant(t *testing.T) {
	const text = "remove old log files from the disk when it is full"
	var stems []string
	for _, g := range parse(text, 0).groups {
		stems = append(stems, g.terms[0].text)
	}
	all := vocabulary.Meanings(stems)
	if len(all) <= mostMeant {
		t.Fatalf("it means %d words only", len(all))
	}
	sought := func(has counted) (found []string) {
		p := &Plan{parsed: parse(text, 0)}
		p.mean(has)
		for _, g := range p.groups {
			for _, term := range g.terms[1:] {
				if !slices.Contains(found, term.text) {
					found = append(found, term.text)
				}
			}
		}
		return found
	}
	everything, last := counted{}, all[len(all)-1].Stem
	for _, m := range all {
		everything[m.Stem] = 1
	}
	if got := sought(everything); len(got) != mostMeant || slices.Contains(got, last) {
		t.Errorf("%d words: %v", len(got), got)
	}
	if got := sought(counted{last: 1}); !slices.Equal(got, []string{last}) {
		t.Errorf("%v, not %s", got, last)
	}
}

// TestTermsCountTheMost: a term that is added twice counts as much as either says; the beginning of a word counts more in
// paths.
func TestTermsCountTheMost(t *testing.T) {
	g := group{terms: []weighted{{"compressor", 1, 1}}, most: 2}
	g.add("compress", 0.2)
	g.addTerm(weighted{"compress", 0.1, 0.5})
	g.add("compress", 0.3)
	g.add("one too many", 1)
	if want := (weighted{"compress", 0.3, 0.5}); len(g.terms) != 2 || g.terms[1] != want {
		t.Errorf("%v", g.terms)
	}
	p := NewPlan(Request{Text: "how does the compressor start"}, counted{"compress": 5})
	if want := (weighted{"compress", prefixWeight, prefixInPath}); !slices.Contains(p.groups[0].terms, want) || prefixInPath < coveredBy {
		t.Errorf("%v", p.groups[0].terms)
	}
}
