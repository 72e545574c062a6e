package tasks

import (
	"context"
	"encoding/json"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/tasks/pool"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/tool"
)

func (s *Server) deletionTools() []tool.Tool {
	return []tool.Tool{
		edit(s, tool.Spec{
			Name: "delete_task", Title: "Delete a task", Allow: everyone, Replaces: true, Synonyms: []string{"remove"},
			Description: "Delete a task. With cascade, everything below it too. undelete_task takes it back.",
		}, deleteTask),
		edit(s, tool.Spec{
			Name: "undelete_task", Title: "Undelete a task", Allow: everyone, Synonyms: []string{"restore", "recover"},
			Description: "Take the deletion of a task back. With cascade, that of everything below it that was deleted together with it or, when it is not deleted itself, of all that is deleted below it.",
		}, undeleteTask),
		tool.Write(tool.Spec{
			Name: "cleanup_deleted_tasks", Title: "Clean deleted tasks up", Allow: everyone, Synonyms: []string{"purge", "empty"}, Untrusted: []string{"titles"},
			Description: "Take the tasks away for good that were deleted more than some days ago. A person must approve it first, unless there are none; it is the one change of tasks that cannot be undone.",
		}, tool.Steps[cleanupInput, cleanupPreview, cleanupPrecondition, cleanedUp]{Preview: s.previewCleanup, Apply: s.cleanUp, Nothing: s.nothingToClean}),
	}
}

type cascadeInput struct {
	taskInput
	Cascade bool `json:"cascade,omitempty" jsonschema:"default=false" jsonschema_description:"Everything below it too"`
}

// Deleted is what delete_task did.
type Deleted struct {
	Success bool  `json:"success"`
	TaskID  int64 `json:"task_id"`
	Count   int64 `json:"deleted_count"`
	Cascade bool  `json:"cascade"`
}

func deleteTask(ctx context.Context, sc scope, in cascadeInput) (Deleted, error) {
	count, err := sc.DeleteTask(ctx, in.TaskID, in.Cascade)
	return Deleted{true, in.TaskID, count, in.Cascade}, err
}

// Undeleted is what undelete_task did.
type Undeleted struct {
	Success bool  `json:"success"`
	TaskID  int64 `json:"task_id"`
	Count   int64 `json:"restored_count"`
	Cascade bool  `json:"cascade"`
}

func undeleteTask(ctx context.Context, sc scope, in cascadeInput) (Undeleted, error) {
	count, err := sc.UndeleteTask(ctx, in.TaskID, in.Cascade)
	return Undeleted{true, in.TaskID, count, in.Cascade}, err
}

type cleanupInput struct {
	Where
	Days int `json:"days,omitempty" jsonschema:"minimum=0,maximum=36500,default=30" jsonschema_description:"Only tasks that were deleted more than so many days ago"`
}

// cleanupPreview is what a person approves.
type cleanupPreview struct {
	Project   string   `json:"project"`
	Workspace string   `json:"workspacePath" field:"label=Workspace"`
	Count     int      `json:"taskCount" field:"label=Tasks,unit=tasks"`
	Days      int      `json:"days" field:"label=Deleted for,unit=days"`
	Titles    []string `json:"titles"` // of the first few
	Left      int      `json:"left" field:"label=Left for another clean-up,unit=tasks"`
	Children  int      `json:"childrenLeft" field:"label=Tasks that lose their parent,unit=tasks"`
	Waiting   int      `json:"dependentsLeft" field:"label=Tasks that lose a dependency,unit=tasks"`
}

// Message asks for the clean-up.
func (p cleanupPreview) Message() tool.Sentence {
	said := tool.Say("Take %d %s deleted from %s (%s) more than %d days ago away for good? This cannot be undone.", p.Count, numbered(p.Count, "task that was", "tasks that were"), p.Project, p.Workspace, p.Days)
	if p.Children+p.Waiting == 0 {
		return said
	}
	return said.Then(" Of the tasks that stay, %d lose the task above them and %d one that they depend on.", p.Children, p.Waiting)
}

func numbered(count int, one, many string) tool.Plain {
	if count == 1 {
		return tool.Plain(one)
	}
	return tool.Plain(many)
}

// cleanupPrecondition are the tasks that the card was about, as they were.
type cleanupPrecondition struct {
	Path string  `json:"path"`
	IDs  []int64 `json:"ids"`
	Seen string  `json:"seen"`
	Left int     `json:"left"`
}

// cleanedUp is what the clean-up did.
type cleanedUp struct {
	Success bool      `json:"success"`
	Count   int       `json:"purged_count"`
	Left    int       `json:"left_count"`
	Days    int       `json:"cutoff_days"`
	Cutoff  time.Time `json:"cutoff_date"`
	Message string    `json:"message"`
}

func (s *Server) previewCleanup(ctx context.Context, in cleanupInput) (p cleanupPreview, precondition cleanupPrecondition, err error) {
	err = s.within(ctx, "cleanup_deleted_tasks", in.Workspace, func(sc scope) error {
		found, err := sc.Purgeable(ctx, cutoff(s.opts.Now(), in.Days).UnixMicro())
		p = cleanupPreview{sc.place.Name, sc.place.Path, len(found.IDs), in.Days, found.Titles, found.Left, found.Children, found.Waiting}
		precondition = cleanupPrecondition{sc.place.Path, found.IDs, found.Seen, found.Left}
		return err
	})
	return p, precondition, err
}

func cutoff(now time.Time, days int) time.Time { return now.UTC().AddDate(0, 0, -days) }

// nothingToClean answers a clean-up that finds no task.
func (s *Server) nothingToClean(in cleanupInput, p cleanupPreview) (cleanedUp, bool) {
	said := tool.Say("There is nothing to clean up: no task was deleted from %s more than %d %s ago.", p.Project, in.Days, numbered(in.Days, "day", "days"))
	return cleanedUp{Success: true, Days: in.Days, Cutoff: cutoff(s.opts.Now(), in.Days), Message: said.String()}, p.Count == 0
}

// cleanUp takes exactly the tasks of the card away.
func (s *Server) cleanUp(ctx context.Context, in cleanupInput, precondition cleanupPrecondition) (done cleanedUp, err error) {
	err = s.within(ctx, "cleanup_deleted_tasks", in.Workspace, func(sc scope) error {
		done = cleanedUp{Success: true, Count: len(precondition.IDs), Left: precondition.Left, Days: in.Days, Cutoff: cutoff(s.opts.Now(), in.Days)}
		said := tool.Say("%d deleted %s gone for good from %s.", done.Count, numbered(done.Count, "task is", "tasks are"), sc.place.Name)
		if done.Left > 0 {
			said = said.Then(" %d more %s left for another clean-up.", done.Left, numbered(done.Left, "is", "are"))
		}
		done.Message = said.String()
		return sc.Purge(ctx, precondition.IDs)
	})
	return done, err
}

// Receipts keeps the receipt of a clean-up in the workspace that it changes.
func (s *Server) Receipts() tool.ReceiptStores { return receipts{s} }

type receipts struct{ s *Server }

// Assign remembers the workspace of a change.
func (r receipts) Assign(ctx context.Context, id confirm.ID, input json.RawMessage) error {
	var in Where
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	place, _, err := r.s.place(ctx, in.Workspace)
	if err != nil {
		return err
	}
	return r.s.master.Assign(ctx, string(id), place.Path)
}

// Of returns the store of the workspace that was assigned.
func (r receipts) Of(ctx context.Context, id confirm.ID) (tool.ReceiptStore, bool, error) {
	path, found, err := r.s.master.Assigned(ctx, string(id))
	if err != nil || !found {
		return nil, false, err
	}
	return receiptStore{r.s.pool, workspace.Place{Path: path}}, true, nil
}

// receiptStore is one workspace, opened for each call.
type receiptStore struct {
	pool  *pool.Pool
	place workspace.Place
}

func (r receiptStore) with(ctx context.Context, fn func(*store.Workspace) error) error {
	return r.pool.With(ctx, r.place.Key(), r.place.Path, fn)
}

func (r receiptStore) Change(ctx context.Context, fn func(ctx context.Context) error) error {
	return r.with(ctx, func(w *store.Workspace) error { return w.Change(ctx, fn) })
}

func (r receiptStore) Keep(ctx context.Context, receipt confirm.Receipt) error {
	return r.with(ctx, func(w *store.Workspace) error { return w.Keep(ctx, receipt) })
}

func (r receiptStore) Find(ctx context.Context, owner access.Owner, id confirm.ID) (answer json.RawMessage, found bool, err error) {
	err = r.with(ctx, func(w *store.Workspace) error {
		answer, found, err = w.Find(ctx, owner, id)
		return err
	})
	return answer, found, err
}
