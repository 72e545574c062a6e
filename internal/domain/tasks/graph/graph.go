// Package graph finds circles, of tasks that are above or wait for themselves.
package graph

import "slices"

// Circle returns a shortest way from a node over one of some others back to itself, both ends
// included, or nil. next calls its function with each node after one. Each node is asked for once,
// however many ways lead to it.
func Circle(from int64, over []int64, next func(at int64, found func(int64)) error) ([]int64, error) {
	if slices.Contains(over, from) {
		return []int64{from, from}, nil
	}
	came := map[int64]int64{} // from where
	queue := []int64{}
	find := func(at int64) func(int64) {
		return func(id int64) {
			if _, seen := came[id]; !seen {
				came[id] = at
				queue = append(queue, id)
			}
		}
	}
	for _, id := range over {
		find(from)(id)
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if err := next(at, find(at)); err != nil {
			return nil, err
		}
		if _, back := came[from]; back {
			return way(came, from), nil
		}
	}
	return nil, nil
}

// way lists a circle by where each of its nodes was come to from.
func way(came map[int64]int64, from int64) []int64 {
	back := []int64{from}
	for at := came[from]; at != from; at = came[at] {
		back = append(back, at)
	}
	back = append(back, from)
	slices.Reverse(back)
	return back
}
