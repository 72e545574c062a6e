package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/fault"
)

func opened(t testing.TB) *Workspace {
	t.Helper()
	return at(t, filepath.Join(t.TempDir(), "w.db"), time.Now)
}

func at(t testing.TB, file string, now func() time.Time) *Workspace {
	t.Helper()
	w, err := Open(context.Background(), file, "/somewhere", now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func made(t testing.TB, w *Workspace, n NewTask) record.Task {
	t.Helper()
	if n.Status == "" {
		n.Status = record.Todo
	}
	if n.Priority == "" {
		n.Priority = "medium"
	}
	n.CreatedBy = "tester"
	task, err := w.CreateTask(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func text(s string) *string { return &s }

func depends(ids ...int64) TaskUpdate { return TaskUpdate{DependsOn: Field[[]int64]{true, &ids}} }

func wantFault(t *testing.T, err error, code *fault.Code, message string) {
	t.Helper()
	if f := fault.From(err); f == nil || f.Code != code || !strings.Contains(f.Message, message) {
		t.Errorf("got %v, want %s: %s", err, code.Name, message)
	}
}

func TestCyclesAreRefusedAndNamed(t *testing.T) {
	w := opened(t)
	var ids []int64
	for i := range 4 {
		n := NewTask{Title: fmt.Sprint("task ", i)}
		if i > 0 {
			n.DependsOn, n.ParentTaskID = []int64{ids[i-1]}, &ids[i-1]
		}
		ids = append(ids, made(t, w, n).ID)
	}
	_, err := w.UpdateTask(t.Context(), 1, depends(4))
	wantFault(t, err, record.ErrCycle, "1 → 4 → 3 → 2 → 1")
	_, err = w.UpdateTask(t.Context(), 2, depends(2))
	wantFault(t, err, record.ErrCycle, "2 → 2")
	_, err = w.UpdateTask(t.Context(), 1, TaskUpdate{ParentTaskID: Field[int64]{true, &ids[3]}})
	wantFault(t, err, record.ErrCycle, "1 → 4 → 3 → 2 → 1")
	if _, err := w.UpdateTask(t.Context(), 4, depends(1, 2)); err != nil {
		t.Error(err)
	}
}

// TestPagesOfOneMomentRepeatNothing: 250 tasks with one time of creation.
func TestPagesOfOneMomentRepeatNothing(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	w := at(t, filepath.Join(t.TempDir(), "w.db"), func() time.Time { return noon })
	for i := range 250 {
		made(t, w, NewTask{Title: fmt.Sprint("task ", i)})
	}
	var seen []int64
	for offset := 0; ; offset += 30 {
		found, total, err := w.Tasks(t.Context(), TaskFilter{}, Page{Limit: 30, Offset: offset})
		if err != nil || total != 250 {
			t.Fatal(total, err)
		}
		if len(found) == 0 {
			break
		}
		for _, task := range found {
			seen = append(seen, task.ID)
		}
	}
	want := make([]int64, 250)
	for i := range want {
		want[i] = int64(250 - i)
	}
	if !slices.Equal(seen, want) {
		t.Errorf("got %v", seen)
	}
}

// TestKeptFiguresAgreeWithTheRows makes random changes, and then compares what
// triggers keep with what a query over all rows says.
func TestKeptFiguresAgreeWithTheRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	w, tagged := opened(t), []*string{nil, text("a"), text("a b"), text("b c")}
	for i := range int64(40) {
		n := NewTask{Title: "a task about config", Priority: record.Priorities()[r.IntN(3)], Tags: tagged[r.IntN(4)]}
		if i > 20 {
			parent := i / 2
			n.ParentTaskID = &parent
		}
		made(t, w, n)
	}
	if err := w.Change(t.Context(), w.indexAll); err != nil {
		t.Fatal(err)
	}
	for range 400 {
		id := int64(1 + r.IntN(40))
		switch r.IntN(7) {
		case 6:
			_, _ = w.UpdateTask(t.Context(), id, TaskUpdate{Tags: Field[string]{true, tagged[r.IntN(4)]}})
		case 0:
			_, _ = w.DeleteTask(t.Context(), id, r.IntN(2) == 0)
		case 1:
			_, _ = w.UndeleteTask(t.Context(), id, r.IntN(2) == 0)
		case 2:
			_, _ = w.UpdateTask(t.Context(), id, depends(int64(1+r.IntN(40)), int64(1+r.IntN(40))))
		case 3:
			parent := int64(1 + r.IntN(40))
			_, _ = w.UpdateTask(t.Context(), id, TaskUpdate{ParentTaskID: Field[int64]{true, &parent}})
		case 4:
			_, _ = w.UpdateTask(t.Context(), id, TaskUpdate{Status: &record.Statuses()[r.IntN(4)], BlockerReason: Field[string]{true, text("so")}})
		case 5:
			_, _ = w.UpdateTask(t.Context(), id, TaskUpdate{Priority: &record.Priorities()[r.IntN(3)]})
		}
	}
	if err := w.Change(t.Context(), func(ctx context.Context) error {
		p, err := w.Purgeable(ctx, time.Now().UnixMicro())
		if err != nil || len(p.IDs) < 2 {
			t.Fatalf("nothing to purge: %v, %v", p, err)
		}
		return w.Purge(ctx, p.IDs[:len(p.IDs)/2])
	}); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]string{
		"open_blockers": `select count(*) from tasks t where open_blockers <> (select count(*) from dependencies d join tasks o on o.id = d.depends_on_id where d.task_id = t.id and o.is_open = 1)`,
		"unblocks":      `select count(*) from tasks t where unblocks <> (select count(*) from dependencies d join tasks o on o.id = d.task_id where d.depends_on_id = t.id and o.is_open = 1)`,
		"counts": `select abs((select coalesce(sum(n), 0) from counts) - (select count(*) from tasks where deleted_at is null)) +
  (select count(*) from counts c where n <> (select count(*) from tasks t where t.deleted_at is null and t.status = c.status and t.priority = c.priority and t.is_ready = c.ready and (t.is_open and (t.open_blockers > 0 or t.status = 'blocked')) = c.waiting))`,
		"below": `select count(*) from tasks t where below <> (with recursive b(id) as (select id from tasks where parent_task_id = t.id and deleted_at is null
  union all select c.id from b join tasks c on c.parent_task_id = b.id where c.deleted_at is null) select count(*) from b)`,
		"stretches": `select abs((select coalesce(sum(n), 0) from stretches) - (select count(*) from tasks where deleted_at is null)) + (select count(*) from stretches s where n <> (
  select count(*) from tasks t where t.deleted_at is null and t.status = s.status and t.priority = s.priority and s.since = coalesce((select max(since) from stretches where since <= t.created_at), 0)))`,
		"tag_set_counts": `select abs((select coalesce(sum(n), 0) from tag_set_counts) - (select count(*) from tasks where deleted_at is null and tags is not null)) + (select count(*) from tag_set_counts s where n <> (
  select count(*) from tasks t where t.deleted_at is null and t.tags = s.tags and t.status = s.status and t.priority = s.priority and t.is_ready = s.ready and (t.is_open and (t.open_blockers > 0 or t.status = 'blocked')) = s.waiting))`,
		"tag_sets": `select count(*) from task_tags g join tasks t on t.id = g.task_id where not exists (select 1 from tag_sets s where s.tag = g.tag and s.tags = t.tags)`,
		"task_tags": `select count(*) from task_tags g join tasks t on t.id = g.task_id where (g.live, g.status, g.priority, g.ready, g.waiting, g.urgency, g.unblocks) <>
  (t.deleted_at is null, t.status, t.priority, t.is_ready, t.is_open and (t.open_blockers > 0 or t.status = 'blocked'), t.urgency, t.unblocks)`,
		"words": `select abs((select count(*) from tasks_words where tasks_words match 'config') - (select count(*) from tasks))`,
	} {
		var n int
		if err := w.In(t.Context()).QueryRowContext(t.Context(), wrong).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d rows disagree, %v", name, n, err)
		}
	}
	var rows int
	err := w.In(t.Context()).QueryRowContext(t.Context(), "select count(*) from tasks").Scan(&rows)
	set, err2 := index{file: w.file, table: "tasks", spans: 1}.sets(t.Context(), "", exactly("config"))
	if n := set.Anywhere.Len(); errors.Join(err, err2) != nil || n != rows {
		t.Errorf("the set of a word that all have: %d of %d rows, %v, %v", n, rows, err, err2)
	}
}

func TestTimesAreUTC(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "one"})
	task, err := w.Task(t.Context(), 1)
	if err != nil || task.CreatedAt.Location() != time.UTC || task.UpdatedAt.Location() != time.UTC {
		t.Errorf("got %v and %v, %v", task.CreatedAt, task.UpdatedAt, err)
	}
}

// TestDeletedDependenciesHoldNothingUp: neither a task that becomes done, nor one that
// is made so.
func TestDeletedDependenciesHoldNothingUp(t *testing.T) {
	w := opened(t)
	on := []int64{made(t, w, NewTask{Title: "open"}).ID}
	done := NewTask{Title: "done", Status: record.Done, Priority: "low", DependsOn: on, CreatedBy: "tester"}
	_, err := w.CreateTask(t.Context(), done)
	wantFault(t, err, record.ErrDependency, "before 1")
	waiting := made(t, w, NewTask{Title: "waiting", Status: record.InProgress, DependsOn: on})
	if _, err := w.DeleteTask(t.Context(), on[0], false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.UpdateTask(t.Context(), waiting.ID, TaskUpdate{Status: text(record.Done)}); err != nil {
		t.Error(err)
	}
}

func TestStatusesFollowTheRules(t *testing.T) {
	w := opened(t)
	first, second := made(t, w, NewTask{Title: "first"}), made(t, w, NewTask{Title: "second", DependsOn: []int64{1}})
	to := func(id int64, status string, u TaskUpdate) error {
		u.Status = &status
		_, err := w.UpdateTask(t.Context(), id, u)
		return err
	}
	wantFault(t, to(first.ID, record.Done, TaskUpdate{}), record.ErrTransition, "is to do and cannot become done")
	wantFault(t, to(first.ID, record.Blocked, TaskUpdate{}), fault.ValidationError, "needs a reason")
	if err := to(second.ID, record.InProgress, TaskUpdate{}); err != nil {
		t.Fatal(err)
	}
	wantFault(t, to(second.ID, record.Done, TaskUpdate{}), record.ErrDependency, "before 1")
	for _, status := range []string{record.Blocked, record.InProgress, record.Done} {
		if err := to(first.ID, status, TaskUpdate{BlockerReason: Field[string]{status == record.Blocked, text("so")}}); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Task(t.Context(), first.ID); err != nil || (got.BlockerReason != nil) != (status == record.Blocked) {
			t.Errorf("%s: got the reason %v, %v", status, got.BlockerReason, err)
		}
	}
	done, err := w.Task(t.Context(), first.ID)
	if err != nil || done.CompletedAt == nil || done.BlockerReason != nil {
		t.Errorf("got %+v, %v", done.TaskDetails, err)
	}
	wantFault(t, to(first.ID, record.Todo, TaskUpdate{}), record.ErrTransition, "is done and cannot become to do")
	if err := to(second.ID, record.Done, TaskUpdate{}); err != nil {
		t.Error(err)
	}
}

func TestCascadeReachesEveryLevelAndIsTakenBack(t *testing.T) {
	w := opened(t)
	var parent *int64
	for i := range 30 {
		task := made(t, w, NewTask{Title: fmt.Sprint("level ", i), ParentTaskID: parent})
		parent = &task.ID
	}
	early, err := w.DeleteTask(t.Context(), 30, false)
	deleted, err2 := w.DeleteTask(t.Context(), 2, true)
	restored, err3 := w.UndeleteTask(t.Context(), 2, true)
	if early != 1 || deleted != 28 || restored != 28 || err != nil || err2 != nil || err3 != nil {
		t.Errorf("got %d, %d, %d; %v %v %v", early, deleted, restored, err, err2, err3)
	}
	if _, err := w.Task(t.Context(), 30); !fault.Is(err, record.ErrNotFound) {
		t.Errorf("what was deleted before came back: %v", err)
	}
}

func TestOldFileIsUpgradedWithABackup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	made(t, at(t, file, time.Now), NewTask{Title: "kept"})
	next := append(steps(), step{schema: "alter table tasks add column estimate integer"})
	w, err := open(t.Context(), file, "/somewhere", time.Now, next)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if task, err := w.Task(t.Context(), 1); err != nil || task.Title != "kept" {
		t.Errorf("got %+v, %v", task, err)
	}
	backup, err := open(t.Context(), fmt.Sprintf("%s.v%d.bak", file, len(steps())), "/somewhere", time.Now, steps())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backup.Close() }()
	if task, err := backup.Task(t.Context(), 1); err != nil || task.Title != "kept" {
		t.Errorf("the backup: got %+v, %v", task, err)
	}
	if _, err := Open(t.Context(), file, "/somewhere", time.Now); err == nil || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("a newer file: got %v", err)
	}
	if _, err := open(t.Context(), file, "/elsewhere", time.Now, next); err == nil || !strings.Contains(err.Error(), "another workspace") {
		t.Errorf("another workspace: got %v", err)
	}
	if info, err := os.Stat(fmt.Sprintf("%s.v%d.bak", file, len(steps()))); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup's mode: %v, %v", info, err)
	}
}

func TestWhatWasUnlinkedCanBeLinkedAgain(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "a task"})
	if _, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: "a", Identifier: text("a.go"), CreatedBy: "tester"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: "b", Identifier: text("a.go"), CreatedBy: "tester"})
	wantFault(t, err, record.ErrDuplicate, "Entity 1")
	for range 2 {
		if _, err := w.Link(t.Context(), 1, 1, "tester"); err != nil {
			t.Fatal(err)
		}
		_, err := w.Link(t.Context(), 1, 1, "tester")
		wantFault(t, err, record.ErrDuplicate, "linked")
		if _, err := w.Unlink(t.Context(), 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.Unlink(t.Context(), 1, 1)
	wantFault(t, err, record.ErrNotFound, "not linked")
}

// TestLinkedRowsComeInPages: the entities of a task and the tasks of an entity, the
// newest link first, each with its link.
func TestLinkedRowsComeInPages(t *testing.T) {
	w := opened(t)
	for i := range 3 {
		made(t, w, NewTask{Title: fmt.Sprint("task ", i+1), Priority: "high"})
		if _, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: fmt.Sprint("file ", i+1), CreatedBy: "tester"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, ends := range [][2]int64{{1, 1}, {1, 2}, {1, 3}, {2, 1}, {3, 1}} {
		if _, err := w.Link(t.Context(), ends[0], ends[1], fmt.Sprint("by ", ends)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	entities, n, err := w.TaskEntities(t.Context(), 1, Page{Limit: 2, Offset: 1})
	if err != nil || n != 3 {
		t.Errorf("the entities of a task: got %d, %v, want 3", n, err)
	}
	for _, e := range entities {
		got = append(got, e.Name+" "+e.LinkCreatedBy)
	}
	tasks, n, err := w.EntityTasks(t.Context(), 1, record.Todo, "high", Page{Limit: 2, Offset: 1, Details: true})
	if err != nil || n != 3 {
		t.Errorf("the tasks of an entity: got %d, %v, want 3", n, err)
	}
	for _, task := range tasks {
		got = append(got, task.Title+" "+task.LinkCreatedBy)
	}
	if want := []string{"file 2 by [1 2]", "file 1 by [1 1]", "task 2 by [2 1]", "task 1 by [1 1]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, n, err := w.EntityTasks(t.Context(), 1, record.Done, "", Page{Limit: 2}); err != nil || n != 0 {
		t.Errorf("with a status that none has: got %d, %v, want none", n, err)
	}
}

func TestTreeIsOrderedAndBounded(t *testing.T) {
	w := opened(t)
	root := made(t, w, NewTask{Title: "root"}).ID
	for i := range 3 {
		child := made(t, w, NewTask{Title: fmt.Sprint("child ", i), ParentTaskID: &root}).ID
		for j := range 2 {
			made(t, w, NewTask{Title: fmt.Sprintf("grandchild %d.%d", i, j), ParentTaskID: &child})
		}
	}
	titles := func(p TreePage) string {
		nodes, total, size, err := treeOf(t, w, root, p)
		if err != nil || total != 3 || size != 9 {
			t.Errorf("got %d, %d, %v", total, size, err)
		}
		var all []string
		for _, n := range nodes {
			all = append(all, fmt.Sprint(n.Depth, n.Title[len(n.Title)-3:]))
		}
		return strings.Join(all, " ")
	}
	if got := titles(TreePage{Page{Limit: 2, Offset: 1}, 10}); got != "1d 1 21.0 21.1 1d 2 22.0 22.1" {
		t.Error(got)
	}
	if got := titles(TreePage{Page{Limit: 2}, 1}); got != "1d 0 1d 1" {
		t.Error(got)
	}
	if got := titles(TreePage{Page{Limit: 100}, 1}); got != "1d 0 1d 1 1d 2" {
		t.Error(got)
	}
}

// TestDeletedEntityTakesItsLinksAlong: and comes back with them, but without one that
// was removed before.
func TestDeletedEntityTakesItsLinksAlong(t *testing.T) {
	w := opened(t)
	if _, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: "a.go", CreatedBy: "tester"}); err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		made(t, w, NewTask{Title: fmt.Sprint("task ", i)})
		if _, err := w.Link(t.Context(), i+1, 1, "tester"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Unlink(t.Context(), 2, 1); err != nil {
		t.Fatal(err)
	}
	if n, err := w.DeleteEntity(t.Context(), 1); err != nil || n != 2 {
		t.Errorf("deleted: got %d links, %v", n, err)
	}
	var live int
	if err := w.In(t.Context()).QueryRowContext(t.Context(), "select count(*) from task_entity_links where deleted_at is null").Scan(&live); err != nil || live != 0 {
		t.Errorf("%d links are left, %v", live, err)
	}
	if n, err := w.UndeleteEntity(t.Context(), 1); err != nil || n != 2 {
		t.Errorf("taken back: got %d links, %v", n, err)
	}
	if _, n, err := w.EntityTasks(t.Context(), 1, "", "", Page{Limit: 10}); err != nil || n != 2 {
		t.Errorf("got %d tasks, %v", n, err)
	}
}
