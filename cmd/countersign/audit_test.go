package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/audit"
)

// auditLog opens a signed log that is rotated after that many bytes; 0: never.
func auditLog(t testing.TB, path string, rotate int64) *audit.Log {
	t.Helper()
	signer, err := audit.NewSigner(bytes.Repeat([]byte("a"), 32))
	if err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(path, &audit.Options{Name: "hr", Signer: signer, MaxSize: rotate})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestLostAuditFilesHaveAnExitStatus deletes files of a log, and verifies it by the
// command with nothing else given.
func TestLostAuditFilesHaveAnExitStatus(t *testing.T) {
	t.Parallel()
	const lost = int(audit.Lost)
	for name, c := range map[string]struct {
		rotate int64
		remove []string // patterns of files
		status int
		says   string
	}{
		"nothing":                        {0, nil, 0, "is intact: 10 events"},
		"the log":                        {0, []string{"hr.jsonl"}, lost, "its head names 10 events, and what they were cannot be known"},
		"the log and its head":           {0, []string{"hr.jsonl*"}, lost, "hr.jsonl is missing, and so is its head"},
		"the head":                       {0, []string{"hr.jsonl.head"}, lost, "PATH.head is missing"},
		"the newest file of several":     {1500, []string{"hr.jsonl"}, lost, "its head names event"},
		"the oldest file of several":     {1500, []string{"hr.jsonl.00000000000?"}, lost, "older files of this log are missing"},
		"all files of several but heads": {1500, []string{"hr.jsonl", "hr.jsonl.0*"}, lost, "its head names"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hr.jsonl")
			l := auditLog(t, path, c.rotate)
			for range 8 {
				if err := l.Append(t.Context(), audit.Event{Kind: audit.Outcome, Tool: "list_employees", Note: strings.Repeat("x", 200)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			for _, pattern := range c.remove {
				found, err := filepath.Glob(filepath.Join(filepath.Dir(path), pattern))
				if err != nil || len(found) == 0 {
					t.Fatalf("%s: %v, %v", pattern, found, err)
				}
				for _, file := range found {
					_ = os.Remove(file)
				}
			}
			var out strings.Builder
			code := run(t.Context(), program{args: []string{"audit", "verify", path}, getenv: os.Getenv, out: &out, err: &out})
			if code != c.status || !strings.Contains(out.String(), c.says) {
				t.Errorf("exit %d, want %d with %q:\n%s", code, c.status, c.says, &out)
			}
		})
	}
}
