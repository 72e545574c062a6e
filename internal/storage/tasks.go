package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/domain/tasks"
	"countersign.dev/internal/domain/tasks/workspace"
)

// Tasks is a folder of SQLite files, one for each workspace.
func Tasks() Store {
	open := func(ctx context.Context, db config.Database, _ *access.Links) (*tasks.Server, error) {
		folder, ok := sqlitePath(db.URL)
		if !ok {
			return nil, errors.New("databases.tasks.url must be sqlite: and a folder")
		}
		return tasks.Open(ctx, tasks.Options{Folder: folder, Places: placesOf(db.Tasks)})
	}
	made := documents(open, "tasks")
	made.Demo = func(_ context.Context, o Engines) (config.Database, error) {
		t, err := demoWorkspaces(o)
		return config.Database{URL: "sqlite:" + filepath.Join(o.Folder, "tasks"), Tasks: t}, err
	}
	return made
}

// placesOf are the configured workspaces.
func placesOf(t *config.Tasks) workspace.Places {
	if t == nil {
		return workspace.Places{}
	}
	p := workspace.Places{Roots: t.Roots, Personal: t.Personal, Issuer: t.Issuer, Local: t.Local}
	for _, w := range t.Workspaces {
		p.Shared = append(p.Shared, workspace.Shared{Path: w.Path, Name: w.Name, People: w.People, Roles: w.Roles})
	}
	return p
}

// demoWorkspaces makes the folders of the sample company's workspaces.
func demoWorkspaces(o Engines) (*config.Tasks, error) {
	root := filepath.Join(o.Folder, "workspaces")
	t := &config.Tasks{Roots: []string{root}, Personal: filepath.Join(root, "personal"), Issuer: o.Issuer}
	for _, b := range company.At(time.Now()).Boards() {
		if b.Owner != "" {
			continue
		}
		path := filepath.Join(root, strings.ToLower(strings.ReplaceAll(b.Name, " ", "-")))
		t.Workspaces = append(t.Workspaces, config.Workspace{Path: path, Name: b.Name, People: b.People})
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
	}
	return t, os.MkdirAll(t.Personal, 0o700)
}
