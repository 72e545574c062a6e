package store

import (
	gocmp "cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/testkit"
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
	made(t, w, NewTask{Title: "both", Tags: text("x y")})
	made(t, w, NewTask{Title: "one", Tags: text("y")})
	wantTagged(t, w, TaskFilter{Tags: []string{"x", "y"}, Ready: true}, "both", "one")
}

// TestReadyAndBlockedByTag compares the lists of ready and of waiting tasks with tags
// with all tasks, filtered and ordered here, while tasks, what they wait for and their
// tags change.
func TestReadyAndBlockedByTag(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 4))
	w, tagged := opened(t), []*string{nil, text("a"), text("a b"), text("b c"), text("a c")}
	for range 60 {
		made(t, w, NewTask{Title: "x", Priority: record.Priorities()[r.IntN(3)], Tags: tagged[r.IntN(5)]})
	}
	found := 0
	for round := range 12 {
		for range 25 {
			id := int64(1 + r.IntN(60))
			switch r.IntN(6) {
			case 0:
				_, _ = w.DeleteTask(t.Context(), id, false)
			case 1:
				_, _ = w.UndeleteTask(t.Context(), id, false)
			case 2:
				_, _ = w.UpdateTask(t.Context(), id, TaskUpdate{Tags: Field[string]{true, tagged[r.IntN(5)]}, Priority: &record.Priorities()[r.IntN(3)]})
			case 3:
				_, _ = w.UpdateTask(t.Context(), id, TaskUpdate{Status: &record.Statuses()[r.IntN(4)], BlockerReason: Field[string]{true, text("so")}})
			default:
				_, _ = w.UpdateTask(t.Context(), id, depends(int64(1+r.IntN(60)), int64(1+r.IntN(60))))
			}
		}
		all, _, err := w.Tasks(t.Context(), TaskFilter{}, Page{Limit: 100, Details: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []TaskFilter{
			{Ready: true, Tags: []string{"a"}}, {Ready: true, Tags: []string{"b", "c"}}, {Ready: true, Tags: []string{"a", "b"}, Status: record.InProgress}, {Ready: true, Tags: []string{"c"}, Priority: "high"},
			{Blocked: true, Tags: []string{"a"}}, {Blocked: true, Tags: []string{"c", "b"}}, {Blocked: true, Tags: []string{"b"}, Status: record.Blocked},
		} {
			want := inOrder(all, f)
			for offset := 0; offset <= len(want); offset += 5 {
				page, total, err := w.Tasks(t.Context(), f, Page{Limit: 5, Offset: offset})
				if err != nil || total != len(want) || !slices.EqualFunc(page, want[offset:min(offset+5, len(want))], isTask) {
					t.Fatalf("round %d, %+v from %d: got %v of %d, %v, want %v", round, f, offset, page, total, err, want)
				}
			}
			found += len(want)
		}
	}
	if found < 300 {
		t.Errorf("%d rows are too few to say much", found)
	}
}

// inOrder are the numbers of the tasks of a list of ready or of waiting ones.
func inOrder(all []record.Task, f TaskFilter) (ids []int64) {
	open, unblocks, waits := map[int64]bool{}, map[int64]int{}, map[int64]bool{}
	for _, task := range all {
		open[task.ID] = task.Status == record.Todo || task.Status == record.InProgress || task.Status == record.Blocked
	}
	var list []record.Task
	for _, task := range all {
		for _, on := range task.DependsOn {
			waits[task.ID] = waits[task.ID] || open[on]
			if open[task.ID] {
				unblocks[on]++
			}
		}
		waiting := open[task.ID] && (waits[task.ID] || task.Status == record.Blocked)
		tagged := task.Tags != nil && slices.ContainsFunc(record.Words(*task.Tags), func(word string) bool { return slices.Contains(f.Tags, word) })
		kind := (f.Status == "" || task.Status == f.Status) && (f.Priority == "" || task.Priority == f.Priority)
		if open[task.ID] && waiting == f.Blocked && tagged && kind {
			list = append(list, task)
		}
	}
	urgency := map[string]int{"high": 3, "medium": 2, "low": 1}
	slices.SortFunc(list, func(a, b record.Task) int {
		first := gocmp.Compare(urgency[b.Priority], urgency[a.Priority])
		if first == 0 && f.Ready {
			first = gocmp.Compare(unblocks[b.ID], unblocks[a.ID])
		}
		return gocmp.Or(first, a.CreatedAt.Compare(b.CreatedAt), gocmp.Compare(a.ID, b.ID))
	})
	for _, task := range list {
		ids = append(ids, task.ID)
	}
	return ids
}

// TestPagesFarIntoAList compares pages of a list of several stretches with the bare
// query, in a file that began with the newest version and in one that was upgraded,
// while tasks change, go, come back, and are made with an earlier time.
func TestPagesFarIntoAList(t *testing.T) {
	testkit.Alone(t)
	for _, version := range []int{2, len(steps())} {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "w.db")
			old, err := open(t.Context(), file, "/somewhere", time.Now, steps()[:version])
			if err == nil {
				err = old.Change(t.Context(), func(ctx context.Context) error {
					_, err := old.Exec(ctx, "drop trigger tasks_worded")
					return err
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			fillRows(t, old, 3*4096-8)
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			w := at(t, file, time.Now)
			wantPages(t, w)
			if err := w.Change(t.Context(), func(ctx context.Context) error {
				_, err := w.Exec(ctx, `update tasks set deleted_at = 1 where id % 7 = 0 and id < 8000 or id between 4000 and 6000;
update tasks set status = 'cancelled', priority = 'low' where id % 5 = 0;
update tasks set deleted_at = null where id % 14 = 0;
insert into tasks (title, status, priority, created_by, created_at, updated_at) select 'early', 'todo', 'high', 'a', created_at - 1000000 * (id % 3), 1 from tasks where id % 40 = 0`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			wantPages(t, w)
		})
	}
}

// wantPages compares pages of some kinds with the bare query.
func wantPages(t *testing.T, w *Workspace) {
	t.Helper()
	var stretches int
	if err := w.In(t.Context()).QueryRowContext(t.Context(), "select count(distinct since) from stretches").Scan(&stretches); err != nil || stretches < 3 {
		t.Errorf("%d stretches, %v, want 3 at least", stretches, err)
	}
	for _, f := range []TaskFilter{{}, {Status: record.Todo}, {Priority: "low"}, {Status: record.Cancelled, Priority: "low"}, {Status: record.Todo, Priority: "high"}} {
		where := f.kind()
		want := idsOf(t, w, "select id from tasks where deleted_at is null and "+where.String()+" order by created_at desc, id desc", where.Args)
		for offset := 0; offset < len(want)+200; offset += 1 + len(want)/23 {
			found, total, err := w.Tasks(t.Context(), f, Page{Limit: 50, Offset: offset})
			page := want[min(offset, len(want)):min(offset+50, len(want))]
			if err != nil || total != len(want) || !slices.EqualFunc(found, page, isTask) {
				t.Fatalf("%+v from %d of %d: got %d, %v, %v", f, offset, len(want), total, found, err)
			}
		}
	}
	for _, f := range []TaskFilter{{Tags: []string{"docs", "part7"}}, {Tags: []string{"docs", "part7"}, Ready: true, Priority: "high"}, {Tags: []string{"rare", "part9", "none"}, Blocked: true}} {
		where, found := f.where(), []record.Task{}
		forward, _ := f.order()
		want := idsOf(t, w, "select t.id from tasks t where "+where.String()+" order by "+forward, where.Args)
		for offset := 0; offset < len(want); offset += 90 {
			page, total, err := w.Tasks(t.Context(), f, Page{Limit: 90, Offset: offset})
			if found = append(found, page...); err != nil || total != len(want) {
				t.Fatalf("%+v: got %d, %v, want %d", f, total, err, len(want))
			}
		}
		if !slices.EqualFunc(found, want, isTask) {
			t.Errorf("%+v: the order differs", f)
		}
	}
}

func isTask(task record.Task, id int64) bool { return task.ID == id }

// idsOf are the ids that a query selects.
func idsOf(t *testing.T, w *Workspace, query string, args []any) (ids []int64) {
	t.Helper()
	rows, err := w.In(t.Context()).QueryContext(t.Context(), query, args...)
	if err := w.Each(t.Context(), rows, err, func() error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestPageAndCountAreOfOneMoment: while another connection makes and deletes tasks,
// a page that has room for all has as many as its count says.
func TestPageAndCountAreOfOneMoment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	w, other := at(t, file, time.Now), at(t, file, time.Now)
	for range 5 {
		made(t, w, NewTask{Title: "there"})
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			task, err := other.CreateTask(ctx, NewTask{Title: "comes there", Status: record.Todo, Priority: "high", CreatedBy: "tester", Tags: text("a"), ParentTaskID: new(int64(1))})
			if err == nil {
				_, err = other.DeleteTask(ctx, task.ID, false)
			}
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
	counts := map[int]bool{}
	for i := 0; i < 3000 && (i < 300 || len(counts) < 2); i++ {
		for _, f := range []TaskFilter{{}, {Status: record.Todo}, {Tags: []string{"a", "b"}}, {Ready: true}, {ParentTaskID: new(int64(1))}} {
			found, total, err := w.Tasks(t.Context(), f, Page{Limit: 100})
			if err != nil || len(found) != total {
				t.Fatalf("%+v: %d tasks, and a count of %d, %v", f, len(found), total, err)
			}
			counts[total] = true
		}
		if found, total, _, err := w.SearchTasks(t.Context(), "there", Page{Limit: 100}); err != nil || len(found) != total || total < 5 {
			t.Fatalf("the search: %d tasks, and a count of %d, %v", len(found), total, err)
		}
		nodes, total, below, err := treeOf(t, w, 1, TreePage{Page: Page{Limit: 10}, MaxDepth: 3})
		if err != nil || len(nodes) != total || below != total {
			t.Fatalf("the tree: %d tasks, %d children, %d below, %v", len(nodes), total, below, err)
		}
	}
	stop()
	<-ended
}

// TestWhatIsReadyAndWhatWaits: what can be worked on next, the most urgent and then
// what unblocks most first; and what waits, with what it waits for.
func TestWhatIsReadyAndWhatWaits(t *testing.T) {
	w := opened(t)
	for i, n := range []NewTask{
		{Title: "low", Priority: "low"}, {Title: "medium"}, {Title: "unblocks one"}, {Title: "unblocks two"}, {Title: "high", Priority: "high"},
		{Title: "waits for two", DependsOn: []int64{3, 4}, Priority: "high"}, {Title: "waits for one", DependsOn: []int64{4}}, {Title: "stuck", Status: record.Blocked, BlockerReason: text("no machine")},
		{Title: "waited", DependsOn: []int64{5}},
	} {
		if task := made(t, w, n); task.ID != int64(i+1) {
			t.Fatal(task.ID)
		}
	}
	for _, status := range []string{record.InProgress, record.Done} {
		if _, err := w.UpdateTask(t.Context(), 5, TaskUpdate{Status: &status}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	ready, _, err := w.Tasks(t.Context(), TaskFilter{Ready: true}, Page{Limit: 100})
	for _, task := range ready {
		got = append(got, fmt.Sprint(task.Title, " ", task.Unblocks))
	}
	blocked, _, err2 := w.Tasks(t.Context(), TaskFilter{Blocked: true}, Page{Limit: 100})
	for _, task := range blocked {
		because := ""
		if task.Because != nil {
			because = *task.Because
		}
		got = append(got, fmt.Sprint(task.Title, " ", task.BlockedBy, " ", because))
	}
	want := []string{
		"unblocks two 2", "unblocks one 1", "medium 0", "waited 0", "low 0",
		"waits for two [3 4] ", "waits for one [4] ", "stuck [] no machine",
	}
	if diff := cmp.Diff(want, got); diff != "" || errors.Join(err, err2) != nil {
		t.Errorf("%v (-want +got):\n%s", errors.Join(err, err2), diff)
	}
	if _, err := w.UpdateTask(t.Context(), 3, TaskUpdate{Status: text(record.Cancelled)}); err != nil {
		t.Fatal(err)
	}
	if page, _, err := w.Tasks(t.Context(), TaskFilter{Blocked: true, Priority: "high"}, Page{Limit: 100}); err != nil || len(page) != 1 || fmt.Sprint(page[0].BlockedBy) != "[4]" {
		t.Errorf("after one was cancelled: got %+v, %v", page, err)
	}
}

// TestEntitiesOfOneMomentPage: each once, the last one first.
func TestEntitiesOfOneMomentPage(t *testing.T) {
	w := at(t, filepath.Join(t.TempDir(), "w.db"), func() time.Time { return time.UnixMicro(7) })
	var got, want []int64
	for range 7 {
		e, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: "one of many", CreatedBy: "tester"})
		if err != nil {
			t.Fatal(err)
		}
		want = append([]int64{e.ID}, want...)
	}
	for offset := 0; offset < 9; offset += 3 {
		page, n, err := w.Entities(t.Context(), "", nil, Page{Limit: 3, Offset: offset})
		if err != nil || n != len(want) {
			t.Fatalf("got %d, %v", n, err)
		}
		for _, e := range page {
			got = append(got, e.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
