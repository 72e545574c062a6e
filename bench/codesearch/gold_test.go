package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/domain/codesearch/index"
)

// TestGoldPlacesExist: every right place in this repository and in the standard
// library is there. Places of other corpora are checked when they are measured.
func TestGoldPlacesExist(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	questions, err := gold(map[string]string{"own": "../..", "go": string(bytes.TrimSpace(root)) + "/src"})
	if err != nil {
		t.Fatal(err)
	}
	halves, judged := map[bool]int{}, 0
	for _, q := range questions {
		halves[q.held]++
		judged += len(q.judged)
	}
	if judged < 390 {
		t.Errorf("%d judged places are left of 418", judged)
	}
	if halves[true] < 40 || halves[false] < 40 {
		t.Errorf("the halves have %v questions", halves)
	}
}

// TestGoldSetIsLargeEnough: 200 questions at least, in three kinds, about five corpora.
func TestGoldSetIsLargeEnough(t *testing.T) {
	text, err := os.ReadFile("gold.tsv")
	if err != nil {
		t.Fatal(err)
	}
	corpora, kinds := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(line, "\t"); len(fields) == 4 && !strings.HasPrefix(line, "#") {
			corpora[fields[0]]++
			kinds[fields[1]]++
		}
	}
	if all := kinds["symbol"] + kinds["question"] + kinds["architecture"]; all < 200 || len(kinds) != 3 || min(kinds["symbol"], kinds["question"], kinds["architecture"]) < 30 || len(corpora) != 5 {
		t.Errorf("there are %v questions about %v", kinds, corpora)
	}
}

// TestGains: a place is gained once, by the first result that shows it. A result is worth the best of its
// places, or all of them as if they were one after another, so that what follows comes later.
func TestGains(t *testing.T) {
	name, part := place{path: "a.go", grade: right}, place{"b.go", 10, 20, 1}
	a, b, c := result{"a.go", 1, 5, 0}, result{"b.go", 15, 30, 0}, result{"c.go", 1, 5, 0}
	for _, test := range []struct {
		places  []place
		results []result
		graded  float64
		inOrder float64
		named   float64 // all places alike
	}{
		{[]place{name}, []result{a}, 1, 1, 1},
		{[]place{name}, []result{c, a}, discount(1), discount(1), discount(1)},
		{[]place{part, name}, []result{a, b}, 1, 1, 1},
		{[]place{part, name}, []result{b, a}, (1 + 2*discount(1)) / (2 + discount(1)), (1 + 2*discount(1)) / (2 + discount(1)), 1},
		{[]place{part, name}, []result{a, a}, 2 / (2 + discount(1)), 2 / (2 + discount(1)), 1 / (1 + discount(1))},
		{[]place{part, {"b.go", 22, 24, 1}}, []result{b}, 1 / (1 + discount(1)), 1, 1 / (1 + discount(1))},
		{[]place{part, {"b.go", 22, 24, 1}, name}, []result{b, a}, (1 + 2*discount(1)) / (2 + discount(1) + discount(2)), (1 + discount(1) + 2*discount(2)) / (2 + discount(1) + discount(2)), (1 + discount(1)) / (1 + discount(1) + discount(2))},
		{[]place{name}, slices.Insert(slices.Repeat([]result{c}, 10), 10, a), 0, 0, 0},
		{[]place{name}, nil, 0, 0, 0},
	} {
		for rule, c := range map[string]struct{ got, want float64 }{
			"graded": {graded(test.places, test.results), test.graded}, "inOrder": {inOrder(test.places, test.results), test.inOrder}, "named": {named(test.places, test.results), test.named},
		} {
			if math.Abs(c.got-c.want) > 1e-9 {
				t.Errorf("%s, %v for %v: %v, not %v", rule, test.results, test.places, c.got, c.want)
			}
		}
	}
}

// TestBestOrder: what gains most at each rank is first, and what gains nothing last.
func TestBestOrder(t *testing.T) {
	places := []place{{path: "a.go", grade: right}, {"b.go", 10, 20, 1}}
	a, b, c := result{"a.go", 1, 5, 0}, result{"b.go", 15, 30, 0}, result{"c.go", 1, 5, 0}
	if got := bestOrder(places, []result{c, b, a, a}); !slices.Equal(got[:2], []result{a, b}) || len(got) != 4 {
		t.Errorf("the best order is %v", got)
	}
}

// TestByFiles: a file counts once, by whatever lines of it are shown first.
func TestByFiles(t *testing.T) {
	places := filesOf([]place{{"a.go", 1, 5, right}, {"a.go", 50, 60, right}, {"b.go", 1, 5, right}})
	want := (1 + discount(2)) / (1 + discount(1))
	if got := named(places, []result{{"a.go", 100, 110, 0}, {"a.go", 1, 5, 0}, {"b.go", 30, 40, 0}}); math.Abs(got-want) > 1e-9 {
		t.Errorf("by files: %v, not %v", got, want)
	}
}

// TestElsewhere: what another engine answered is looked up, without the gold set's own folder.
func TestElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "theirs.tsv")
	text := "own\twhere is it\tbench/gold.tsv\t1\t9\nown\twhere is it\ta.go\t3\t7\ngo\twhere is it\tb.go\t1\t2\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := elsewhere(file)
	if err != nil {
		t.Fatal(err)
	}
	got := m.search(&index.Index{Meta: index.Meta{Name: "own"}}, "where is it")
	if m.name != "theirs" || !slices.Equal(got, []result{{file: "a.go", first: 3, last: 7}}) {
		t.Errorf("%s answered %v", m.name, got)
	}
	if err := os.WriteFile(file, []byte("own\twhere\ta.go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := elsewhere(file); err == nil {
		t.Error("a line without places was read")
	}
}

// TestMoved: judged lines are found again after changes, without those that are gone.
func TestMoved(t *testing.T) {
	changes := []hunk{hunkOf("3,0 +4,2 @@"), hunkOf("10,2 +13 @@ func f()"), hunkOf("20 +21,0 @@")}
	for _, test := range []struct {
		at   span
		want []span
	}{
		{span{1, 3}, []span{{1, 3}}},
		{span{2, 5}, []span{{2, 3}, {6, 7}}},
		{span{9, 12}, []span{{11, 11}, {13, 13}}},
		{span{10, 11}, nil},
		{span{19, 30}, []span{{20, 20}, {21, 30}}},
	} {
		if got := moved(test.at, changes); !slices.Equal(got, test.want) {
			t.Errorf("%v is at %v, not at %v", test.at, got, test.want)
		}
	}
}

// TestUnknownArgumentsAreRefused: a flag that is misspelled would measure something else.
func TestUnknownArgumentsAreRefused(t *testing.T) {
	for _, arg := range []string{"-mises", "-tunin=1", "--tuning", "go", ""} {
		if _, _, err := read([]string{"own=.", "-short", arg}); err == nil {
			t.Errorf("%q is taken", arg)
		}
	}
	roots, given, err := read([]string{"own=.", "-tuning", "-folder=a=b"})
	if err != nil || roots["own"] != "." || !given.has(tuningFlag) || given[folderFlag] != "a=b" || given.has(shortFlag) {
		t.Errorf("%v %v %v", roots, given, err)
	}
}
