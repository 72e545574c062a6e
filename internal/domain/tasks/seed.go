package tasks

import (
	"context"
	"path/filepath"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
)

// Seed fills the workspaces of the sample company's names that are empty, and the
// personal ones of its people.
func (s *Server) Seed(ctx context.Context, c *company.Company) error {
	for _, b := range c.Boards() {
		place, ok := s.placeOf(b)
		if !ok {
			continue
		}
		if err := s.master.Touch(ctx, place.Path); err != nil {
			return err
		}
		err := s.pool.With(ctx, place.Key(), place.Path, func(w *store.Workspace) error { return fill(ctx, w, place, b) })
		if err != nil {
			return err
		}
	}
	return nil
}

// placeOf is where a board of the sample company is, if it is configured.
func (s *Server) placeOf(b company.Board) (workspace.Place, bool) {
	if b.Owner != "" {
		return s.opts.Places.PersonalOf(b.Owner)
	}
	for _, shared := range s.opts.Places.Shared {
		if shared.Name == b.Name {
			path, err := filepath.EvalSymlinks(shared.Path)
			return workspace.Place{Path: path, Name: b.Name}, err == nil
		}
	}
	return workspace.Place{}, false
}

// fill makes the tasks of a board, all of them or none, and then its entities.
func fill(ctx context.Context, w *store.Workspace, place workspace.Place, b company.Board) error {
	info, err := w.Info(ctx)
	if err != nil || info.Total > 0 {
		return err
	}
	ids := make([]int64, len(b.Tasks)+1)
	err = w.Change(ctx, func(ctx context.Context) error {
		for i, t := range b.Tasks {
			n := store.NewTask{
				Title: t.Title, Status: t.Status, Priority: t.Priority, Description: orNil(t.Description), Tags: record.Tags(t.Tags), FileReferences: t.Files,
				BlockerReason: orNil(t.Reason), CreatedBy: t.By, At: t.Created, Metadata: &record.WorkspaceMetadata{WorkspacePath: place.Path, ProjectName: place.Name},
			}
			if t.Parent > 0 {
				n.ParentTaskID = &ids[t.Parent]
			}
			for _, before := range t.After {
				n.DependsOn = append(n.DependsOn, ids[before])
			}
			if ids[i+1], err = w.InsertTask(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, thing := range b.Things {
		if err := addThing(ctx, w, thing, ids, b.Tasks[0].By); err != nil {
			return err
		}
	}
	return nil
}

func addThing(ctx context.Context, w *store.Workspace, thing company.Thing, ids []int64, by string) error {
	e, err := w.CreateEntity(ctx, store.NewEntity{Type: thing.Type, Name: thing.Name, Identifier: orNil(thing.Identifier), CreatedBy: by})
	if err != nil {
		return err
	}
	for _, task := range thing.Tasks {
		if _, err := w.Link(ctx, ids[task], e.ID, by); err != nil {
			return err
		}
	}
	return nil
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
