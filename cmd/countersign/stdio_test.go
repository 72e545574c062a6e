package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/commandline"
)

// overStdio starts the program for a client at its standard streams.
func overStdio(t *testing.T, env []string, args ...string) *mcp.ClientSession {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var logs bytes.Buffer
	cmd := exec.Command(self, args...)
	cmd.Env, cmd.Stderr = append(append(os.Environ(), asProgram+"=."), env...), &logs
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &logs)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("ending: %v\n%s", err, &logs)
		}
	})
	return session
}

func callStdio(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTasksOverStdio is the one line of an IDE: no configuration, no Redis, no issuer.
func TestTasksOverStdio(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := overStdio(t, nil, "serve", "tasks", "--stdio", "--local", folder)
	if got := callStdio(t, c, "create_task", map[string]any{"title": "Write the test"}); !strings.Contains(got, `"status":"todo"`) {
		t.Errorf("got %s", got)
	}
	if out, code := runCommand(t, "approve", "6f1c0a52-9c3f-4f0e-8f57-0d6f2d1f7c11", "--local", folder); code != commandline.ExitFailed || out != "" {
		t.Errorf("approving without a terminal: exit %d: %s", code, out)
	}
	if out, code := runCommand(t, "approve", "--local", folder); code != commandline.ExitDone || out != "Nothing waits for an answer.\n" {
		t.Errorf("listing what waits: exit %d: %s", code, out)
	}
	for _, args := range [][]string{{"serve", "tasks", "hr", "--stdio", "--local", folder}, {"serve", "tasks", "--local", folder}, {"serve", "tasks", "--stdio"}, {"serve", "tasks", "--stdio", "--local"}} {
		if out, code := runCommand(t, args...); code != commandline.ExitUsage {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
	}
}
