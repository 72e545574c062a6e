package hr

import (
	"context"

	"countersign.dev/internal/database"
	"countersign.dev/internal/tool"
)

// maxNodes bounds an org chart.
const maxNodes = 500

// OrgNode is a person in the org chart, with the people under them.
type OrgNode struct {
	EmployeeID         string     `json:"employee_id" jsonschema:"format=uuid"`
	FirstName          string     `json:"first_name"`
	LastName           string     `json:"last_name"`
	JobTitle           string     `json:"job_title"`
	Department         string     `json:"department"`
	Level              int        `json:"level" jsonschema_description:"Steps below the root of this chart, which has 0"`
	DirectReportsCount int        `json:"direct_reports_count" jsonschema_description:"All direct reports, shown or not" field:"label=Direct reports,amount"`
	DirectReports      []*OrgNode `json:"direct_reports" db:"-"`
}

// OrgChart is the root of a chart, and whether the chart is complete.
type OrgChart struct {
	OrgNode
	Nodes     int    `json:"nodes" jsonschema_description:"People in this chart" field:"label=People"`
	Truncated bool   `json:"truncated" jsonschema_description:"Whether people below the root, or below others without a manager, were left out" field:"show=detail"`
	Hint      string `json:"hint,omitempty"`
}

func (s *Server) orgChart() []tool.Tool {
	return []tool.Tool{tool.Read(tool.Spec{
		Name: "get_org_chart", Title: "Get the org chart", Ask: "Show the org chart",
		Description: "Show the org chart as a tree of people with their direct reports. " +
			"It starts at root_employee_id; by default at the caller, for HR and executives at the top of the company. At most 500 people; truncated says when some are left out.",
		Allow: overview, Synonyms: []string{"organization", "organisation", "hierarchy", "reporting structure", "reporting line"},
	}, s.getOrgChart)}
}

type chartInput struct {
	RootEmployeeID string `json:"root_employee_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"The employee at the top of the chart (default: the asker, or the top of the company)" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" tell:"I find no employee with that id."`
	MaxDepth       int    `json:"max_depth,omitempty" jsonschema:"minimum=1,maximum=10,default=10" jsonschema_description:"How many levels to show below the root"`
}

// treeNumbers is a person's position in the tree.
type treeNumbers struct{ Lft, Rgt, Depth int }

// chartTop is where a chart begins, and how many people belong in it, counted to one more
// than there is room for.
type chartTop struct {
	treeNumbers
	People int
}

// The top of what the caller may see is the first of the lowest depth, the one with the most
// people where several have no manager. The others and all below them belong in its chart.
const findRoot = `
select lft, rgt, depth, (
         select count(*) from (
           select from hr.employees
           where status = 'ACTIVE' and lft between case $3 when '' then $1 else e.lft end and case $3 when '' then $2 else e.rgt end
           limit $4) them) as people
from hr.employees e
where status = 'ACTIVE' and lft between $1 and $2 and ($3 = '' or id = nullif($3, '')::uuid)
order by depth, rgt - lft desc, lft limit 1`

// chartRow is a node that is not yet under its manager.
type chartRow struct {
	OrgNode
	ManagerID *string
}

// Breadth first: whole levels from the top down, so that a truncated chart lacks
// its lowest level.
const chartRows = `
select e.id as employee_id, e.first_name, e.last_name, e.job_title, e.manager_id, e.depth - $3::int as level,
       (select d.name from hr.departments d where d.code = e.department) as department,
       (select count(*) from hr.employees r where r.manager_id = e.id and r.status = 'ACTIVE') as direct_reports_count
from (
  select * from hr.employees
  where status = 'ACTIVE' and lft between $1 and $2 and depth <= $3::int + $4::int
  order by depth, lft
  limit $5
) e
order by e.depth, e.last_name, e.first_name, e.id`

const incomplete = "The chart is incomplete. Ask with a larger max_depth, or with root_employee_id of someone further down or, where several people have no manager, of another of them."

func (s *Server) getOrgChart(ctx context.Context, in chartInput) (chart OrgChart, err error) {
	err = s.db.Read(ctx, func(ctx context.Context) error {
		root, err := s.root(ctx, in.RootEmployeeID)
		if err != nil {
			return err
		}
		rows, err := database.Rows[chartRow](ctx, s.db, chartRows, root.Lft, root.Rgt, root.Depth, in.MaxDepth, maxNodes+1)
		if err != nil {
			return err
		}
		chart = assemble(rows)
		if chart.Truncated = chart.Nodes < root.People; chart.Truncated {
			chart.Hint = incomplete
		}
		return nil
	})
	return chart, err
}

func (s *Server) root(ctx context.Context, id string) (chartTop, error) {
	visible, err := s.scope(ctx, "")
	if err != nil {
		return chartTop{}, err
	}
	root, found, err := database.Row[chartTop](ctx, s.db, findRoot, visible.Low, visible.High, id, maxNodes+1)
	switch {
	case err != nil || found:
		return root, err
	case id == "":
		return root, errNotFound.New("There is no employee record for you to start the chart at.").Instruct("Name the employee to start at in root_employee_id.").Fields("root_employee_id")
	}
	return root, notFound(id)
}

// assemble puts every node under its manager. Managers come before their
// reports, so that one pass is enough. Who is below somebody whose employment
// has ended is in no one's reports, and left out.
func assemble(rows []chartRow) OrgChart {
	var chart OrgChart
	if len(rows) > maxNodes {
		rows = rows[:maxNodes]
	}
	nodes := make(map[string]*OrgNode, len(rows))
	for i := range rows {
		node := &rows[i].OrgNode
		node.DirectReports = []*OrgNode{}
		above := nodes[deref(rows[i].ManagerID)]
		if i > 0 && above == nil {
			continue
		}
		nodes[node.EmployeeID] = node
		if i > 0 {
			above.DirectReports = append(above.DirectReports, node)
		}
	}
	if len(rows) > 0 {
		chart.OrgNode = rows[0].OrgNode
	}
	chart.Nodes = len(nodes)
	return chart
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
