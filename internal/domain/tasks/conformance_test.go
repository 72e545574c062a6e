package tasks_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/pool"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

func TestMain(m *testing.M) {
	if !conformance.RunAsCrashProcess(domain()) {
		os.Exit(m.Run())
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, domain()) }

type args = conformance.Args

const (
	ninaMail   = "nina.p@tamshai.local"
	marcusMail = "marcus.j@tamshai.local"
)

// made is when the tasks of the fixtures were made, today the server's clock.
var (
	made  = time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)
	today = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
)

// board is a workspace of a dataset.
type board struct {
	name, role string
	people     []string
	tasks      []work
	things     []thing
}

type work struct {
	board                               *board
	id                                  int
	title, status, priority, tag, about string
	parent                              int
}

type thing struct {
	board            *board
	id               int
	name, kind, path string
}

// boards is a dataset. In the crowd many tasks were made at the same moment.
func boards(name string) []*board {
	all := []*board{
		{name: "Platform", people: []string{ninaMail, marcusMail}}, {name: "Support rotation", role: "support-read"}, {name: "Archive", people: []string{ninaMail, marcusMail}},
	}
	count := 12
	if name == conformance.Crowd {
		count = 120
	}
	for at, b := range all[:2] {
		for i := range count {
			w := work{
				board: b, id: i + 1, title: fmt.Sprintf("Step %d of the %s", i+1, []string{"ledger", "harbour", "glacier"}[i%3]), status: record.Statuses()[(i+at)%2],
				priority: record.Priorities()[i%3], tag: []string{"alpha", "beta"}[i%2], about: fmt.Sprintf("The turnip of part%d.", i%4),
			}
			if i%5 == 4 {
				w.parent = i
			}
			b.tasks = append(b.tasks, w)
		}
		for i := range 6 {
			b.things = append(b.things, thing{b, i + 1, fmt.Sprintf("Thing %d", i+1), record.EntityTypes()[i%2], fmt.Sprintf("internal/thing%d.go", i+1)})
		}
	}
	for i := range 10 {
		all[2].tasks = append(all[2].tasks, work{board: all[2], id: i + 1, title: "Kept", status: "done", priority: "low", about: strings.Repeat("Some words of a long text. ", 370)})
	}
	return all
}

// gone is the task, and the thing, of each dataset's first board that is deleted.
const (
	gone      = 12
	goneThing = 6
)

func (w work) made() time.Time { return made.Add(time.Duration(w.id/4) * time.Minute) }

// options are those of a server in a folder.
func options(root string) tasks.Options {
	o := tasks.Options{Folder: filepath.Join(root, "databases"), Now: func() time.Time { return today }, Places: workspace.Places{Roots: []string{root}, Issuer: testkit.Issuer}}
	for _, b := range boards(conformance.Company) {
		s := workspace.Shared{Path: filepath.Join(root, b.name), Name: b.name, People: b.people}
		if b.role != "" {
			s.Roles = []string{b.role}
		}
		o.Places.Shared = append(o.Places.Shared, s)
	}
	return o
}

// opens is an engine's Open, in one of the server's dialects.
func opens(d tool.Dialect) func(testing.TB, string) *conformance.Store {
	return func(t testing.TB, name string) *conformance.Store {
		t.Helper()
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		o := options(root)
		for _, b := range boards(name) {
			write(t, root, b)
		}
		s, err := tasks.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return &conformance.Store{
			Domain: s, Speaks: domaintest.Speaks{Invalid: s.Invalid, Dialect: d}, Root: root, Address: root, Ready: s.Ready,
			Seed: func() error { return nil }, // it is of the sample company, and fills workspaces that are empty
			Dump: func() string { return dump(t, o.Folder) },
		}
	}
}

// in changes the store of a workspace.
func in(t testing.TB, root, name string, now time.Time, change func(context.Context, *store.Workspace) error) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	workspaces := pool.New(filepath.Join(root, "databases"), func() time.Time { return now })
	err := workspaces.With(ctx, workspace.Place{Path: path}.Key(), path, func(w *store.Workspace) error { return change(ctx, w) })
	if err == nil {
		err = workspaces.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a board: its tasks, its things, a link, and what is deleted.
func write(t testing.TB, root string, b *board) {
	t.Helper()
	in(t, root, b.name, made, func(ctx context.Context, w *store.Workspace) error {
		if err := insert(ctx, w, b.tasks); err != nil {
			return err
		}
		for _, one := range b.things {
			if _, err := w.CreateEntity(ctx, store.NewEntity{Type: one.kind, Name: one.name, Identifier: &one.path, CreatedBy: ninaMail}); err != nil {
				return err
			}
		}
		if len(b.things) == 0 {
			return nil
		}
		if _, err := w.Link(ctx, 2, 1, ninaMail); err != nil {
			return err
		}
		if _, err := w.DeleteTask(ctx, gone, false); err != nil {
			return err
		}
		_, err := w.DeleteEntity(ctx, goneThing)
		return err
	})
}

// insert makes tasks in one transaction.
func insert(ctx context.Context, w *store.Workspace, all []work) error {
	return w.Change(ctx, func(ctx context.Context) error {
		for _, one := range all {
			n := store.NewTask{Title: one.title, Status: one.status, Priority: one.priority, Description: &one.about, Tags: record.Tags(one.tag), CreatedBy: ninaMail, At: one.made()}
			if parent := int64(one.parent); parent > 0 {
				n.ParentTaskID = &parent
			}
			if _, err := w.InsertTask(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// dump is every row of every workspace, but for statistics and the indexes of words.
func dump(t testing.TB, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "project_*.db"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	for _, name := range files {
		db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: name, RawQuery: "_pragma=query_only(1)"}).String())
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"tasks", "task_tags", "dependencies", "entities", "entity_tags", "task_entity_links"} {
			dumpTable(t, &b, db, table)
		}
		_ = db.Close()
	}
	return b.String()
}

func dumpTable(t testing.TB, b *strings.Builder, db *sql.DB, table string) {
	t.Helper()
	rows, err := db.Query("select * from " + table + " order by 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(b, table, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func domain() conformance.Domain {
	connect := func(ctx context.Context, root string) (domaintest.Domain, error) {
		return tasks.Open(ctx, options(root))
	}
	return conformance.Domain{
		Server: "tasks", Codes: record.Codes(), Oracle: oracleOf, Calls: calls(), Refusals: refusals(), Wrong: wrong,
		Engines: []conformance.Engine{
			{Name: "sqlite", Open: opens(nil), Connect: connect},
			{Name: "document", Slow: true, Open: opens(dialect.Dialect{}), Connect: connect, Scenarios: "document"}, // the dialect of clients of its own
		},
		Without: map[string]string{
			"Inputs": "TestInputsAreThoseOfTheDocument compares them, with their defaults",
			"Pages":  "the document has pages by offset: what comes before moves what comes after",
		},
		Writes: []conformance.Write{{
			Tool: "cleanup_deleted_tasks", Username: "nina.patel", Other: "marcus.johnson", In: args{"workspace_path": "Platform"}, Says: "1 deleted task is gone for good from Platform.",
			Stale: []conformance.Stale{
				conformance.Meanwhile("taken back", "CONFIRMATION_STALE", func(t testing.TB, s *conformance.Store) {
					in(t, s.Root, "Platform", today, func(ctx context.Context, w *store.Workspace) error {
						_, err := w.UndeleteTask(ctx, gone, false)
						return err
					})
				}),
				conformance.Meanwhile("one more deleted", "CONFIRMATION_STALE", func(t testing.TB, s *conformance.Store) {
					in(t, s.Root, "Platform", made, func(ctx context.Context, w *store.Workspace) error {
						_, err := w.DeleteTask(ctx, 1, false)
						return err
					})
				}),
			},
		}},
	}
}

// calls are valid calls of every tool, by Nina in Platform.
func calls() (all []conformance.Call) {
	call := func(tool string, in args, text ...string) {
		if tool != "list_projects" {
			in["workspace_path"] = "Platform"
		}
		all = append(all, conformance.Call{Tool: tool, Allow: []string{"employee"}, Email: ninaMail, In: in, Text: text})
	}
	call("create_task", args{"title": "One more"}, "title", "description", "tags", "blocker_reason", "created_by")
	call("get_task", args{"task_id": 1})
	call("update_task", args{"task_id": 1, "title": "Changed"}, "title", "description", "tags", "blocker_reason")
	call("list_tasks", args{}, "tags")
	call("search_tasks", args{"search_term": "ledger"}, "search_term")
	call("get_task_tree", args{"task_id": 4})
	call("delete_task", args{"task_id": 1})
	call("undelete_task", args{"task_id": gone})
	call("cleanup_deleted_tasks", args{})
	call("create_entity", args{"entity_type": "file", "name": "One more"}, "name", "identifier", "description", "tags", "metadata", "created_by")
	call("get_entity", args{"entity_id": 1})
	call("update_entity", args{"entity_id": 1, "name": "Changed"}, "name", "identifier", "description", "tags", "metadata")
	call("delete_entity", args{"entity_id": 1})
	call("undelete_entity", args{"entity_id": goneThing})
	call("list_entities", args{}, "tags")
	call("search_entities", args{"search_term": "thing"}, "search_term")
	call("link_entity_to_task", args{"task_id": 1, "entity_id": 1}, "created_by")
	call("unlink_entity_from_task", args{"task_id": 2, "entity_id": 1})
	call("get_task_entities", args{"task_id": 2})
	call("get_entity_tasks", args{"entity_id": 1})
	call("list_projects", args{})
	call("get_project_info", args{})
	call("set_project_name", args{"friendly_name": "The harbour"}, "friendly_name")
	call("get_usage_stats", args{})
	all[len(all)-1].Remembers = true
	call("audit_workspace_integrity", args{})
	return all
}

// wrong is the document's code for a wrong value of a field.
func wrong(tool, field string, value any) string {
	switch field {
	case "limit", "offset":
		return "PAGINATION_INVALID"
	case "mode":
		return "INVALID_MODE"
	case "workspace_path":
		return "WORKSPACE_INVALID"
	case "status", "priority", "entity_type":
		if value == nil && tool == "update_task" {
			return "VALIDATION_ERROR" // it is no filter there, and cannot be cleared
		}
		return "INVALID_FILTER"
	case "parent_task_id":
		if value == -1 {
			return "NOT_FOUND"
		}
	case "tool_name":
		if _, isText := value.(string); isText {
			return "INVALID_FILTER"
		}
	}
	return "VALIDATION_ERROR"
}

func refusals() (all []conformance.Refusal) {
	refuse := func(code, tool string, in args) {
		in["workspace_path"] = cmp.Or(in["workspace_path"], any("Platform"))
		all = append(all, conformance.Refuse(code, "nina.patel", tool, in))
	}
	refuse("RESPONSE_SIZE_EXCEEDED", "list_tasks", args{"workspace_path": "Archive", "mode": "details", "limit": 10})
	refuse("success", "list_tasks", args{"workspace_path": "Archive", "mode": "details", "limit": 2})
	refuse("INVALID_MODE", "list_tasks", args{"mode": "full"})
	refuse("PAGINATION_INVALID", "list_tasks", args{"limit": 0})
	refuse("NOT_FOUND", "get_task", args{"task_id": 999})
	refuse("NOT_FOUND", "get_task", args{"task_id": gone})
	refuse("INVALID_FILTER", "list_tasks", args{"status": "open"})
	refuse("WORKSPACE_INVALID", "list_tasks", args{"workspace_path": "Support rotation"})
	refuse("INVALID_TRANSITION", "update_task", args{"task_id": 1, "status": "done"})
	refuse("CYCLE", "update_task", args{"task_id": 1, "parent_task_id": 1})
	refuse("DEPENDENCY_OPEN", "create_task", args{"title": "Later", "status": "done", "depends_on": []int{1}})
	refuse("DUPLICATE", "create_entity", args{"entity_type": "file", "name": "Again", "identifier": "internal/thing1.go"})
	refuse("DUPLICATE", "set_project_name", args{"friendly_name": "Archive"})
	return all
}

func (b *board) open(a conformance.Asker) bool {
	return slices.Contains(b.people, a.Email) || b.role != "" && a.Has(b.role)
}

func oracleOf(name string) conformance.Oracle {
	all := boards(name)
	var rows []work
	var things []thing
	for _, b := range all[:2] {
		for _, w := range b.tasks {
			if w.id != gone {
				rows = append(rows, w)
			}
		}
		for _, one := range b.things {
			if one.id != goneThing {
				things = append(things, one)
			}
		}
	}
	work := conformance.Rows[workRow]{Key: "id", Rows: rows, ID: func(w workRow) string { return fmt.Sprint(w.id) }, Sees: func(a conformance.Asker, w workRow) bool { return w.board.open(a) }, Shows: showsTask}
	entities := conformance.Rows[thing]{
		Key: "id", Rows: things, ID: func(x thing) string { return fmt.Sprint(x.id) }, Sees: func(a conformance.Asker, x thing) bool { return x.board.open(a) },
		Shows: func(_ conformance.Asker, x thing, _ args) map[string]any {
			return map[string]any{"name": x.name, "identifier": x.path, "entity_type": x.kind}
		},
	}
	projects := conformance.Rows[*board]{Key: "friendly_name", Rows: all, ID: func(b *board) string { return b.name }, Sees: func(a conformance.Asker, b *board) bool { return b.open(a) }}
	nowhere := args{"workspace_path": "Nowhere"}
	return conformance.Oracle{
		Emails: []string{ninaMail, marcusMail, "dan@tamshai.local"}, Hidden: hidden(),
		Questions: []conformance.Question{
			conformance.List[workRow]{Rows: work, Tool: "list_tasks", Draw: drawList, Fits: fitsTask, Order: func(args) func(a, b workRow) int { return newest }, Code: unopened(all)},
			conformance.List[workRow]{Rows: work, Tool: "search_tasks", Draw: drawSearch, Fits: fitsTask, Code: unopened(all)},
			conformance.ByID[workRow]{Rows: work, Tool: "get_task", Input: inputOf, Unknown: nowhere, NotFound: "WORKSPACE_INVALID"},
			conformance.ByID[workRow]{Rows: work, Tool: "get_task_tree", Input: inputOf, Unknown: nowhere, NotFound: "WORKSPACE_INVALID"},
			conformance.List[thing]{
				Rows: entities, Tool: "list_entities", Code: unopened(all), Order: func(args) func(a, b thing) int { return func(a, b thing) int { return b.id - a.id } },
				Draw: func(r *rand.Rand, some thing) args {
					return conformance.Pick(r, args{"workspace_path": some.board.name}, args{"workspace_path": some.board.name, "entity_type": some.kind})
				},
				Fits: func(x thing, in args) bool {
					return in["workspace_path"] == x.board.name && (in["entity_type"] == nil || in["entity_type"] == x.kind)
				},
			},
			conformance.ByID[thing]{
				Rows: entities, Tool: "get_entity", Input: func(x thing) args { return args{"workspace_path": x.board.name, "entity_id": x.id} }, Unknown: nowhere, NotFound: "WORKSPACE_INVALID",
			},
			conformance.List[*board]{Rows: projects, Tool: "list_projects", Draw: func(*rand.Rand, *board) args { return args{} }, Fits: func(*board, args) bool { return true }},
		},
	}
}

type workRow = work

func showsTask(_ conformance.Asker, w work, in args) map[string]any {
	shown := map[string]any{"title": w.title, "status": w.status, "priority": w.priority, "tags": w.tag, "created_at": w.made().Format(time.RFC3339), "parent_task_id": nil}
	if w.parent > 0 {
		shown["parent_task_id"] = w.parent
	}
	if in["mode"] == "details" {
		shown["description"] = w.about
	}
	return shown
}

func inputOf(w work) args { return args{"workspace_path": w.board.name, "task_id": w.id} }

func newest(a, b work) int {
	return cmp.Or(b.made().Compare(a.made()), cmp.Compare(b.id, a.id))
}

// unopened is what callers get in a workspace that they may not open.
func unopened(all []*board) func(conformance.Asker, args) string {
	return func(a conformance.Asker, in args) string {
		if slices.ContainsFunc(all, func(b *board) bool { return b.name == in["workspace_path"] && b.open(a) }) {
			return ""
		}
		return "WORKSPACE_INVALID"
	}
}

func drawList(r *rand.Rand, some work) args {
	in := args{"workspace_path": conformance.Pick(r, some.board.name, some.board.name, some.board.name, "Nowhere")}
	for field, value := range map[string]any{"status": some.status, "priority": some.priority, "tags": some.tag, "mode": "details"} {
		if r.IntN(3) == 0 {
			in[field] = value
		}
	}
	return in
}

func drawSearch(r *rand.Rand, some work) args {
	words := strings.Fields(some.title)
	part := strings.TrimSuffix(strings.Fields(some.about)[3], ".") // words that one task has, as others without all of them are no answer then
	return args{"workspace_path": some.board.name, "search_term": conformance.Pick(r, words[4], "turnip", part+" "+words[4][:4], "zebra", "urnip "+words[4])}
}

func fitsTask(w work, in args) bool {
	term, _ := in["search_term"].(string)
	for _, word := range strings.Fields(term) {
		if !strings.Contains(strings.ToLower(w.title+" "+w.about), word) {
			return false
		}
	}
	for field, has := range map[string]string{"workspace_path": w.board.name, "status": w.status, "priority": w.priority, "tags": w.tag} {
		if want := in[field]; want != nil && want != has {
			return false
		}
	}
	return true
}

// hidden adds tasks to a workspace of another role, with the words of the others, and
// gives it the name that the caller's own is about to get.
func hidden() []conformance.Hiding {
	return []conformance.Hiding{{Name: "workspaces", Blind: conformance.NotIn("support-read"), Add: func(t testing.TB, s *conformance.Store, n int) {
		more := make([]work, n)
		for i := range more {
			more[i] = work{id: i, title: fmt.Sprint("ledger harbour thing ", i), status: "todo", priority: "high"}
		}
		in(t, s.Root, "Support rotation", today, func(ctx context.Context, w *store.Workspace) error { return insert(ctx, w, more) })
		h := domaintest.Open(t, "tasks", s)
		dan := domaintest.SignedIn(t.Context(), "dan@tamshai.local", "employee", "support-read")
		domaintest.Get[any](h, dan, "set_project_name", args{"workspace_path": "Support rotation", "friendly_name": "The harbour"})
	}}}
}
