package tasks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tokens"
)

// TestTextsAreBounded: also where they may be null.
func TestTextsAreBounded(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "one", "description": strings.Repeat("ä", 10_000)})
	for name, in := range map[string]map[string]any{
		"description": {"task_id": 1, "description": strings.Repeat("ä", 10_001)}, "tags": {"task_id": 1, "tags": strings.Repeat("t", 501)},
		"title": {"task_id": 1, "title": strings.Repeat("t", 501)}, "depends_on": {"task_id": 1, "depends_on": make([]int, 101)},
	} {
		e := h.ask("update_task", in)
		if details(t, e, "VALIDATION_ERROR"); !strings.Contains(e["error"].(map[string]any)["message"].(string), name) {
			t.Errorf("%s: got %v", name, e)
		}
	}
}

// TestTextsShowAllThatTheyHold: what people and models read later is what was written.
func TestTextsShowAllThatTheyHold(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "one"})
	h.ask("create_entity", map[string]any{"entity_type": "file", "name": "one"})
	for _, odd := range []string{"a\u202eb", "a\u200bb", "\u200b", "a\x07b", "a\x1b[2J", "\ufeff", "a\rb", "   "} {
		for tool, fields := range map[string][]string{
			"create_task": {"title", "description", "tags", "blocker_reason", "created_by"}, "update_task": {"title", "description", "tags", "blocker_reason"},
			"create_entity": {"name", "identifier", "description", "tags", "created_by"}, "update_entity": {"name", "identifier", "description", "tags"}, "set_project_name": {"friendly_name"},
		} {
			for _, field := range fields {
				in := map[string]any{field: odd}
				switch tool {
				case "create_task":
					in = map[string]any{"title": "two", field: odd}
				case "update_task":
					in["task_id"] = 1
				case "create_entity":
					in = map[string]any{"entity_type": "file", "name": "two", field: odd}
				case "update_entity":
					in["entity_id"] = 1
				}
				e := h.ask(tool, in)
				if details(t, e, "VALIDATION_ERROR"); !strings.Contains(e["error"].(map[string]any)["message"].(string), field) {
					t.Errorf("%s of %s: got %v", field, tool, e)
				}
			}
		}
		if e := h.ask("create_entity", map[string]any{"entity_type": "file", "name": "two", "metadata": map[string]any{"a": []any{odd}}}); e["error"] == nil {
			t.Errorf("metadata with %q: got %v", odd, e)
		}
		inner, err := json.Marshal(map[string]any{"a": odd})
		if err != nil {
			t.Fatal(err)
		}
		if e := h.ask("create_entity", map[string]any{"entity_type": "file", "name": "three", "metadata": string(inner)}); e["error"] == nil {
			t.Errorf("metadata as a text with %q: got %v", odd, e)
		}
	}
	lines := "first\r\n\tsecond\nthird: naïve 日本 👍🏽 می\u200cخواهم"
	if got := h.ask("create_task", map[string]any{"title": "three", "description": lines}); got["description"] != lines {
		t.Errorf("got %v", got)
	}
}

// TestSuggestionOfALargeAnswerWorks: 2,000 tasks of 10 KB, or a tenth of them.
func TestSuggestionOfALargeAnswerWorks(t *testing.T) {
	h := newHarness(t)
	tasks, least := 2000, 1_000_000.0
	if testing.Short() {
		tasks, least = tasks/10, least/10
	}
	fill(t, h, tasks, strings.Repeat("Some words of a long text. ", 370))
	answer := h.ask("list_tasks", map[string]any{"mode": "details", "limit": 1000})
	if d := details(t, answer, "RESPONSE_SIZE_EXCEEDED"); d["max_tokens"] != 15000.0 || d["actual_tokens"].(float64) < least {
		t.Errorf("got %v", d)
	}
	var limit int
	if _, err := fmt.Sscanf(answer["suggestion"].(string), "Use limit=%d, or mode=summary without a limit.", &limit); err != nil {
		t.Fatalf("%v: %v", answer["suggestion"], err)
	}
	if page := h.ask("list_tasks", map[string]any{"mode": "summary"}); page["returned_count"] != 100.0 {
		t.Errorf("the suggested mode: got %v", page)
	}
	page := h.ask("list_tasks", map[string]any{"mode": "details", "limit": limit})
	if page["returned_count"] != float64(limit) || page["total_count"] != float64(tasks) {
		t.Errorf("the suggested limit: got %v of %v", page["returned_count"], page["total_count"])
	}
	fitting := h.ask("list_tasks", map[string]any{"mode": "details"})
	if fitting["returned_count"] != float64(limit) || fitting["limit"] != float64(limit) {
		t.Errorf("without a limit: got %v, %v, want %d", fitting["returned_count"], fitting["limit"], limit)
	}
	if page := h.ask("list_tasks", map[string]any{"offset": 5000}); page["returned_count"] != 0.0 || page["total_count"] != float64(tasks) {
		t.Errorf("beyond the end: got %v", page)
	}
}

// TestSuggestionOfManySummariesWorks: the suggested limit fits, and no greater one.
func TestSuggestionOfManySummariesWorks(t *testing.T) {
	h := newHarness(t)
	fill(t, h, 300, "short")
	answer := h.ask("list_tasks", map[string]any{"limit": 300})
	details(t, answer, "RESPONSE_SIZE_EXCEEDED")
	var limit int
	if _, err := fmt.Sscanf(answer["suggestion"].(string), "Use limit=%d.", &limit); err != nil {
		t.Fatalf("%v: %v", answer["suggestion"], err)
	}
	if page := h.ask("list_tasks", map[string]any{"limit": limit}); page["returned_count"] != float64(limit) {
		t.Errorf("the suggested limit of %d: got %v", limit, page)
	}
	details(t, h.ask("list_tasks", map[string]any{"limit": limit + 1}), "RESPONSE_SIZE_EXCEEDED")
}

// fill makes tasks with a description.
func fill(t testing.TB, h *harness, n int, description string) {
	t.Helper()
	inPlatform(t, h, func(ctx context.Context, w *store.Workspace) error {
		for i := range n {
			tags := "backend search"
			_, err := w.InsertTask(ctx, store.NewTask{
				Title: fmt.Sprintf("Make the search for words %d faster", i), Status: "todo", Priority: "medium", CreatedBy: "nina.patel", Description: &description,
				Tags: &tags, FileReferences: []string{"internal/domain/support/query.go", "internal/domain/support/words.go"},
				Metadata: &record.WorkspaceMetadata{WorkspacePath: "/srv/work/platform", GitRoot: "/srv/work/platform", ProjectName: "Platform"},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// inPlatform changes the store of the workspace that the tests use, in one transaction.
func inPlatform(t testing.TB, h *harness, change func(context.Context, *store.Workspace) error) {
	t.Helper()
	place, err := filepath.EvalSymlinks(h.platform)
	if err != nil {
		t.Fatal(err)
	}
	w, err := store.Open(t.Context(), filepath.Join(filepath.Dir(h.platform), "databases", workspace.Place{Path: place}.Key()+".db"), place, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if err := w.Change(ctx, func(ctx context.Context) error { return change(ctx, w) }); err != nil {
		t.Fatal(err)
	}
}

// TestSummariesSaveTokens: 70 to 85 per cent of those of details, as document 002
// says, for tasks with a description of 800 characters.
func TestSummariesSaveTokens(t *testing.T) {
	h := newHarness(t)
	fill(t, h, 20, strings.Repeat(about, 11))
	if saved := 1 - tokensPerTask(t, h, "summary")/tokensPerTask(t, h, "details"); saved < 0.70 || saved > 0.85 {
		t.Errorf("summaries save %.0f %%", 100*saved)
	}
}

// TestEstimateIsCloseToATokenizer compares it with o200k on answers of every kind.
func TestEstimateIsCloseToATokenizer(t *testing.T) {
	h := newHarness(t)
	fill(t, h, 40, "The index of words is read once for each search. See internal/domain/support/query.go:42 and PLAT-1234, due 2026-03-02; 1,500 rows took 0.25 s.")
	h.ask("create_entity", map[string]any{"entity_type": "file", "name": "Wörter für die Suche", "identifier": "internal/domain/support/words.go", "metadata": map[string]any{"lines": 85, "owner": "priya.sharma"}})
	h.ask("create_task", map[string]any{"title": "検索を速くする", "description": "長い説明がここにあります。検索は速くなければなりません。Überall gilt: Größe zählt, naïve Ansätze scheitern."})
	counter := &tokens.Counter{}
	for _, c := range []struct {
		tool string
		in   map[string]any
	}{
		{"list_tasks", map[string]any{}}, {"list_tasks", map[string]any{"mode": "details"}}, {"get_task", map[string]any{"task_id": 41}}, {"list_entities", map[string]any{"mode": "details"}},
		{"get_task_tree", map[string]any{"task_id": 1}}, {"get_project_info", map[string]any{}}, {"search_tasks", map[string]any{"search_term": "index"}}, {"get_usage_stats", map[string]any{}},
		{"audit_workspace_integrity", map[string]any{}}, {"list_projects", map[string]any{}}, {"get_task", map[string]any{"task_id": 1}}, {"list_tasks", map[string]any{"limit": 2}},
	} {
		if c.tool != "list_projects" {
			c.in["workspace_path"] = h.platform
		}
		args, _ := json.Marshal(c.in)
		answer := h.Encode(h.Call(as(t, "nina", access.PurposeNone), c.tool, args))
		estimate, exact := dialect.Estimate(answer), counter.Count(string(answer))
		t.Logf("%s %v: %d estimated, %d counted", c.tool, c.in["mode"], estimate, exact)
		if off := float64(estimate)/float64(exact) - 1; off < -0.1 || off > 0.1 {
			t.Errorf("%s %v: estimated %d, counted %d: %+.0f %%", c.tool, c.in["mode"], estimate, exact, 100*off)
		}
	}
}
