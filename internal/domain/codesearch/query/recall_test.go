package query

import (
	"fmt"
	"strings"
	"testing"
)

// TestRecalledWords: what code seldom has of the comments about it counts less than what it
// mostly has, and a word that was not learned counts as it is. A name is sought in full.
func TestRecalledWords(t *testing.T) {
	if whether, cache := recalled("whether"), recalled("cach"); whether >= 0.5 || cache != 1 || recalled("zebra") != 1 {
		t.Errorf("whether %v, cache %v, zebra %v", whether, cache, recalled("zebra"))
	}
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
		t.Errorf("%v: %v", rare, named["aliv"])
	}
	if _, common := asked("keep()"); len(common) < 2 || !strings.HasPrefix(common[0], "a.go") {
		t.Errorf("a name that most have: %v", common)
	}
	matter := Search([]Shard{shard}, Request{Text: "alive cursor", Limit: 10})
	if len(matter) < 2 || matter[0].Score != matter[1].Score {
		t.Errorf("a matter: %+v", matter)
	}
}
