package tasks

import (
	"context"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/tool"
)

func listTools(s *Server) []tool.Tool {
	return []tool.Tool{
		list(s, tool.Spec{
			Name: "list_tasks", Title: "List tasks", Allow: everyone, Noun: "tasks", Narrow: "status, priority, parent or tags", Untrusted: taskTexts,
			Ask: "Which tasks are there?", Synonyms: []string{"todo", "work", "next", "ready", "blocked", "board"},
			Lacks:       []tool.Lack{{Said: `\btasks?\b.*\b(overdue|due|deadlines?)\b|\b(overdue|due)\b.*\btasks?\b`, Tell: "Tasks have no due dates here"}, {Said: `\btasks?\b.*\b(assigned|unassigned|assignees?|owned|owners?)\b`, Tell: "Tasks are assigned to no one here"}},
			Description: "List the tasks of a workspace by status, priority, parent or tags. ready lists what can be worked on next: nothing open blocks it, the most urgent and what unblocks most first. blocked lists what waits, and for which tasks.",
		}, listTasks),
		list(s, tool.Spec{
			Name: "search_tasks", Title: "Search tasks", Allow: everyone, Noun: "tasks", Narrow: "more words", Untrusted: taskTexts, Synonyms: []string{"find", "touch", "mention", "todo"},
			Description: "Find the tasks that have every word in their title, description, files or linked entities; parts of words count, so fig.go finds config.go. When none has every word, those with any of them. The best match is first, with a snippet.",
		}, searchTasks),
	}
}

type listTasksInput struct {
	Where
	Shown
	Status       string `json:"status,omitempty" jsonschema:"enum=todo,enum=in_progress,enum=blocked,enum=done,enum=cancelled,enum=to_be_deleted" jsonschema_description:"Filter by status" field:"aka.todo=to do|not started|open|unfinished,aka.in_progress=started|in progress|open|unfinished,aka.blocked=open|unfinished,aka.done=finished|completed"`
	Priority     string `json:"priority,omitempty" jsonschema:"enum=low,enum=medium,enum=high" jsonschema_description:"Filter by priority" field:"aka=urgency,aka.high=urgent|important"`
	ParentTaskID *int64 `json:"parent_task_id,omitempty" jsonschema:"oneof_type=integer;null" jsonschema_description:"Only the children of this task"`
	Tags         string `json:"tags,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Words; tasks that have any of them as a tag"`
	Ready        bool   `json:"ready,omitempty" jsonschema_description:"Only what can be worked on next" field:"aka=next|do next|work on next"`
	Blocked      bool   `json:"blocked,omitempty" jsonschema_description:"Only what waits for something" field:"aka=waiting|stuck"`
}

func listTasks(ctx context.Context, sc scope, in listTasksInput, p store.Page) ([]record.Task, int, error) {
	if in.ParentTaskID != nil {
		if _, err := sc.Task(ctx, *in.ParentTaskID); err != nil {
			return nil, 0, err
		}
	}
	return sc.Tasks(ctx, store.TaskFilter{
		Status: in.Status, Priority: in.Priority, ParentTaskID: in.ParentTaskID, Tags: record.Words(in.Tags), Ready: in.Ready, Blocked: in.Blocked,
	}, p)
}

type searchTasksInput struct {
	Where
	Shown
	Term string `json:"search_term" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Words to search for" field:"aka=about|mention|touch|file"`
}

func searchTasks(ctx context.Context, sc scope, in searchTasksInput, p store.Page) ([]record.Task, int, error) {
	found, total, some, err := sc.SearchTasks(ctx, in.Term, p)
	if some {
		tool.SomeWords(ctx)
	}
	return found, total, err
}
