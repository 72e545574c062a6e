package schema

import "testing"

func TestMisspeltNamesAreNearOne(t *testing.T) {
	for name, want := range map[string]string{
		"employeeId": "employee_id", "employe_id": "employee_id", "emplyoee_id": "employee_id", "EMPLOYEE-ID": "employee_id", "employee": "employee_id",
		"limits": "limit", "limti": "limit", "lmt": "", "lmit": "limit", "curser": "cursor", "id": "", "": "", "due_befor": "due_before", "due_after": "", "nam": "name", "naem": "name", "names": "name", "note": "",
		"min": "", "mix_amount": "", // as near to both
	} {
		if got := nearest(name, []string{"employee_id", "limit", "cursor", "due_before", "name", "min_amount", "max_amount"}); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
