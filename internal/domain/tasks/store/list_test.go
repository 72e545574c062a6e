package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/domain/tasks/record"
)

// TestTagsOfAnOlderFile upgrades a file whose words of tags stood alone.
func TestTagsOfAnOlderFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	old, err := open(t.Context(), file, "/somewhere", time.Now, steps()[:1])
	if err != nil {
		t.Fatal(err)
	}
	err = old.Change(t.Context(), func(ctx context.Context) error {
		_, err := old.Exec(ctx, `insert into tasks (title, status, priority, tags, created_by, created_at, updated_at, deleted_at) values
  ('first', 'todo', 'high', 'docs', 'a', 1, 1, null), ('second', 'done', 'low', 'docs,web', 'a', 2, 2, null), ('gone', 'todo', 'high', 'docs', 'a', 3, 3, 4);
insert into task_tags (tag, task_id) values ('docs', 1), ('docs', 2), ('web', 2), ('docs', 3)`)
		return err
	})
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
	w := at(t, file, time.Now)
	wantTagged(t, w, TaskFilter{Tags: []string{"docs"}}, "second", "first")
	wantTagged(t, w, TaskFilter{Tags: []string{"docs"}, Status: record.Done}, "second")
	if _, err := w.UndeleteTask(t.Context(), 3, false); err != nil {
		t.Fatal(err)
	}
	wantTagged(t, w, TaskFilter{Tags: []string{"docs"}}, "gone", "second", "first")
}

func wantTagged(t *testing.T, w *Workspace, f TaskFilter, titles ...string) {
	t.Helper()
	var got []string
	found, total, err := w.Tasks(t.Context(), f, Page{Limit: 100})
	for _, task := range found {
		got = append(got, task.Title)
	}
	if diff := cmp.Diff(titles, got); err != nil || total != len(titles) || diff != "" {
		t.Errorf("%+v: %d in all, %v (-want +got):\n%s", f, total, err, diff)
	}
}

// TestListsByTag compares lists by tag with all tasks filtered here, while tags,
// status and deletions change.
func TestListsByTag(t *testing.T) {
	w, words := opened(t), []string{"a", "b", "c"}
	for i := range 60 {
		made(t, w, NewTask{Title: fmt.Sprint(i), Tags: text(strings.Join(words[i%3:min(3, i%3+1+i%2)], ",")), Priority: record.Priorities()[i%2]})
	}
	check := func() {
		all, _, err := w.Tasks(t.Context(), TaskFilter{}, Page{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []TaskFilter{
			{Tags: words[:1]}, {Tags: words[2:]}, {Tags: words[:2]}, {Tags: words, Status: record.Todo}, {Tags: words[1:2], Priority: "low"}, {Tags: words[2:], Status: record.InProgress, Priority: "medium"},
			{Tags: words[:1], Ready: true}, {Tags: words[1:], Blocked: true}, {Tags: []string{"none"}},
		} {
			open := f.Ready || f.Blocked // a list of its own order, whose length is compared
			var want []string
			for _, task := range all {
				tagged := task.Tags != nil && slices.ContainsFunc(record.Words(*task.Tags), func(word string) bool { return slices.Contains(f.Tags, word) })
				same := (f.Status == "" || f.Status == task.Status) && (f.Priority == "" || f.Priority == task.Priority)
				if tagged && same && (!f.Ready || task.Status != record.Blocked) && (!f.Blocked || task.Status == record.Blocked) {
					want = append(want, task.Title)
				}
			}
			for offset := 0; offset < max(1, len(want)); offset += 7 {
				found, total, err := w.Tasks(t.Context(), f, Page{Limit: 7, Offset: offset})
				if err != nil || total != len(want) {
					t.Fatalf("%+v: %d in all, %v, want %d", f, total, err, len(want))
				}
				for i, task := range found {
					if !open && task.Title != want[offset+i] {
						t.Errorf("%+v: task %d is %s, want %s", f, offset+i, task.Title, want[offset+i])
					}
				}
			}
		}
	}
	check()
	for i := int64(1); i <= 60; i += 4 {
		u := TaskUpdate{Status: text(record.InProgress), Priority: text("low")}
		if i%3 == 0 {
			u = TaskUpdate{Tags: Field[string]{true, text("b,a")}, Status: text(record.Blocked), BlockerReason: Field[string]{true, text("waits")}}
		}
		if _, err := w.UpdateTask(t.Context(), i, u); err != nil {
			t.Fatal(err)
		}
		if _, err := w.DeleteTask(t.Context(), i+1, false); err != nil {
			t.Fatal(err)
		}
	}
	check()
	if _, err := w.UndeleteTask(t.Context(), 2, false); err != nil {
		t.Fatal(err)
	}
	check()
}
