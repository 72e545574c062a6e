package main

import (
	"bytes"
	"math"
	"os/exec"
	"slices"
	"testing"
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

// TestGains: a result gains the best place at it that none before it gained, so that two
// results at one place, or one at two, gain once.
func TestGains(t *testing.T) {
	named, part := place{path: "a.go", grade: right}, place{"b.go", 10, 20, 1}
	a, b, c := result{"a.go", 1, 5, 0}, result{"b.go", 15, 30, 0}, result{"c.go", 1, 5, 0}
	for _, test := range []struct {
		places  []place
		results []result
		want    float64
	}{
		{[]place{named}, []result{a}, 1},
		{[]place{named}, []result{c, a}, discount(1)},
		{[]place{part, named}, []result{a, b}, 1},
		{[]place{part, named}, []result{b, a}, (1 + 2*discount(1)) / (2 + discount(1))},
		{[]place{part, named}, []result{a, a}, 2 / (2 + discount(1))},
		{[]place{part, {"b.go", 12, 14, 1}}, []result{{"b.go", 1, 30, 0}}, 1 / (1 + discount(1))},
		{[]place{named}, nil, 0},
	} {
		if got := graded(test.places, test.results); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%v for %v: %v, not %v", test.results, test.places, got, test.want)
		}
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
