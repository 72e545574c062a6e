package tasks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
)

func TestFriendlyNameFindsAProject(t *testing.T) {
	h := newHarness(t)
	h.ask("set_project_name", map[string]any{"friendly_name": "The engine room"})
	if page := h.ask("list_tasks", map[string]any{"workspace_path": "the ENGINE room"}); page["total_count"] != 0.0 {
		t.Errorf("got %v", page)
	}
	details(t, h.ask("set_project_name", map[string]any{"friendly_name": "personal"}), "DUPLICATE")
	projects := h.askAs(as(t, "nina", access.PurposeNone), "list_projects", map[string]any{})
	if first := projects["items"].([]any)[0].(map[string]any); first["friendly_name"] != "The engine room" || projects["total_count"] != 2.0 {
		t.Errorf("got %v", projects)
	}
}

// TestProjectsComeInPages: the default one first.
func TestProjectsComeInPages(t *testing.T) {
	h := newHarness(t)
	for offset, want := range []string{"Platform", "Personal"} {
		page := h.askAs(as(t, "nina", access.PurposeNone), "list_projects", map[string]any{"limit": 1, "offset": offset})
		items := page["items"].([]any)
		if len(items) != 1 || items[0].(map[string]any)["friendly_name"] != want || page["total_count"] != 2.0 {
			t.Errorf("offset %d: got %v, want %s", offset, page, want)
		}
	}
}

// TestUsageCountsCallsAndSuccesses: of all tools, or of one.
func TestUsageCountsCallsAndSuccesses(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "one"})
	h.ask("get_task", map[string]any{"task_id": 1})
	h.ask("get_task", map[string]any{"task_id": 99})
	if got := h.ask("get_usage_stats", map[string]any{}); fmt.Sprint(got["total_calls"], got["successful_calls"]) != "3 2" {
		t.Errorf("got %v", got)
	}
	for tool, want := range map[string]string{"get_task": "2 1", "list_tasks": "0 0"} {
		if got := h.ask("get_usage_stats", map[string]any{"tool_name": tool}); fmt.Sprint(got["total_calls"], " ", got["successful_calls"]) != want {
			t.Errorf("%s: got %v, want %s", tool, got, want)
		}
	}
	if got := h.ask("get_usage_stats", map[string]any{"tool_name": "create_task"}); fmt.Sprint(got["total_calls"], got["successful_calls"], got["success_rate"]) != "1 1 100" {
		t.Errorf("got %v", got)
	}
}

// TestUsageOfNoTool: a name that no tool has is INVALID_FILTER with the valid ones.
func TestUsageOfNoTool(t *testing.T) {
	h := newHarness(t)
	d := details(t, h.ask("get_usage_stats", map[string]any{"tool_name": "make_task"}), "INVALID_FILTER")
	if valid := d["valid_values"].([]any); d["filter_name"] != "tool_name" || d["invalid_value"] != "make_task" || len(valid) != len(h.server.Tools()) || valid[0] != "audit_workspace_integrity" {
		t.Errorf("got %v", d)
	}
}

// TestUsageIsOfSomeDays: today, and as many before it as are asked for.
func TestUsageIsOfSomeDays(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "one"})
	h.later = 48 * time.Hour
	for days, want := range map[int]float64{1: 0, 2: 0, 3: 1} {
		got := h.ask("get_usage_stats", map[string]any{"days": days, "tool_name": "create_task"})
		if got["total_calls"] != want || len(got["timeline"].([]any)) != int(want) {
			t.Errorf("%d days: got %v in %v, want %v", days, got["total_calls"], got["timeline"], want)
		}
	}
}

// TestAuditNamesWhatBelongsElsewhere: each sort of it, once by a task or an entity that
// is there, and once more by one that was deleted.
func TestAuditNamesWhatBelongsElsewhere(t *testing.T) {
	h := newHarness(t)
	repository := filepath.Join(h.platform, ".git")
	if err := os.Mkdir(repository, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h.ask("create_task", map[string]any{"title": "one", "tags": "personal fine", "file_references": []string{"a.go", "../elsewhere/b.go", h.platform + "/c.go"}, "description": "see /elsewhere/docs/x.md"})
	}
	h.ask("create_entity", map[string]any{"entity_type": "file", "name": "a", "identifier": "/elsewhere/e.go"})
	h.ask("create_entity", map[string]any{"entity_type": "other", "name": "no file", "identifier": "/elsewhere/room"})
	if err := os.Rename(repository, filepath.Join(filepath.Dir(h.platform), ".git")); err != nil {
		t.Fatal(err)
	}
	h.ask("delete_task", map[string]any{"task_id": 2})
	found := h.ask("audit_workspace_integrity", map[string]any{})
	encoded, _ := json.Marshal(found["issues"])
	want := `{"description_path_references":[{"resource_id":1,"resource_type":"task","value":"/elsewhere/docs/x.md"}],"entity_identifier_mismatches":[{"resource_id":1,"resource_type":"entity","value":"/elsewhere/e.go"}],` +
		`"file_reference_mismatches":[{"resource_id":1,"resource_type":"task","value":"../elsewhere/b.go"}],"git_repo_mismatches":[{"resource_id":1,"resource_type":"task","value":"` + h.platform + `"}],` +
		`"suspicious_tags":[{"resource_id":1,"resource_type":"task","value":"personal"}]}`
	advice := fmt.Sprint(found["recommendations"])
	if string(encoded) != want || found["contamination_found"] != true || strings.Count(advice, "(1)") != 5 {
		t.Errorf("got %s, %s, want %s", encoded, advice, want)
	}
	for name, c := range map[string]struct {
		in    map[string]any
		tags  float64
		repos any
	}{
		"deleted ones too": {map[string]any{"include_deleted": true}, 2, 2.0},
		"no repositories":  {map[string]any{"check_git_repo": false}, 1, nil},
	} {
		if got := h.ask("audit_workspace_integrity", c.in)["statistics"].(map[string]any); got["suspicious_tags"] != c.tags || got["git_repo_mismatches"] != c.repos {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestAuditListsSomeOfManyIssues: 50 of a sort, and counts all.
func TestAuditListsSomeOfManyIssues(t *testing.T) {
	h := newHarness(t)
	for range 60 {
		h.ask("create_task", map[string]any{"title": "one", "tags": "personal"})
	}
	found := h.ask("audit_workspace_integrity", map[string]any{})
	listed := found["issues"].(map[string]any)["suspicious_tags"].([]any)
	if counted := found["statistics"].(map[string]any)["suspicious_tags"]; len(listed) != 50 || counted != 60.0 {
		t.Errorf("got %d of %v", len(listed), counted)
	}
}
