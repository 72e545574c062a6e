package company

import (
	"fmt"
	"strings"
	"time"
)

// Department is one of the ten departments.
type Department struct {
	ID     string
	Code   string
	Name   string
	Budget int64 // US dollars a year
}

// Grade is a pay grade. A salary may be outside its grade's range.
type Grade struct {
	Name        string
	TitlePrefix string
	Min, Max    int64 // US dollars a year
	Description string
}

// Employee is one person on the payroll, or one who was.
type Employee struct {
	ID           string // a UUID by its form, not always by RFC 4122
	Number       string
	FirstName    string
	LastName     string
	Email        string // lower case
	Phone        string
	Department   string // the department's code
	Title        string
	Grade        string
	ManagerID    string // empty at the top
	HireDate     time.Time
	Salary       int64  // US dollars a year
	SSN          string // in the range 900–999, which is never issued
	Location     string
	TerminatedAt time.Time // zero while employed
}

// Gone reports whether the employment has ended.
func (e Employee) Gone() bool { return !e.TerminatedAt.IsZero() }

// Name is the first and the last name.
func (e Employee) Name() string { return e.FirstName + " " + e.LastName }

func departments() []Department {
	return []Department{
		{"d1000000-0000-0000-0000-000000000001", "EXEC", "Executive", 5_000_000},
		{"d1000000-0000-0000-0000-000000000002", "HR", "Human Resources", 750_000},
		{"d1000000-0000-0000-0000-000000000003", "FIN", "Finance", 900_000},
		{"d1000000-0000-0000-0000-000000000004", "SALES", "Sales", 2_000_000},
		{"d1000000-0000-0000-0000-000000000005", "SUPPORT", "Support", 600_000},
		{"d1000000-0000-0000-0000-000000000006", "ENG", "Engineering", 3_500_000},
		{"d1000000-0000-0000-0000-000000000007", "MKT", "Marketing", 1_200_000},
		{"d1000000-0000-0000-0000-000000000008", "OPS", "Operations", 800_000},
		{"d1000000-0000-0000-0000-000000000009", "LEGAL", "Legal", 500_000},
		{"d1000000-0000-0000-0000-000000000010", "IT", "Information Technology", 1_000_000},
	}
}

func grades() []Grade {
	return []Grade{
		{"L1", "Intern", 40_000, 55_000, "Interns and trainees"},
		{"L2", "Associate", 55_000, 75_000, "First years in a profession"},
		{"L3", "Specialist", 70_000, 95_000, "Works independently"},
		{"L4", "Senior", 90_000, 130_000, "Leads pieces of work"},
		{"L5", "Lead", 120_000, 175_000, "Leads a subject or a small team"},
		{"L6", "Manager", 160_000, 220_000, "Leads teams or a department"},
		{"L7", "Director", 200_000, 300_000, "Leads several teams"},
		{"L8", "Vice President", 280_000, 400_000, "Leads a division"},
		{"L9", "Chief", 350_000, 600_000, "Leads the company"},
	}
}

// person is a row of the staff table. An empty id or email follows the common
// rule; eight named people have their own.
type person struct {
	number, first, last string
	manager             string // employee number
	department, grade   string
	title               string
	salary              int64
	site, hired         string
	id, email           string
}

// table is the staff, each manager above their reports.
var table = [...]person{
	{"EMP001", "Eve", "Thompson", "", "EXEC", "L9", "Chief Executive Officer", 450_000, "San Francisco", "2015-03-02", "e9f0a1b2-3c4d-5e6f-7a8b-9c0d1e2f3a4b", "eve"},
	{"EMP002", "Michael", "Roberts", "EMP001", "EXEC", "L9", "Chief Financial Officer", 380_000, "New York", "2015-06-15", "", ""},
	{"EMP003", "Sarah", "Kim", "EMP001", "EXEC", "L9", "Chief Technology Officer", 395_000, "San Francisco", "2015-05-04", "", ""},
	{"EMP004", "James", "Wilson", "EMP001", "EXEC", "L9", "Chief Operating Officer", 360_000, "Chicago", "2016-01-11", "", ""},

	{"EMP010", "Alice", "Chen", "EMP004", "HR", "L6", "VP of Human Resources", 185_000, "Seattle", "2017-02-06", "f104eddc-21ab-457c-a254-78051ad7ad67", "alice"},
	{"EMP011", "Jennifer", "Lee", "EMP010", "HR", "L4", "HR Manager", 98_000, "Seattle", "2018-04-09", "", ""},
	{"EMP012", "David", "Park", "EMP011", "HR", "L3", "HR Business Partner", 72_000, "Austin", "2020-09-14", "", ""},
	{"EMP013", "Maria", "Santos", "EMP011", "HR", "L2", "Recruiter", 68_000, "Remote", "2021-07-19", "", ""},

	{"EMP020", "Bob", "Martinez", "EMP002", "FIN", "L6", "Finance Director", 165_000, "New York", "2016-08-22", "1e8f62b4-37a5-4e67-bb91-45d1e9e3a0f1", "bob"},
	{"EMP021", "Lisa", "Anderson", "EMP020", "FIN", "L5", "Financial Planning Lead", 132_000, "New York", "2017-10-02", "", ""},
	{"EMP022", "Kevin", "Brown", "EMP020", "FIN", "L4", "Senior Accountant", 96_500, "New York", "2019-01-14", "", ""},
	{"EMP023", "Amanda", "Wright", "EMP020", "FIN", "L3", "Accountant", 84_000, "Boston", "2020-03-16", "", ""},
	{"EMP024", "Nicole", "Bailey", "EMP020", "FIN", "L3", "Financial Analyst", 79_500, "Boston", "2021-05-10", "", ""},
	{"EMP025", "Timothy", "Murphy", "EMP020", "FIN", "L2", "Accounts Payable Specialist", 61_000, "Chicago", "2022-08-08", "", ""},

	{"EMP030", "Carol", "Johnson", "EMP001", "SALES", "L6", "VP of Sales", 195_000, "Chicago", "2016-05-16", "c0e1c8a4-5d6e-4f9b-8a3c-7e2d1f0b9a8c", "carol"},
	{"EMP031", "Ryan", "Garcia", "EMP030", "SALES", "L5", "Sales Manager", 142_000, "Los Angeles", "2017-09-05", "", ""},
	{"EMP032", "Amanda", "White", "EMP031", "SALES", "L4", "Senior Account Executive", 118_000, "Los Angeles", "2018-11-12", "", ""},
	{"EMP033", "Chris", "Taylor", "EMP031", "SALES", "L4", "Enterprise Account Executive", 112_000, "New York", "2019-02-25", "", ""},
	{"EMP034", "Michelle", "Davis", "EMP031", "SALES", "L4", "Account Executive", 104_000, "Austin", "2019-10-07", "", ""},
	{"EMP035", "Matthew", "Evans", "EMP031", "SALES", "L3", "Account Executive", 91_000, "Chicago", "2020-06-01", "", ""},
	{"EMP036", "Samantha", "Collins", "EMP031", "SALES", "L3", "Solutions Consultant", 87_500, "Boston", "2021-01-18", "", ""},
	{"EMP037", "Joshua", "Stewart", "EMP031", "SALES", "L3", "Sales Development Representative", 74_500, "Austin", "2022-03-21", "", ""},
	{"EMP038", "Ashley", "Sanchez", "EMP031", "SALES", "L2", "Sales Coordinator", 58_000, "Los Angeles", "2023-02-13", "", ""},

	{"EMP040", "Dan", "Williams", "EMP004", "SUPPORT", "L5", "Support Director", 145_000, "Austin", "2017-05-08", "d7f8e9c0-2a3b-4c5d-9e1f-8a7b6c5d4e3f", "dan"},
	{"EMP041", "Emily", "Clark", "EMP040", "SUPPORT", "L3", "Support Team Lead", 88_000, "Austin", "2018-08-20", "", ""},
	{"EMP042", "Jason", "Miller", "EMP040", "SUPPORT", "L3", "Senior Support Engineer", 82_000, "Austin", "2019-03-11", "", ""},
	{"EMP043", "Rachel", "Moore", "EMP040", "SUPPORT", "L3", "Support Engineer", 76_000, "Remote", "2019-12-02", "", ""},
	{"EMP044", "Brandon", "Morris", "EMP040", "SUPPORT", "L3", "Support Engineer", 71_500, "Chicago", "2020-10-19", "", ""},
	{"EMP045", "Kimberly", "Rogers", "EMP040", "SUPPORT", "L2", "Support Specialist", 66_500, "Austin", "2021-04-26", "", ""},
	{"EMP046", "Justin", "Reed", "EMP040", "SUPPORT", "L2", "Support Specialist", 63_500, "Remote", "2022-01-10", "", ""},
	{"EMP047", "Stephanie", "Cook", "EMP040", "SUPPORT", "L2", "Knowledge Base Editor", 59_500, "Remote", "2022-11-07", "", ""},

	{"EMP050", "Alex", "Turner", "EMP003", "ENG", "L7", "Engineering Director", 210_000, "Seattle", "2016-02-29", "", ""},
	{"EMP051", "Nina", "Patel", "EMP050", "ENG", "L6", "Engineering Manager", 175_000, "Seattle", "2018-01-22", "a5b6c7d8-9e0f-1a2b-3c4d-5e6f7a8b9c0d", "nina.p"},
	{"EMP052", "Marcus", "Johnson", "EMP051", "ENG", "L5", "Software Engineer", 145_000, "Seattle", "2019-06-10", "e1000000-0000-0000-0000-000000000052", "marcus.j"},
	{"EMP053", "Priya", "Sharma", "EMP051", "ENG", "L5", "Staff Software Engineer", 158_000, "San Francisco", "2018-07-16", "", ""},
	{"EMP054", "Owen", "Fischer", "EMP051", "ENG", "L5", "Site Reliability Engineer", 152_500, "Seattle", "2018-10-15", "", ""},
	{"EMP055", "Hannah", "Schmidt", "EMP051", "ENG", "L5", "Security Engineer", 138_000, "Boston", "2019-09-03", "", ""},
	{"EMP056", "Luis", "Ortega", "EMP051", "ENG", "L4", "Backend Engineer", 127_000, "Austin", "2020-02-10", "", ""},
	{"EMP057", "Grace", "Liu", "EMP051", "ENG", "L4", "Frontend Engineer", 121_500, "Seattle", "2020-08-24", "", ""},
	{"EMP058", "Omar", "Haddad", "EMP051", "ENG", "L4", "Data Engineer", 115_500, "Remote", "2021-03-29", "", ""},
	{"EMP059", "Ingrid", "Larsen", "EMP051", "ENG", "L4", "Quality Engineer", 109_000, "Remote", "2021-11-15", "", ""},
	{"EMP05A", "Tyler", "Brooks", "EMP051", "ENG", "L4", "Software Engineer", 93_500, "Seattle", "2023-06-05", "", ""},

	{"EMP060", "Brian", "Adams", "EMP003", "IT", "L5", "IT Manager", 155_000, "Seattle", "2017-07-10", "", ""},
	{"EMP061", "Frank", "Davis", "EMP060", "IT", "L1", "IT Intern", 45_000, "Seattle", "2024-05-20", "b6c7d8e9-0f1a-2b3c-4d5e-6f7a8b9c0d1e", "frank"},
	{"EMP062", "Tony", "Nguyen", "EMP060", "IT", "L3", "Systems Administrator", 86_000, "San Francisco", "2020-01-27", "", ""},

	{"EMP070", "Patricia", "Morgan", "EMP001", "MKT", "L6", "VP of Marketing", 190_000, "Los Angeles", "2016-09-19", "", ""},
	{"EMP071", "Steven", "Harris", "EMP070", "MKT", "L5", "Marketing Manager", 124_000, "Los Angeles", "2018-03-05", "", ""},
	{"EMP072", "Olivia", "Bennett", "EMP071", "MKT", "L3", "Content Strategist", 89_500, "New York", "2019-08-12", "", ""},
	{"EMP073", "Noah", "Peterson", "EMP071", "MKT", "L3", "Product Marketer", 77_500, "San Francisco", "2021-02-15", "", ""},
	{"EMP074", "Lauren", "Price", "EMP071", "MKT", "L2", "Events Coordinator", 69_500, "Chicago", "2022-05-23", "", ""},
	{"EMP075", "Gregory", "Hughes", "EMP071", "MKT", "L2", "Graphic Designer", 64_500, "Remote", "2022-09-26", "", ""},

	{"EMP080", "William", "Robinson", "EMP004", "OPS", "L6", "Director of Operations", 168_000, "Chicago", "2016-11-28", "", ""},
	{"EMP081", "Elizabeth", "Hall", "EMP080", "OPS", "L4", "Operations Manager", 116_500, "Chicago", "2018-06-18", "", ""},
	{"EMP082", "Paul", "Ramirez", "EMP081", "OPS", "L3", "Facilities Planner", 80_500, "Chicago", "2020-11-09", "", ""},
	{"EMP083", "Vanessa", "Long", "EMP081", "OPS", "L2", "Procurement Specialist", 67_500, "Boston", "2021-10-04", "", ""},
	{"EMP084", "Peter", "Kowalski", "EMP081", "OPS", "L2", "Logistics Coordinator", 56_500, "Los Angeles", "2023-01-09", "", ""},

	{"EMP090", "Margaret", "Scott", "EMP001", "LEGAL", "L7", "General Counsel", 240_000, "New York", "2016-04-04", "", ""},
	{"EMP091", "Joseph", "Green", "EMP090", "LEGAL", "L5", "Senior Counsel", 148_000, "New York", "2018-05-14", "", ""},
	{"EMP092", "Susan", "Adams", "EMP090", "LEGAL", "L4", "Paralegal Lead", 102_500, "Boston", "2019-07-08", "", ""},

	{"EMP-T001", "Derek", "Foster", "EMP031", "SALES", "L3", "Account Executive", 83_500, "Austin", "2019-04-15", "", ""},
	{"EMP-T002", "Heather", "Banks", "EMP040", "SUPPORT", "L2", "Support Specialist", 65_500, "Austin", "2020-05-18", "", ""},
	{"EMP-T003", "Victor", "Reyes", "EMP051", "ENG", "L4", "Software Engineer", 129_500, "Seattle", "2019-11-04", "", ""},
}

func staff(day time.Time) []Employee {
	ids := make(map[string]string, len(table))
	people := make([]Employee, 0, len(table))
	for i, p := range table {
		ids[p.number] = p.uuid()
		e := Employee{
			ID: p.uuid(), Number: p.number, FirstName: p.first, LastName: p.last, Email: p.address(),
			Phone: phone(p.site, i), Department: p.department, Title: p.title, Grade: p.grade,
			ManagerID: ids[p.manager], HireDate: date(p.hired), Salary: p.salary, SSN: ssn(i), Location: p.site,
		}
		if strings.HasPrefix(p.number, "EMP-T") {
			e.TerminatedAt = monthsBefore(day, 6)
		}
		people = append(people, e)
	}
	return people
}

// uuid is the person's own id, or one that ends in the employee number.
func (p person) uuid() string {
	if p.id != "" {
		return p.id
	}
	digits := strings.NewReplacer("EMP-T", "f", "EMP", "", "A", "a").Replace(p.number)
	return fmt.Sprintf("e1000000-0000-0000-0000-%012s", digits)
}

func (p person) address() string {
	if p.email != "" {
		return p.email + "@" + Domain
	}
	return strings.ToLower(p.first+"."+p.last) + "@" + Domain
}

// Domain is the mail domain of everyone at the company. The top level is
// reserved for local use, so no mail can leave.
const Domain = "tamshai.local"

var areaCodes = map[string]string{
	"Seattle": "206", "San Francisco": "415", "Austin": "512", "New York": "212",
	"Chicago": "312", "Boston": "617", "Los Angeles": "213", "Remote": "503",
}

// phone is a number of the block 555-0100 to 555-0199, which is kept free for
// fiction.
func phone(site string, i int) string {
	return fmt.Sprintf("%s-555-01%02d", areaCodes[site], i%100)
}

// ssn is the i-th number of the area 900–999 with groups 01–49: the area is
// never issued, and those groups are no taxpayer numbers either.
func ssn(i int) string {
	area, rest := 900+i%100, i/100
	return fmt.Sprintf("%03d-%02d-%04d", area, 1+rest/9999%49, 1+rest%9999)
}

func date(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err) // a typing error in the table above
	}
	return t
}

// monthsBefore counts months back and stays within the resulting month, as
// PostgreSQL's intervals do: thirteen months before 31 March is 28 February.
func monthsBefore(day time.Time, months int) time.Time {
	first := time.Date(day.Year(), day.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day.Day(), last)-1)
}
