package tasks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks"
	"countersign.dev/internal/domain/tasks/pool"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// TestHiddenWorkspacesChangeNoByte: a workspace that one may not open, with 1,000
// tasks and a name of its own, changes no answer, no count, no score and no error.
func TestHiddenWorkspacesChangeNoByte(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	without := answersIn(t, root, false)
	with := answersIn(t, root, true)
	for i, call := range hiddenProbes(root) {
		if without[i] != with[i] {
			t.Errorf("%s %s:\nwithout %s\nwith    %s", call.tool, call.in, without[i], with[i])
		}
	}
	if !strings.Contains(strings.Join(with, ""), "the release of the payroll export") {
		t.Error("the visible tasks were not found")
	}
}

type probe struct{ tool, in string }

// hiddenProbes are what Nina asks, in this order.
func hiddenProbes(root string) (calls []probe) {
	hidden := filepath.Join(root, "hidden")
	in := func(tool, format string, args ...any) {
		calls = append(calls, probe{tool, fmt.Sprintf(format, args...)})
	}
	in("list_projects", `{}`)
	for _, where := range []string{"Platform", "", hidden, "Payroll", hidden + "/sub", filepath.Join(root, "none"), filepath.Join(hidden, "link"), filepath.Join(root, "none", "link")} {
		for _, tool := range []string{"list_tasks", "get_project_info", "get_usage_stats", "audit_workspace_integrity", "list_entities"} {
			in(tool, `{"workspace_path":%q}`, where)
		}
		in("search_tasks", `{"workspace_path":%q,"search_term":"payroll export"}`, where)
		in("search_entities", `{"workspace_path":%q,"search_term":"export"}`, where)
		in("get_task", `{"workspace_path":%q,"task_id":500}`, where)
		in("get_task", `{"workspace_path":%q,"task_id":2}`, where)
		in("get_task_tree", `{"workspace_path":%q,"task_id":1}`, where)
	}
	in("list_tasks", `{"workspace_path":"Platform","ready":true,"limit":2}`)
	in("search_tasks", `{"workspace_path":"Platform","search_term":"release","mode":"details"}`)
	in("set_project_name", `{"workspace_path":"Platform","friendly_name":"Payroll"}`)
	in("list_projects", `{}`)
	in("list_tasks", `{"workspace_path":"Payroll"}`)
	in("create_task", `{"workspace_path":"Payroll","title":"after the others"}`)
	return calls
}

// answersIn are the answers to Nina in a fresh folder, with a hidden workspace or
// without.
func answersIn(t *testing.T, root string, withHidden bool) (answers []string) {
	t.Helper()
	platform, hidden, databases := filepath.Join(root, "platform"), filepath.Join(root, "hidden"), filepath.Join(root, "databases")
	now := func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }
	for _, folder := range []string{platform, databases} {
		_ = os.RemoveAll(folder)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	places := workspace.Places{Roots: []string{root}, Issuer: testkit.Issuer, Shared: []workspace.Shared{{Path: platform, Name: "Platform", People: []string{"nina"}}}}
	if withHidden {
		if err := os.MkdirAll(filepath.Join(hidden, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc", filepath.Join(hidden, "link")); err != nil {
			t.Fatal(err)
		}
		places.Shared = append([]workspace.Shared{{Path: hidden, Name: "Payroll", People: []string{"marcus"}, Roles: []string{"finance-read"}}}, places.Shared...)
		fillHidden(t, databases, hidden, now)
	}
	s, err := tasks.Open(t.Context(), tasks.Options{Folder: databases, Places: places, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := domaintest.Open(t, "tasks", s)
	if withHidden {
		h.Call(as(t, "marcus", access.PurposeCall), "set_project_name", json.RawMessage(`{"workspace_path":"Payroll","friendly_name":"Salaries"}`))
		h.Call(as(t, "marcus", access.PurposeCall), "list_tasks", json.RawMessage(`{"workspace_path":"Salaries"}`))
	}
	nina := as(t, "nina", access.PurposeCall)
	for i := range 20 {
		h.Call(nina, "create_task", json.RawMessage(fmt.Sprintf(`{"title":"task %d: the release of the payroll export","tags":"payroll salaries"}`, i)))
	}
	for _, call := range hiddenProbes(root) {
		answers = append(answers, string(h.Encode(h.Call(nina, call.tool, json.RawMessage(call.in)))))
	}
	return answers
}

// fillHidden makes the hidden workspace's tasks.
func fillHidden(t *testing.T, databases, hidden string, now func() time.Time) {
	t.Helper()
	workspaces := pool.New(databases, now)
	err := workspaces.With(t.Context(), workspace.Place{Path: hidden}.Key(), hidden, func(w *store.Workspace) error {
		return w.Change(t.Context(), func(ctx context.Context) error {
			for i := range 1000 {
				if _, err := w.InsertTask(ctx, store.NewTask{Title: fmt.Sprint("payroll export release ", i), Status: "todo", Priority: "high", CreatedBy: "marcus"}); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err == nil {
		err = workspaces.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
