package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks/master"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/testkit"
)

var (
	sizes = flag.String("tasks", "100000", "how many tasks the benchmarks' workspaces have, separated by commas")
	keep  = flag.String("keep", "", "a folder in which the benchmarks' workspaces are made once and kept; empty: made each time")
)

// large is a workspace with n tasks: a tenth wait for another one, one task has 10,000
// below it, each has a tag of three and one of fifty, and every hundredth has a file
// that is an entity.
func large(b *testing.B, n int) *Workspace {
	b.Helper()
	name := fmt.Sprintf("tasks-%d-v%d.db", n, len(steps()))
	if *keep == "" {
		*keep = b.TempDir()
	}
	name = filepath.Join(*keep, name)
	if _, err := os.Stat(name); err != nil {
		fill(b, name+".new", n)
		if err := os.Rename(name+".new", name); err != nil {
			b.Fatal(err)
		}
	}
	w := at(b, name, time.Now)
	if err := w.Change(b.Context(), func(ctx context.Context) error { _, err := w.Exec(ctx, plain); return err }); err != nil {
		b.Fatal(err)
	}
	return w
}

// plain makes tables with rows of tasks and links, and nothing that lists and searches need.
const plain = `drop table if exists plain_tasks;
drop table if exists plain_links;
create table plain_tasks (id integer primary key, title, description, status, priority, created_by, created_at, updated_at, deleted_at);
insert into plain_tasks select id, title, description, status, priority, created_by, created_at, updated_at, deleted_at from tasks where id <= 20000;
drop table if exists plain_entities;
create table plain_entities (id integer primary key, entity_type, name, identifier, created_by, created_at, updated_at, deleted_at);
insert into plain_entities select id, entity_type, name, identifier, created_by, created_at, updated_at, deleted_at from entities where id <= 200;
create table plain_links (id integer primary key, task_id, entity_id, created_by, created_at, deleted_at);
insert into plain_links select id, task_id, entity_id, created_by, created_at, deleted_at from task_entity_links where id <= 200`

// plainProjects makes projects in the master file, and again in a table without a key.
const plainProjects = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 999) insert into projects select '/projects/' || i, 'Project ' || i, 5, 5 from n;
create table plain_projects (workspace_path, friendly_name, created_at, last_accessed);
insert into plain_projects select workspace_path, friendly_name, created_at, last_accessed from projects`

// someProjects is a master file with 1,000 projects.
func someProjects(b *testing.B) *master.Store {
	b.Helper()
	m, err := master.Open(b.Context(), b.TempDir(), time.Now)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	err = m.Change(b.Context(), func(ctx context.Context) error {
		_, err := m.Exec(ctx, plainProjects)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// filling makes rows of the tasks from ?1 up to ?2, which the others do not name.
const filling = `with recursive n(i) as (select ?1 union all select i + 1 from n where i + 1 < ?2) `

var fillings = []string{
	filling + `insert into tasks (id, title, description, status, priority, parent_task_id, tags, file_references, created_by, created_at, updated_at)
select i + 1, 'Make the search for words ' || i || ' faster', 'The index of words is read once for each search of case ' || i || '.', iif(i % 4 = 1, 'in_progress', 'todo'),
  iif(i % 3 = 0, 'low', iif(i % 3 = 1, 'medium', 'high')), iif(i between 1 and 10000, 1 + (i - 1) / 10, null), iif(i % 3 = 0, 'backend', iif(i % 3 = 1, 'frontend', 'docs')) || iif(i % 20000 = 0, ' rare', ' part' || (i % 50)),
  json_array('internal/room' || (i % 100) || '/file' || i || '.go'), 'bench', 1700000000000000 + i * 1000, 1700000000000000 + i * 1000 from n`,
	filling + `insert into task_tags (tag, live, created_at, task_id, status, priority)
select substr(tags, 1, instr(tags, ' ') - 1), 1, created_at, id, status, priority from n join tasks on id = i + 1
  union all select substr(tags, instr(tags, ' ') + 1), 1, created_at, id, status, priority from n join tasks on id = i + 1`,
	filling + `insert into dependencies select i + 1, i - 2 from n where i % 10 = 9`,
	filling + `insert into entities (id, entity_type, name, identifier, created_by, created_at, updated_at)
select i / 100 + 1, 'file', 'file' || i || '.go', 'internal/room' || (i % 100) || '/file' || i || '.go', 'bench', 1700000000000000 + i, 1700000000000000 + i from n where i % 100 = 0`,
	filling + `insert into task_entity_links (task_id, entity_id, created_by, created_at) select i + 1, i / 100 + 1, 'bench', 1700000000000000 + i from n`,
}

// placing gives the words of tags what lists order by, which an older file does not have.
const placing = `update task_tags set (ready, waiting, urgency, unblocks) = (
  select is_ready, is_open and (open_blockers > 0 or t.status = 'blocked'), t.urgency, t.unblocks from tasks t where id = task_id)
where task_id > ?1 and task_id <= ?2`

// fill makes a workspace. Tasks that are made together cost less than one by one.
func fill(b *testing.B, name string, n int) {
	b.Helper()
	started := time.Now()
	_ = os.Remove(name)
	w := at(b, name, time.Now)
	fillRows(b, w, n)
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "%d tasks in %s\n", n, time.Since(started).Round(time.Second))
}

func fillRows(t testing.TB, w *Workspace, n int) {
	t.Helper()
	const together = 10_000
	for from := 0; from < n; from += together {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		err := w.Change(ctx, func(ctx context.Context) error {
			statements := fillings
			if version, err := w.version(ctx); err != nil || version >= 4 {
				statements = append(statements, placing)
			}
			for _, statement := range statements {
				if _, err := w.Exec(ctx, statement, from, min(from+together, n)); err != nil {
					return err
				}
			}
			if version, err := w.version(ctx); err != nil || version < len(steps()) {
				return err
			}
			return w.indexAll(ctx)
		})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// operation is one that is measured, beside what it is compared with; bar is the 95th
// percentile in milliseconds that it must not pass.
type operation struct {
	name string
	bar  float64
	do   func(context.Context) error
	// bare is the query that reads the same rows of the same file, or what writes the same
	// rows into a table that has no index and no trigger, a transaction for each statement.
	// One that begins with ofMaster is of the master file.
	bare string
}

// BenchmarkOperations: what does each operation cost in a large workspace, and what
// does the bare query cost that reads the same rows? It ends with both as a table.
func BenchmarkOperations(b *testing.B) {
	var sized []map[string][4]float64
	var names []string
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 20_000 {
			b.Fatalf("-tasks %s: 20000 and more are measured", size)
		}
		b.Run(size, func(b *testing.B) {
			w, m, measured := large(b, n), someProjects(b), map[string][4]float64{}
			for _, o := range operations(w, m, n) {
				var of [4]float64
				b.Run(o.name, func(b *testing.B) { of[0], of[1] = measure(b, o.do) })
				b.Run(o.name+" bare", func(b *testing.B) { of[2], of[3] = measureBriefly(b, bare(w, m, o.bare)) })
				measured[o.name] = of
			}
			sized, names = append(sized, measured), append(names, size)
		})
	}
	fmt.Print(table(names, operations(nil, nil, 0), sized))
}

func measure(b *testing.B, do func(context.Context) error) (p50, p95 float64) {
	return testkit.Measure(b, func() {
		if err := do(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
}

// brief is how long a bare query is repeated that is slow: some take seconds.
const brief = 2 * time.Second

// measureBriefly measures as often as it is asked to, or three times and until a brief time is over.
func measureBriefly(b *testing.B, do func(context.Context) error) (p50, p95 float64) {
	var times []time.Duration
	for began := time.Now(); len(times) < b.N && (len(times) < 3 || time.Since(began) < brief); {
		started := time.Now()
		if err := do(b.Context()); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(started))
	}
	return testkit.Percentiles(b, times)
}

// ofMaster is how a bare query of the master file begins.
const ofMaster = "master: "

// bare reads all rows of a query, or makes changes.
func bare(w *Workspace, m *master.Store, query string) func(context.Context) error {
	db := w.DB
	if of, found := strings.CutPrefix(query, ofMaster); found {
		db, query = m.DB, of
	}
	if !strings.HasPrefix(query, "insert") && !strings.HasPrefix(query, "update") {
		return func(ctx context.Context) error {
			for statement := range strings.SplitSeq(query, ";") {
				rows, err := db.In(ctx).QueryContext(ctx, statement)
				if err := db.Each(ctx, rows, err, func() error { return nil }); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return func(ctx context.Context) (err error) {
		for statement := range strings.SplitSeq(query, ";") {
			err = errors.Join(err, db.Change(ctx, func(ctx context.Context) error { _, err := db.Exec(ctx, statement); return err }))
		}
		return err
	}
}

// table writes the figures of some sizes in markdown.
func table(sizes []string, all []operation, measured []map[string][4]float64) string {
	var text strings.Builder
	text.WriteString("| operation | bar (p95) |")
	rule := "\n|---|---|"
	for _, size := range sizes {
		fmt.Fprintf(&text, " %s tasks: p50 ms | p95 | bare p50 | bare p95 | held |", size)
		rule += "---|---|---|---|---|"
	}
	text.WriteString(rule + "\n")
	for _, o := range all {
		if measured[0][o.name][1] == 0 {
			continue // left out by -bench
		}
		fmt.Fprintf(&text, "| %s | %g |", o.name, o.bar)
		for i := range sizes {
			of := measured[i][o.name]
			held := "no"
			if of[1] <= o.bar {
				held = "**yes**"
			}
			for _, ms := range of {
				digits := 2 // that matter
				if ms >= 100 {
					digits = 4
				}
				fmt.Fprintf(&text, " %.*g |", digits, ms)
			}
			text.WriteString(" " + held + " |")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// The bars of design, in milliseconds.
const (
	usual = 2
	deep  = 5 // of a page far into a list
)

// operations are those of a workspace with n tasks.
func operations(w *Workspace, m *master.Store, n int) []operation {
	return slices.Concat(reading(w, n), frequent(w), whole(w), changing(w), cleaning(w), ofEntity(w), ofProjects(m))
}

// whole are the operations that read the whole workspace.
func whole(w *Workspace) []operation {
	return []operation{
		{"audit_workspace_integrity, which reads every text", usual, func(ctx context.Context) error {
			return w.Texts(ctx, false, func(Text) error { return nil })
		}, "select id, title, description, tags, file_references, workspace_metadata from tasks where deleted_at is null;select id, name, description, tags, identifier from entities where deleted_at is null"},
	}
}

// cleaning is the one change that cannot be undone, with what it needs before it.
func cleaning(w *Workspace) []operation {
	const insert = "insert into plain_tasks (title, status, priority, created_by, created_at, updated_at) values ('to go', 'todo', 'low', 'bench', 5, 5)"
	const last = " where id = (select max(id) from plain_tasks)"
	return []operation{{"create_task, delete_task and cleanup_deleted_tasks", 3 * usual, func(ctx context.Context) error {
		task, err := w.CreateTask(ctx, NewTask{Title: "to go", Status: record.Todo, Priority: "low", CreatedBy: "bench"})
		if err != nil {
			return err
		}
		if _, err := w.DeleteTask(ctx, task.ID, false); err != nil {
			return err
		}
		return w.Change(ctx, func(ctx context.Context) error {
			found, err := w.Purgeable(ctx, time.Now().Add(time.Second).UnixMicro())
			if err != nil || len(found.IDs) != 1 {
				return errors.Join(err, fmt.Errorf("%d tasks are to be cleaned up, want 1", len(found.IDs)))
			}
			return w.Purge(ctx, found.IDs)
		})
	}, insert + ";update plain_tasks set deleted_at = 5, updated_at = 5" + last + ";delete from plain_tasks" + last}}
}

// ofEntity are the changes of entities. The one that goes and comes back has 100 links.
func ofEntity(w *Workspace) []operation {
	n := time.Now().UnixNano() // a kept workspace has the identifiers of other runs
	const remove, restore = "update plain_entities set deleted_at = 5, updated_at = 5 where id = 102", "update plain_entities set deleted_at = null, updated_at = 6 where id = 102"
	const removeLinks, restoreLinks = "update plain_links set deleted_at = 5 where id between 101 and 200", "update plain_links set deleted_at = null where id between 101 and 200"
	return []operation{
		{"create_entity", usual, func(ctx context.Context) error {
			n++
			_, err := w.CreateEntity(ctx, NewEntity{Type: "file", Name: "one more", Identifier: text(fmt.Sprintf("bench/file%d.go", n)), CreatedBy: "bench"})
			return err
		}, "insert into plain_entities (entity_type, name, identifier, created_by, created_at, updated_at) values ('file', 'one more', 'bench/file' || random() || '.go', 'bench', 5, 5)"},
		{"update_entity", usual, func(ctx context.Context) error {
			n++
			_, err := w.UpdateEntity(ctx, 103+n%90, EntityUpdate{Name: text(fmt.Sprint("changed ", n)), By: "bench"})
			return err
		}, "update plain_entities set name = 'changed ' || random(), updated_at = 5 where id = 103"},
		{"delete_entity and undelete_entity, with 100 links", 2 * usual, func(ctx context.Context) error {
			if _, err := w.DeleteEntity(ctx, 102); err != nil {
				return err
			}
			_, err := w.UndeleteEntity(ctx, 102)
			return err
		}, remove + ";" + removeLinks + ";" + restore + ";" + restoreLinks},
	}
}

// ofProjects are the operations on the projects of a person who has ten.
func ofProjects(m *master.Store) []operation {
	path := func(i int) string { return fmt.Sprint("/projects/", i) }
	return []operation{
		{"list_projects, ten of 1,000", usual, func(ctx context.Context) error {
			for i := range 10 {
				if _, found, err := m.Project(ctx, path(i)); err != nil || !found {
					return errors.Join(err, fmt.Errorf("project %d: found %t", i, found))
				}
			}
			return nil
		}, ofMaster + "select * from plain_projects where workspace_path in ('/projects/0', '/projects/1', '/projects/2', '/projects/3', '/projects/4', '/projects/5', '/projects/6', '/projects/7', '/projects/8', '/projects/9')"},
		{"set_project_name", usual, func(ctx context.Context) error {
			return m.Rename(ctx, path(3), fmt.Sprint("The harbour ", time.Now().UnixNano()), []string{"Project 1", "Project 2"})
		}, ofMaster + "update plain_projects set friendly_name = 'The harbour ' || random(), last_accessed = 5 where workspace_path = '/projects/3'"},
	}
}

// reading are the operations that write nothing.
func reading(w *Workspace, n int) []operation {
	const fields = "select t.id, title, status, priority, tags, parent_task_id, created_at, updated_at from tasks t "
	const newest = " order by created_at desc, id desc limit 100"
	page := func(f TaskFilter, offset int) func(context.Context) error {
		return func(ctx context.Context) error {
			_, _, err := w.Tasks(ctx, f, Page{Limit: 100, Offset: offset})
			return err
		}
	}
	parent, page900 := int64(1), min(900*100, n*9/10)
	skipping := func(rows int) string { return fmt.Sprint(newest, " offset ", rows) }
	lists := []operation{
		{"list_tasks, the first page", usual, page(TaskFilter{}, 0), fields + "where deleted_at is null" + newest},
		{"page 900", deep, page(TaskFilter{}, page900), fields + "where deleted_at is null" + skipping(page900)},
		{"the page in the middle", deep, page(TaskFilter{}, n/2), fields + "where deleted_at is null" + skipping(n/2)},
		{"by status and priority", usual, page(TaskFilter{Status: record.Todo, Priority: "high"}, 0), fields + "where deleted_at is null and status = 'todo' and priority = 'high'" + newest},
		{"by status and priority, the page in the middle", deep, page(TaskFilter{Status: record.Todo, Priority: "high"}, n/8), fields + "where deleted_at is null and status = 'todo' and priority = 'high'" + skipping(n/8)},
		{"by a tag that a third have", usual, page(TaskFilter{Tags: []string{"docs"}}, 0), fields + "where deleted_at is null and exists (select 1 from task_tags g where g.task_id = t.id and tag = 'docs')" + newest},
		{"by one of two tags", usual, page(TaskFilter{Tags: []string{"docs", "part7"}}, 0), fields + "where deleted_at is null and exists (select 1 from task_tags g where g.task_id = t.id and tag in ('docs', 'part7'))" + newest},
		{"ready", usual, page(TaskFilter{Ready: true}, 0), fields + "where is_ready = 1 order by urgency desc, unblocks desc, created_at, id limit 100"},
		{"ready, with a tag that a fiftieth have", usual, page(TaskFilter{Ready: true, Tags: []string{"part7"}}, 0),
			fields + "where is_ready = 1 and exists (select 1 from task_tags g where g.task_id = t.id and tag = 'part7') order by urgency desc, unblocks desc, created_at, id limit 100"},
		{"ready, with a tag that few have", usual, page(TaskFilter{Ready: true, Tags: []string{"rare"}}, 0),
			fields + "where is_ready = 1 and exists (select 1 from task_tags g where g.task_id = t.id and tag = 'rare') order by urgency desc, unblocks desc, created_at, id limit 100"},
		{"blocked", usual, page(TaskFilter{Blocked: true}, 0), fields + "where is_open = 1 and (open_blockers > 0 or status = 'blocked') order by urgency desc, created_at, id limit 100"},
		{"of a parent", usual, page(TaskFilter{ParentTaskID: &parent}, 0), fields + "where deleted_at is null and parent_task_id = 1" + newest},
		{"search_tasks, one match", usual, w.search("file4711.go"), ranked("file4711 go")},
		{"search_tasks, a hundredth", usual, w.search("room42/"), ranked("room42")},
		{"search_tasks, a word that every task has", usual, w.search("search"), ranked("search")},
		{"search_tasks, two words that every task has", usual, w.search("search words"), ranked("search words")},
		{"search_tasks, a hundredth by one word of two, which every task has", usual, w.search("search room42"), ranked("search room42")},
		{"search_tasks, a fiftieth by either of two words, which none has together", usual, w.search("room42 room43"), ranked("room42 OR room43")},
		{"search_tasks, a hundredth by the singular of a word, which none has", usual, w.search("room42s"), ranked("room42")},
		{"search_tasks, a part of another word of each task", usual, w.search("ile"), parted("ile")},
		{"search_tasks, the beginning of another word of each task", usual, w.search("file"), parted("ile")},
		{"search_tasks, a hundredth by a path, of which every task has one piece", usual, w.search("internal/room42"), ranked(`"internal room42"`)},
		{"get_task_tree of 10,000, as many as fit", usual, func(ctx context.Context) error {
			left := 200 // about what fits into an answer
			_, _, err := w.Tree(ctx, 1, TreePage{Page: Page{Limit: 100}, MaxDepth: 10}, func(Node) bool { left--; return left > 0 })
			return err
		}, "with recursive b(id) as (select 1 union all select t.id from b join tasks t on t.parent_task_id = b.id where t.deleted_at is null) select count(*) from b"},
	}
	return append(lists, ofOne(w)...)
}

// frequent are searches that cost more where more words have a part, up to the number
// from which on its sets are kept, and where more entities have a word.
func frequent(w *Workspace) []operation {
	return []operation{
		{"search_tasks, a part of a hundred words", usual, w.search("ile471"), parted("ile471")},
		{"search_tasks, a hundred tasks by the file that they are linked to", usual, w.search("file4700.go"), ofEntities("file4700 go")},
		{"search_tasks, every task by the files that they are linked to", usual, w.search("room0"), ofEntities("room0")},
	}
}

// parted is the bare query of a search for a part of words: the words that have it.
func parted(part string) string {
	return "select word from words_parts join words on id = words_parts.rowid where words_parts match '" + part + "'"
}

// search searches for a term.
func (w *Workspace) search(term string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, _, _, err := w.SearchTasks(ctx, term, Page{Limit: 100})
		return err
	}
}

// ranked is the bare query of a search: what FTS5 finds and ranks.
func ranked(match string) string {
	return "select rowid, rank from tasks_words where tasks_words match '" + match + "' order by rank limit 100"
}

// ofEntities is the bare query of a search for what is linked to entities: their tasks.
func ofEntities(match string) string {
	return `select task_id from task_entity_links where deleted_at is null and entity_id in (select rowid from entities_words where entities_words match '"` + match + `"')`
}

// ofOne are the operations on single rows and on what is linked to them.
func ofOne(w *Workspace) []operation {
	const links = " from task_entity_links l join %s where l.%s = 2 and l.deleted_at is null order by l.created_at desc, l.id desc limit 100"
	return []operation{
		{"get_task", usual, func(ctx context.Context) error { _, err := w.Task(ctx, 500); return err }, "select * from tasks where id = 500"},
		{"get_entity", usual, func(ctx context.Context) error { _, err := w.Entity(ctx, 50); return err }, "select * from entities where id = 50"},
		{"get_entity_tasks, 100", usual, func(ctx context.Context) error {
			_, _, err := w.EntityTasks(ctx, 2, "", "", Page{Limit: 100})
			return err
		}, "select t.*" + fmt.Sprintf(links, "tasks t on t.id = l.task_id", "entity_id")},
		{"get_task_entities", usual, func(ctx context.Context) error {
			_, _, err := w.TaskEntities(ctx, 2, Page{Limit: 100})
			return err
		}, "select e.*" + fmt.Sprintf(links, "entities e on e.id = l.entity_id", "task_id")},
		{"list_entities", usual, func(ctx context.Context) error {
			_, _, err := w.Entities(ctx, "file", nil, Page{Limit: 100})
			return err
		}, "select * from entities where entity_type = 'file' and deleted_at is null order by created_at desc, id desc limit 100"},
		{"search_entities, one match", usual, func(ctx context.Context) error {
			_, _, _, err := w.SearchEntities(ctx, "file4700.go", "", Page{Limit: 100})
			return err
		}, `select rowid, rank from entities_words where entities_words match '"file4700 go"' order by rank limit 100`},
		{"get_project_info", usual, func(ctx context.Context) error { _, err := w.Info(ctx); return err }, "select status, priority, count(*) from tasks where deleted_at is null group by status, priority"},
		{"get_usage_stats", usual, func(ctx context.Context) error { _, err := w.Uses(ctx, "2026-01-01", ""); return err }, "select * from tool_usage where day >= '2026-01-01'"},
	}
}

// changing are the operations that write.
func changing(w *Workspace) []operation {
	n, r := int64(0), rand.New(rand.NewPCG(13, 2000))
	started := time.Now().Unix() // a kept workspace has the titles of other runs
	const insert = "insert into plain_tasks (title, description, status, priority, created_by, created_at, updated_at) values ('one more', %s, 'todo', 'low', 'bench', 5, 5)"
	const remove, restore = "update plain_tasks set deleted_at = 5, updated_at = 5 where id = 15000", "update plain_tasks set deleted_at = null, updated_at = 6 where id = 15000"
	const unlink, link = "update plain_links set deleted_at = 5 where id = 102", "insert into plain_links (task_id, entity_id, created_by, created_at) values (102, 2, 'bench', 5)"
	return []operation{
		{"a transaction of one row", usual, func(ctx context.Context) error { return w.AddUse(ctx, []Use{{"2026-01-02", "bench", 1, 1}}) }, `insert into tool_usage values ('2026-01-02', 'bare', 1, 1) on conflict do update set calls = calls + 1`},
		{"create_task", usual, func(ctx context.Context) error {
			_, err := w.CreateTask(ctx, NewTask{Title: "one more", Status: record.Todo, Priority: "low", CreatedBy: "bench"})
			return err
		}, fmt.Sprintf(insert, "null")},
		{"create_task with a description of 2,000 characters", usual, func(ctx context.Context) error {
			_, err := w.CreateTask(ctx, NewTask{Title: "one more", Description: described(r, 2000), Status: record.Todo, Priority: "low", CreatedBy: "bench"})
			return err
		}, fmt.Sprintf(insert, "'"+*described(r, 2000)+"'")},
		{"update_task", usual, func(ctx context.Context) error {
			n++
			_, err := w.UpdateTask(ctx, 10_002+n%9_000, TaskUpdate{Title: text(fmt.Sprint("changed ", started+n))})
			return err
		}, "update plain_tasks set title = 'changed ' || random(), updated_at = 5 where id = 10002"},
		{"delete_task and undelete_task", 2 * usual, func(ctx context.Context) error {
			if _, err := w.DeleteTask(ctx, 15_000, true); err != nil {
				return err
			}
			_, err := w.UndeleteTask(ctx, 15_000, true)
			return err
		}, remove + ";" + restore},
		{"unlink_entity_from_task and link_entity_to_task", 2 * usual, func(ctx context.Context) error {
			if _, err := w.Unlink(ctx, 102, 2); err != nil {
				return err
			}
			_, err := w.Link(ctx, 102, 2, "bench")
			return err
		}, unlink + ";" + link},
	}
}

// described is a description of a length, of words of which few are frequent.
func described(r *rand.Rand, length int) *string {
	words := rand.NewZipf(r, 1.2, 4, 20_000)
	var b strings.Builder
	for b.Len() < length-8 {
		fmt.Fprintf(&b, "word%d ", words.Uint64())
	}
	return text(b.String())
}
