package mcpfile_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/mcpfile"
)

func options() mcpfile.Options {
	env := map[string]string{"KEY": "k-1", "HOMES": "/srv"}
	return mcpfile.Options{Getenv: func(name string) string { return env[name] }, Reserved: []string{"hr", "finance", "gateway"}}
}

// Document 001's own example, and a desktop client's with everything that the
// configuration names.
func TestBothShapesAreRead(t *testing.T) {
	for file, want := range map[string][]mcpfile.Server{
		`{"servers": {
			"filesystem": {"id": "filesystem", "type": "local", "transport": "stdio", "command": "npx", "args": ["@modelcontextprotocol/server-filesystem"], "timeoutMs": 10000},
			"github": {"id": "github", "type": "remote", "transport": "http", "url": "https://github-mcp.example.com", "timeoutMs": 15000}}}`: {
			{Name: "filesystem", Line: 2, Transport: mcpfile.Stdio, Command: "npx", Args: []string{"@modelcontextprotocol/server-filesystem"}, Rules: mcpfile.Rules{Timeout: 10 * time.Second}},
			{Name: "github", Line: 3, Transport: mcpfile.HTTP, URL: "https://github-mcp.example.com", Rules: mcpfile.Rules{Timeout: 15 * time.Second}},
		},
		`{"mcpServers": {
			"notes": {"command": "notes-mcp", "args": ["${HOMES}/notes"], "env": {"NOTES_KEY": "${KEY}"}, "cwd": "/srv", "roles": ["employee"], "allow": ["read", "write"], "deny": ["purge"],
				"rename": {"read": "read_note"}, "tools": {"write": {"roles": ["manager"], "approve": "always", "timeoutMs": 500}, "read": {"approve": "never"}}},
			"far": {"type": "http", "url": "http://10.0.0.5/mcp", "allow_private": true, "headers": {"X-Api-Key": "${KEY}"}},
			"off": {"command": "x", "disabled": true}}}`: {
			{Name: "far", Line: 4, Transport: mcpfile.HTTP, URL: "http://10.0.0.5/mcp", AllowPrivate: true, Header: http.Header{"X-Api-Key": {"k-1"}}},
			{Name: "notes", Line: 2, Transport: mcpfile.Stdio, Command: "notes-mcp", Args: []string{"/srv/notes"}, Env: []string{"NOTES_KEY=k-1"}, Dir: "/srv", Rules: mcpfile.Rules{
				Roles: []string{"employee"}, Allow: []string{"read", "write"}, Deny: []string{"purge"}, Rename: map[string]string{"read": "read_note"},
				Tools: map[string]mcpfile.ToolRules{"write": {Roles: []string{"manager"}, Approve: mcpfile.ApproveAlways, Timeout: 500 * time.Millisecond}, "read": {Approve: mcpfile.ApproveNever}},
			}},
		},
	} {
		got, err := mcpfile.Read([]byte(file), options())
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(want, got.Servers); diff != "" {
			t.Errorf("servers (-want +got):\n%s", diff)
		}
	}
}

func TestEveryFaultIsNamedWithItsLineAtOnce(t *testing.T) {
	file := `{
  "mcpServers": {
    "hr": {"command": "x"},
    "f1nance": {"command": "x"},
    "my notes": {"command": "x"},
    "both": {"command": "x", "url": "https://a.example"},
    "none": {},
    "plain": {"url": "http://a.example/mcp"},
    "typo": {"command": "x", "timeout": 5},
    "zero": {"command": "x", "timeoutMs": 0},
    "half": {"command": "x", "timeoutMs": 1.5},
    "env": {"command": "x", "env": {"A": "${NOT_THERE}"}},
    "list": {"command": "x", "args": "a b"},
    "sse": {"type": "sse", "url": "https://a.example"},
    "odd": {"type": "http", "transport": "stdio", "url": "https://a.example"},
    "head": {"command": "x", "headers": {"A": "b"}},
    "host": {"url": "https://a.example", "headers": {"host": "b"}},
    "auth": {"url": "https://a.example", "oauth": {"client_id": "a"}},
    "mix": {"command": "x", "allow": ["a"], "deny": ["a"]},
    "ask": {"command": "x", "tools": {"a": {"approve": "sometimes"}}},
    "ask": {"command": "x", "input": "${input:key}", "args": ["${input:key}"]},
    "same": {"command": "x", "rename": {"a": "c", "b": "c"}}
  },
  "servrs": {}
}`
	_, err := mcpfile.Read([]byte(file), options())
	if err == nil {
		t.Fatal("it was read")
	}
	for _, want := range []string{
		`line 3: the name "hr" is that of our own server hr`, `line 4: the name "f1nance" is that of our own server finance, or looks like it`,
		`line 5: the name "my notes" must be`, "line 6: server both has a command and a url", "line 7: server none needs a command (stdio) or a url",
		"line 8: the url of server plain must begin with https://", `line 9: unknown key "timeout"; known are`, "line 10: timeoutMs must be", "line 11: timeoutMs must be",
		"line 12: the environment has no NOT_THERE", "line 13: args must be a list of texts", "line 14: server sse is of type sse", "line 15: server odd is of type http and of transport stdio",
		"line 16: headers has no effect on a server over stdio", "line 17: headers: host is set by the protocol", "line 18: oauth needs issuer, client_id and client_secret",
		"line 19: server mix both allows and denies a", "line 20: tools.a.approve must be always or never", `line 21: the name "ask" is that of server ask of line 20`,
		`line 21: unknown key "input"`, "line 21: only ${NAME} is replaced", "line 22: server same renames a and b to c", `line 24: unknown key "servrs"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "k-1") {
		t.Error("it shows a value of the environment")
	}
}

// Each key of an entry is checked, and so is what it says together with others.
func TestEachFaultOfAnEntryIsNamed(t *testing.T) {
	const oauth = `"client_id": "a", "client_secret": "b"`
	for entry, want := range map[string]string{
		`5`:                                                                            "server a must be an object",
		`{"id": "b", "command": "x"}`:                                                  `the id of server a is "b"`,
		`{"type": "stdio"}`:                                                            "server a needs a command",
		`{"type": "http"}`:                                                             "server a needs a url",
		`{"type": "http", "command": "x"}`:                                             "which does not fit its other keys",
		`{"type": "ftp", "command": "x"}`:                                              "type must be stdio, http, local or remote",
		`{"transport": "a", "command": "x"}`:                                           "transport must be stdio or http",
		`{"command": "x", "command": "y"}`:                                             `"command" is repeated`,
		`{"command": 5}`:                                                               "command must be a text",
		`{"command": "x", "cwd": "here"}`:                                              "cwd of server a must be an absolute path",
		`{"command": "x", "env": []}`:                                                  "env must be an object of texts",
		`{"command": "x", "env": {"A B": ""}}`:                                         `env: "A B" is no name`,
		`{"command": "x", "env": {"A": "b", "A": "c"}}`:                                `"A" is repeated`,
		`{"command": "x", "roles": ["b", "b"]}`:                                        "roles must not have an empty or a repeated name",
		`{"command": "x", "rename": {"a": "b c"}}`:                                     `rename: "b c" must be`,
		`{"command": "x", "tools": []}`:                                                "tools must be an object",
		`{"command": "x", "tools": {"a": {}, "a": {}}}`:                                `"a" is repeated`,
		`{"command": "x", "deny": ["a"], "tools": {"a": {}}}`:                          "has rules for a, which it does not offer",
		`{"type": "remote", "transport": "stdio", "command": "x"}`:                     "is remote and of transport stdio",
		`{"url": "ftp://a.example"}`:                                                   "must be an address that begins with https://",
		`{"url": "https://u:p@a.example"}`:                                             "must have no name, password or fragment",
		`{"url": "https://a.example", "allow_private": "yes"}`:                         "allow_private must be true or false",
		`{"url": "https://a.example", "headers": {"A B": "c"}}`:                        `headers: "A B" is no name`,
		`{"url": "https://a.example", "headers": {"A": "b\r\nc"}}`:                     `headers: "A" is no name of a header, or its value cannot be one`,
		`{"url": "https://a.example", "headers": {"X-A": "b", "x-a": "c"}}`:            "headers: x-a is repeated",
		`{"url": "https://a.example", "oauth": {"issuer": "i", ` + oauth + `}}`:        "oauth.issuer must be an address",
		`{"url": "https://a.example", "oauth": {"issuer": "http://i", ` + oauth + `}}`: "oauth.issuer must begin with https://",
		`{"url": "https://a.example", "headers": {"authorization": "b"}, "oauth": {"issuer": "https://i", ` + oauth + `}}`: "has oauth and a header Authorization",
	} {
		_, err := mcpfile.Read([]byte("{\"servers\": {\n\"a\": "+entry+"}}"), options())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: got %v, want %s", entry, err, want)
		}
	}
}

func TestWhatIsNotJSONIsNamedWithItsLine(t *testing.T) {
	for file, want := range map[string]string{
		"{\n\"servers\": {\n": "line 3: it is not JSON: it ends too early", "{\n// a comment\n}": "line 2: it is not JSON", "[]": "line 1: the file must be an object",
		"{}": "line 1: it has neither servers nor mcpServers", "{\"servers\":{}}\n{}": "line 2: it is not JSON: there is more after the end", "": "line 1: it is not JSON: it ends too early",
		`{"servers":{},"mcpServers":{}}`: "it has both", `{"servers":[]}`: "servers must be an object", strings.Repeat(`{"servers":`, 40): "nested deeper",
	} {
		if _, err := mcpfile.Read([]byte(file), options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}

func TestKeysOfDesktopClientsAreWarnedAbout(t *testing.T) {
	f, err := mcpfile.Read([]byte(`{"inputs": [], "servers": {"a": {"command": "x", "autoApprove": ["delete"], "alwaysAllow": [], "disabledTools": []}}}`), options())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings) != 4 || !strings.Contains(strings.Join(f.Warnings, "\n"), `"autoApprove" is not honoured`) {
		t.Errorf("got %q", f.Warnings)
	}
	if got := f.Servers[0].Rules; len(got.Tools) != 0 {
		t.Errorf("got the rules %+v, want none", got)
	}
}

func TestWeakeningSettingsAreListed(t *testing.T) {
	f, err := mcpfile.Read([]byte(`{"servers": {"a": {"url": "http://localhost/mcp", "allow_private": true, "tools": {"x": {"approve": "never"}, "y": {"approve": "always"}}}}}`), options())
	if err != nil {
		t.Fatal(err)
	}
	got := f.Weakened()
	if len(got) != 2 || !strings.Contains(got[0], "a.allow_private") || !strings.Contains(got[1], "a.tools.x.approve: never") {
		t.Errorf("got %q", got)
	}
}

// The rules of a tool are its own, and its server's where it has none. An empty
// list of roles is a list: no person may call the tool.
func TestRulesOfATool(t *testing.T) {
	r := mcpfile.Rules{Roles: []string{"employee"}, Timeout: time.Second, Deny: []string{"purge"}, Rename: map[string]string{"read": "read_note"}, Tools: map[string]mcpfile.ToolRules{
		"write": {Roles: []string{"manager"}, Timeout: time.Minute}, "none": {Roles: []string{}},
	}}
	for tool, want := range map[string]mcpfile.ToolRules{
		"read": {Roles: []string{"employee"}, Timeout: time.Second}, "write": {Roles: []string{"manager"}, Timeout: time.Minute}, "none": {Roles: []string{}, Timeout: time.Second},
	} {
		if diff := cmp.Diff(want, r.Of(tool)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tool, diff)
		}
	}
	if _, offered := r.Offered("purge"); offered {
		t.Error("a denied tool is offered")
	}
	if name, offered := r.Offered("read"); !offered || name != "read_note" {
		t.Errorf("got %s, %t", name, offered)
	}
	r.Allow = []string{"read"}
	if _, offered := r.Offered("write"); offered {
		t.Error("a tool beside the allowed ones is offered")
	}
}

// FuzzRead: no text makes reading fail otherwise than with lines, and what is
// read is complete.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no files to begin with", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := mcpfile.Read(text, options())
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") && !strings.HasPrefix(err.Error(), "the file is larger") {
				t.Errorf("no line: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, s := range file.Servers {
			if key := mcpfile.Skeleton(s.Name); seen[key] {
				t.Errorf("%s looks like another server", s.Name)
			} else {
				seen[key] = true
			}
			if (s.Command == "") == (s.URL == "") || s.Transport == "" || s.Line < 1 {
				t.Errorf("it is not complete: %+v", s)
			}
		}
	})
}
