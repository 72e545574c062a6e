package connected_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/mcptest"
)

// Servers that others wrote are connected as their own documents say.
func TestPublicServers(t *testing.T) {
	installed := mcptest.Servers(t)
	files := t.TempDir()
	for name, text := range map[string]string{"plan.txt": "the plan", "long.txt": strings.Repeat("many words ", 100_000)} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	node := func(server string, args ...string) string {
		command, script := installed.Node(server)
		list, err := json.Marshal(append([]string{script}, args...))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"command": %q, "args": %s, "roles": ["reader"], "tools": {"move_file": {"roles": ["mover"]}}, "env": {"MEMORY_FILE_PATH": %q}}`, command, list, filepath.Join(files, "memory.jsonl"))
	}
	python, args := installed.Python()
	list, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r := serversOf(t, map[string]string{
		"everything": node("everything"), "files": node("filesystem", files), "memory": node("memory"),
		"clock": fmt.Sprintf(`{"command": %q, "args": %s, "roles": ["reader"], "tools": {"get_current_time": {"approve": "never"}}}`, python, list),
	})
	reader := access.With(t.Context(), access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: "rita", Roles: []string{"reader"}, Provenance: access.Provenance{Surface: access.SurfaceAPI}}))
	set := r.await(t, reader, "the tools of all four", func(set agent.Toolset) bool {
		return has("everything.echo")(set) && has("files.read_text_file")(set) && has("memory.read_graph")(set) && has("clock.get_current_time")(set)
	})
	for _, c := range []struct{ tool, args, want string }{
		{"everything.echo", `{"message":"hello"}`, "Echo: hello"},
		{"files.read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(files, "plan.txt")), "the plan"},
		{"memory.read_graph", `{}`, "entities"},
		{"clock.get_current_time", `{"timezone":"Europe/Berlin"}`, "Europe/Berlin"},
	} {
		if !reads(set, c.tool) && c.tool != "clock.get_current_time" { // they say so of themselves, but for the one that the file lets through
			t.Errorf("%s is not marked read-only", c.tool)
		}
		if o := r.Call(reader, c.tool, json.RawMessage(c.args)); o.Fault() != nil || !strings.Contains(string(o.Data()), c.want) {
			t.Errorf("%s: got %s %v", c.tool, o.Data(), o.Fault())
		}
	}
	if reads(set, "files.write_file") {
		t.Error("files.write_file does not wait for its person")
	}
	if i := slices.IndexFunc(set.Open, func(tool agent.Tool) bool { return !slices.Equal(tool.Untrusted, []string{result.Everything}) }); i >= 0 {
		t.Errorf("answers of %s are trusted", set.Open[i].Name)
	}
	if o := r.Call(reader, "files.move_file", json.RawMessage(`{"source":"a","destination":"b"}`)); o.Code() != "INSUFFICIENT_PERMISSIONS" {
		t.Errorf("a tool with a role of its own: got %s", o.Code())
	}
	if o := r.Call(reader, "everything.echo", json.RawMessage(`{"message":5}`)); o.Code() != "VALIDATION_ERROR" {
		t.Errorf("arguments that its schema forbids: got %s %s", o.Code(), o.Data())
	}
	o := r.Call(reader, "files.read_text_file", json.RawMessage(fmt.Sprintf(`{"path":%q}`, filepath.Join(files, "long.txt"))))
	if page := o.Page(); len(o.Data()) > 300<<10 || page == nil || !strings.Contains(page.Hint, "Ask for less") {
		t.Errorf("a file of 1.1 MB: got %s with %d bytes and %+v", o.Code(), len(o.Data()), page)
	}
	checkPinned(t, r.folder)
}

// checkPinned connects the servers again, of which one says something else about a tool
// than was accepted.
func checkPinned(t *testing.T, folder string) {
	t.Helper()
	path := filepath.Join(folder, "mcp.lock.json")
	lock, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	accepted := strings.Replace(string(lock), "Echoes back the input", "Echoes nothing", 1)
	if accepted == string(lock) {
		t.Fatalf("the pinned definition of echo is not as expected:\n%.2000s", lock)
	}
	if err := os.WriteFile(path, []byte(accepted), 0o600); err != nil {
		t.Fatal(err)
	}
	r := connect(t, folder)
	set := r.await(t, testkit.As(t, "rita", "reader"), "the others of its server", has("everything.get-sum"))
	if has("everything.echo")(set) {
		t.Error("a tool that differs from its pinned definition is offered")
	}
}

// TestTheGuideIsTrue connects the servers of docs/servers.md, and compares what each
// person may change with what the page says.
func TestTheGuideIsTrue(t *testing.T) {
	installed := mcptest.Servers(t)
	folder := t.TempDir()
	servers := guide(t)
	servers["tickets"]["disabled"] = true // at another company
	for name, server := range map[string]string{"files": "filesystem", "memory": "memory"} {
		args, _ := servers[name]["args"].([]any)
		command, script := installed.Node(server)
		servers[name]["command"], servers[name]["args"] = command, append([]any{script}, args[2:]...) // npx -y PACKAGE …
	}
	servers["files"]["args"].([]any)[1] = folder
	servers["memory"]["env"] = map[string]any{"MEMORY_FILE_PATH": filepath.Join(folder, "memory.jsonl")}
	entries := map[string]string{}
	for name, keys := range servers {
		entry, err := json.Marshal(keys)
		if err != nil {
			t.Fatal(err)
		}
		entries[name] = string(entry)
	}
	t.Setenv("TICKETS_SECRET", "a secret")
	r := serversOf(t, entries)
	remember := []string{"memory.add_observations", "memory.create_entities", "memory.create_relations"}
	for role, changes := range map[access.Role][]string{
		access.Employee: remember, access.Manager: append([]string{"files.write_file"}, remember...), access.Executive: append(slices.Clone(remember), "memory.delete_entities"),
	} {
		set := r.await(t, testkit.As(t, "rita", access.Employee, role), "both servers", func(set agent.Toolset) bool {
			return has("files.list_directory")(set) && has("memory.read_graph")(set)
		})
		if got := slices.DeleteFunc(names(set), func(name string) bool { return reads(set, name) }); !slices.Equal(got, changes) {
			t.Errorf("%s may change something with %v, want %v", role, got, changes)
		}
	}
}

// guide reads the servers of the page's examples.
func guide(t *testing.T) map[string]map[string]any {
	t.Helper()
	page, err := os.ReadFile("../../docs/servers.md")
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]map[string]any{}
	for _, example := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		text := example[1]
		if !strings.HasPrefix(text, "{") { // an entry without the file around it
			text = `{"mcpServers": {` + text + `}}`
		}
		var file struct{ MCPServers map[string]map[string]any }
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		maps.Copy(servers, file.MCPServers)
	}
	return servers
}

func reads(set agent.Toolset, name string) bool {
	for _, tool := range set.Open {
		if tool.Name == name {
			return tool.Kind == result.Read
		}
	}
	return false
}
