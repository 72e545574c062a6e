package tasks

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/tool"
)

func (s *Server) projectTools() []tool.Tool {
	return []tool.Tool{
		tool.Offsets(tool.Spec{
			Name: "list_projects", Title: "List projects", Allow: everyone, Noun: "projects", Untrusted: []string{"friendly_name"},
			Synonyms:    []string{"workspace", "boards"},
			Description: "List the workspaces of tasks that you may open, your default one first, with the names by which they can be called. The answer is a page of items.",
		}, s.listProjects),
		read(s, tool.Spec{
			Name: "get_project_info", Title: "Get project figures", Allow: everyone, Untrusted: []string{"friendly_name"}, Synonyms: []string{"workspace", "statistics", "progress", "status"},
			Description: "Show the figures of a workspace: how many tasks there are by status and by priority, and how many are blocked.",
		}, s.projectInfo),
		edit(s, tool.Spec{
			Name: "set_project_name", Title: "Name a project", Allow: everyone, Replaces: true, Untrusted: []string{"friendly_name"}, Synonyms: []string{"rename"},
			Description: "Give a workspace a friendly name, by which people and programs can call it from then on.",
		}, s.setProjectName),
	}
}

// usageTool counts the calls of the given tools, and of itself.
func (s *Server) usageTool(others []tool.Tool) tool.Tool {
	spec := tool.Spec{
		Name: "get_usage_stats", Title: "Get usage of the tools", Allow: everyone, Synonyms: []string{"calls", "statistics"},
		Description: "Count the calls of the task tools in a workspace: how many succeeded, by tool and by day.",
	}
	names := []string{spec.Name}
	for _, t := range others {
		names = append(names, t.Spec().Name)
	}
	slices.Sort(names)
	return read(s, spec, func(ctx context.Context, sc scope, in usageInput) (Usage, error) {
		if in.Tool != "" && !slices.Contains(names, in.Tool) {
			return Usage{}, dialect.NoFilter("tool_name", in.Tool, names)
		}
		return s.usageStats(ctx, sc, in)
	})
}

type nothing struct{}

// Project is a workspace that the caller may open.
type Project struct {
	Path         string     `json:"workspace_path" field:"label=Path,show=detail"`
	Name         string     `json:"friendly_name" field:"label=Name,aka=project"`
	CreatedAt    *time.Time `json:"created_at" jsonschema:"oneof_type=string;null" jsonschema_description:"When it was first used."`
	LastAccessed *time.Time `json:"last_accessed" jsonschema:"oneof_type=string;null"`
}

// project is a place with what the master file knows of it.
func (s *Server) project(ctx context.Context, place workspace.Place) (Project, error) {
	known, found, err := s.master.Project(ctx, place.Path)
	p := Project{Path: place.Path, Name: place.Name}
	if err != nil || !found {
		return p, err
	}
	if known.FriendlyName != nil {
		p.Name = *known.FriendlyName
	}
	p.CreatedAt, p.LastAccessed = &known.CreatedAt, &known.LastAccessed
	return p, nil
}

func (s *Server) listProjects(ctx context.Context, _ nothing, w tool.OffsetWindow) ([]Project, int, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, 0, err
	}
	places := s.opts.Places.Of(who)
	total := len(places)
	places = places[min(w.Offset, total):min(w.Offset+w.Limit, total)]
	rows := make([]Project, len(places))
	for i, place := range places {
		if rows[i], err = s.project(ctx, place); err != nil {
			return nil, 0, err
		}
	}
	rows, err = dialect.Fit(rows, w.Fit, false)
	return rows, total, err
}

// Figures are the counts of a workspace's tasks.
type Figures struct {
	Project
	Total      int            `json:"total_tasks"`
	ByStatus   map[string]int `json:"by_status"`
	ByPriority map[string]int `json:"by_priority"`
	Blocked    int            `json:"blocked_count"`
}

type whereInput struct{ Where }

func (s *Server) projectInfo(ctx context.Context, sc scope, _ whereInput) (f Figures, err error) {
	if f.Project, err = s.project(ctx, sc.place); err != nil {
		return f, err
	}
	info, err := sc.Info(ctx)
	f.Total, f.ByStatus, f.ByPriority, f.Blocked = info.Total, info.ByStatus, info.ByPriority, info.ByStatus["blocked"]
	return f, err
}

type nameInput struct {
	Where
	Name string `json:"friendly_name" jsonschema:"minLength=1,maxLength=100" jsonschema_description:"The new name"`
}

// Named is what set_project_name did.
type Named struct {
	Success bool   `json:"success"`
	Path    string `json:"workspace_path" field:"show=detail"`
	Name    string `json:"friendly_name"`
}

func (s *Server) setProjectName(ctx context.Context, sc scope, in nameInput) (Named, error) {
	var others []string
	for _, place := range s.opts.Places.Of(sc.who) {
		if place.Path == sc.place.Path {
			continue
		}
		other, err := s.project(ctx, place)
		if err != nil {
			return Named{}, err
		}
		others = append(others, other.Name, place.Name)
	}
	return Named{true, sc.place.Path, in.Name}, s.master.Rename(ctx, sc.place.Path, in.Name, others)
}

type usageInput struct {
	Where
	Days int    `json:"days,omitempty" jsonschema:"minimum=1,maximum=3650,default=30" jsonschema_description:"So many days, today included"`
	Tool string `json:"tool_name,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Only this tool"`
}

// Usage counts calls.
type Usage struct {
	Total     int            `json:"total_calls"`
	Succeeded int            `json:"successful_calls"`
	Rate      float64        `json:"success_rate" jsonschema_description:"Per cent; 0 without any call." field:"unit=percent"`
	Tools     []ToolUsage    `json:"tools"`
	Timeline  []DayUsage     `json:"timeline"`
	Range     DateRange      `json:"date_range"`
	Filter    map[string]any `json:"filter"`
}

// ToolUsage counts the calls of one tool.
type ToolUsage struct {
	Name  string `json:"tool_name"`
	Calls int    `json:"calls"`
	Good  int    `json:"successful_calls"`
}

// DayUsage counts the calls of one day, UTC.
type DayUsage struct {
	Day   string `json:"date" jsonschema:"format=date"`
	Calls int    `json:"calls"`
}

// DateRange are the first and the last day.
type DateRange struct {
	From string `json:"from" jsonschema:"format=date"`
	To   string `json:"to" jsonschema:"format=date"`
}

func (s *Server) usageStats(ctx context.Context, sc scope, in usageInput) (u Usage, err error) {
	if err := sc.AddUse(ctx, s.uses.due(sc.place)); err != nil {
		return u, err
	}
	today := s.opts.Now().UTC()
	u = Usage{
		Range: DateRange{today.AddDate(0, 0, 1-in.Days).Format(time.DateOnly), today.Format(time.DateOnly)},
		Tools: []ToolUsage{}, Timeline: []DayUsage{}, Filter: map[string]any{"days": in.Days, "tool_name": nil},
	}
	if in.Tool != "" {
		u.Filter["tool_name"] = in.Tool
	}
	found, err := sc.Uses(ctx, u.Range.From, in.Tool)
	u.add(found)
	return u, err
}

func (u *Usage) add(found []store.Use) {
	tools, days := map[string]ToolUsage{}, map[string]int{}
	for _, one := range found {
		u.Total += one.Calls
		u.Succeeded += one.Successes
		t := tools[one.Tool]
		tools[one.Tool] = ToolUsage{one.Tool, t.Calls + one.Calls, t.Good + one.Successes}
		days[one.Day] += one.Calls
	}
	if u.Total > 0 {
		u.Rate = float64(u.Succeeded*1000/u.Total) / 10
	}
	u.Tools = append(u.Tools, slices.SortedFunc(maps.Values(tools), func(a, b ToolUsage) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})...)
	for _, day := range slices.Sorted(maps.Keys(days)) {
		u.Timeline = append(u.Timeline, DayUsage{day, days[day]})
	}
}
