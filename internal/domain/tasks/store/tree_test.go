package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTreeIsReadDepthFirst compares trees whose parents were drawn at random with a
// walk over all tasks.
func TestTreeIsReadDepthFirst(t *testing.T) {
	w, draw := opened(t), rand.New(rand.NewPCG(1, 2))
	below := map[int64][]int64{}
	made(t, w, NewTask{Title: "root"})
	for i := int64(2); i <= 80; i++ {
		parent := 1 + draw.Int64N(i-1)
		made(t, w, NewTask{Title: fmt.Sprint(i), ParentTaskID: &parent})
		below[parent] = append(below[parent], i)
	}
	var walk func(id int64, depth, most int) []string
	walk = func(id int64, depth, most int) (all []string) {
		for _, child := range below[id] {
			if depth < most {
				all = append(append(all, fmt.Sprint(child, " at ", depth+1)), walk(child, depth+1, most)...)
			}
		}
		return all
	}
	for root := int64(1); root <= 80; root += 3 {
		for _, most := range []int{1, 2, 100} {
			nodes, total, size, err := treeOf(t, w, root, TreePage{Page: Page{Limit: 100}, MaxDepth: most})
			var got []string
			for _, n := range nodes {
				got = append(got, fmt.Sprint(n.ID, " at ", n.Depth))
			}
			want := walk(root, 0, most)
			if err != nil || !slices.Equal(got, want) || total != len(below[root]) || size != len(walk(root, 0, 1000)) {
				t.Errorf("task %d, %d levels: got %v, %d, %d, %v, want %v", root, most, got, total, size, err, want)
			}
		}
	}
}

// treeOf reads all that a page of a tree has.
func treeOf(t *testing.T, w *Workspace, root int64, p TreePage) (nodes []Node, total, below int, err error) {
	total, below, err = w.Tree(t.Context(), root, p, func(n Node) bool { nodes = append(nodes, n); return true })
	return nodes, total, below, err
}
