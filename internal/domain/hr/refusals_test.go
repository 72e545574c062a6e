package hr_test

import (
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit/domaintest"
)

const nobody = unknown

func TestRefusals(t *testing.T) {
	h := open(t)
	seen := map[string]bool{}
	for _, c := range []struct {
		code, who, tool string
		in              args
	}{
		{"EMPLOYEE_NOT_FOUND", "alice.chen", "get_employee", args{"employee_id": nobody}},
		{"EMPLOYEE_NOT_FOUND", "alice.chen", "get_employee", args{"employee_id": h.id("EMP-T001")}},
		{"EMPLOYEE_NOT_FOUND", "marcus.johnson", "get_employee", args{"employee_id": h.id("EMP051")}},
		{"EMPLOYEE_NOT_FOUND", "nina.patel", "get_employee", args{"employee_id": h.id("EMP050")}},
		{"EMPLOYEE_NOT_FOUND", "frank.davis", "get_time_off_balance", args{"employee_id": h.id("EMP052")}},
		{"EMPLOYEE_NOT_FOUND", "test-user.journey", "get_time_off_balance", nil},
		{"EMPLOYEE_NOT_FOUND", "nina.patel", "get_org_chart", args{"root_employee_id": h.id("EMP001")}},
		{"EMPLOYEE_NOT_FOUND", "nina.patel", "get_performance_reviews", args{"employee_id": h.id("EMP050")}},
		{"EMPLOYEE_NOT_FOUND", "alice.chen", "delete_employee", args{"employee_id": nobody}},
		{"EMPLOYEE_NOT_FOUND", "alice.chen", "update_salary", args{"employee_id": h.id("EMP-T003"), "new_salary": 1}},
		{"NO_BALANCES_FOUND", "marcus.johnson", "get_time_off_balance", args{"fiscal_year": 2019}},
		{"CANNOT_DELETE_SELF", "alice.chen", "delete_employee", args{"employee_id": h.id("EMP010")}},
		{"EMPLOYEE_HAS_REPORTS", "alice.chen", "delete_employee", args{"employee_id": h.id("EMP051")}},
		{"INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": h.id("EMP010"), "new_salary": 1}},
		{"INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 1.005}},
		{"INVALID_INPUT", "alice.chen", "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 1, "effective_date": "2026-04-01"}},
		{"INVALID_INPUT", "nina.patel", "get_performance_reviews", args{"employee_id": h.id("EMP051")}},
		{"INSUFFICIENT_PERMISSIONS", "frank.davis", "list_employees", nil},
		{"INSUFFICIENT_PERMISSIONS", "nina.patel", "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 1}},
		{"INSUFFICIENT_PERMISSIONS", "auditor.demo", "get_employee", args{"employee_id": h.id("EMP001")}},
		{"VALIDATION_ERROR", "alice.chen", "get_employee", args{"employee_id": "ABC123"}},
		{"VALIDATION_ERROR", "alice.chen", "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": -1}},
		{"VALIDATION_ERROR", "alice.chen", "update_salary", args{"employee_id": h.id("EMP052"), "new_salary": 1, "effective_date": "2026-02-30"}},
		{"VALIDATION_ERROR", "alice.chen", "list_employees", args{"limit": 51}},
		{"VALIDATION_ERROR", "alice.chen", "list_employees", args{"team": "x"}},
		{"INVALID_CURSOR", "alice.chen", "list_employees", args{"cursor": "bm90IGEgY3Vyc29y"}},
	} {
		f := h.Refused(h.As(c.who), c.code, c.tool, c.in)
		if f.SuggestedAction == "" || strings.Contains(f.Message, "SQL") {
			t.Errorf("%s: %q, %q", c.code, f.Message, f.SuggestedAction)
		}
		seen[c.code] = true
	}
	for _, code := range h.server.Codes() {
		if !seen[code.Name] {
			t.Errorf("no case raises %s", code.Name)
		}
	}
}

// The founding scenario "show me employee ABC123" ends with what helps.
func TestIdThatIsNoUUIDIsAnsweredWithTheWayToFindOne(t *testing.T) {
	h := open(t)
	f := h.Refused(h.As("alice.chen"), "VALIDATION_ERROR", "get_employee", args{"employee_id": "ABC123"})
	if !strings.Contains(f.SuggestedAction, "Use list_employees tool to find valid employee IDs") {
		t.Errorf("got %q", f.SuggestedAction)
	}
}

// A row that one may not see is answered exactly like one that does not exist.
func TestInvisibleIsAnsweredLikeUnknown(t *testing.T) {
	h := open(t)
	for _, c := range []struct{ who, tool, field string }{
		{"nina.patel", "get_employee", "employee_id"},
		{"marcus.johnson", "get_employee", "employee_id"},
		{"marcus.johnson", "get_time_off_balance", "employee_id"},
		{"nina.patel", "get_org_chart", "root_employee_id"},
		{"nina.patel", "get_performance_reviews", "employee_id"},
	} {
		var texts []string
		for _, id := range []string{nobody, h.id("EMP030"), h.id("EMP-T001")} {
			f := h.Refused(h.As(c.who), "EMPLOYEE_NOT_FOUND", c.tool, args{c.field: id})
			texts = append(texts, strings.ReplaceAll(string(h.Encode(h.Ask(h.As(c.who), c.tool, args{c.field: id}))), id, "ID")+f.Message[:8])
		}
		if len(slices.Compact(texts)) != 1 {
			t.Errorf("%s %s tells them apart: %q", c.who, c.tool, texts)
		}
	}
	for _, id := range []string{nobody, h.id("EMP030")} {
		if people := domaintest.Get[[]employee](h, h.As("nina.patel"), "list_employees", args{"manager_id": id}); len(people) != 0 {
			t.Errorf("Nina lists the reports of %s: %v", id, names(people))
		}
	}
}

func TestHasReportsNamesTheNumberAndTheWayOut(t *testing.T) {
	h := open(t)
	f := h.Refused(h.As("alice.chen"), "EMPLOYEE_HAS_REPORTS", "delete_employee", args{"employee_id": h.id("EMP071")})
	if f.Message != "Steven Harris cannot be deleted: they have 4 active direct reports." || !strings.Contains(f.SuggestedAction, "another manager") {
		t.Errorf("got %q, %q", f.Message, f.SuggestedAction)
	}
}

// Nina had a tenth report, who left: only the nine count.
func TestTerminatedReportsDoNotCount(t *testing.T) {
	h := open(t)
	f := h.Refused(h.As("alice.chen"), "EMPLOYEE_HAS_REPORTS", "delete_employee", args{"employee_id": h.id("EMP051")})
	if f.Details["directReports"] != 9 {
		t.Errorf("got %v", f.Details)
	}
}

func TestUnreachableDatabaseIsServiceUnavailable(t *testing.T) {
	h := open(t)
	h.DB.Close()
	f := h.Ask(h.As("alice.chen"), "list_employees", nil).Fault()
	if f == nil || f.Code != fault.ServiceDown {
		t.Errorf("got %v, want SERVICE_UNAVAILABLE", f)
	}
}
