package graph

import (
	"errors"
	"slices"
	"testing"
)

// TestCircle: the shortest one is found, from whichever of the others, and each node is asked for once.
func TestCircle(t *testing.T) {
	after := map[int64][]int64{1: {2}, 2: {3, 4}, 3: {5}, 4: {5}, 5: {6}, 6: {3}, 7: {8, 9}, 8: {10}, 9: {10}}
	for _, c := range []struct {
		from int64
		over []int64
		want []int64
	}{
		{1, []int64{1}, []int64{1, 1}},
		{1, []int64{2}, nil},
		{1, nil, nil},
		{3, []int64{5}, []int64{3, 5, 6, 3}},
		{10, []int64{1, 9}, []int64{10, 9, 10}},
		{10, []int64{7, 1}, []int64{10, 7, 8, 10}},
		{6, []int64{1}, []int64{6, 1, 2, 3, 5, 6}},
	} {
		asked := map[int64]int{}
		got, err := Circle(c.from, c.over, func(at int64, found func(int64)) error {
			asked[at]++
			for _, id := range after[at] {
				found(id)
			}
			return nil
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("from %d over %v: %v, not %v; %v", c.from, c.over, got, c.want, err)
		}
		for id, n := range asked {
			if n > 1 {
				t.Errorf("from %d over %v: %d was asked for %d times", c.from, c.over, id, n)
			}
		}
	}
	away := errors.New("away")
	if _, err := Circle(1, []int64{2}, func(int64, func(int64)) error { return away }); !errors.Is(err, away) {
		t.Errorf("%v", err)
	}
}
