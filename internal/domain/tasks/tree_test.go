package tasks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/store"
)

// TestTreeOfManyLevelsIsCut: a first child with more below it than an answer has room
// for is shown with fewer levels, and what is left out is counted; with a limit it is
// refused, with advice that works.
func TestTreeOfManyLevelsIsCut(t *testing.T) {
	h := newHarness(t)
	fill(t, h, 443, "")
	inPlatform(t, h, func(ctx context.Context, w *store.Workspace) error {
		_, err := w.Exec(ctx, `update tasks set parent_task_id = 1 where id = 2; update tasks set parent_task_id = 2 where id between 3 and 42;
update tasks set parent_task_id = 3 + (id - 43) / 10 where id between 43 and 442; update tasks set parent_task_id = 1 where id = 443`)
		return err
	})
	shown := func(tree map[string]any) (levels []int) {
		t.Helper()
		for below := tree["subtasks"].([]any); len(below) > 0; {
			levels = append(levels, len(below))
			var next []any
			for _, task := range below {
				if more, ok := task.(map[string]any)["subtasks"].([]any); ok {
					next = append(next, more...)
				}
			}
			below = next
		}
		return levels
	}
	tree := h.ask("get_task_tree", map[string]any{"task_id": 1})
	if got := shown(tree); fmt.Sprint(got, tree["total_count"], tree["returned_count"], tree["omitted_count"], tree["limit"]) != "[1 40] 2 1 401 1" {
		t.Errorf("got levels of %v, %v of %v, %v left out, limit %v", got, tree["returned_count"], tree["total_count"], tree["omitted_count"], tree["limit"])
	}
	last := h.ask("get_task_tree", map[string]any{"task_id": 1, "offset": 1})
	if got := shown(last); fmt.Sprint(got, last["omitted_count"]) != "[1] 441" {
		t.Errorf("the next page: got levels of %v, %v left out", got, last["omitted_count"])
	}
	large := h.ask("get_task_tree", map[string]any{"task_id": 1, "limit": 2})
	if d := details(t, large, "RESPONSE_SIZE_EXCEEDED"); d["actual_tokens"].(float64) < 30_000 || large["suggestion"] != "Use a smaller max_depth." {
		t.Errorf("with a limit: got %v", large)
	}
	if got := shown(h.ask("get_task_tree", map[string]any{"task_id": 1, "limit": 2, "max_depth": 2})); fmt.Sprint(got) != "[2 40]" {
		t.Errorf("as advised: got levels of %v", got)
	}
}

// TestTreeHasAsManyChildrenAsFit: without a limit, and the next page begins where this
// one ends.
func TestTreeHasAsManyChildrenAsFit(t *testing.T) {
	h := newHarness(t)
	fill(t, h, 90, "")
	inPlatform(t, h, func(ctx context.Context, w *store.Workspace) error {
		_, err := w.Exec(ctx, "update tasks set parent_task_id = 1 where id between 2 and 10; update tasks set parent_task_id = 2 + id % 9, title = ? where id > 10",
			strings.Repeat("A title that costs much. ", 19))
		return err
	})
	shown := 0
	for page, offset := 0, 0; offset < 9; page++ {
		args, _ := json.Marshal(map[string]any{"task_id": 1, "offset": offset, "workspace_path": h.platform})
		answer := h.Encode(h.Call(as(t, "nina", access.PurposeNone), "get_task_tree", args))
		var tree struct {
			Subtasks []struct{ Subtasks []any }
			Returned int `json:"returned_count"`
			Limit    int
		}
		if err := json.Unmarshal(answer, &tree); err != nil || tree.Returned != len(tree.Subtasks) || tree.Returned == 0 || dialect.Estimate(answer) > dialect.MaxTokens {
			t.Fatalf("page %d: %v, %d tokens: %s", page, err, dialect.Estimate(answer), answer)
		}
		if offset += tree.Returned; offset < 9 && tree.Limit != tree.Returned {
			t.Errorf("page %d: %d children, and a limit of %d", page, tree.Returned, tree.Limit)
		}
		for _, child := range tree.Subtasks {
			shown += 1 + len(child.Subtasks)
		}
	}
	if shown != 89 {
		t.Errorf("%d tasks were shown, want 89", shown)
	}
}

// TestTreeOfManyChildrenFits: what is left out is counted, and the next page begins
// where this one ends.
func TestTreeOfManyChildrenFits(t *testing.T) {
	h := newHarness(t)
	fill(t, h, 1, "")
	for i := range 120 {
		h.ask("create_task", map[string]any{"title": fmt.Sprintf("child %d of the root, with a title of some length so that it costs", i), "parent_task_id": 1})
	}
	for offset, pages := 0, 0; ; pages++ {
		tree := h.ask("get_task_tree", map[string]any{"task_id": 1, "offset": offset, "limit": 50})
		shown := int(tree["returned_count"].(float64))
		if tree["total_count"] != 120.0 || int(tree["omitted_count"].(float64)) != 120-shown || len(tree["subtasks"].([]any)) != shown {
			t.Fatalf("got %v, %v, %v", tree["total_count"], tree["omitted_count"], shown)
		}
		if offset += shown; shown == 0 {
			if offset != 120 || pages != 3 {
				t.Errorf("%d children on %d pages", offset, pages)
			}
			break
		}
	}
}
