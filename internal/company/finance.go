package company

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Finance is the data of the finance department. Vendors and invoices are
// sequences, so that a company of a million invoices needs no more memory than
// this one.
type Finance struct {
	Vendors  iter.Seq[Vendor]
	Invoices iter.Seq[Invoice]
	Budgets  []Budget
	Reports  []ExpenseReport
}

// Vendor is a company that we buy from.
type Vendor struct {
	ID   string // V-0001
	Name string
}

// Invoice is a vendor's bill.
type Invoice struct {
	ID          string
	Number      string // INV-2025-004
	VendorID    string
	Description string
	Cents       int64  // US cents
	Department  string // the department's code
	Status      string // pending, approved, paid or rejected
	Date        time.Time
	Due         time.Time
	SubmittedBy string // e-mail
	SubmittedAt time.Time
	ApprovedBy  string // e-mail; empty unless approved or paid
	ApprovedAt  time.Time
}

// Unpaid reports whether the invoice is not paid yet.
func (i Invoice) Unpaid() bool { return i.Status == "pending" || i.Status == "approved" }

// Budget is what a department may spend in a fiscal year, and has spent.
// Fiscal years are calendar years.
type Budget struct {
	ID          string
	Department  string // the department's code
	FiscalYear  int
	Status      string // draft, approved, active or closed
	SubmittedBy string // e-mail; empty for a draft that was not submitted
	SubmittedAt time.Time
	ApprovedBy  string // e-mail
	ApprovedAt  time.Time
	Quarters    [4]Quarter // the first is January to March
}

// Quarter is a quarter's part of a budget, in US cents.
type Quarter struct{ Allocated, Spent int64 }

// Allocated is the budget of the whole year, in US cents.
func (b Budget) Allocated() (cents int64) {
	for _, q := range b.Quarters {
		cents += q.Allocated
	}
	return cents
}

// Spent is what was spent of it so far, in US cents.
func (b Budget) Spent() (cents int64) {
	for _, q := range b.Quarters {
		cents += q.Spent
	}
	return cents
}

// ExpenseReport is what an employee spent for the company in a month. No employee
// has two for the same month.
type ExpenseReport struct {
	ID            string
	Number        string // EXP-2026-001
	EmployeeID    string
	EmployeeName  string
	EmployeeEmail string
	Month         string // 2026-03
	Title         string
	Status        string // draft, submitted, under_review, approved, rejected or reimbursed
	SubmittedAt   time.Time
	ApprovedBy    string // e-mail
	Items         []ExpenseItem
}

// Total is the sum of the items, in US cents.
func (r ExpenseReport) Total() (cents int64) {
	for _, i := range r.Items {
		cents += i.Cents
	}
	return cents
}

// ExpenseItem is one receipt.
type ExpenseItem struct {
	Date        time.Time
	Category    string // travel, meals, supplies, software or other
	Description string
	Vendor      string
	Cents       int64
}

const (
	bob     = "bob@" + Domain
	eve     = "eve@" + Domain
	lisa    = "lisa.anderson@" + Domain
	kevin   = "kevin.brown@" + Domain
	timothy = "timothy.murphy@" + Domain
)

// bill is a row of the invoice table. The due date counts from the company's
// day; the invoice date is its terms before that.
type bill struct {
	number, vendor string
	dollars        int64
	status         string
	department     string
	due, terms     int // days
	description    string
}

// Every vendor of the table has sent one invoice, so that row and vendor share
// their number.
var billTable = [...]bill{
	{"INV-001", "Test Vendor", 5_000, "pending", "ENG", 5, 30, "Trial of a load testing service"},
	{"INV-2025-001", "AWS", 45_000, "paid", "IT", -41, 30, "Cloud hosting, monthly bill"},
	{"INV-2025-002", "Salesforce", 28_500, "paid", "SALES", -33, 30, "Customer database, quarterly licence"},
	{"INV-2025-003", "WeWork", 35_000, "approved", "OPS", 12, 30, "Office space in New York, two months"},
	{"INV-2025-004", "Google Cloud", 22_000, "pending", "ENG", 18, 30, "Data warehouse and build machines"},
	{"INV-2025-005", "HubSpot", 15_000, "approved", "MKT", 9, 30, "Marketing automation, half a year"},
	{"INV-2025-006", "Workday", 85_000, "paid", "HR", -27, 60, "Human resources system, annual licence"},
	{"INV-2025-007", "Legal Associates", 12_500, "pending", "LEGAL", 25, 30, "Review of customer contracts"},
	{"INV-2025-008", "DataCenter", 8_500, "pending", "IT", -14, 30, "Two racks and their power"},
	{"INV-2025-009", "CloudFlare", 3_200, "pending", "ENG", 21, 30, "Content delivery and protection"},
	{"INV-2025-010", "Creative Agency", 25_000, "approved", "MKT", 37, 45, "Autumn campaign, design and film"},
	{"INV-2025-011", "Office Supplies", 4_750, "pending", "OPS", 44, 45, "Chairs, desks and paper for the Chicago office"},
	{"INV-2025-012", "Tech Equipment", 18_750, "pending", "IT", 60, 60, longDescription},
	{"INV-2025-013", "Northwind Catering", 2_900, "pending", "OPS", -6, 45, "Lunches of two customer days"},
	{"INV-2025-014", "Print House", 1_650, "rejected", "MKT", 4, 30, "Brochures, printed in the wrong size"},
	{"INV-2025-015", "Shuttle Service", 2_240, "rejected", "SALES", -20, 30, "Airport rides that were billed before"},
}

const longDescription = "Replacement of workstations and meeting room equipment in three offices: twelve 14-inch laptops with 32 GB of memory and a three-year on-site warranty, " +
	"twelve docking stations with two display outputs each, twenty-four 27-inch displays with height-adjustable stands, four conference cameras with microphones for eight people, " +
	"cabling, labelling and asset tags, delivery to Seattle, Austin and Chicago with installation on a weekend, collection of the old machines, certified erasure of their disks, " +
	"recycling of packaging, and two hours of instruction for the people at the service desk. Prices as in the framework agreement; freight and insurance are included."

func vendorID(n int) string { return fmt.Sprintf("V-%04d", n) }

func vendors() []Vendor {
	rows := make([]Vendor, len(billTable))
	for i, b := range billTable {
		rows[i] = Vendor{ID: vendorID(i + 1), Name: b.vendor}
	}
	return rows
}

func (c *Company) invoices() []Invoice {
	rows := make([]Invoice, len(billTable))
	for i, b := range billTable {
		due := c.Day.AddDate(0, 0, b.due)
		rows[i] = Invoice{
			ID: fmt.Sprintf("1f000000-0000-0000-0000-%012d", i+1), Number: b.number, VendorID: vendorID(i + 1), Description: b.description,
			Cents: b.dollars * 100, Department: b.department, Status: b.status, Date: due.AddDate(0, 0, -b.terms), Due: due,
			SubmittedBy: [...]string{kevin, timothy}[i%2],
		}
		rows[i].SubmittedAt = rows[i].Date.Add(9 * time.Hour)
		if b.status == "approved" || b.status == "paid" {
			rows[i].ApprovedBy, rows[i].ApprovedAt = bob, rows[i].Date.Add(15*time.Hour)
		}
	}
	return rows
}

// plan is a row of the budget tables: thousands of dollars.
type plan struct {
	department       string
	allocated, spent int64
}

var (
	plan2024 = []plan{{"EXEC", 500, 425}, {"HR", 750, 680}, {"FIN", 450, 410}, {"SALES", 1_200, 1_050}, {"ENG", 2_500, 2_200}, {"MKT", 800, 720}, {"IT", 600, 520}}
	plan2025 = []plan{{"EXEC", 525, 475}, {"HR", 800, 720}, {"FIN", 480, 435}, {"SALES", 1_350, 1_200}, {"ENG", 2_800, 2_550}, {"MKT", 900, 820}, {"IT", 680, 610}}
	// Of the current year and later ones, spent is the expected total of the whole
	// year.
	plan2026 = []plan{
		{"EXEC", 550, 505}, {"HR", 840, 770}, {"FIN", 510, 470}, {"SALES", 1_500, 1_390}, {"SUPPORT", 620, 600},
		{"ENG", 3_100, 2_980}, {"MKT", 980, 1_010}, {"OPS", 780, 715}, {"LEGAL", 460, 425}, {"IT", 740, 690},
	}
)

// budgets are 2024 (drafts that were never submitted), 2025 (approved), 2026
// (two of ten departments wait for approval), and the years after it.
func (c *Company) budgets() []Budget {
	var rows []Budget
	for _, p := range plan2024 {
		rows = append(rows, c.budget(p, 2024, "draft"))
	}
	for _, p := range plan2025 {
		rows = append(rows, approved(c.budget(p, 2025, "approved")))
	}
	for _, p := range plan2026 {
		b := c.budget(p, 2026, status2026(p.department))
		switch b.Department {
		case "MKT":
			b.SubmittedBy, b.SubmittedAt = lisa, c.Day.AddDate(0, 0, -9)
		case "FIN":
			b.SubmittedBy, b.SubmittedAt = bob, c.Day.AddDate(0, 0, -6)
		default:
			b = approved(b)
		}
		rows = append(rows, b)
	}
	for year := 2027; year <= c.Day.Year(); year++ {
		for _, p := range plan2026 {
			rows = append(rows, approved(c.budget(p, year, "active")))
		}
	}
	return rows
}

func status2026(department string) string {
	switch department {
	case "MKT", "FIN":
		return "draft"
	case "OPS", "LEGAL":
		return "approved"
	}
	return "active"
}

// approved marks a budget as approved: Lisa submits them and Bob approves them,
// except Finance's own, which Bob submits and Eve approves.
func approved(b Budget) Budget {
	start := time.Date(b.FiscalYear, time.January, 1, 0, 0, 0, 0, time.UTC)
	b.SubmittedBy, b.ApprovedBy = lisa, bob
	if b.Department == "FIN" {
		b.SubmittedBy, b.ApprovedBy = bob, eve
	}
	b.SubmittedAt, b.ApprovedAt = start.AddDate(0, 0, -40), start.AddDate(0, 0, -25)
	return b
}

// budget divides a plan into its quarters. The spent part of a quarter follows the
// calendar: all of it when the quarter has ended, nothing before it begins.
func (c *Company) budget(p plan, year int, status string) Budget {
	number := slices.IndexFunc(c.Departments, func(d Department) bool { return d.Code == p.department }) + 1
	b := Budget{
		ID: fmt.Sprintf("b0000000-0000-0000-%04d-%012d", year, number), Department: p.department, FiscalYear: year, Status: status,
	}
	allocated, spent := quarterly(p.allocated, 24, 25, 25), quarterly(p.spent, 23, 24, 26)
	for q := range b.Quarters {
		from := time.Date(year, time.Month(1+3*q), 1, 0, 0, 0, 0, time.UTC)
		days := int64(from.AddDate(0, 3, 0).Sub(from).Hours() / 24)
		passed := min(max(0, int64(c.Day.Sub(from).Hours()/24)), days)
		b.Quarters[q] = Quarter{Allocated: allocated[q] * 100, Spent: spent[q] * passed / days * 100}
	}
	return b
}

// quarterly splits thousands of dollars into dollars a quarter: the first three
// by their per cent, the last is the rest.
func quarterly(thousands int64, percents ...int64) (dollars [4]int64) {
	rest := thousands * 1000
	for q, percent := range percents {
		dollars[q] = thousands * 10 * percent
		rest -= dollars[q]
	}
	dollars[3] = rest
	return dollars
}

// reportRow is a row of the expense table: the employee, how many months back, and
// what was bought on which day of the month.
type reportRow struct {
	employee      string // number
	months        int
	title, status string
	items         []receipt
}

type receipt struct {
	day                           int
	category, description, vendor string
	cents                         int64
}

var reportTable = [...]reportRow{
	{"EMP051", 2, "Engineering conference in Denver", "approved", []receipt{
		{6, "travel", "Flights Seattle to Denver and back", "Cascade Air", 684_00},
		{6, "travel", "Hotel, four nights", "Larkspur Hotel", 1_116_00},
		{7, "other", "Conference ticket", "Mountain Systems Conference", 495_00},
		{9, "meals", "Dinner with two candidates", "Copper Kettle", 155_00},
	}},
	{"EMP052", 1, "On-call week", "submitted", []receipt{
		{12, "meals", "Team dinner after the migration", "Noodle House", 186_00},
		{14, "supplies", "Headset and cables", "Office Supplies", 129_50},
		{15, "travel", "Taxi home after the night shift", "City Cab", 70_00},
	}},
	{"EMP030", 3, "Customer visit in Boston", "reimbursed", []receipt{
		{18, "travel", "Flights Chicago to Boston and back", "Lakeshore Airlines", 412_00},
		{18, "travel", "Hotel, one night", "Beacon House", 268_00},
		{19, "meals", "Lunch with HealthCare Plus", "Harbor Grill", 195_00},
	}},
	{"EMP061", 0, "Cables for the help desk", "draft", []receipt{
		{1, "supplies", "Network cables and adapters", "Tech Equipment", 98_25},
		{1, "supplies", "Labels and a label printer", "Office Supplies", 58_50},
	}},
	{"EMP010", 1, "Recruiting fair in Austin", "under_review", []receipt{
		{8, "other", "Stand at the fair", "Texas Careers Fair", 1_900_00},
		{8, "travel", "Flights for two", "Cascade Air", 742_00},
		{9, "travel", "Hotel, two rooms", "Barton House", 458_00},
		{9, "supplies", "Printed folders", "Print Corner", 100_00},
	}},
	{"EMP051", 4, "Design software for the team", "rejected", []receipt{
		{21, "software", "Diagram tool, annual licence", "Linework", 599_00},
	}},
	{"EMP020", 2, "Audit preparation in Chicago", "approved", []receipt{
		{11, "travel", "Train and hotel", "Lakeshore Rail", 830_00},
		{12, "meals", "Working lunch with the auditors", "Union Table", 245_00},
		{12, "supplies", "Archive boxes", "Office Supplies", 125_00},
	}},
	{"EMP001", 1, "Investor meetings in New York", "submitted", []receipt{
		{20, "travel", "Flights San Francisco to New York and back", "Bay Airways", 1_980_00},
		{20, "travel", "Hotel, three nights", "Gramercy Court", 1_860_00},
		{22, "meals", "Dinner with investors", "Orchard Room", 1_010_00},
	}},
	{"EMP052", 4, "Conference talk in Portland", "reimbursed", []receipt{
		{9, "travel", "Train Seattle to Portland and back", "Cascade Rail", 118_00},
		{9, "travel", "Hotel, two nights", "River Inn", 374_00},
	}},
	{"EMP061", 2, "Adapters for the meeting rooms", "approved", []receipt{
		{16, "supplies", "Twelve display adapters", "Tech Equipment", 214_80},
	}},
	{"EMP040", 1, "Support team day", "approved", []receipt{
		{23, "meals", "Lunch for eight", "Barton Grill", 286_00},
		{23, "other", "Workshop room", "Congress Hall", 420_00},
	}},
	{"EMP030", 1, "Customer visit in New York", "submitted", []receipt{
		{13, "travel", "Flights Chicago to New York and back", "Lakeshore Airlines", 388_00},
		{14, "meals", "Dinner with Global Finance Partners", "Gramercy Court", 264_00},
	}},
	{"EMP032", 2, "Demo days in Austin", "under_review", []receipt{
		{5, "travel", "Flights Los Angeles to Austin and back", "Bay Airways", 342_00},
		{5, "travel", "Hotel, two nights", "Barton House", 418_00},
	}},
	{"EMP031", 1, "Plant visit at Ironbridge", "submitted", []receipt{
		{11, "travel", "Flights Los Angeles to Austin and back", "Bay Airways", 356_00},
		{12, "meals", "Lunch with the plant manager", "Barton Grill", 92_00},
	}},
	{"EMP031", 5, "Sales training in Chicago", "reimbursed", []receipt{
		{3, "travel", "Flights Los Angeles to Chicago and back", "Lakeshore Airlines", 398_00},
		{3, "travel", "Hotel, two nights", "Union Court", 436_00},
	}},
	{"EMP010", 5, "Interviews in Seattle", "reimbursed", []receipt{
		{17, "meals", "Lunches with four candidates", "Copper Kettle", 168_00},
		{17, "supplies", "Printed folders", "Print Corner", 42_00},
	}},
	{"EMP001", 5, "Visit of the Austin office", "reimbursed", []receipt{
		{10, "travel", "Flights San Francisco to Austin and back", "Bay Airways", 512_00},
		{10, "travel", "Hotel, one night", "Barton House", 209_00},
	}},
	{"EMP040", 5, "Training of new colleagues", "reimbursed", []receipt{
		{14, "other", "Workshop room", "Congress Hall", 390_00},
		{14, "meals", "Lunch for six", "Barton Grill", 174_00},
	}},
	{"EMP020", 5, "Tax seminar in Boston", "reimbursed", []receipt{
		{19, "travel", "Train New York to Boston and back", "Lakeshore Rail", 188_00},
		{19, "other", "Seminar ticket", "Harbor Academy", 450_00},
	}},
	{"EMP032", 5, "Customer dinner in San Francisco", "reimbursed", []receipt{
		{25, "meals", "Dinner with TechStart", "Orchard Room", 231_00},
		{25, "travel", "Train and taxi", "City Cab", 88_00},
	}},
}

func (c *Company) expenseReports() []ExpenseReport {
	rows := make([]ExpenseReport, len(reportTable))
	for i, t := range reportTable {
		e, _ := c.ByNumber(t.employee)
		first := time.Date(c.Day.Year(), c.Day.Month()-time.Month(t.months), 1, 0, 0, 0, 0, time.UTC)
		rows[i] = ExpenseReport{
			ID: fmt.Sprintf("ec000000-0000-0000-0000-%012d", i+1), Number: fmt.Sprintf("EXP-2026-%03d", i+1), EmployeeID: e.ID, EmployeeName: e.Name(), EmployeeEmail: e.Email,
			Month: first.Format("2006-01"), Title: t.title, Status: t.status,
		}
		if t.status != "draft" {
			rows[i].SubmittedAt = first.AddDate(0, 1, 0).Add(-8 * time.Hour)
		}
		if t.status == "approved" || t.status == "reimbursed" {
			rows[i].ApprovedBy = bob
		}
		if t.employee == "EMP020" {
			rows[i].ApprovedBy = eve
		}
		for _, r := range t.items {
			rows[i].Items = append(rows[i].Items, ExpenseItem{first.AddDate(0, 0, r.day-1), r.category, r.description, r.vendor, r.cents})
		}
	}
	return rows
}
