package company

import (
	"strings"
	"time"
)

// Board is one workspace of the sample company, with its tasks.
type Board struct {
	Name   string
	Owner  string   // the user name of whose personal workspace it is; empty: it is shared
	People []string // user names of those who may open a shared one
	Tasks  []Task
	Things []Thing
}

// Thing is what tasks of a board are about: a file or something else.
type Thing struct {
	Type, Name, Identifier string
	Tasks                  []int // that are linked to it
}

// Task is a task of a board. Parent and After number other tasks of the board, the
// first being 1; a parent and what must be done before come earlier.
type Task struct {
	Title, Description string
	Status, Priority   string
	Tags               string
	Parent             int
	After              []int
	Files              []string
	Reason             string // why it is blocked
	By                 string // user name
	Created            time.Time
}

// Boards returns the workspaces of the sample company.
func (c *Company) Boards() []Board {
	boards := []Board{
		c.shared("Platform", "EMP051", platformTasks()),
		c.shared("Support rotation", "EMP040", rotationTasks()),
		c.shared("Leadership", "EMP001", leadershipTasks()),
	}
	boards[0].Things = []Thing{
		{"file", "The configuration", "internal/config/config.go", []int{3, 4, 5}},
		{"file", "Rows of the page", "web/rows.js", []int{12, 13}},
		{"other", "The registry of images", "registry", nil},
	}
	for _, a := range Accounts() {
		boards = append(boards, c.dated(Board{Name: "Personal", Owner: a.Username, Tasks: personalTasks()}, a.Username))
	}
	return boards
}

// UserName is the user name of an employee: that of their account, or one made from
// the name.
func UserName(e Employee) string {
	for _, a := range Accounts() {
		if a.Email == e.Email {
			return a.Username
		}
	}
	return strings.ToLower(strings.ReplaceAll(e.Name(), " ", "."))
}

// shared is the workspace of a manager's team.
func (c *Company) shared(name, manager string, tasks []Task) Board {
	head, _ := c.ByNumber(manager)
	b := Board{Name: name, People: []string{UserName(head)}, Tasks: tasks}
	for _, e := range c.Active() {
		if e.ManagerID == head.ID {
			b.People = append(b.People, UserName(e))
		}
	}
	return c.dated(b, UserName(head))
}

// dated gives every task a time of its making, an hour after the one before, and a
// maker.
func (c *Company) dated(b Board, maker string) Board {
	for i := range b.Tasks {
		t := &b.Tasks[i]
		t.Created = c.Day.AddDate(0, 0, -14).Add(time.Duration(i) * time.Hour)
		if t.By == "" {
			t.By = maker
		}
		if t.Status == "" {
			t.Status = "todo"
		}
		if t.Priority == "" {
			t.Priority = "medium"
		}
	}
	return b
}

// platformTasks are of a team that works on this program: their files are in its
// repository.
func platformTasks() []Task {
	const marcus, priya, owen, hannah, luis, grace, omar, ingrid = "marcus.johnson", "priya.sharma", "owen.fischer", "hannah.schmidt", "luis.ortega", "grace.liu", "omar.haddad", "ingrid.larsen"
	return []Task{
		{Title: "Release 2.0", Description: "Everything that the next release needs. The dates are on the team's page.", Status: "in_progress", Priority: "high", Tags: "release"},
		{Title: "Configuration", Parent: 1, Status: "in_progress", Priority: "high", Tags: "config release", By: marcus},
		{Title: "Report every fault of a file at once", Parent: 2, Description: "A person who mends one line wants to see the others too, each with its number.", Status: "done", Tags: "config", Files: []string{"internal/config/config.go"}, By: marcus},
		{Title: "Refuse unknown keys with the nearest known one", Parent: 2, Priority: "high", Tags: "config", After: []int{3}, Files: []string{"internal/config/config.go", "internal/config/line.go"}, By: marcus},
		{Title: "Read the limits from the file", Parent: 2, Tags: "config limits", After: []int{3}, Files: []string{"internal/config/limits.go", "internal/quota/limits.go"}, By: luis},
		{Title: "Audit log", Parent: 1, Priority: "high", Tags: "audit release", By: hannah},
		{Title: "Rotate the log by size and age", Parent: 6, Status: "done", Tags: "audit", Files: []string{"internal/audit/rotate.go"}, By: hannah},
		{Title: "Verify a rotated log as one chain", Parent: 6, Status: "in_progress", Priority: "high", Tags: "audit", After: []int{7}, Files: []string{"internal/audit/verify.go"}, By: hannah},
		{Title: "Write down how an auditor verifies a log", Parent: 6, Tags: "audit docs", After: []int{8}, Files: []string{"docs/audit.md"}, By: ingrid},
		{Title: "Search", Parent: 1, Tags: "search release", By: priya},
		{Title: "Measure searches at a million rows", Parent: 10, Status: "blocked", Tags: "search bench", Reason: "The machine for benchmarks is away until Monday.", Files: []string{"docs/performance.md"}, By: omar},
		{Title: "Make the task board usable on a phone", Description: "The board has six columns, and a phone shows one and a half of them. Columns should fold, cards should be readable at arm's length, and dragging should work with a thumb. Ask Grace about the tests in the browser.", Priority: "high", Tags: "page board", Files: []string{"web/rows.js", "web/style.css"}, By: grace},
		{Title: "Show the reason of a blocked task on its card", Parent: 12, Tags: "page board", Files: []string{"web/rows.js"}, By: grace},
		{Title: "Rank exact phrases before single words", Parent: 10, Tags: "search", After: []int{11}, Files: []string{"internal/domain/support/query.go"}, By: priya},
		{Title: "Keep connections of idle pages small", Description: "An idle connection takes 32 KiB, where 20 is the aim.", Tags: "live memory", Files: []string{"internal/live/connection.go"}, By: owen},
		{Title: "Profile an idle connection", Parent: 15, Status: "in_progress", Tags: "live memory", By: owen},
		{Title: "Free the read buffer between frames", Parent: 15, Tags: "live memory", After: []int{16}, By: owen},
		{Title: "Pool the write buffers", Parent: 15, Priority: "low", Tags: "live memory", After: []int{16}, By: owen},
		{Title: "Container image", Status: "blocked", Priority: "high", Tags: "deploy release", Reason: "Waits for the decision about the base image.", By: owen},
		{Title: "Chart for clusters", Tags: "deploy", After: []int{19}, By: owen},
		{Title: "Run the conformance suite in every build", Priority: "high", Tags: "ci tests", Files: []string{".ci/run"}, By: ingrid},
		{Title: "Name what a skipped test lacks", Parent: 21, Status: "done", Tags: "ci tests", By: ingrid},
		{Title: "Fail the build on a skipped engine", Parent: 21, Tags: "ci tests", After: []int{22}, By: ingrid},
		{Title: "Export traces", Priority: "low", Tags: "telemetry", Files: []string{"internal/telemetry/telemetry.go"}, By: omar},
		{Title: "Alert when an anchor is late", Tags: "audit telemetry", Files: []string{"internal/audit/anchors.go"}, After: []int{8, 24}, By: omar},
		{Title: "Sign-in with a passkey", Status: "cancelled", Tags: "auth", Description: "The issuer does that.", By: hannah},
		{Title: "Rotate signing keys without a restart", Priority: "high", Tags: "auth keys", Files: []string{"internal/app/keys.go", "internal/auth/minter.go"}, By: hannah},
		{Title: "Read keys again when their files change", Parent: 27, Priority: "high", Tags: "auth keys", By: hannah},
		{Title: "Keep the old key until its last token has ended", Parent: 27, Tags: "auth keys", After: []int{28}, By: hannah},
		{Title: "Stream large answers", Tags: "gateway", Files: []string{"internal/gateway/chat/sse.go"}, By: luis},
		{Title: "Bound what one stream may hold in memory", Parent: 30, Status: "done", Tags: "gateway limits", By: luis},
		{Title: "Close slow readers with a reason", Parent: 30, Tags: "gateway", After: []int{31}, By: luis},
		{Title: "Describe every limit in one table", Status: "done", Tags: "docs limits", Files: []string{"docs/limits.md"}, By: ingrid},
		{Title: "Translate the page", Priority: "low", Tags: "page", By: grace},
		{Title: "Collect the texts of the page in one file", Parent: 34, Priority: "low", Tags: "page", Files: []string{"web/app.js"}, By: grace},
		{Title: "German", Parent: 34, Priority: "low", Tags: "page", After: []int{35}, By: grace},
		{Title: "Spanish", Parent: 34, Priority: "low", Tags: "page", After: []int{35}, By: grace},
		{Title: "Load test with a thousand people", Tags: "bench", After: []int{15}, Description: "Questions of an ordinary morning: lists, a few searches, one change in fifty.", By: omar},
		{Title: "Plan the quarter", Status: "in_progress", Tags: "planning"},
		{Title: "Interview two candidates", Priority: "low", Tags: "people"},
	}
}

func rotationTasks() []Task {
	return []Task{
		{Title: "Hand the rotation over on Monday", Priority: "high", Tags: "rotation"},
		{Title: "Read the open tickets before the hand-over", Parent: 1, Priority: "high", Tags: "rotation"},
		{Title: "Write the hand-over note", Parent: 1, Tags: "rotation", After: []int{2}},
		{Title: "Answer the customers who wait longest", Status: "in_progress", Priority: "high", Tags: "tickets"},
		{Title: "Call back about the failed logins", Parent: 4, Status: "blocked", Tags: "tickets login", Reason: "The customer is away until Thursday."},
		{Title: "Update the article on resetting a password", Tags: "articles login"},
		{Title: "Archive articles that were not read for a year", Priority: "low", Tags: "articles"},
		{Title: "List articles without a reader", Parent: 7, Priority: "low", Status: "done", Tags: "articles"},
		{Title: "Ask the authors", Parent: 7, Priority: "low", Tags: "articles", After: []int{8}},
		{Title: "Train the new colleague", Tags: "people"},
		{Title: "Collect five good tickets for the training", Parent: 10, Tags: "people tickets"},
		{Title: "Report last week's answer times", Tags: "report"},
	}
}

func leadershipTasks() []Task {
	const michael, sarah, carol, patricia = "michael.roberts", "sarah.kim", "carol.johnson", "patricia.morgan"
	return []Task{
		{Title: "Prepare the board meeting", Status: "in_progress", Priority: "high", Tags: "board"},
		{Title: "Summarise the quarter in one page", Parent: 1, Priority: "high", Tags: "board finance", By: michael},
		{Title: "Compare the forecast of sales with the plan", Parent: 1, Status: "in_progress", Tags: "board sales", By: carol},
		{Title: "Send the papers to the members", Parent: 1, Tags: "board", After: []int{2, 3}},
		{Title: "Agree on the hiring plan", Status: "blocked", Priority: "high", Tags: "people", Reason: "Waits for the approved budgets."},
		{Title: "Choose the themes of next year", Tags: "planning", By: sarah},
		{Title: "Prepare the customer day", Priority: "low", Tags: "customers", By: patricia},
	}
}

func personalTasks() []Task {
	return []Task{
		{Title: "Look around in Countersign", Description: "Ask what you may see, and what you may change.", Priority: "high"},
		{Title: "Fill in the expense report", Tags: "expenses"},
		{Title: "Plan the next holiday", Priority: "low", After: []int{2}},
		{Title: "Collect the receipts of this month", Status: "in_progress", Tags: "expenses"},
		{Title: "Prepare the talk about next year's goals", Status: "in_progress", Priority: "high", Tags: "goals"},
		{Title: "Book the course on data protection", Status: "blocked", Tags: "training", Reason: "Waits for the dates of next year."},
		{Title: "Set up two-step sign-in", Status: "done", Priority: "high", Tags: "security"},
		{Title: "Read the guide for the first day", Status: "done", Tags: "training"},
	}
}
