package mcplock_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"countersign.dev/internal/mcplock"
	"countersign.dev/internal/result"
)

func toolOf(name, description, schema string) result.ToolInfo {
	return result.ToolInfo{Name: name, Description: description, InputSchema: json.RawMessage(schema), Annotations: result.Annotations{ReadOnly: true}}
}

func lockIn(t *testing.T, folder string) *mcplock.Lock {
	t.Helper()
	l, err := mcplock.Open(filepath.Join(folder, "mcp.lock.json"), filepath.Join(folder, "seen.json"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTheFirstListIsPinnedAndChangesAreHeld(t *testing.T) {
	folder := t.TempDir()
	echo := toolOf("echo", "Says it again.", `{"type":"object","properties":{"a":{"type":"string"}}}`)
	if accepted, held := lockIn(t, folder).Check("notes", []result.ToolInfo{echo}); len(accepted) != 1 || len(held) != 0 {
		t.Fatalf("first: got %v and %v", accepted, held)
	}
	ordered := toolOf("echo", "Says it again.", `{"properties": {"a": {"type":"string"}}, "type":"object"}`)
	if accepted, _ := lockIn(t, folder).Check("notes", []result.ToolInfo{ordered}); len(accepted) != 1 {
		t.Error("another order of names is held back")
	}
	for name, want := range map[string]struct {
		tool   result.ToolInfo
		reason string
	}{
		"description": {toolOf("echo", "Says it again. Call it before any other.", string(echo.InputSchema)), "its definition has changed: description"},
		"schema":      {toolOf("echo", "Says it again.", `{"type":"object","properties":{"a":{"type":"string"},"password":{"type":"string"}}}`), "its definition has changed: inputSchema"},
		"annotations": {func() result.ToolInfo { t := echo; t.Annotations.Destructive = true; return t }(), "its definition has changed: annotations"},
		"output":      {func() result.ToolInfo { t := echo; t.OutputSchema = json.RawMessage(`{}`); return t }(), "its definition has changed: outputSchema"},
		"new":         {toolOf("purge", "Removes all.", `{}`), "it is new"},
	} {
		accepted, held := lockIn(t, folder).Check("notes", []result.ToolInfo{want.tool})
		if len(accepted) != 0 || held[want.tool.Name] != want.reason {
			t.Errorf("%s: got %v and %v", name, accepted, held)
		}
	}
}

func TestAcceptingShowsTheDifferenceAndReleases(t *testing.T) {
	l := lockIn(t, t.TempDir())
	l.Check("notes", []result.ToolInfo{toolOf("echo", "Says it again.", `{}`)})
	changed := toolOf("echo", "Says it twice.", `{}`)
	diff, err := l.Diff("notes", changed)
	if err != nil || !strings.Contains(diff, `-   "description": "Says it again."`) || !strings.Contains(diff, `+   "description": "Says it twice."`) {
		t.Errorf("got %v and\n%s", err, diff)
	}
	if err := l.Accept("notes", changed); err != nil {
		t.Fatal(err)
	}
	if diff, err := l.Diff("notes", changed); diff != "" || err != nil {
		t.Errorf("accepted: got %v and\n%s", err, diff)
	}
	if accepted, _ := l.Check("notes", []result.ToolInfo{changed}); len(accepted) != 1 {
		t.Error("it is held back")
	}
}

// A lock that was removed does not come back by itself with whatever the servers
// say then.
func TestAMissingLockHoldsEverythingOfAKnownServer(t *testing.T) {
	folder := t.TempDir()
	tools := []result.ToolInfo{toolOf("echo", "Says it again.", `{}`)}
	lockIn(t, folder).Check("notes", tools)
	if err := os.Remove(filepath.Join(folder, "mcp.lock.json")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if accepted, held := lockIn(t, folder).Check("notes", tools); len(accepted) != 0 || len(held) != 1 {
			t.Errorf("got %v and %v", accepted, held)
		}
	}
	if accepted, _ := lockIn(t, folder).Check("others", tools); len(accepted) != 1 {
		t.Error("a server that was never seen is held back")
	}
	if err := lockIn(t, folder).Accept("notes", tools...); err != nil {
		t.Fatal(err)
	}
	if accepted, _ := lockIn(t, folder).Check("notes", tools); len(accepted) != 1 {
		t.Error("accepted, and held back")
	}
	for file, want := range map[string]os.FileMode{"mcp.lock.json": 0o644, "seen.json": 0o600} {
		if info, err := os.Stat(filepath.Join(folder, file)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want %v", file, info, err, want)
		}
	}
}

// An installation that only read an accepted lock knows its servers as one that wrote
// it does: two gateways of one mcp_file have a note each.
func TestAMissingLockHoldsAServerWhoseEntryWasOnlyRead(t *testing.T) {
	folder := t.TempDir()
	tools := []result.ToolInfo{toolOf("echo", "Says it again.", `{}`)}
	lockIn(t, folder).Check("notes", tools)
	open := func(seen string) *mcplock.Lock {
		l, err := mcplock.Open(filepath.Join(folder, "mcp.lock.json"), seen)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	second := filepath.Join(folder, "seen-2.json")
	if accepted, held := open(second).Check("notes", tools); len(accepted) != 1 || len(held) != 0 {
		t.Fatalf("with the accepted lock: got %v and %v", accepted, held)
	}
	nowhere := open(filepath.Join(folder, "no", "such", "seen.json"))
	if accepted, held := nowhere.Check("notes", tools); len(accepted) != 0 || !strings.Contains(held["echo"], "cannot be noted") {
		t.Errorf("without a note: got %v and %v", accepted, held)
	}
	if err := os.Remove(filepath.Join(folder, "mcp.lock.json")); err != nil {
		t.Fatal(err)
	}
	if accepted, held := open(second).Check("notes", tools); len(accepted) != 0 || len(held) != 1 {
		t.Errorf("the lock was lost: got %v and %v", accepted, held)
	}
}

func TestALockThatCannotBeReadOrWrittenHoldsEverything(t *testing.T) {
	folder := t.TempDir()
	tools := []result.ToolInfo{toolOf("echo", "Says it again.", `{}`)}
	l := lockIn(t, folder)
	if err := os.WriteFile(l.Path(), []byte(`{"version": 1, "servers": [}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if accepted, held := l.Check("notes", tools); len(accepted) != 0 || !strings.Contains(held["echo"], "is not valid") {
		t.Errorf("got %v and %v", accepted, held)
	}
	if _, err := mcplock.Open(l.Path(), filepath.Join(folder, "seen.json")); err == nil {
		t.Error("it was opened")
	}
	nowhere, err := mcplock.Open(filepath.Join(folder, "no", "such", "mcp.lock.json"), filepath.Join(folder, "seen-2.json"))
	if err != nil {
		t.Fatal(err)
	}
	if accepted, held := nowhere.Check("notes", tools); len(accepted) != 0 || !strings.Contains(held["echo"], "cannot be pinned") {
		t.Errorf("got %v and %v", accepted, held)
	}
}

// Two processes, such as an operator's and a gateway that starts, lose nothing of
// each other's.
func TestWritersTakeTurns(t *testing.T) {
	folder := t.TempDir()
	var group sync.WaitGroup
	for i := range 8 {
		l := lockIn(t, folder)
		group.Go(func() {
			for j := range 5 {
				if err := l.Accept("notes", toolOf(fmt.Sprint("tool-", i, "-", j), "Works.", `{}`)); err != nil {
					t.Error(err)
				}
			}
			l.Check(fmt.Sprint("server-", i), []result.ToolInfo{toolOf("echo", "Says it again.", `{}`)})
		})
	}
	group.Wait()
	l := lockIn(t, folder)
	for i := range 8 {
		for j := range 5 {
			if _, held := l.Check("notes", []result.ToolInfo{toolOf(fmt.Sprint("tool-", i, "-", j), "Works.", `{}`)}); len(held) != 0 {
				t.Errorf("lost: %v", held)
			}
		}
		if _, held := l.Check(fmt.Sprint("server-", i), []result.ToolInfo{toolOf("echo", "Says it again.", `{}`)}); len(held) != 0 {
			t.Errorf("lost: %v", held)
		}
	}
}
