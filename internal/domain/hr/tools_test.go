package hr_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/testkit/domaintest"
)

func TestEveryoneSeesAllFieldsOfTheirOwnRecord(t *testing.T) {
	t.Parallel()
	h := open(t)
	got := domaintest.Get[employee](h, h.As("marcus.johnson"), "get_employee", args{"employee_id": h.id("EMP052")})
	nina, name := h.id("EMP051"), "Nina Patel"
	want := employee{
		EmployeeID: h.id("EMP052"), FirstName: "Marcus", LastName: "Johnson", Email: "marcus.j@tamshai.local",
		Department: "Engineering", JobTitle: "Software Engineer", ManagerID: &nina, ManagerName: &name, HireDate: "2019-06-10",
		Salary: 145_000.0, SSN: "933-01-0001", Phone: "206-555-0133", Location: "Seattle", Active: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Marcus about Marcus (-want +got):\n%s", diff)
	}
}

func TestTheTopHasNoManager(t *testing.T) {
	t.Parallel()
	h := open(t)
	got := domaintest.Get[employee](h, h.As("alice.chen"), "get_employee", args{"employee_id": h.id("EMP001")})
	if got.ManagerID != nil || got.ManagerName != nil {
		t.Errorf("Eve's manager is %v, %v", got.ManagerID, got.ManagerName)
	}
}

func TestFirstPageSaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	h := open(t)
	o := h.Ask(h.As("alice.chen"), "list_employees", nil)
	people := domaintest.Decode[[]employee](h, o)
	if len(people) != 50 || !o.Page().More || o.Page().Next == "" {
		t.Fatalf("got %d people, more %v", len(people), o.Page().More)
	}
	o = h.Ask(h.As("alice.chen"), "list_employees", args{"cursor": o.Page().Next})
	if rest := domaintest.Decode[[]employee](h, o); len(rest) != 9 || o.Page().More {
		t.Errorf("got %d people on page 2, more %v; want 9 and no more", len(rest), o.Page().More)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct {
		who  string
		in   args
		want []string
	}{
		{"alice.chen", args{"department": "Information Technology"}, []string{"Brian Adams", "Frank Davis", "Tony Nguyen"}},
		{"alice.chen", args{"department": "it"}, []string{"Brian Adams", "Frank Davis", "Tony Nguyen"}},
		{"alice.chen", args{"department": " legal "}, []string{"Susan Adams", "Joseph Green", "Margaret Scott"}},
		{"alice.chen", args{"department": "Astrology"}, []string{}},
		{"alice.chen", args{"name": "Sarah"}, []string{"Sarah Kim"}},
		{"alice.chen", args{"name": "sarah  KIM"}, []string{"Sarah Kim"}},
		{"alice.chen", args{"name": "Kim Sarah"}, []string{"Sarah Kim"}},
		{"alice.chen", args{"name": "artine"}, []string{"Bob Martinez"}},
		{"alice.chen", args{"name": "amanda w"}, []string{"Amanda White", "Amanda Wright"}},
		{"alice.chen", args{"name": "%"}, []string{}},
		{"alice.chen", args{"name": "_arah"}, []string{}},
		{"alice.chen", args{"name": "Derek"}, []string{}}, // terminated
		{"alice.chen", args{"manager_id": h.id("EMP060")}, []string{"Frank Davis", "Tony Nguyen"}},
		{"alice.chen", args{"under_manager_id": h.id("EMP010")}, []string{"Jennifer Lee", "David Park", "Maria Santos"}},
		{"alice.chen", args{"location": "los angeles", "department": "SALES"}, []string{"Ryan Garcia", "Ashley Sanchez", "Amanda White"}},
		{"ryan.garcia", args{"name": "Amanda"}, []string{"Amanda White"}}, // Wright is not his
		{"bob.martinez", args{"name": "Amanda"}, []string{"Amanda Wright"}},
	} {
		got := names(domaintest.Get[[]employee](h, h.As(c.who), "list_employees", c.in))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, %v (-want +got):\n%s", c.who, c.in, diff)
		}
	}
}

func TestATeamIsEveryoneBelow(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct {
		who, number   string
		direct, whole int
	}{
		{"nina.patel", "EMP051", 9, 9},
		{"carol.johnson", "EMP030", 1, 8},
		{"alice.chen", "EMP010", 1, 3},
		{"eve.thompson", "EMP003", 2, 14},
		{"alice.chen", "EMP061", 0, 0},
		{"ryan.garcia", "EMP010", 0, 0}, // of whose team he sees no one
		{"ryan.garcia", "EMP030", 1, 8}, // Carol, whom he reports to: himself and his own
		{"ryan.garcia", "EMP001", 0, 8}, // Eve, above her
	} {
		direct := domaintest.Get[[]employee](h, h.As(c.who), "list_employees", args{"manager_id": h.id(c.number)})
		whole := domaintest.Get[[]employee](h, h.As(c.who), "list_employees", args{"under_manager_id": h.id(c.number)})
		if len(direct) != c.direct || len(whole) != c.whole {
			t.Errorf("%s, under %s: %d direct reports and a team of %d, want %d and %d", c.who, c.number, len(direct), len(whole), c.direct, c.whole)
		}
	}
	below := domaintest.Get[[]employee](h, h.As("nina.patel"), "list_employees", nil)
	if len(below) != 10 {
		t.Errorf("Nina sees %v, want herself and nine", names(below))
	}
}

type orgNode struct {
	FirstName          string    `json:"first_name"`
	Level              int       `json:"level"`
	DirectReportsCount int       `json:"direct_reports_count"`
	DirectReports      []orgNode `json:"direct_reports"`
	Nodes              int       `json:"nodes"`
	Truncated          bool      `json:"truncated"`
	Hint               string    `json:"hint"`
}

func (n orgNode) size() int {
	size := 1
	for _, r := range n.DirectReports {
		size += r.size()
	}
	return size
}

func TestOrgChart(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct {
		who       string
		in        args
		root      string
		size      int
		truncated bool
	}{
		{"eve.thompson", nil, "Eve", 59, false},
		{"alice.chen", nil, "Eve", 59, false},
		{"alice.chen", args{"max_depth": 1}, "Eve", 7, true},
		{"alice.chen", args{"root_employee_id": h.id("EMP003")}, "Sarah", 15, false},
		{"nina.patel", nil, "Nina", 10, false},
		{"nina.patel", args{"root_employee_id": h.id("EMP052")}, "Marcus", 1, false},
		{"carol.johnson", nil, "Carol", 9, false},
	} {
		got := domaintest.Get[orgNode](h, h.As(c.who), "get_org_chart", c.in)
		if got.FirstName != c.root || got.size() != c.size || got.Nodes != c.size || got.Truncated != c.truncated || got.Level != 0 {
			t.Errorf("%s %v: root %s, %d people (says %d), truncated %v; want %+v", c.who, c.in, got.FirstName, got.size(), got.Nodes, got.Truncated, c)
		}
	}
}

// People of another tree, and those whose manager's employment has ended.
func TestOrgChartSaysThatPeopleAreLeftOut(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.Admin(`update hr.employees set manager_id = null where employee_number = 'EMP051'`)
	h.Admin(`update hr.employees set status = 'TERMINATED', terminated_at = now() where employee_number = 'EMP031'`)
	for _, c := range []struct {
		who       string
		in        args
		size      int
		truncated bool
	}{
		{"alice.chen", nil, 41, true}, // from Eve, who has more people than Nina
		{"alice.chen", args{"root_employee_id": h.id("EMP051")}, 10, false},
		{"nina.patel", nil, 10, false},
		{"carol.johnson", nil, 1, true},
		{"carol.johnson", args{"max_depth": 1}, 1, true},
	} {
		got := domaintest.Get[orgNode](h, h.As(c.who), "get_org_chart", c.in)
		if got.size() != c.size || got.Nodes != c.size || got.Truncated != c.truncated || (got.Hint != "") != c.truncated {
			t.Errorf("%s %v: from %s, %d people (says %d), truncated %v, %q; want %+v", c.who, c.in, got.FirstName, got.size(), got.Nodes, got.Truncated, got.Hint, c)
		}
	}
}

func TestLargeOrgChartIsTruncatedAtTheBottom(t *testing.T) {
	t.Parallel()
	h := openScaled(t)
	got := domaintest.Get[orgNode](h, domaintest.SignedIn(t.Context(), "x@y", "hr-read"), "get_org_chart", nil)
	if got.size() != 500 || !got.Truncated || got.Hint == "" {
		t.Errorf("got %d people, truncated %v", got.size(), got.Truncated)
	}
	for _, r := range got.DirectReports {
		if len(r.DirectReports) != 10 || r.DirectReportsCount != 10 {
			t.Errorf("%s on level 1 shows %d of %d reports", r.FirstName, len(r.DirectReports), r.DirectReportsCount)
		}
	}
}

type review struct {
	EmployeeName string `json:"employee_name"`
	ReviewerName string `json:"reviewer_name"`
	ReviewDate   string `json:"review_date"`
	Comments     string `json:"comments"`
	NextDue      string `json:"next_review_due"`
}

func TestReviewsNewestFirst(t *testing.T) {
	t.Parallel()
	h := open(t)
	got := domaintest.Get[[]review](h, h.As("nina.patel"), "get_performance_reviews", args{"employee_id": h.id("EMP052")})
	if len(got) != 2 || got[0].ReviewDate != "2025-02-28" || got[1].ReviewDate != "2024-02-29" {
		t.Errorf("got %v", got)
	}
	if all := domaintest.Get[[]review](h, h.As("eve.thompson"), "get_performance_reviews", nil); len(all) != min(50, len(h.company.Reviews)) {
		t.Errorf("Eve sees %d reviews of %d", len(all), len(h.company.Reviews))
	}
}

type timeOff struct {
	EmployeeName string  `json:"employee_name"`
	FiscalYear   int     `json:"fiscal_year"`
	PTOBalance   float64 `json:"pto_balance"`
	Balances     []struct {
		TypeCode  string  `json:"type_code"`
		Available float64 `json:"available"`
	} `json:"balances"`
}

// The founding scenario: what's my PTO balance?
func TestMarcusHasFifteenDays(t *testing.T) {
	t.Parallel()
	h := open(t)
	got := domaintest.Get[timeOff](h, h.As("marcus.johnson"), "get_time_off_balance", nil)
	if got.PTOBalance != 15 || got.FiscalYear != 2026 || len(got.Balances) != 3 || got.EmployeeName != "Marcus Johnson" {
		t.Errorf("got %+v", got)
	}
	h.server.SetClock(func() time.Time { return today.AddDate(1, 0, 0) })
	if next := domaintest.Get[timeOff](h, h.As("marcus.johnson"), "get_time_off_balance", nil); next.PTOBalance != 15 || next.FiscalYear != 2027 {
		t.Errorf("next year: %+v", next)
	}
	for who, number := range map[string]string{"nina.patel": "EMP052", "alice.chen": "EMP001", "eve.thompson": "EMP013"} {
		domaintest.Get[timeOff](h, h.As(who), "get_time_off_balance", args{"employee_id": h.id(number)})
	}
}
