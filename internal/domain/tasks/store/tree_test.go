package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestTreeIsReadDepthFirst compares trees whose parents were drawn at random, of which
// some are deleted and all were made at one time, with a walk over all tasks.
func TestTreeIsReadDepthFirst(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	w, draw := at(t, filepath.Join(t.TempDir(), "w.db"), func() time.Time { return noon }), rand.New(rand.NewPCG(1, 2))
	below := map[int64][]int64{}
	made(t, w, NewTask{Title: "root"})
	for i := int64(2); i <= 80; i++ {
		parent := 1 + draw.Int64N(i-1)
		made(t, w, NewTask{Title: fmt.Sprint(i), ParentTaskID: &parent})
		below[parent] = append(below[parent], i)
	}
	for i := int64(5); i <= 80; i += 10 {
		if _, err := w.DeleteTask(t.Context(), i, false); err != nil {
			t.Fatal(err)
		}
		for parent, children := range below {
			below[parent] = slices.DeleteFunc(children, func(id int64) bool { return id == i })
		}
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
		if root%10 == 5 {
			continue // deleted
		}
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
