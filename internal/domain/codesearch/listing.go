package codesearch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"countersign.dev/internal/tool"
)

// The states of a repository.
const (
	Indexed    = "indexed"
	NotIndexed = "not_indexed"
)

// Listed is a repository in a list.
type Listed struct {
	Name      string     `json:"name"`
	State     string     `json:"state" jsonschema:"enum=indexed,enum=not_indexed"`
	Files     int        `json:"files"`
	Lines     int        `json:"lines"`
	Languages []string   `json:"languages" jsonschema_description:"Most lines first"`
	Commit    string     `json:"commit,omitempty"`
	IndexedAt *time.Time `json:"indexed_at,omitempty"`
	URL       string     `json:"github_url,omitempty"`
}

// Key implements [tool.Keyed].
func (l Listed) Key() string { return l.Name }

func (s *Server) repositoryTools() []tool.Tool {
	return []tool.Tool{tool.List(tool.Spec{
		Name: "list_repositories", Title: "List repositories", Allow: everyone, Synonyms: []string{"code", "project", "repo"},
		Description: "List the repositories whose code you can search, with their languages, the commit and the age of the index.",
		Noun:        "repositories", Narrow: "name", Untrusted: []string{"name", "languages", "commit", "github_url"},
	}, s.listRepositories)}
}

type listRepositories struct {
	Name string `json:"name,omitempty" jsonschema_description:"Only the repository of this name"`
}

func (s *Server) listRepositories(ctx context.Context, in listRepositories, w tool.Window[string]) ([]Listed, error) {
	scope, err := scopeIn(ctx)
	if err != nil {
		return nil, err
	}
	names := s.names(func(r Repository) bool {
		return scope.Holds(r) && (in.Name == "" || in.Name == r.Name) && (w.After == nil || r.Name > *w.After)
	})
	all, err := s.store.Describe(ctx, names)
	if err != nil {
		return nil, err
	}
	var rows []Listed
	for i, d := range all {
		rows = append(rows, listed(names[i], d))
	}
	slices.SortFunc(rows, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	return rows[:min(len(rows), w.Limit)], nil
}

func listed(name string, d Described) Listed {
	if d.Err != nil {
		return Listed{Name: name, State: NotIndexed, Languages: []string{}}
	}
	m := d.Meta
	return Listed{Name: name, State: Indexed, Files: m.Files, Lines: m.Lines, Languages: append([]string{}, m.Languages[:min(8, len(m.Languages))]...), Commit: m.Commit, IndexedAt: &m.Indexed, URL: page(&m)}
}
