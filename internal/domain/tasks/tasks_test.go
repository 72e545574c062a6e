package tasks_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/tasks"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/tool"
)

// harness is a task server with two shared workspaces, in both of its dialects.
type harness struct {
	testing.TB
	*dialect.Toolbox
	server             *tasks.Server
	platform, rotation string        // paths
	later              time.Duration // how far the server's clock is ahead
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{TB: t, platform: filepath.Join(root, "platform"), rotation: filepath.Join(root, "rotation")}
	for _, folder := range []string{h.platform, h.rotation, filepath.Join(root, "personal")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	now := func() time.Time { return time.Now().Add(h.later) }
	h.server, err = tasks.Open(t.Context(), tasks.Options{Folder: filepath.Join(root, "databases"), Now: now, Places: workspace.Places{
		Roots: []string{root}, Personal: filepath.Join(root, "personal"), Issuer: testkit.Issuer,
		Shared: []workspace.Shared{{Path: h.platform, Name: "Platform", People: []string{"nina", "marcus"}}, {Path: h.rotation, Name: "Support rotation", Roles: []string{"support-read"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.server.Close() })
	sink := &testkit.MemorySink{}
	options := tool.Options{
		Server: "tasks", Codes: h.server.Codes(), Policy: h.server.Policy(), Confirmations: confirm.NewService(domaintest.NewRedis(t), sink, nil),
		Receipts: h.server.Receipts(), Audit: sink, Invalid: h.server.Invalid,
	}
	envelope, err := tool.NewRunner(h.server.Tools(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Dialect = dialect.Dialect{}
	own, err := tool.NewRunner(h.server.Tools(), options)
	if err != nil {
		t.Fatal(err)
	}
	h.Toolbox = dialect.NewToolbox(envelope, own, "workspace_path")
	return h
}

// as signs a person in, with their own token or, by the purpose, through the gateway.
func as(t testing.TB, name string, purpose access.Purpose, roles ...string) context.Context {
	return access.With(t.Context(), access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "sub-" + name, Username: name, Roles: append(roles, "employee"), Purpose: purpose, MayConfirm: true,
	}))
}

// ask calls a tool with Nina's own token and reads its answer, which must fit its
// schema.
func (h *harness) ask(name string, in map[string]any) map[string]any {
	h.Helper()
	if _, given := in["workspace_path"]; !given {
		in["workspace_path"] = h.platform
	}
	return h.askAs(as(h, "nina", access.PurposeNone), name, in)
}

func (h *harness) askAs(ctx context.Context, name string, in map[string]any) map[string]any {
	h.Helper()
	args, err := json.Marshal(in)
	if err != nil {
		h.Fatal(err)
	}
	answer := h.Encode(h.Call(ctx, name, args))
	infos, err := h.Tools(ctx)
	if err != nil {
		h.Fatal(err)
	}
	for _, info := range infos {
		if info.Name == name {
			domaintest.CheckAnswer(h, info, answer)
		}
	}
	var out map[string]any
	if err := json.Unmarshal(answer, &out); err != nil {
		h.Fatalf("%v: %s", err, answer)
	}
	return out
}

// details are those of an error.
func details(t testing.TB, answer map[string]any, code string) map[string]any {
	t.Helper()
	e, _ := answer["error"].(map[string]any)
	if e["code"] != code {
		t.Fatalf("got %v, want %s", answer, code)
	}
	return e["details"].(map[string]any)
}

func TestErrorsHaveTheirDocumentedDetails(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "one"})
	for name, c := range map[string]struct {
		tool string
		in   map[string]any
		code string
		want string
	}{
		"limit 0":              {"list_tasks", map[string]any{"limit": 0}, "PAGINATION_INVALID", `{"limit":0}`},
		"limit 1001":           {"search_tasks", map[string]any{"limit": 1001, "search_term": "x"}, "PAGINATION_INVALID", `{"limit":1001}`},
		"offset":               {"list_entities", map[string]any{"offset": -1}, "PAGINATION_INVALID", `{"offset":-1}`},
		"tree's limit":         {"get_task_tree", map[string]any{"task_id": 9, "limit": 0}, "PAGINATION_INVALID", `{"limit":0}`},
		"mode":                 {"list_tasks", map[string]any{"mode": "full"}, "INVALID_MODE", `{"provided_mode":"full"}`},
		"pages before modes":   {"list_tasks", map[string]any{"mode": "full", "limit": 0, "status": "x", "workspace_path": "/"}, "PAGINATION_INVALID", `{"limit":0}`},
		"modes before places":  {"list_tasks", map[string]any{"mode": "full", "status": "x", "workspace_path": "/"}, "INVALID_MODE", `{"provided_mode":"full"}`},
		"places before values": {"list_tasks", map[string]any{"status": "x", "workspace_path": "relative"}, "WORKSPACE_INVALID", `{"reason":"it is neither an absolute path nor the name of a project of yours","workspace_path":"relative"}`},
		"values before rows":   {"get_entity_tasks", map[string]any{"entity_id": 99, "priority": "urgent"}, "INVALID_FILTER", `{"filter_name":"priority","invalid_value":"urgent","valid_values":["low","medium","high"]}`},
		"type of an entity":    {"list_entities", map[string]any{"entity_type": "person"}, "INVALID_FILTER", `{"filter_name":"entity_type","invalid_value":"person","valid_values":["file","other"]}`},
		"task":                 {"get_task", map[string]any{"task_id": 99}, "NOT_FOUND", `{"resource_id":99,"resource_type":"task"}`},
		"entity":               {"get_entity", map[string]any{"entity_id": 99}, "NOT_FOUND", `{"resource_id":99,"resource_type":"entity"}`},
		"parent of a list":     {"list_tasks", map[string]any{"parent_task_id": 99}, "NOT_FOUND", `{"resource_id":99,"resource_type":"task"}`},
		"transition":           {"update_task", map[string]any{"task_id": 1, "status": "done"}, "INVALID_TRANSITION", `{"allowed":["in_progress","blocked","cancelled","to_be_deleted"],"from":"todo","task_id":1,"to":"done"}`},
		"cycle":                {"update_task", map[string]any{"task_id": 1, "parent_task_id": 1}, "CYCLE", `{"cycle":[1,1]}`},
		"a null place":         {"list_tasks", map[string]any{"workspace_path": nil}, "WORKSPACE_INVALID", `{"reason":"it must be a text","workspace_path":"null"}`},
		"a place of objects":   {"list_tasks", map[string]any{"workspace_path": []any{map[string]any{"a": nil}}}, "WORKSPACE_INVALID", `{"reason":"it must be a text","workspace_path":"[{\"a\":null}]"}`},
		"no change":            {"update_task", map[string]any{"task_id": 1}, "VALIDATION_ERROR", `{"fields":["task_id"]}`},
		"no reason":            {"update_task", map[string]any{"task_id": 1, "status": "blocked"}, "VALIDATION_ERROR", `{"fields":["blocker_reason"]}`},
		"no reason at first":   {"create_task", map[string]any{"title": "x", "status": "blocked"}, "VALIDATION_ERROR", `{"fields":["blocker_reason"]}`},
		"odd metadata":         {"create_entity", map[string]any{"entity_type": "file", "name": "x", "metadata": "x"}, "VALIDATION_ERROR", `{"fields":["metadata"]}`},
		"odd place":            {"update_task", map[string]any{"task_id": 1, "workspace_path": "/a\u200bb"}, "WORKSPACE_INVALID", "{\"reason\":\"it has characters that do not show\",\"workspace_path\":\"/a\u200bb\"}"},
		"places before texts":  {"update_task", map[string]any{"task_id": 1, "title": "\u202ex", "workspace_path": "relative"}, "WORKSPACE_INVALID", `{"reason":"it is neither an absolute path nor the name of a project of yours","workspace_path":"relative"}`},
		"a cleared priority":   {"update_task", map[string]any{"task_id": 1, "priority": nil}, "VALIDATION_ERROR", `{"fields":["priority"]}`},
		"a cleared title":      {"update_task", map[string]any{"task_id": 1, "title": nil, "status": nil, "tags": nil}, "VALIDATION_ERROR", `{"fields":["status","title"]}`},
		"a cleared name":       {"update_entity", map[string]any{"entity_id": 1, "name": nil}, "VALIDATION_ERROR", `{"fields":["name"]}`},
		"places before nulls":  {"update_task", map[string]any{"task_id": 1, "title": nil, "workspace_path": "relative"}, "WORKSPACE_INVALID", `{"reason":"it is neither an absolute path nor the name of a project of yours","workspace_path":"relative"}`},
		"a null filter":        {"list_tasks", map[string]any{"priority": nil}, "INVALID_FILTER", `{"filter_name":"priority","invalid_value":null,"valid_values":["low","medium","high"]}`},
		"unknown field":        {"get_task", map[string]any{"task_id": 1, "colour": "red"}, "VALIDATION_ERROR", `{"fields":["colour"]}`},
	} {
		got, err := json.Marshal(details(t, h.ask(c.tool, c.in), c.code))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	if e := h.ask("update_task", map[string]any{"task_id": 1, "priority": nil})["error"].(map[string]any); e["message"] != "priority cannot be cleared: priority: leave it out, or give a value" {
		t.Errorf("a cleared priority: got %v", e)
	}
	if e := h.ask("list_tasks", map[string]any{"status": []any{nil, map[string]any{}}})["error"].(map[string]any); !strings.HasPrefix(e["message"].(string), `"[null,{}]" is no valid status.`) {
		t.Errorf("a status that is no text: got %v", e)
	}
	if d := details(t, h.askAs(as(t, "nina", access.PurposeNone), "list_tasks", map[string]any{}), "WORKSPACE_INVALID"); d["reason"] != "workspace_path is required" {
		t.Errorf("without a workspace: got %v", d)
	}
	if e := h.askAs(as(t, "nina", access.PurposeCall), "list_tasks", map[string]any{"status": "x"}); e["code"] != "INVALID_FILTER" || e["status"] != "error" {
		t.Errorf("through the gateway: got %v", e)
	}
}

// TestErrorPageHasEveryCode: docs/tasks.md lists each code with all of its details.
func TestErrorPageHasEveryCode(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "tasks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range record.Codes() {
		_, row, found := strings.Cut(string(page), "| "+code.Name+" | ")
		row, _, _ = strings.Cut(row, " |")
		for _, detail := range code.Details {
			found = found && strings.Contains(row, "`"+detail+"`")
		}
		if !found {
			t.Errorf("%s with %v: the page has %q", code.Name, code.Details, row)
		}
	}
}

func TestOnlyItsPeopleOpenAWorkspace(t *testing.T) {
	h := newHarness(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(filepath.Dir(h.platform), "link")); err != nil {
		t.Fatal(err)
	}
	h.ask("create_task", map[string]any{"title": "of the platform"})
	total := func(name, path string, roles ...string) any {
		answer := h.askAs(as(t, name, access.PurposeCall, roles...), "list_tasks", map[string]any{"workspace_path": path})
		if answer["status"] == "error" {
			return answer["details"].(map[string]any)["reason"]
		}
		return answer["metadata"].(map[string]any)["totalCount"]
	}
	const none = "you have no workspace there"
	for _, c := range []struct {
		who, path string
		roles     []string
		want      any
	}{
		{"nina", h.platform, nil, "1"}, {"nina", "platform", nil, "1"}, {"nina", "", nil, "1"}, {"nina", "personal", nil, "0"}, {"nina", h.rotation, nil, none},
		{"bob", h.platform, nil, none}, {"bob", filepath.Join(filepath.Dir(h.platform), "missing"), nil, none}, {"bob", "", nil, "0"},
		{"dan", h.rotation, []string{"support-read"}, "0"}, {"dan", "Support rotation", []string{"support-read"}, "0"},
		{"nina", filepath.Join(filepath.Dir(h.platform), "link"), nil, none},
		{"nina", "/etc", nil, "it is outside the folders that this server may serve"}, {"nina", h.platform + "/../rotation", nil, none},
	} {
		if got := total(c.who, c.path, c.roles...); got != c.want {
			t.Errorf("%s, %s: got %v, want %v", c.who, c.path, got, c.want)
		}
	}
}

// TestUserNamesOfOtherIssuersOpenNothing: another issuer's nina is another person.
func TestUserNamesOfOtherIssuersOpenNothing(t *testing.T) {
	h := newHarness(t)
	other := access.With(t.Context(), access.NewPrincipal(access.Claims{Issuer: "https://other.example", Subject: "sub-nina", Username: "nina", Roles: []string{"employee"}, Purpose: access.PurposeCall}))
	if e := h.askAs(other, "list_tasks", map[string]any{"workspace_path": h.platform}); e["code"] != "WORKSPACE_INVALID" {
		t.Errorf("got %v", e)
	}
	h.askAs(as(t, "nina", access.PurposeCall), "create_task", map[string]any{"title": "mine", "workspace_path": "Personal"})
	e := h.askAs(other, "list_tasks", map[string]any{})
	if page, ok := e["metadata"].(map[string]any); !ok || page["totalCount"] != "0" {
		t.Errorf("their personal workspace is hers: %v", e)
	}
}

// TestUserNamesOfOtherIssuersSignNothing: what another issuer's nina makes is not hers.
func TestUserNamesOfOtherIssuersSignNothing(t *testing.T) {
	h := newHarness(t)
	for issuer, want := range map[string]string{testkit.Issuer: "nina", "https://other.example": "https://other.example|sub-nina"} {
		who := access.With(t.Context(), access.NewPrincipal(access.Claims{Issuer: issuer, Subject: "sub-nina", Username: "nina", Roles: []string{"employee"}, Purpose: access.PurposeCall}))
		made := h.askAs(who, "create_task", map[string]any{"title": "mine"})
		if task, _ := made["data"].(map[string]any); task["created_by"] != want {
			t.Errorf("%s: made by %v, want %s", issuer, task["created_by"], want)
		}
	}
}

func TestNullClearsAField(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "one", "description": "d", "tags": "Go, go core", "file_references": []string{"a.go"}})
	h.ask("create_task", map[string]any{"title": "two", "depends_on": []int{1}, "parent_task_id": 1})
	kept := h.ask("update_task", map[string]any{"task_id": 1, "title": "uno"})
	if kept["description"] != "d" || kept["tags"] != "go core" {
		t.Errorf("what was left out changed: %v", kept)
	}
	cleared := h.ask("update_task", map[string]any{"task_id": 1, "description": nil, "tags": nil, "file_references": nil})
	if cleared["description"] != nil || cleared["tags"] != nil || len(cleared["file_references"].([]any)) != 0 || cleared["title"] != "uno" {
		t.Errorf("got %v", cleared)
	}
	cleared = h.ask("update_task", map[string]any{"task_id": 2, "depends_on": nil, "parent_task_id": nil})
	if cleared["parent_task_id"] != nil || len(cleared["depends_on"].([]any)) != 0 {
		t.Errorf("got %v", cleared)
	}
}

// TestAnyWordIsSaid: where nothing has all words of a search, each page says so.
func TestAnyWordIsSaid(t *testing.T) {
	h := newHarness(t)
	for _, title := range []string{"Interview two candidates", "Interview notes", "Hire a designer"} {
		h.ask("create_task", map[string]any{"title": title})
		h.ask("create_entity", map[string]any{"entity_type": "other", "name": title, "identifier": title})
	}
	const said = "Nothing has all of these words; these have some of them."
	for _, tool := range []string{"search_tasks", "search_entities"} {
		for offset, want := range []float64{1, 1, 1} {
			args, _ := json.Marshal(map[string]any{"search_term": "hiring interviews", "limit": 1, "offset": offset, "workspace_path": h.platform})
			o := h.Call(as(t, "nina", access.PurposeNone), tool, args)
			if page := o.Page(); page == nil || float64(page.Returned) != want || page.Total != 3 || page.Remark != said {
				t.Errorf("%s, page %d: got %+v", tool, offset, page)
			}
		}
		args, _ := json.Marshal(map[string]any{"search_term": "interviews notes", "workspace_path": h.platform})
		if page := h.Call(as(t, "nina", access.PurposeNone), tool, args).Page(); page == nil || page.Total != 1 || page.Remark != "" {
			t.Errorf("%s of what has both: got %+v", tool, page)
		}
	}
}

// TestCleanupTakesWhatWasDeletedLongAgo: more than 30 days, or as many as the call says.
func TestCleanupTakesWhatWasDeletedLongAgo(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "one"})
	h.ask("delete_task", map[string]any{"task_id": 1})
	waiting := func(in map[string]any) any {
		shown, _ := h.ask("cleanup_deleted_tasks", in)["confirmationData"].(map[string]any)
		return shown["taskCount"]
	}
	h.later = 29 * 24 * time.Hour
	if week := waiting(map[string]any{"days": 7}); week != 1.0 {
		t.Errorf("after 29 days: got %v with days=7", week)
	}
	nothing := h.ask("cleanup_deleted_tasks", map[string]any{}) // no one is asked about nothing
	if nothing["success"] != true || nothing["purged_count"] != 0.0 || nothing["cutoff_days"] != 30.0 || nothing["message"] != "There is nothing to clean up: no task was deleted from Platform more than 30 days ago." {
		t.Errorf("after 29 days: got %v", nothing)
	}
	h.later += 2 * 24 * time.Hour
	if month := waiting(map[string]any{}); month != 1.0 {
		t.Errorf("after 31 days: got %v", month)
	}
	h.ask("create_task", map[string]any{"title": "two"})
	h.ask("undelete_task", map[string]any{"task_id": 1})
	h.ask("update_task", map[string]any{"task_id": 2, "depends_on": []int{1}})
	h.ask("delete_task", map[string]any{"task_id": 1})
	h.later += 31 * 24 * time.Hour
	card := h.ask("cleanup_deleted_tasks", map[string]any{})
	shown, _ := card["confirmationData"].(map[string]any)
	path, _ := shown["workspacePath"].(string)
	said, _ := card["message"].(string)
	if shown["dependentsLeft"] != 1.0 || shown["childrenLeft"] != 0.0 || shown["left"] != 0.0 || path == "" || !strings.Contains(said, path) || !strings.Contains(said, "0 lose the task above them and 1 one that they depend on") {
		t.Errorf("the card says %q of %v", said, shown)
	}
}

// TestDamagedWorkspaceIsFound: the check reads every file whole, and names the one that
// is damaged.
func TestDamagedWorkspaceIsFound(t *testing.T) {
	h := newHarness(t)
	fill(t, h, 200, strings.Repeat("Some words of a long text. ", 20))
	h.askAs(as(t, "dan", access.PurposeCall, "support-read"), "create_task", map[string]any{"title": "whole", "workspace_path": "Support rotation"})
	if said, err := h.server.Check(t.Context()); err != nil || said != "workspaces that were read whole: 2" {
		t.Errorf("got %s, %v", said, err)
	}
	place := workspace.Place{Path: h.platform}
	name := filepath.Join(filepath.Dir(h.platform), "databases", place.Key()+".db")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	copy(whole[len(whole)/2:], strings.Repeat("damage ", 4000))
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.server.Check(t.Context()); err == nil || !strings.Contains(fault.Sentence(err), filepath.Base(name)) {
		t.Errorf("an operator reads %s, want %s", fault.Sentence(err), name)
	}
}

// TestMakerIsThePerson: what a client calls itself is a label beside the person.
func TestMakerIsThePerson(t *testing.T) {
	h := newHarness(t)
	task := h.ask("create_task", map[string]any{"title": "one", "created_by": "marcus"})
	entity := h.ask("create_entity", map[string]any{"entity_type": "file", "name": "a.go", "created_by": "marcus"})
	for _, made := range []map[string]any{task, entity} {
		if made["created_by"] != "nina" || made["created_by_label"] != "marcus" {
			t.Errorf("got %v", made)
		}
	}
	if link := h.ask("link_entity_to_task", map[string]any{"task_id": 1, "entity_id": 1, "created_by": "marcus"}); link["created_by"] != "nina" {
		t.Errorf("got %v", link)
	}
}

// TestMetadataIsKeptAsItIs, or refused: numbers of other systems have more digits than a float64 has, in an object and in a text
// with one, in which no name comes twice.
func TestMetadataIsKeptAsItIs(t *testing.T) {
	h := newHarness(t)
	for object, kept := range map[string]bool{
		`{"id":9007199254740991,"part":-0.5,"deep":[{"n":100,"none":null}]}`: true,
		`{"id":9007199254740993}`:                 false,
		`{"deep":[{"id":-12345678901234567890}]}`: false,
		`{}`:            true,
		`{"k":1,"k":2}`: false,
	} {
		for _, metadata := range []any{json.RawMessage(object), object} {
			if object == `{"k":1,"k":2}` && metadata != object {
				continue // the whole call is no JSON
			}
			made := h.ask("create_entity", map[string]any{"entity_type": "other", "name": "n", "metadata": metadata})
			if !kept {
				details(t, made, "VALIDATION_ERROR")
				continue
			}
			var want any
			if err := json.Unmarshal([]byte(object), &want); err != nil {
				t.Fatal(err)
			}
			if got := h.ask("get_entity", map[string]any{"entity_id": made["id"]}); !reflect.DeepEqual(got["metadata"], want) {
				t.Errorf("%T: %v, not %s", metadata, got["metadata"], object)
			}
		}
	}
}

// TestCleanupIsOfTheTaskOnTheCard: one that was restored, renamed and deleted again meanwhile is another one.
func TestCleanupIsOfTheTaskOnTheCard(t *testing.T) {
	h := newHarness(t)
	h.ask("create_task", map[string]any{"title": "Old scrap"})
	h.ask("delete_task", map[string]any{"task_id": 1})
	h.later = time.Minute
	in := map[string]any{"workspace_path": h.platform, "days": 0}
	nina := as(h, "nina", access.PurposeNone)
	id, _ := h.ask("cleanup_deleted_tasks", in)["confirmationId"].(string)
	h.ask("undelete_task", map[string]any{"task_id": 1})
	h.ask("update_task", map[string]any{"task_id": 1, "title": "Contract with ACME"})
	h.ask("delete_task", map[string]any{"task_id": 1})
	h.later = 2 * time.Minute
	if o := h.Answer(nina, id, true, ""); !strings.Contains(string(h.Encode(o)), "CONFIRMATION_STALE") {
		t.Errorf("the answer is %s", h.Encode(o))
	}
	if got := h.ask("undelete_task", map[string]any{"task_id": 1}); got["restored_count"] != 1.0 {
		t.Errorf("the task is gone: %v", got)
	}
}
