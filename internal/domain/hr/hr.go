package hr

import (
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Server is the HR domain over one database.
type Server struct {
	db      *database.DB
	now     func() time.Time
	leavers *leavers // nil: no account is ended
}

// New makes the server. db is open with the login that [Migrate] made.
func New(db *database.DB) *Server { return &Server{db: db, now: time.Now} }

// Receipts keeps the receipts of confirmed changes beside the data.
func (s *Server) Receipts() tool.ReceiptStores { return tool.OneStore(database.NewReceipts(s.db)) }

// Ready reports whether the store can be read and holds a company. A database
// that answers but is empty, or the wrong one, is not ready.
func (s *Server) Ready(ctx context.Context) error {
	people, err := database.Probe(ctx, s.db, `select hr.holds_people()`)
	if err != nil {
		return err
	}
	if !people {
		return fault.ServiceDown.New("The HR database holds no employees.").Suggest(`Run "countersign seed" for the sample company, or restore a backup.`)
	}
	return nil
}

// The roles that the domain owns.
const (
	roleRead  access.Role = "hr-read"
	roleWrite access.Role = "hr-write"
)

// Policy declares the domain's roles and the classes of its sensitive fields.
func (s *Server) Policy() access.Policy {
	return access.Policy{
		Roles: []access.Role{roleRead, roleWrite},
		Classes: []access.Class{
			// salary and social security number; finance pays salaries
			{Name: "pay", Roles: []access.Role{roleWrite, "finance-read", access.Executive}, Relations: []access.Relation{access.Self}},
			// an employee's phone number
			{Name: "phone", Roles: []access.Role{roleRead, roleWrite, access.Executive}, Relations: []access.Relation{access.Self, access.Below}},
			// a reviewer's private comments
			{Name: "review", Roles: []access.Role{roleWrite, access.Executive}, Relations: []access.Relation{access.Below}},
		},
	}
}

// Who may use the tools. Which rows they see is decided by row-level security: a
// manager sees themselves and everyone below, an employee themselves.
var (
	everyone      = []access.Role{access.Employee, access.Manager, roleRead, roleWrite, access.Executive}
	overview      = []access.Role{roleRead, access.Manager, access.Executive}
	readers       = []access.Role{roleRead, access.Manager, access.Executive, access.Employee}
	reviewReaders = []access.Role{roleWrite, access.Manager, access.Executive}
	writers       = []access.Role{roleWrite, access.Executive}
)

// findIDs is the suggestion for an id that has no visible employee.
const findIDs = "Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)."

// The domain's fault codes.
var (
	errNotFound   = &fault.Code{Name: "EMPLOYEE_NOT_FOUND", Kind: fault.NotFound, Status: 200, Meaning: "No employee has this id, or the caller may not see them.", Instruct: findIDs, Via: "list_employees", Subject: []string{"employee_id"}, Details: []string{"fields"}}
	errDeleteSelf = &fault.Code{Name: "CANNOT_DELETE_SELF", Kind: fault.Forbidden, Status: 200, Meaning: "No one may delete their own employee record.", Suggest: "Ask another HR administrator to do it.", Subject: []string{"employee_id"}}
	errHasReports = &fault.Code{Name: "EMPLOYEE_HAS_REPORTS", Kind: fault.Conflict, Status: 200, Meaning: "Someone with active direct reports cannot be deleted.", Suggest: "Assign the direct reports to another manager first.", Subject: []string{"employee_id"}, Details: []string{"directReports"}}
	errNoBalances = &fault.Code{Name: "NO_BALANCES_FOUND", Kind: fault.NotFound, Status: 200, Meaning: "No time off balances are kept for this person and fiscal year.", Suggest: "Ask for the current or the next fiscal year.", Subject: []string{"employee_id", "fiscal_year"}}
)

// Codes lists the domain's fault codes, for the docs.
func (s *Server) Codes() []*fault.Code {
	return []*fault.Code{errNotFound, errDeleteSelf, errHasReports, errNoBalances}
}

func notFound(id string) error {
	return errNotFound.New("Employee with ID %s not found.", id).Tell("I find no employee with that id.").With("employeeId", id)
}

// treeRange is a range of tree numbers.
type treeRange struct{ Low, High int }

const (
	findScope = `select coalesce(low, 1) as low, coalesce(high, 0) as high from hr.scope()`
	findTeam  = `select coalesce(low, 1) as low, coalesce(high, 0) as high from hr.team($1)`
)

// scope is the part of the tree that the caller may see, and with a manager what of
// it is below them, whether or not the caller sees the manager; it is empty when
// they may see no one. The policies apply the same range and protect the rows: a
// query repeats it so that the planner knows how many rows to expect.
func (s *Server) scope(ctx context.Context, manager string) (found treeRange, err error) {
	if manager == "" {
		found, _, err = database.Row[treeRange](ctx, s.db, findScope)
	} else {
		found, _, err = database.Row[treeRange](ctx, s.db, findTeam, manager)
	}
	return found, err
}
