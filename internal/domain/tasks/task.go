package tasks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// taskTexts are the untrusted fields of a task: anyone who may open the workspace
// writes them, programs too.
var taskTexts = []string{"title", "description", "tags", "blocker_reason", "blocked_because", "file_references", "created_by_label", "snippet"}

func taskTools(s *Server) []tool.Tool {
	return []tool.Tool{
		edit(s, tool.Spec{
			Name: "create_task", Title: "Create a task", Allow: everyone, Untrusted: taskTexts, Synonyms: []string{"add", "new", "subtask", "todo", "break down", "split", "part"},
			Description: "Create a task in a workspace and return it. parent_task_id makes it a subtask; depends_on names tasks that must be done before it.",
		}, createTask),
		read(s, tool.Spec{
			Name: "get_task", Title: "Get a task", Allow: everyone, Untrusted: taskTexts, Synonyms: []string{"show", "todo"},
			Description: "Show one task with all its details: description, files, what it depends on, why it is blocked. Needs its task_id.",
		}, func(ctx context.Context, sc scope, in taskInput) (record.Task, error) { return sc.Task(ctx, in.TaskID) }),
		edit(s, tool.Spec{
			Name: "update_task", Title: "Update a task", Allow: everyone, Replaces: true, Untrusted: taskTexts, Synonyms: []string{"change", "mark", "start", "finish", "complete", "block", "cancel", "todo"},
			Description: "Change fields of a task and return it. What is left out stays, and null clears a field (not title, status or priority). A status follows only certain others: " +
				"todo to in_progress, blocked, cancelled or to_be_deleted; in_progress to blocked, done, cancelled or to_be_deleted; blocked to in_progress, cancelled or to_be_deleted. A blocked task needs a blocker_reason, and done needs all that it depends on to be done.",
		}, updateTask),
	}
}

type taskInput struct {
	Where
	TaskID int64 `json:"task_id" jsonschema:"minimum=1" jsonschema_description:"Number of the task" field:"from=list_tasks:id"`
}

type createTaskInput struct {
	Where
	Title          string   `json:"title" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"What is to be done, in a few words"`
	Description    *string  `json:"description,omitempty" jsonschema:"oneof_type=string;null,maxLength=10000" text:"lines"`
	Status         string   `json:"status,omitempty" jsonschema:"enum=todo,enum=in_progress,enum=blocked,enum=done,enum=cancelled,enum=to_be_deleted,default=todo"`
	Priority       string   `json:"priority,omitempty" jsonschema:"enum=low,enum=medium,enum=high,default=medium"`
	ParentTaskID   *int64   `json:"parent_task_id,omitempty" jsonschema:"oneof_type=integer;null" jsonschema_description:"The task that it is a part of" field:"aka=parent,from=list_tasks:id"`
	DependsOn      []int64  `json:"depends_on,omitempty" jsonschema:"oneof_type=array;null,maxItems=100" jsonschema_description:"Tasks that must be done before it"`
	Tags           *string  `json:"tags,omitempty" jsonschema:"oneof_type=string;null,maxLength=500" jsonschema_description:"Words, separated by spaces"`
	FileReferences []string `json:"file_references,omitempty" jsonschema:"oneof_type=array;null,maxItems=100" jsonschema_description:"Paths of files that it is about"`
	BlockerReason  *string  `json:"blocker_reason,omitempty" jsonschema:"oneof_type=string;null,maxLength=1000" jsonschema_description:"With the status blocked: what it waits for" text:"lines"`
	CreatedBy      *string  `json:"created_by,omitempty" jsonschema:"oneof_type=string;null,maxLength=100" jsonschema_description:"What you call yourself; the person is known"`
}

// maxItems bounds the lists of a task.
const maxItems = 100

func checkItems(dependsOn []int64, files []string) error {
	if len(dependsOn) > maxItems || len(files) > maxItems {
		return fault.ValidationError.New("A list is too long.").Instruct("depends_on, file_references: must have at most %d items", maxItems)
	}
	return nil
}

func createTask(ctx context.Context, sc scope, in createTaskInput) (record.Task, error) {
	if err := checkItems(in.DependsOn, in.FileReferences); err != nil {
		return record.Task{}, err
	}
	if in.Status == record.Blocked && (in.BlockerReason == nil || *in.BlockerReason == "") {
		return record.Task{}, store.NoReason()
	}
	return sc.CreateTask(ctx, store.NewTask{
		Title: in.Title, Status: in.Status, Priority: in.Priority, Description: in.Description, Tags: tagsOf(in.Tags), ParentTaskID: in.ParentTaskID,
		DependsOn: in.DependsOn, FileReferences: in.FileReferences, BlockerReason: in.BlockerReason, CreatedBy: sc.by, CreatedByLabel: in.CreatedBy,
		Metadata: &record.WorkspaceMetadata{WorkspacePath: sc.place.Path, GitRoot: gitRoot(sc.place.Path), ProjectName: sc.place.Name},
	})
}

func tagsOf(text *string) *string {
	if text == nil {
		return nil
	}
	return record.Tags(*text)
}

// gitRoot is the nearest folder above a path, or the path itself, that is a
// repository; empty when there is none.
func gitRoot(path string) string {
	for {
		if _, err := os.Stat(filepath.Join(path, ".git")); err == nil {
			return path
		}
		above := filepath.Dir(path)
		if above == path {
			return ""
		}
		path = above
	}
}

// given are the fields that an input has, null among them.
type given map[string]json.RawMessage

// changes returns an error when nothing was given but what names the row.
func (g given) changes(id string) error {
	for name := range g {
		if name != id && name != "workspace_path" {
			return nil
		}
	}
	return fault.ValidationError.New("Nothing is to be changed.").Instruct("%s: give it with at least one field that changes", id).Fields(id)
}

// field is a field of an update: as it was given, or left as it is.
func field[T any](g given, name string, value *T) store.Field[T] {
	_, has := g[name]
	return store.Field[T]{Given: has, Value: value}
}

type updateTaskInput struct {
	taskInput
	Title          *string   `json:"title,omitempty" jsonschema:"minLength=1,maxLength=500"`
	Description    *string   `json:"description,omitempty" jsonschema:"oneof_type=string;null,maxLength=10000" text:"lines"`
	Status         *string   `json:"status,omitempty" jsonschema:"enum=todo,enum=in_progress,enum=blocked,enum=done,enum=cancelled,enum=to_be_deleted" field:"aka.in_progress=start|started,aka.done=finish|finished|complete|completed,aka.cancelled=cancel"`
	Priority       *string   `json:"priority,omitempty" jsonschema:"enum=low,enum=medium,enum=high"`
	ParentTaskID   *int64    `json:"parent_task_id,omitempty" jsonschema:"oneof_type=integer;null" field:"aka=parent"`
	DependsOn      *[]int64  `json:"depends_on,omitempty" jsonschema:"oneof_type=array;null,maxItems=100"`
	Tags           *string   `json:"tags,omitempty" jsonschema:"oneof_type=string;null,maxLength=500"`
	BlockerReason  *string   `json:"blocker_reason,omitempty" jsonschema:"oneof_type=string;null,maxLength=1000" text:"lines"`
	FileReferences *[]string `json:"file_references,omitempty" jsonschema:"oneof_type=array;null,maxItems=100"`

	given given
}

// UnmarshalJSON reads the fields and which of them were given.
func (in *updateTaskInput) UnmarshalJSON(raw []byte) error {
	type plain updateTaskInput
	if err := json.Unmarshal(raw, (*plain)(in)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &in.given)
}

func updateTask(ctx context.Context, sc scope, in updateTaskInput) (record.Task, error) {
	u := store.TaskUpdate{
		Title: in.Title, Status: in.Status, Priority: in.Priority, Description: field(in.given, "description", in.Description),
		Tags: field(in.given, "tags", tagsOf(in.Tags)), BlockerReason: field(in.given, "blocker_reason", in.BlockerReason),
		ParentTaskID: field(in.given, "parent_task_id", in.ParentTaskID), DependsOn: field(in.given, "depends_on", in.DependsOn),
		FileReferences: field(in.given, "file_references", in.FileReferences),
	}
	if err := in.given.changes("task_id"); err != nil {
		return record.Task{}, err
	}
	if err := checkItems(orNone(in.DependsOn), orNone(in.FileReferences)); err != nil {
		return record.Task{}, err
	}
	return sc.UpdateTask(ctx, in.TaskID, u)
}

func orNone[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}
