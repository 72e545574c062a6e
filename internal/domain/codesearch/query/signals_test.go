package query

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"countersign.dev/internal/domain/codesearch/words"
)

// TestRelatedWordsCount: a word finds others that mean the same, below its own.
func TestRelatedWordsCount(t *testing.T) {
	body := func(word string) string {
		return "package p\n\nfunc x() {\n\t" + word + "(session)\n" + filler(8) + "}\n"
	}
	shard := indexed(t, map[string]string{"a.go": body("paint"), "b.go": body("conceal"), "c.go": body("hide")})
	files := func(r Request) string {
		var all []string
		for _, hit := range found(shard, r) {
			all = append(all, hit[:1])
		}
		return strings.Join(all, "")
	}
	if got := files(Request{Text: "where do we hide a session"}); got != "cba" {
		t.Errorf("%s: not hide, conceal, paint", got)
	}
	if got := files(Request{Text: "where do we hide a session", Without: Expansion}); got != "cab" {
		t.Errorf("%s: without expansion conceal is as good as paint", got)
	}
}

// TestWordsThatCodeHardlyHas: where no code has a word, more words count in its place, and those that mean
// the same count more.
func TestWordsThatCodeHardlyHas(t *testing.T) {
	body := func(word string) string {
		return "package p\n\nfunc x() {\n\t" + word + "(session)\n" + filler(8) + "}\n"
	}
	weights := func(word, other string) (weight float64) {
		shards := []Shard{indexed(t, map[string]string{"a.go": body("throttle"), "b.go": body("conceal"), "c.go": body(word)})}
		for _, g := range NewPlan(Request{Text: "where do we hide the bandwidth"}, Local(shards)).groups {
			for _, term := range g.terms {
				if term.text == words.Stem(other) {
					weight = term.weight
				}
			}
		}
		return weight
	}
	if got := weights("paint", "throttle"); got != insteadWeight {
		t.Errorf("throttle counts %v for bandwidth, which is nowhere", got)
	}
	if got := weights("bandwidth", "throttle"); got != 0 {
		t.Errorf("throttle counts %v for bandwidth, which is there", got)
	}
	if got, usual := weights("paint", "conceal"), weights("hide", "conceal"); got != insteadWeight || usual != synonymWeight {
		t.Errorf("conceal counts %v for hide, which is nowhere, and %v where it is there", got, usual)
	}
}

// TestNeighbouringWordsMakeNames: two words beside each other are found as one.
func TestNeighbouringWordsMakeNames(t *testing.T) {
	body := func(text string) string { return "package p\n\nfunc x() {\n\t" + text + "\n" + filler(8) + "}\n" }
	shard := indexed(t, map[string]string{"a.go": body("manager(lock)"), "b.go": body("lockManager()"), "c.go": body("lockmanager(y)"), "d.go": body("y(z)")})
	got := found(shard, Request{Text: "how is a lock manager made"})
	if len(got) != 3 || !strings.HasPrefix(got[0], "b.go") || !strings.HasPrefix(got[1], "a.go") || !strings.HasPrefix(got[2], "c.go") {
		t.Errorf("%v, not lockManager, manager and lock apart, lockmanager", got)
	}
}

// TestOtherPlacesRaiseAFile: of two equal places the one in a file with another
// good place is first, however long the file is.
func TestOtherPlacesRaiseAFile(t *testing.T) {
	place := "func seal() {\n\tcursor(sealed)\n" + filler(8) + "}\n"
	shard := indexed(t, map[string]string{
		"a.go": "package p\n\n" + place,
		"b.go": "package p\n\n" + place + "\nfunc open() {\n\tcursor(sealed)\n" + filler(30) + "}\n\nfunc other() {\n" + filler(500) + "}\n",
	})
	got := found(shard, Request{Text: "how are cursors sealed", Without: Fields})
	if len(got) == 0 || !strings.HasPrefix(got[0], "b.go") {
		t.Errorf("%v: the file with two places is not first", got)
	}
}

// TestTestsBesideTheCode: tests in a file of Rust are tests.
func TestTestsBesideTheCode(t *testing.T) {
	lines := strings.Repeat("    prepare(lorem, ipsum);\n", 8)
	shard := indexed(t, map[string]string{"src/seal.rs": "mod tests {\n    fn seals_cursor() {\n        seal(cursor);\n        seal(cursor);\n" + lines + "    }\n}\n\nfn open(c: Cursor) {\n    seal(cursor);\n" + lines + "}\n"})
	if got := found(shard, Request{Text: "how are cursors sealed", Without: Neighbours}); len(got) < 2 || got[0] != "src/seal.rs:16-26" {
		t.Errorf("%v", got)
	}
}

// TestCodeBeforeTheTests: a short function that shares its chunk with the head of the tests
// after it is code.
func TestCodeBeforeTheTests(t *testing.T) {
	shard := indexed(t, map[string]string{
		"a.rs": "fn other(c: Cursor) {\n" + strings.Repeat("    sealed(sealed(c));\n", 6) + "}\n",
		"b.rs": "fn sealed(c: Cursor) {\n    c\n}\n\nmod tests {\n}\n",
	})
	if got := found(shard, Request{Text: "sealed"}); len(got) == 0 || !strings.HasPrefix(got[0], "b.rs") {
		t.Errorf("%v", got)
	}
}

// TestOwnersOfNames: a method of the type before the name comes before one in a folder of
// that name, and a field is found in its type.
func TestOwnersOfNames(t *testing.T) {
	shard := indexed(t, map[string]string{
		"ring/open.go":  "package ring\n\nfunc (o *other) seal() {\n\tring.seal(ring)\n\tring.size = 1\n" + filler(8) + "}\n",
		"store/ring.go": "package store\n\ntype other struct {\n" + filler(8) + "}\n\nfunc (o *other) seal() {\n\tring.seal(ring)\n" + filler(8) + "}\n",
		"store/a.go":    "package store\n\nfunc (r *Ring) seal() {\n" + filler(8) + "}\n",
		"store/b.go":    "package store\n\ntype Ring struct {\n\tname string\n\tsize int\n" + filler(8) + "}\n",
	})
	for text, want := range map[string]string{"Ring.seal": "store/a.go", "Ring.size": "store/b.go"} {
		if got := found(shard, Request{Text: text}); len(got) == 0 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestCodeAboutTests: a query that names tests finds code about them before tests
// that have its words as often.
func TestCodeAboutTests(t *testing.T) {
	shard := indexed(t, map[string]string{
		"a_test.go": "package p\n\nfunc discover() {\n\ttests(found)\n" + filler(8) + "}\n",
		"b.go":      "package p\n\nfunc discover() {\n\ttests(found)\n" + filler(8) + "}\n",
	})
	if got := found(shard, Request{Text: "how are tests found"}); len(got) != 2 || !strings.HasPrefix(got[0], "b.go") {
		t.Errorf("%v", got)
	}
}

// TestSearchesShareNothing: searches that run at once, in indexes of different
// sizes, answer as one alone.
func TestSearchesShareNothing(t *testing.T) {
	small := indexed(t, map[string]string{"a.go": "package p\n\nfunc seal() {\n\tcursor(sealed)\n" + filler(8) + "}\n"})
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d"} {
		files[name+".go"] = "package p\n\nfunc " + name + "() {\n\tcursor(sealed)\n" + filler(9) + "}\n\nfunc tokens() {\n\ttoken(verified)\n" + filler(30) + "}\n"
	}
	large := indexed(t, files)
	queries := []string{"how are cursors sealed", "where are tokens verified", "lorem"}
	answers := func() (all []string) {
		for _, text := range queries {
			all = append(all, strings.Join(found(large, Request{Text: text}), " "), strings.Join(found(small, Request{Text: text}), " "))
		}
		return all
	}
	want := answers()
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() {
			for range 20 {
				if got := answers(); !slices.Equal(got, want) {
					t.Errorf("%q, not %q", got, want)
					return
				}
			}
		})
	}
	together.Wait()
}

// TestTypesOfHeaders: a header that only declares comes after the bodies of its functions, but a
// type that it defines is nowhere else: for a query that names it, it comes before what belongs to it.
func TestTypesOfHeaders(t *testing.T) {
	shard := indexed(t, map[string]string{
		"ring.h":  "class Ring {\n public:\n  Ring(int size);\n  int Take(int n);\n  int Put(int n);\n};\n",
		"ring.cc": "#include \"ring.h\"\n\nRing::Ring(int size) {\n  size_ = size;\n" + filler(8) + "}\n\nint Ring::Take(int n) {\n  return n;\n" + filler(8) + "}\n",
	})
	for text, want := range map[string]string{"Ring": "ring.h", "Ring::Take": "ring.cc"} {
		if got := found(shard, Request{Text: text}); len(got) == 0 || !strings.HasPrefix(got[0], want+":") {
			t.Errorf("%s: %v, not %s first", text, got, want)
		}
	}
}
