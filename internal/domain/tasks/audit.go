package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/tool"
)

func (s *Server) auditTools() []tool.Tool {
	return []tool.Tool{read(s, tool.Spec{
		Name: "audit_workspace_integrity", Title: "Audit a workspace", Allow: everyone, Synonyms: []string{"check", "contamination", "foreign"},
		Untrusted:   []string{"value"},
		Description: "Look for what belongs into another workspace: files and paths outside of this one, tags that are names of other projects, tasks that were made in another repository. Changes nothing.",
	}, s.audit)}
}

type auditInput struct {
	Where
	Deleted bool  `json:"include_deleted,omitempty" jsonschema:"default=false" jsonschema_description:"Deleted tasks and entities too"`
	Git     *bool `json:"check_git_repo,omitempty" jsonschema:"default=true" jsonschema_description:"Compare the repository in which tasks were made"`
}

// maxIssues bounds each list of issues; the statistics count all.
const maxIssues = 50

// Issue is something that seems to belong elsewhere.
type Issue struct {
	Resource string `json:"resource_type" jsonschema:"enum=task,enum=entity"`
	ID       int64  `json:"resource_id"`
	Value    string `json:"value" jsonschema_description:"The path or the tag."`
}

// Issues are the issues by their sort.
type Issues struct {
	Files       []Issue `json:"file_reference_mismatches"`
	Tags        []Issue `json:"suspicious_tags"`
	Git         []Issue `json:"git_repo_mismatches"`
	Identifiers []Issue `json:"entity_identifier_mismatches"`
	Paths       []Issue `json:"description_path_references"`
}

// Audited is what an audit found.
type Audited struct {
	Issues          Issues         `json:"issues"`
	Statistics      map[string]int `json:"statistics"`
	Recommendations []string       `json:"recommendations"`
	Contaminated    bool           `json:"contamination_found"`
}

// auditor collects issues.
type auditor struct {
	Audited
	folder, git string
	foreign     map[string]bool // words that are names of the caller's other projects
}

func (s *Server) audit(ctx context.Context, sc scope, in auditInput) (Audited, error) {
	a := &auditor{folder: sc.place.Path, foreign: map[string]bool{}}
	a.Issues = Issues{[]Issue{}, []Issue{}, []Issue{}, []Issue{}, []Issue{}}
	a.Statistics, a.Recommendations = map[string]int{}, []string{}
	if in.Git == nil || *in.Git {
		a.git = gitRoot(sc.place.Path)
	}
	for _, place := range s.opts.Places.Of(sc.who) {
		if place.Path == sc.place.Path {
			continue
		}
		other, err := s.project(ctx, place)
		if err != nil {
			return a.Audited, err
		}
		a.foreign[strings.ToLower(strings.ReplaceAll(other.Name, " ", "-"))] = true
	}
	if err := sc.Texts(ctx, in.Deleted, a.look); err != nil {
		return a.Audited, err
	}
	a.conclude()
	return a.Audited, nil
}

// look finds the issues of one task or entity.
func (a *auditor) look(t store.Text) error {
	a.Statistics[map[string]string{"task": "total_tasks", "entity": "total_entities"}[t.Resource]]++
	var files []string
	if err := json.Unmarshal([]byte(t.Files), &files); err != nil {
		return err
	}
	for _, file := range files {
		a.unless(workspace.Within(file, a.folder), &a.Issues.Files, t, file, "file_reference_mismatches")
	}
	for _, tag := range record.Words(t.Tags) {
		a.unless(!a.foreign[tag], &a.Issues.Tags, t, tag, "suspicious_tags")
	}
	a.unless(workspace.Within(t.Identifier, a.folder), &a.Issues.Identifiers, t, t.Identifier, "entity_identifier_mismatches")
	for _, found := range absolutePath.FindAllStringSubmatch(t.Description, 20) {
		a.unless(workspace.Within(found[1], a.folder), &a.Issues.Paths, t, found[1], "description_path_references")
	}
	var made record.WorkspaceMetadata
	if t.Metadata != "" && json.Unmarshal([]byte(t.Metadata), &made) == nil {
		a.unless(a.git == "" || made.GitRoot == "" || made.GitRoot == a.git, &a.Issues.Git, t, made.GitRoot, "git_repo_mismatches")
	}
	return nil
}

// absolutePath is a path of at least two folders in a text.
var absolutePath = regexp.MustCompile(`(?:^|[\s"'(])(/(?:[\w.@-]+/)+[\w.@-]+)`)

func (a *auditor) unless(fine bool, issues *[]Issue, t store.Text, value, sort string) {
	if fine {
		return
	}
	a.Statistics[sort]++
	a.Contaminated = true
	if len(*issues) < maxIssues {
		*issues = append(*issues, Issue{t.Resource, t.ID, value})
	}
}

func (a *auditor) conclude() {
	for _, sort := range []struct{ name, advice string }{
		{"file_reference_mismatches", "Move tasks whose files are elsewhere into the workspace of these files, or correct the paths."},
		{"suspicious_tags", "Move tasks that are tagged with another project's name, or remove the tag."},
		{"git_repo_mismatches", "Tasks that were made in another repository probably belong there."},
		{"entity_identifier_mismatches", "Files outside of this workspace belong into another one."},
		{"description_path_references", "Read the descriptions that name paths outside of this workspace."},
	} {
		if n := a.Statistics[sort.name]; n > 0 {
			a.Recommendations = append(a.Recommendations, fmt.Sprintf("%s (%d)", sort.advice, n))
		}
	}
}
