package store

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/testkit"
)

// scale is how many tasks the benchmarks' workspace has.
var scale = flag.Int("tasks", 100_000, "how many tasks the benchmarks' workspace has")

// large is a workspace with *scale tasks: a tenth wait for another one, and one task
// has 10,000 below it.
func large(b *testing.B) *Workspace {
	b.Helper()
	w := at(b, filepath.Join(b.TempDir(), "large.db"), time.Now)
	started := time.Now()
	const each = 5000
	var root int64
	for from := 0; from < *scale; from += each {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		err := w.Change(ctx, func(ctx context.Context) error {
			for i := from; i < min(from+each, *scale); i++ {
				n := NewTask{
					Title: fmt.Sprintf("Make the search for words %d faster", i), Description: text(fmt.Sprintf("The index of words is read once for each search of case %d.", i)),
					Status: []string{record.Todo, record.InProgress, record.Todo, record.Todo}[i%4], Priority: record.Priorities()[i%3], CreatedBy: "bench",
					Tags: text([]string{"backend", "frontend", "docs"}[i%3]), FileReferences: []string{fmt.Sprintf("internal/room%d/file%d.go", i%100, i)}, At: started.Add(time.Duration(i) * time.Millisecond),
				}
				if i%10 == 9 {
					n.DependsOn = []int64{root + int64(i-3)}
				}
				if i > 0 && i <= 10_000 {
					parent := root + int64((i-1)/10)
					n.ParentTaskID = &parent
				}
				id, err := w.InsertTask(ctx, n)
				if err != nil {
					return err
				}
				if i == 0 {
					root = id
				}
			}
			return nil
		})
		cancel()
		if err != nil {
			b.Fatal(err)
		}
	}
	fmt.Fprintf(os.Stderr, "%d tasks in %s\n", *scale, time.Since(started).Round(time.Second))
	return w
}

// BenchmarkOperations: what does each operation cost in a large workspace, and what
// does the bare query cost that reads the same rows?
func BenchmarkOperations(b *testing.B) {
	w := large(b)
	ctx := context.Background()
	raw := func(statement string, args ...any) func() error {
		return func() error {
			rows, err := w.In(ctx).QueryContext(ctx, statement, args...)
			return w.Each(ctx, rows, err, func() error { return nil })
		}
	}
	deep := min(900*100, *scale*9/10)
	page := func(f TaskFilter, offset int) func() error {
		return func() error { _, _, err := w.Tasks(ctx, f, Page{Limit: 100, Offset: offset}); return err }
	}
	const fields = "select id, title, status, priority, tags, parent_task_id, created_at, updated_at from tasks "
	n := int64(0)
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"raw one task by id", raw("select * from tasks where id = 500")},
		{"get_task", func() error { _, err := w.Task(ctx, 500); return err }},
		{"raw 100 newest", raw(fields + "where deleted_at is null order by created_at desc, id desc limit 100")},
		{"list_tasks first page", page(TaskFilter{}, 0)},
		{"raw 100 newest, page 900 by offset", raw(fields+"where deleted_at is null order by created_at desc, id desc limit 100 offset ?", deep)},
		{"list_tasks page 900", page(TaskFilter{}, deep)},
		{"list_tasks middle page", page(TaskFilter{}, *scale/2)},
		{"list_tasks by status", page(TaskFilter{Status: record.Todo, Priority: "high"}, 0)},
		{"list_tasks by tag", page(TaskFilter{Tags: []string{"docs"}}, 0)},
		{"list_tasks ready", page(TaskFilter{Ready: true}, 0)},
		{"list_tasks blocked", page(TaskFilter{Blocked: true}, 0)},
		{"search_tasks one match", func() error { _, _, err := w.SearchTasks(ctx, "file4711.go", Page{Limit: 100}); return err }},
		{"search_tasks a hundredth", func() error { _, _, err := w.SearchTasks(ctx, "room42/", Page{Limit: 100}); return err }},
		{"raw tree of 10,000", raw("with recursive b(id) as (select 1 union all select t.id from b join tasks t on t.parent_task_id = b.id where t.deleted_at is null) select count(*) from b")},
		{"get_task_tree of 10,000, 100 children", func() error {
			_, _, _, err := w.Tree(ctx, 1, TreePage{Page: Page{Limit: 100}, MaxDepth: 2})
			return err
		}},
		{"create_task", func() error {
			_, err := w.CreateTask(ctx, NewTask{Title: "one more", Status: record.Todo, Priority: "low", CreatedBy: "bench"})
			return err
		}},
		{"update_task", func() error {
			n++
			_, err := w.UpdateTask(ctx, 20_000+n%10_000, TaskUpdate{Title: text(fmt.Sprint("changed ", n))})
			return err
		}},
		{"get_project_info", func() error { _, err := w.Info(ctx); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			testkit.Measure(b, func() {
				if err := c.do(); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
