package tasks

import (
	"context"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/tool"
)

func linkTools(s *Server) []tool.Tool {
	return []tool.Tool{
		edit(s, tool.Spec{
			Name: "link_entity_to_task", Title: "Link an entity to a task", Allow: everyone, Synonyms: []string{"attach", "connect"},
			Description: "Link an entity to a task that is about it. unlink_entity_from_task takes it back.",
		}, linkEntity),
		edit(s, tool.Spec{
			Name: "unlink_entity_from_task", Title: "Unlink an entity from a task", Allow: everyone, Replaces: true, Synonyms: []string{"detach", "disconnect"},
			Description: "Remove the link between an entity and a task. It can be linked again.",
		}, unlinkEntity),
		list(s, tool.Spec{
			Name: "get_task_entities", Title: "Get the entities of a task", Allow: everyone, Noun: "entities", Untrusted: entityTexts,
			Description: "List the entities that are linked to a task, the newest link first.",
		}, func(ctx context.Context, sc scope, in taskEntitiesInput, p store.Page) ([]record.Entity, int, error) {
			return sc.TaskEntities(ctx, in.TaskID, p)
		}),
		list(s, tool.Spec{
			Name: "get_entity_tasks", Title: "Get the tasks of an entity", Allow: everyone, Noun: "tasks", Narrow: "status or priority", Untrusted: taskTexts,
			Description: "List the tasks that an entity is linked to, the newest link first.",
		}, func(ctx context.Context, sc scope, in entityTasksInput, p store.Page) ([]record.Task, int, error) {
			return sc.EntityTasks(ctx, in.EntityID, in.Status, in.Priority, p)
		}),
	}
}

type linkInput struct {
	taskInput
	EntityID  int64   `json:"entity_id" jsonschema:"minimum=1" jsonschema_description:"Number of the entity" field:"from=list_entities:id"`
	CreatedBy *string `json:"created_by,omitempty" jsonschema:"oneof_type=string;null,maxLength=100" jsonschema_description:"Taken for compatibility; the person is known"`
}

func linkEntity(ctx context.Context, sc scope, in linkInput) (record.Link, error) {
	return sc.Link(ctx, in.TaskID, in.EntityID, sc.by)
}

type unlinkInput struct {
	taskInput
	EntityID int64 `json:"entity_id" jsonschema:"minimum=1" jsonschema_description:"Number of the entity" field:"from=list_entities:id"`
}

// Unlinked is what unlink_entity_from_task did.
type Unlinked struct {
	Success  bool  `json:"success"`
	LinkID   int64 `json:"link_id"`
	TaskID   int64 `json:"task_id"`
	EntityID int64 `json:"entity_id"`
}

func unlinkEntity(ctx context.Context, sc scope, in unlinkInput) (Unlinked, error) {
	id, err := sc.Unlink(ctx, in.TaskID, in.EntityID)
	return Unlinked{true, id, in.TaskID, in.EntityID}, err
}

type taskEntitiesInput struct {
	taskInput
	Shown
}

type entityTasksInput struct {
	entityInput
	Shown
	Status   string `json:"status,omitempty" jsonschema:"enum=todo,enum=in_progress,enum=blocked,enum=done,enum=cancelled,enum=to_be_deleted" jsonschema_description:"Filter by status"`
	Priority string `json:"priority,omitempty" jsonschema:"enum=low,enum=medium,enum=high" jsonschema_description:"Filter by priority"`
}
