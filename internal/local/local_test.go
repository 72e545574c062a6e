package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/local"
	"countersign.dev/internal/sqlite"
	"countersign.dev/internal/testkit"
)

// client serves a folder and connects a client to it.
func client(t *testing.T, server, folder string, logs ...io.Writer) *mcp.ClientSession {
	t.Helper()
	o := local.Options{Server: server, Folder: folder, Website: "https://site.test/"}
	if len(logs) > 0 {
		o.Err = logs[0]
	}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	o.In, o.Out = toServer, fromServer
	ended := make(chan error, 1)
	go func() {
		ended <- local.Serve(context.Background(), o)
		_ = fromServer.Close()
	}()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return session
}

func call(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) map[string]any {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	encoded, _ := json.Marshal(r.StructuredContent)
	var answer map[string]any
	if err := json.Unmarshal(encoded, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestTasksOfAFolder: tasks are kept in the folder, for it and for folders in it, and
// for nothing outside; another session finds them.
func TestTasksOfAFolder(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "part"), 0o700); err != nil {
		t.Fatal(err)
	}
	first := client(t, local.Tasks, folder)
	call(t, first, "create_task", map[string]any{"title": "Whole"})
	call(t, first, "create_task", map[string]any{"title": "Part", "workspace_path": filepath.Join(folder, "part")})
	second := client(t, local.Tasks, folder)
	if got := call(t, second, "list_tasks", nil); got["total_count"] != 1.0 {
		t.Errorf("the folder: got %v, want one task", got)
	}
	if got := call(t, second, "list_tasks", map[string]any{"workspace_path": filepath.Join(folder, "part")}); got["total_count"] != 1.0 {
		t.Errorf("a folder in it: got %v, want one task", got)
	}
	if got := call(t, second, "list_tasks", map[string]any{"workspace_path": os.TempDir()}); got["error"] == nil {
		t.Errorf("a folder outside: got %v", got)
	}
}

// TestLogLineOfACallNamesItAndItsCauseOnce: a change that cannot be recorded is refused.
func TestLogLineOfACallNamesItAndItsCauseOnce(t *testing.T) {
	folder := t.TempDir()
	var logs testkit.Logs
	c := client(t, local.Tasks, folder, &logs)
	call(t, c, "create_task", map[string]any{"title": "Recorded"})
	db, err := sqlite.Open(t.Context(), "test", filepath.Join(folder, ".countersign", "local.db"), "select 1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Change(t.Context(), func(ctx context.Context) error {
		_, err := db.Exec(ctx, "alter table events rename to gone")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, c, "create_task", map[string]any{"title": "Unrecorded"}); got["error"] == nil {
		t.Errorf("got %v, want an error", got)
	}
	text := strings.TrimSpace(logs.String())
	if !strings.Contains(text, "request_id=") || strings.Contains(text, "\n") || strings.Count(text, "events") != 1 {
		t.Errorf("got logged:\n%s", text)
	}
}

// TestWhatWaitsIsAnsweredAtATerminal: a clean-up changes nothing until its person has
// answered with yes, and is answered once.
func TestWhatWaitsIsAnsweredAtATerminal(t *testing.T) {
	folder := t.TempDir()
	c := client(t, local.Tasks, folder)
	open := func() string {
		t.Helper()
		task := call(t, c, "create_task", map[string]any{"title": "Done with"})
		call(t, c, "delete_task", map[string]any{"task_id": task["id"]})
		p := call(t, c, "cleanup_deleted_tasks", map[string]any{"days": 0})
		message, _ := p["message"].(string)
		m := regexp.MustCompile(`within 5 minutes: countersign approve ([0-9a-f-]{36}) --local "(.+)"`).FindStringSubmatch(message)
		if p["status"] != "pending_confirmation" || m == nil || m[1] != p["confirmationId"] {
			t.Fatalf("got %v, want what waits and how to answer it", p)
		}
		return m[1]
	}
	answer := func(id, line string) (string, error) {
		var out bytes.Buffer
		err := local.Approve(t.Context(), local.ApproveOptions{ID: id, Folder: folder, In: strings.NewReader(line), Out: &out})
		return out.String(), err
	}
	waits := func() string {
		t.Helper()
		var out bytes.Buffer
		if err := local.List(t.Context(), folder, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := waits(); got != "Nothing waits for an answer.\n" {
		t.Errorf("before: got %s", got)
	}
	id := open()
	if got := waits(); !strings.HasPrefix(got, id+"  until ") || strings.Count(got, "\n") != 1 {
		t.Errorf("what waits: got %s", got)
	}
	if shown := call(t, c, "get_confirmation", map[string]any{"confirmation_id": id}); fmt.Sprint(shown["data"]) == "<nil>" || shown["data"].(map[string]any)["state"] != "pending" {
		t.Errorf("what its client sees of it: %v", shown)
	}
	if about := c.InitializeResult().ServerInfo; about.WebsiteURL != "https://site.test/" {
		t.Errorf("declares %+v", about)
	}
	if shown, err := answer(id, "perhaps\n"); err == nil || !strings.Contains(shown, "cannot be undone") {
		t.Errorf("neither yes nor no: got %v\n%s", err, shown)
	}
	if said, err := answer(id, "yes\n"); err != nil || !strings.Contains(said, "gone for good") {
		t.Errorf("yes: got %v\n%s", err, said)
	}
	if _, err := answer(id, "yes\n"); err == nil || !strings.Contains(err.Error(), "Nothing waits") {
		t.Errorf("a second yes: got %v", err)
	}
	if got := waits(); strings.Contains(got, id) {
		t.Errorf("after the answer: got %s", got)
	}
	denied := open()
	if said, err := answer(denied, "no\n"); err != nil || !strings.Contains(said, "Nothing was changed") {
		t.Errorf("no: got %v\n%s", err, said)
	}
	if _, err := answer("6f1c0a52-9c3f-4f0e-8f57-0d6f2d1f7c11", "yes\n"); err == nil {
		t.Error("an unknown id was answered")
	}
}

// TestCodeOfAFolder is found once it is indexed.
func TestCodeOfAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(folder, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte("package main\n\nfunc frobnicate() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := client(t, local.CodeSearch, folder)
	if got := call(t, c, "get_confirmation", map[string]any{"confirmation_id": "0b5b2f6e-6a0c-4d0e-9a3a-0d8f6d2b7c11"}); got["code"] != "CONFIRMATION_NOT_FOUND" { // no change waits here
		t.Errorf("a confirmation: got %v", got)
	}
	for t.Context().Err() == nil {
		got := call(t, c, "search_code", map[string]any{"query": "frobnicate"})
		if got["status"] == "success" {
			if text, _ := json.Marshal(got["data"]); !strings.Contains(string(text), `"file_path":"main.go"`) || strings.Contains(string(text), ".countersign") {
				t.Errorf("got %s", text)
			}
			readLink(t, c)
			return
		}
	}
}

// TestIndexFolderIsWhereCodeIsServedFrom: an index that was made there is found at once.
func TestIndexFolderIsWhereCodeIsServedFrom(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "project")
	if _, err := local.IndexFolder(folder); err == nil {
		t.Error("a folder that is not there")
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("it was made")
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	at, err := local.IndexFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	if _, err := index.Update(t.Context(), index.FileOf(at, "project"), index.Source{Name: "project", Root: folder}, index.Options{Now: func() time.Time { return made }}); err != nil {
		t.Fatal(err)
	}
	listed := call(t, client(t, local.CodeSearch, folder), "list_repositories", map[string]any{})
	if text, _ := json.Marshal(listed["data"]); !strings.Contains(string(text), `"indexed_at":"2026-11-22T12:00:00Z"`) {
		t.Errorf("it is not served: %s", text)
	}
}

// readLink reads the place that an answer links.
func readLink(t *testing.T, c *mcp.ClientSession) {
	t.Helper()
	found, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_code", Arguments: map[string]any{"query": "frobnicate"}})
	if err != nil || len(found.Content) != 2 {
		t.Fatalf("got %+v, %v: no link", found, err)
	}
	link, ok := found.Content[1].(*mcp.ResourceLink)
	if !ok {
		t.Fatalf("got %+v", found.Content[1])
	}
	read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
	if err != nil || len(read.Contents) != 1 || read.Contents[0].Text != "package main\n\nfunc frobnicate() {}\n" {
		t.Errorf("%s: got %+v, %v", link.URI, read, err)
	}
}

func TestOnlyTasksAndCodeRunAlone(t *testing.T) {
	for server, folder := range map[string]string{"hr": t.TempDir(), local.Tasks: filepath.Join(t.TempDir(), "none")} {
		if err := local.Serve(t.Context(), local.Options{Server: server, Folder: folder}); err == nil {
			t.Errorf("%s in %s was served", server, folder)
		}
	}
}

// TestAnswerThatACrashCutOffIsSettledAtATerminal: an approval that was left behind waits
// again in the list, and can be answered; its outcome is said to one who asks again.
func TestAnswerThatACrashCutOffIsSettledAtATerminal(t *testing.T) {
	folder := t.TempDir()
	c := client(t, local.Tasks, folder)
	db, err := sqlite.Open(t.Context(), "local", filepath.Join(folder, ".countersign", "local.db"), sqlite.WaitingSchema)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store := sqlite.NewConfirmations(db, nil)
	who, err := auth.LocalUser(true)
	if err != nil {
		t.Fatal(err)
	}
	cutOff := func(ago time.Duration) string {
		t.Helper()
		task := call(t, c, "create_task", map[string]any{"title": "Done with"})
		call(t, c, "delete_task", map[string]any{"task_id": task["id"]})
		id, _ := call(t, c, "cleanup_deleted_tasks", map[string]any{"days": 0})["confirmationId"].(string)
		_, acquired, err := store.Acquire(t.Context(), confirm.Reply{ID: confirm.ID(id), Server: local.Tasks, Approved: true}, who.Owner(), time.Now().Add(-ago))
		if err != nil || acquired != confirm.Acquired {
			t.Fatal(acquired, err)
		}
		return id
	}
	answer := func(id, line string) (string, error) {
		var out bytes.Buffer
		err := local.Approve(t.Context(), local.ApproveOptions{ID: id, Folder: folder, In: strings.NewReader(line), Out: &out})
		return out.String(), err
	}
	underWay, abandoned := cutOff(0), cutOff(time.Minute)
	var list bytes.Buffer
	if err := local.List(t.Context(), folder, &list); err != nil || !strings.HasPrefix(list.String(), abandoned) || strings.Contains(list.String(), underWay) {
		t.Errorf("what waits: got %v\n%s", err, list.String())
	}
	if said, err := answer(abandoned, "yes\n"); err != nil || !strings.Contains(said, "gone for good") {
		t.Errorf("yes: got %v\n%s", err, said)
	}
	for id, want := range map[string]string{abandoned: "was made", underWay: "being carried out"} {
		if _, err := answer(id, "yes\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("asked again: got %v, want %q", err, want)
		}
	}
}
