package connected_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	if err := os.WriteFile(filepath.Join(files, "plan.txt"), []byte("the plan"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := func(server string, args ...string) string {
		command, script := installed.Node(server)
		list, err := json.Marshal(append([]string{script}, args...))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"command": %q, "args": %s, "roles": ["reader"], "env": {"MEMORY_FILE_PATH": %q}}`, command, list, filepath.Join(files, "memory.jsonl"))
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
	reader := access.With(t.Context(), access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: "rita", Roles: []string{"reader"}, Origin: access.Origin{Surface: access.SurfaceAPI}}))
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
}

func reads(set agent.Toolset, name string) bool {
	for _, tool := range set.Open {
		if tool.Name == name {
			return tool.Kind == result.Read
		}
	}
	return false
}
